// SPDX-License-Identifier: Apache-2.0
// See types.h.
#include "ir/types.h"

#include "src/support/error.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace ingot {

int64_t size_of(DType dtype) {
  switch (dtype) {
  case DType::f32:
  case DType::i32: return 4;
  case DType::f16:
  case DType::bf16: return 2;
  case DType::i64: return 8;
  case DType::boolean: return 1;
  }
  llvm_unreachable("dtype");
}

llvm::StringRef spelling(DType dtype) {
  switch (dtype) {
  case DType::f32: return "f32";
  case DType::f16: return "f16";
  case DType::bf16: return "bf16";
  case DType::i32: return "i32";
  case DType::i64: return "i64";
  case DType::boolean: return "bool";
  }
  llvm_unreachable("dtype");
}

std::optional<DType> parse_dtype(llvm::StringRef text) {
  return llvm::StringSwitch<std::optional<DType>>(text)
      .Case("f32", DType::f32)
      .Case("f16", DType::f16)
      .Case("bf16", DType::bf16)
      .Case("i32", DType::i32)
      .Case("i64", DType::i64)
      .Case("bool", DType::boolean)
      .Default(std::nullopt);
}

bool is_float(DType dtype) { return dtype == DType::f32 || is_half(dtype); }

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

Dim Dim::named(llvm::StringRef name) {
  Dim dim;
  dim.names_.push_back(name.str());
  return dim;
}

int64_t Dim::fixed() const {
  INGOT_ASSERT(is_fixed());
  return coefficient_;
}

std::string Dim::text() const {
  if (is_fixed()) return std::to_string(coefficient_);
  std::string result = coefficient_ == 1 ? "" : std::to_string(coefficient_);
  for (const std::string& name : names_) {
    if (!result.empty()) result += '*';
    result += name;
  }
  return result;
}

std::optional<Dim> Dim::divided_by(const Dim& divisor) const {
  if (divisor.coefficient_ == 0 || coefficient_ % divisor.coefficient_ != 0) return std::nullopt;
  Dim result(coefficient_ / divisor.coefficient_);
  if (result.coefficient_ == 0) return result;
  if (!std::includes(names_.begin(), names_.end(), divisor.names_.begin(), divisor.names_.end()))
    return std::nullopt;
  std::set_difference(names_.begin(), names_.end(), divisor.names_.begin(), divisor.names_.end(),
                      std::back_inserter(result.names_));
  return result;
}

std::optional<Dim> checked_multiply(const Dim& a, const Dim& b) {
  Dim result;
  if (llvm::MulOverflow(a.coefficient_, b.coefficient_, result.coefficient_)) return std::nullopt;
  if (result.coefficient_ == 0) return result;
  std::merge(a.names_.begin(), a.names_.end(), b.names_.begin(), b.names_.end(),
             std::back_inserter(result.names_));
  return result;
}

Dim operator*(const Dim& a, const Dim& b) {
  std::optional<Dim> result = checked_multiply(a, b);
  INGOT_ASSERT(result.has_value());
  return *result;
}

std::string text_of(const Shape& shape) {
  std::string result = "[";
  for (const Dim& dim : shape) {
    if (result.size() > 1) result += ", ";
    result += dim.text();
  }
  return result + "]";
}

Dim element_count(const Shape& shape) {
  Dim result = 1;
  for (const Dim& dim : shape) result = result * dim;
  return result;
}

std::string Type::text() const { return spelling(dtype).str() + text_of(shape); }

double likely_count(const Dim& dim) {
  return std::ldexp(static_cast<double>(dim.coefficient()),
                    20 * static_cast<int>(dim.names().size()));
}

} // namespace ingot
