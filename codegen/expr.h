// SPDX-License-Identifier: Apache-2.0
// Integer expressions over named dimensions and device constants: grids, sizes, offsets and
// predicates of a manifest. Built by codegen/, evaluated by runtime/ at launch.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// An immutable int64 expression. Constants fold when they are built. Division rounds down and
/// its divisor is positive. Text form: `ceil_div(m, 128) * 2`, read back by parse_expr.
class Expr {
public:
  enum class Kind : uint8_t { constant, symbol, add, sub, mul, div, mod, ceil_div, min, max };

  Expr() : Expr(0) {}
  Expr(int64_t value); // NOLINT: implicit, so that numbers read as numbers in formulas
  static Expr symbol(std::string name);

  Kind kind() const;
  std::optional<int64_t> constant() const;
  /// The symbol's name; empty for other kinds.
  const std::string& symbol_name() const;
  /// The operands of a binary kind; calling them on a constant or a symbol is a bug.
  Expr lhs() const;
  Expr rhs() const;
  std::string text() const;

  /// The value where every symbol is known to `lookup`; nullopt when a symbol is not, when a
  /// divisor is not positive, or on int64 overflow.
  using Lookup = std::function<std::optional<int64_t>(llvm::StringRef)>;
  std::optional<int64_t> evaluate(const Lookup& lookup) const;

  /// `kind`, a binary one, on two numbers; nullopt as for evaluate.
  static std::optional<int64_t> apply(Kind kind, int64_t a, int64_t b);

  friend Expr operator+(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a, const Expr& b);
  friend Expr operator*(const Expr& a, const Expr& b);
  friend Expr operator/(const Expr& a, const Expr& b);
  friend Expr operator%(const Expr& a, const Expr& b);
  friend Expr ceil_div(const Expr& a, const Expr& b);
  friend Expr min(const Expr& a, const Expr& b);
  friend Expr max(const Expr& a, const Expr& b);
  friend bool operator==(const Expr& a, const Expr& b) { return a.text() == b.text(); }

private:
  struct Node;
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static Expr make(Kind kind, const Expr& a, const Expr& b);
  std::shared_ptr<const Node> node_;
};

/// Reads the text form back. Errors name the character and what was expected.
llvm::Expected<Expr> parse_expr(llvm::StringRef text);

} // namespace ingot
