// SPDX-License-Identifier: Apache-2.0
// See types.h.
#include "ir/types.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ingot {

namespace {

using Product = Dim::Product;

/// Whether `a` has the higher power of the first name that differs. Multiplication keeps this
/// order, which division of sums needs.
bool comes_before(const Product& a, const Product& b) {
  const auto [x, y] = std::mismatch(a.names.begin(), a.names.end(), b.names.begin(), b.names.end());
  if (x == a.names.end()) return false;
  return y == b.names.end() || *x < *y;
}

std::optional<Product> multiply(const Product& a, const Product& b) {
  Product result;
  if (llvm::MulOverflow(a.coefficient, b.coefficient, result.coefficient)) return std::nullopt;
  std::merge(a.names.begin(), a.names.end(), b.names.begin(), b.names.end(),
             std::back_inserter(result.names));
  return result;
}

/// The terms of a dim. The constant is the last one and has no names.
std::vector<Product> terms_of(const Dim& dim) {
  std::vector<Product> terms = dim.products();
  if (dim.constant() != 0) terms.push_back({dim.constant(), {}});
  return terms;
}

std::optional<Product> divide(const Product& a, const Product& b) {
  if (a.coefficient % b.coefficient != 0 ||
      !std::includes(a.names.begin(), a.names.end(), b.names.begin(), b.names.end()))
    return std::nullopt;
  Product result{a.coefficient / b.coefficient, {}};
  std::set_difference(a.names.begin(), a.names.end(), b.names.begin(), b.names.end(),
                      std::back_inserter(result.names));
  return result;
}

} // namespace

Dim Dim::named(llvm::StringRef name) {
  Dim dim(0);
  dim.products_.push_back({1, {name.str()}});
  return dim;
}

int64_t Dim::fixed() const {
  INGOT_ASSERT(is_fixed());
  return constant_;
}

int64_t Dim::factor() const {
  if (is_fixed()) return constant_;
  int64_t result = constant_;
  for (const Product& product : products_) result = std::gcd(result, product.coefficient);
  return result;
}

std::vector<std::string> Dim::names() const {
  std::vector<std::string> result;
  for (const Product& product : products_)
    result.insert(result.end(), product.names.begin(), product.names.end());
  llvm::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool Dim::may_be_negative() const {
  return constant_ < 0 ||
         llvm::any_of(products_, [](const Product& product) { return product.coefficient < 0; });
}

bool Dim::is_negative() const {
  return !is(0) && constant_ <= 0 &&
         llvm::all_of(products_, [](const Product& product) { return product.coefficient < 0; });
}

std::string Dim::text() const {
  if (is_fixed()) return std::to_string(constant_);
  std::string result;
  // Negative terms go last, so that the text of an extent does not begin with a sign.
  std::vector<Product> terms, taken;
  for (const Product& term : terms_of(*this))
    (term.coefficient < 0 ? taken : terms).push_back(term);
  terms.insert(terms.end(), taken.begin(), taken.end());
  for (const Product& term : terms) {
    const bool is_negative = term.coefficient < 0;
    result += result.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
    std::string size = std::to_string(term.coefficient);
    if (is_negative) size.erase(0, 1);
    const std::string names = llvm::join(term.names, "*");
    result += names.empty() ? size : size == "1" ? names : size + "*" + names;
  }
  return result;
}

std::optional<int64_t> Dim::evaluate(const DimBindings& sizes) const {
  int64_t sum = constant_;
  for (const Product& product : products_) {
    int64_t value = product.coefficient;
    // A size of 0 makes a product 0, however large the other sizes are.
    if (llvm::any_of(product.names, [&](const std::string& name) { return sizes.at(name) == 0; }))
      continue;
    for (const std::string& name : product.names)
      if (llvm::MulOverflow(value, sizes.at(name), value)) return std::nullopt;
    if (llvm::AddOverflow(sum, value, sum)) return std::nullopt;
  }
  return sum;
}

/// Adds a product. Returns false on overflow.
bool Dim::add(const Product& product) {
  if (product.names.empty()) return !llvm::AddOverflow(constant_, product.coefficient, constant_);
  auto at = llvm::lower_bound(products_, product, comes_before);
  if (at == products_.end() || at->names != product.names) {
    products_.insert(at, product);
    return true;
  }
  if (llvm::AddOverflow(at->coefficient, product.coefficient, at->coefficient)) return false;
  if (at->coefficient == 0) products_.erase(at);
  return true;
}

/// Long division: each step divides the first term of the remainder.
std::optional<Dim> Dim::divided_by(const Dim& divisor) const {
  const std::vector<Product> by = terms_of(divisor);
  if (by.empty()) return std::nullopt;
  Dim result(0), rest = *this;
  for (std::vector<Product> left = terms_of(rest); !left.empty(); left = terms_of(rest)) {
    const auto quotient = divide(left.front(), by.front());
    if (!quotient || !result.add(*quotient)) return std::nullopt;
    for (const Product& term : by) {
      auto taken = multiply(*quotient, term);
      if (!taken || llvm::SubOverflow(int64_t{0}, taken->coefficient, taken->coefficient) ||
          !rest.add(*taken))
        return std::nullopt;
    }
  }
  return result;
}

std::optional<Dim> checked_multiply(const Dim& a, const Dim& b) {
  // Most dims are numbers.
  if (a.is_fixed() && b.is_fixed()) {
    int64_t product = 0;
    return llvm::MulOverflow(a.constant(), b.constant(), product) ? std::nullopt
                                                                  : std::optional<Dim>(product);
  }
  Dim result(0);
  for (const Product& x : terms_of(a))
    for (const Product& y : terms_of(b)) {
      const auto product = multiply(x, y);
      if (!product || !result.add(*product)) return std::nullopt;
    }
  return result;
}

std::optional<Dim> checked_add(const Dim& a, const Dim& b) {
  Dim result = a;
  for (const Product& term : terms_of(b))
    if (!result.add(term)) return std::nullopt;
  return result;
}

std::optional<Dim> checked_subtract(const Dim& a, const Dim& b) {
  const auto negative = checked_multiply(b, -1);
  return negative ? checked_add(a, *negative) : std::nullopt;
}

bool is_short(const Dim& dim) {
  return dim.products().size() <= kMaxTerms &&
         llvm::all_of(dim.products(),
                      [](const Product& product) { return product.names.size() <= kMaxTerms; });
}

Dim operator*(const Dim& a, const Dim& b) {
  std::optional<Dim> result = checked_multiply(a, b);
  INGOT_ASSERT(result.has_value());
  return *result;
}

Dim operator+(const Dim& a, const Dim& b) {
  std::optional<Dim> result = checked_add(a, b);
  INGOT_ASSERT(result.has_value());
  return *result;
}

Dim operator-(const Dim& a, const Dim& b) {
  std::optional<Dim> result = checked_subtract(a, b);
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

} // namespace ingot
