// SPDX-License-Identifier: Apache-2.0
// A dense row-major tensor in host memory, stored in its element type. It holds inputs of the
// interpreter, results of kernels and contents of npy files.
#pragma once

#include "ir/types.h"
#include "src/support/error.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ingot {

/// `[1024, 8192]`
std::string text_of(llvm::ArrayRef<int64_t> extents);
/// The product of all extents; nullopt if one is negative or the product overflows.
std::optional<int64_t> checked_count(llvm::ArrayRef<int64_t> extents);

/// Move-only; `clone` copies. The bytes are aligned to 64. They are not initialised.
class Tensor {
public:
  Tensor() = default;
  /// Extents must be >= 0, and their product must fit in int64 (see checked_count).
  Tensor(DType dtype, llvm::ArrayRef<int64_t> extents);
  Tensor clone() const;

  DType dtype() const { return dtype_; }
  llvm::ArrayRef<int64_t> extents() const { return extents_; }
  int64_t count() const { return count_; }
  int64_t size_bytes() const { return count_ * size_of(dtype_); }
  /// `f32[1024, 8192]`
  std::string type_text() const;

  std::byte* bytes() { return bytes_.get(); }
  const std::byte* bytes() const { return bytes_.get(); }
  /// Elements as the C++ type of the same width (f16 and bf16: uint16_t, bool: uint8_t).
  template <typename T> llvm::MutableArrayRef<T> as() {
    INGOT_ASSERT(static_cast<int64_t>(sizeof(T)) == size_of(dtype_));
    return {reinterpret_cast<T*>(bytes_.get()), static_cast<size_t>(count_)};
  }
  template <typename T> llvm::ArrayRef<T> as() const { return const_cast<Tensor*>(this)->as<T>(); }

  /// One element as f64. Integers beyond 2^53 are rounded.
  double real(int64_t index) const;
  /// One element of an integer or bool tensor.
  int64_t integer(int64_t index) const;
  /// Stores a value. Floats round once to nearest even, integers wrap, bool is `value != 0`.
  void set(int64_t index, double value);
  void set_integer(int64_t index, int64_t value);

private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  DType dtype_ = DType::f32;
  llvm::SmallVector<int64_t, 4> extents_;
  int64_t count_ = 0;
  std::unique_ptr<std::byte, Free> bytes_;
};

/// dst[i] = the f64 value of element first + i*stride, for any dtype.
struct ElementRun {
  const std::byte* base;
  DType dtype;
  int64_t first;
  int64_t stride;
  int64_t length;
};
void load_reals(const ElementRun& run, double* dst);
void load_integers(const ElementRun& run, int64_t* dst);

} // namespace ingot
