// SPDX-License-Identifier: Apache-2.0
// Element types, dimensions (a number, a name, or a product of them) and tensor types.
// Used by every stage from the parser to the emitter.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

enum class DType : uint8_t { f32, f16, bf16, i32, i64, boolean };

/// Bytes of one element. bool is stored as one byte, 0 or 1.
int64_t size_of(DType dtype);
/// f32 f16 bf16 i32 i64 bool.
llvm::StringRef spelling(DType dtype);
std::optional<DType> parse_dtype(llvm::StringRef text);
bool is_float(DType dtype);
/// f16 or bf16.
bool is_half(DType dtype);
bool is_integer(DType dtype);

/// An extent: coefficient times a product of named dimensions, e.g. 8192, m, 4*m*n.
/// An extent of 0 has no names. Extents of a graph are at least 1; before Graph::add has checked
/// them the coefficient may be any number, such as the -1 of a reshape.
class Dim {
public:
  Dim(int64_t value = 1) : coefficient_(value) {} // NOLINT: numbers are dims
  static Dim named(llvm::StringRef name);

  bool is_fixed() const { return names_.empty(); }
  /// The number of a fixed dim.
  int64_t fixed() const;
  bool is(int64_t value) const { return is_fixed() && coefficient_ == value; }
  int64_t coefficient() const { return coefficient_; }
  const std::vector<std::string>& names() const { return names_; }

  /// `8192`, `m`, `4*m*n`.
  std::string text() const;
  /// this / divisor when that is a Dim for every size of the names.
  std::optional<Dim> divided_by(const Dim& divisor) const;

  /// Overflow of the coefficient is a bug; Graph::add checks element counts before.
  friend Dim operator*(const Dim& a, const Dim& b);
  /// nullopt when the coefficient overflows.
  friend std::optional<Dim> checked_multiply(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b) {
    return a.coefficient_ == b.coefficient_ && a.names_ == b.names_;
  }

private:
  int64_t coefficient_ = 1;
  std::vector<std::string> names_; // sorted, with repetition
};

/// For choices before sizes are known: each named dim counts as 2^20, which is large.
double likely_count(const Dim& dim);

using Shape = llvm::SmallVector<Dim, 4>;

/// Tensors in a graph have at most this many dims.
inline constexpr int64_t kMaxRank = 8;
/// A graph has at most this many named dimensions.
inline constexpr size_t kMaxDimNames = 64;

/// `[1024, 8192]`
std::string text_of(const Shape& shape);
/// The product of all extents; 1 for a scalar.
Dim element_count(const Shape& shape);

struct Type {
  DType dtype = DType::f32;
  Shape shape;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// `f32[1024, m]`, `f32[]` for a scalar
  std::string text() const;
  friend bool operator==(const Type& a, const Type& b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  }
};

} // namespace ingot
