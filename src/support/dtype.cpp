// SPDX-License-Identifier: Apache-2.0
// See dtype.h.
#include "src/support/dtype.h"

#include "llvm/Support/ErrorHandling.h"

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
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64, DType::boolean})
    if (text == spelling(dtype)) return dtype;
  return std::nullopt;
}

bool is_float(DType dtype) { return dtype == DType::f32 || is_16_bit(dtype); }

bool is_16_bit(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

bool is_integer(DType dtype) { return dtype == DType::i32 || dtype == DType::i64; }

} // namespace ingot
