// SPDX-License-Identifier: Apache-2.0
// See tensor.h.
#include "ir/tensor.h"

#include "ir/float_bits.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace ingot {

std::string text_of(llvm::ArrayRef<int64_t> extents) {
  std::string text = "[";
  for (size_t i = 0; i < extents.size(); ++i)
    text += fmt::format("{}{}", i ? ", " : "", extents[i]);
  return text + "]";
}

std::optional<int64_t> checked_count(llvm::ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  return count;
}

void Tensor::Free::operator()(std::byte* bytes) const { std::free(bytes); }

Tensor::Tensor(DType dtype, llvm::ArrayRef<int64_t> extents)
    : dtype_(dtype), extents_(extents.begin(), extents.end()) {
  std::optional<int64_t> count = checked_count(extents);
  INGOT_ASSERT(count.has_value());
  count_ = *count;
  size_t rounded = (static_cast<size_t>(size_bytes()) + 64) / 64 * 64;
  bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
  if (!bytes_) llvm::report_bad_alloc_error("tensor");
}

Tensor Tensor::clone() const {
  Tensor copy(dtype_, extents_);
  if (count_) std::memcpy(copy.bytes(), bytes(), static_cast<size_t>(size_bytes()));
  return copy;
}

std::string Tensor::type_text() const {
  return fmt::format("{}{}", spelling(dtype_).str(), text_of(extents_));
}

namespace {

template <typename Out, typename T, typename Convert>
void load_as(const ElementRun& run, Out* dst, Convert convert) {
  const T* src = reinterpret_cast<const T*>(run.base) + run.first;
  if (run.stride == 1) {
    for (int64_t i = 0; i < run.length; ++i) dst[i] = convert(src[i]);
  } else if (run.stride == 0) {
    Out value = convert(src[0]);
    for (int64_t i = 0; i < run.length; ++i) dst[i] = value;
  } else {
    for (int64_t i = 0; i < run.length; ++i) dst[i] = convert(src[i * run.stride]);
  }
}

} // namespace

void load_reals(const ElementRun& run, double* dst) {
  auto plain = [](auto v) { return static_cast<double>(v); };
  switch (run.dtype) {
  case DType::f32: return load_as<double, float>(run, dst, plain);
  case DType::f16:
    return load_as<double, uint16_t>(run, dst, [](uint16_t v) { return double{f16_value(v)}; });
  case DType::bf16:
    return load_as<double, uint16_t>(run, dst, [](uint16_t v) { return double{bf16_value(v)}; });
  case DType::i32: return load_as<double, int32_t>(run, dst, plain);
  case DType::i64: return load_as<double, int64_t>(run, dst, plain);
  case DType::boolean:
    return load_as<double, uint8_t>(run, dst, [](uint8_t v) { return v ? 1.0 : 0.0; });
  }
}

void load_integers(const ElementRun& run, int64_t* dst) {
  auto plain = [](auto v) { return static_cast<int64_t>(v); };
  switch (run.dtype) {
  case DType::i32: return load_as<int64_t, int32_t>(run, dst, plain);
  case DType::i64: return load_as<int64_t, int64_t>(run, dst, plain);
  case DType::boolean:
    return load_as<int64_t, uint8_t>(run, dst, [](uint8_t v) { return int64_t{v != 0}; });
  default: llvm_unreachable("floats are loaded as reals");
  }
}

double Tensor::real(int64_t index) const {
  double value;
  load_reals({bytes(), dtype_, index, 1, 1}, &value);
  return value;
}

int64_t Tensor::integer(int64_t index) const {
  int64_t value;
  load_integers({bytes(), dtype_, index, 1, 1}, &value);
  return value;
}

void Tensor::set(int64_t index, double value) {
  switch (dtype_) {
  case DType::f32: as<float>()[index] = static_cast<float>(value); return;
  case DType::f16: as<uint16_t>()[index] = f16_bits(value); return;
  case DType::bf16: as<uint16_t>()[index] = bf16_bits(value); return;
  default: set_integer(index, static_cast<int64_t>(value));
  }
}

void Tensor::set_integer(int64_t index, int64_t value) {
  switch (dtype_) {
  case DType::i32: as<int32_t>()[index] = static_cast<int32_t>(value); return;
  case DType::i64: as<int64_t>()[index] = value; return;
  case DType::boolean: as<uint8_t>()[index] = value != 0; return;
  default: set(index, static_cast<double>(value));
  }
}

} // namespace ingot
