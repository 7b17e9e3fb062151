// SPDX-License-Identifier: Apache-2.0
// The one integer expression: over named dimensions, device constants and the coordinates of a
// point. Grids, sizes, offsets, indices and predicates are made of it. codegen/ builds and prints
// it; runtime/ evaluates it at launch.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
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
  enum class Kind : uint8_t {
    constant,
    symbol,     ///< a named dimension or a device constant
    coordinate, ///< of a point of a kernel: no manifest holds it
    add,
    sub,
    mul,
    div,
    mod,
    ceil_div,
    min,
    max,
    within ///< within(i, n): i if 0 <= i < n, else 0; no manifest holds it
  };

  Expr() : Expr(0) {}
  Expr(int64_t value); // NOLINT: implicit, so that numbers read as numbers in formulas
  static Expr symbol(std::string name);
  static Expr coordinate(std::string name);

  Kind kind() const;
  std::optional<int64_t> constant() const;
  /// The name of a symbol or a coordinate; empty for other kinds.
  const std::string& name() const;
  /// The operands of a binary kind; calling them on a constant or a symbol is a bug.
  Expr lhs() const;
  Expr rhs() const;
  std::string text() const;
  /// How another language spells an expression. Operators are those of C.
  struct Style {
    /// A symbol or a coordinate.
    llvm::function_ref<std::string(const Expr&)> leaf;
    /// The function around a divisor that is no number; empty: none.
    llvm::StringRef divisor = {};
    llvm::StringRef min = "min", max = "max"; ///< functions of two integers
  };
  std::string text(const Style& style) const;
  /// Calls `visit` for each symbol and coordinate, as often as it occurs.
  void for_each_leaf(llvm::function_ref<void(const Expr&)> visit) const;

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
  friend Expr within(const Expr& position, const Expr& extent);
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
