// SPDX-License-Identifier: Apache-2.0
// Element types, dimensions (numbers, names, products and sums of them) and tensor types. Every
// phase from the parser to the emitter uses them.
#pragma once

#include "src/support/dtype.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// The size of every named dimension.
using DimBindings = std::map<std::string, int64_t>;

/// An extent: a number, a name, a product of these or a sum of products, e.g. 8192, m, 4*m*n, m +
/// 1. A fixed extent of a graph is at least 1. Before Graph::add has checked it, it may be any
/// number, such as the -1 of a reshape.
class Dim {
public:
  struct Product {
    int64_t coefficient = 1;        ///< not 0
    std::vector<std::string> names; ///< at least one; sorted; may repeat
    friend bool operator==(const Product&, const Product&) = default;
  };

  Dim(int64_t value = 1) : constant_(value) {} // NOLINT: numbers are dims
  static Dim named(llvm::StringRef name);

  bool is_fixed() const { return products_.empty(); }
  /// The number of a fixed dim.
  int64_t fixed() const;
  bool is(int64_t value) const { return is_fixed() && constant_ == value; }
  /// The largest number that divides the dim for all sizes. For a fixed dim it is the number
  /// itself.
  int64_t factor() const;
  /// The names in it, sorted and distinct.
  std::vector<std::string> names() const;
  int64_t constant() const { return constant_; }
  /// All products except the constant. Higher powers of the first name come first.
  const std::vector<Product>& products() const { return products_; }
  /// Whether the dim is negative for some sizes.
  bool may_be_negative() const;
  /// Whether it is at most 0 for all sizes, and not the number 0.
  bool is_negative() const;

  /// `8192`, `m`, `4*m*n`, `m + n - 1`.
  std::string text() const;
  /// The value, where `of(name)` is the value of a name. Number adds and multiplies like int64_t.
  template <typename Number, typename Of> Number value(Of&& of) const;
  /// The value for these sizes, which must include every name; nullopt on overflow.
  std::optional<int64_t> evaluate(const DimBindings& sizes) const;
  /// this / divisor, if the quotient is a Dim for all sizes.
  std::optional<Dim> divided_by(const Dim& divisor) const;

  /// An overflow of a coefficient is a bug, because Graph::add checks element counts first.
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  /// nullopt if a coefficient overflows.
  friend std::optional<Dim> checked_multiply(const Dim& a, const Dim& b);
  friend std::optional<Dim> checked_add(const Dim& a, const Dim& b);
  friend std::optional<Dim> checked_subtract(const Dim& a, const Dim& b);
  friend bool operator==(const Dim&, const Dim&) = default;

private:
  bool add(const Product& product);

  int64_t constant_ = 1;
  std::vector<Product> products_; // no two have the same names
};

template <typename Number, typename Of> Number Dim::value(Of&& of) const {
  std::optional<Number> sum;
  for (const Product& product : products_) {
    Number term = of(product.names.front());
    for (size_t i = 1; i < product.names.size(); ++i) term = term * of(product.names[i]);
    if (product.coefficient != 1) term = Number(product.coefficient) * term;
    sum = sum ? *sum + term : term;
  }
  if (!sum) return Number(constant_);
  return constant_ == 0 ? *sum : *sum + Number(constant_);
}

/// Whether an extent stays within kMaxTerms.
bool is_short(const Dim& dim);

using Shape = llvm::SmallVector<Dim, 4>;

/// The maximum number of products in an extent, and of names in each.
inline constexpr size_t kMaxTerms = 8;
/// The maximum number of products in the element count of a tensor.
inline constexpr size_t kMaxProducts = 64;
/// The maximum number of named dimensions of a graph.
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
