// SPDX-License-Identifier: Apache-2.0
// Element types, dimensions (numbers, names, products and sums of them) and tensor types.
// Used by every stage from the parser to the emitter.
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

/// An extent: a number, a name, a product of them or a sum of products, e.g. 8192, m, 4*m*n, m + 1.
/// Extents of a graph are at least 1 where they are numbers; before Graph::add has checked them
/// they may be any number, such as the -1 of a reshape.
class Dim {
public:
  struct Product {
    int64_t coefficient = 1;        ///< not 0
    std::vector<std::string> names; ///< at least one; sorted, with repetition
    friend bool operator==(const Product&, const Product&) = default;
  };

  Dim(int64_t value = 1) : constant_(value) {} // NOLINT: numbers are dims
  static Dim named(llvm::StringRef name);

  bool is_fixed() const { return products_.empty(); }
  /// The number of a fixed dim.
  int64_t fixed() const;
  bool is(int64_t value) const { return is_fixed() && constant_ == value; }
  /// The largest number that divides it whatever the sizes are; of a fixed dim the number itself.
  int64_t factor() const;
  /// The names in it, sorted, each once.
  std::vector<std::string> names() const;
  int64_t constant() const { return constant_; }
  /// Everything but the constant; powers of the first name come first.
  const std::vector<Product>& products() const { return products_; }
  /// Whether some sizes make it negative.
  bool may_be_negative() const;
  /// Whether it is at most 0 for all sizes, and not the number 0.
  bool is_negative() const;

  /// `8192`, `m`, `4*m*n`, `m + n - 1`.
  std::string text() const;
  /// Its value where `of(name)` is that of a name. Number adds and multiplies as int64_t does.
  template <typename Number, typename Of> Number value(Of&& of) const;
  /// Its value for these sizes, which hold every name; nullopt on overflow.
  std::optional<int64_t> evaluate(const DimBindings& sizes) const;
  /// this / divisor when that is a Dim for every size of the names.
  std::optional<Dim> divided_by(const Dim& divisor) const;

  /// Overflow of a coefficient is a bug; Graph::add checks element counts before.
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  /// nullopt when a coefficient overflows.
  friend std::optional<Dim> checked_multiply(const Dim& a, const Dim& b);
  friend std::optional<Dim> checked_add(const Dim& a, const Dim& b);
  friend std::optional<Dim> checked_subtract(const Dim& a, const Dim& b);
  friend bool operator==(const Dim&, const Dim&) = default;

private:
  bool add(const Product& product);

  int64_t constant_ = 1;
  std::vector<Product> products_; // no two of the same names
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

/// Whether an extent keeps to kMaxTerms.
bool is_short(const Dim& dim);

/// The size that a named dim counts as where something is chosen or told before it is known. Rows
/// of this number fill every machine: 1024 are fewer than the 8 for each of an H100's 132 SMs that
/// schedules ask for. Costs are told for it too, and are those of usual batches: from 4096 on plans
/// of the example chains begin to differ from those at 1024.
inline constexpr int64_t kAssumedSize = 2048;
/// An extent with it. No choice differs for extents from 2^40 on, and sums with them must not
/// overflow: 2^40 at most.
int64_t assumed(const Dim& dim);
/// The same of a product that may be larger.
double likely_count(const Dim& dim);

using Shape = llvm::SmallVector<Dim, 4>;

/// An extent is a sum of at most this many products of at most this many names.
inline constexpr size_t kMaxTerms = 8;
/// The element count of a tensor is a sum of at most this many products.
inline constexpr size_t kMaxProducts = 64;
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
