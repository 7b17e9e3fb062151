// SPDX-License-Identifier: Apache-2.0
// The one integer expression, over named dimensions and the coordinates of a point. Grids,
// sizes, offsets, indices and predicates are expressions. codegen/ builds and prints them; runtime/
// evaluates them at launch.
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

/// An immutable int64 expression. Constants fold on construction. Division rounds down, and its
/// divisor is positive. parse_expr reads back the text form, e.g. `ceil_div(m, 128) * 2`.
class Expr {
public:
  enum class Kind : uint8_t {
    constant,
    symbol,     ///< a named dimension
    coordinate, ///< a coordinate of a point of a kernel; manifests hold none
    add,
    sub,
    mul,
    div,
    mod,
    ceil_div,
    min,
    max,
    within ///< within(i, n): i if 0 <= i < n, else 0; manifests hold none
  };

  Expr() : Expr(0) {}
  Expr(int64_t value); // NOLINT: implicit, so that formulas may contain plain numbers
  static Expr symbol(std::string name);
  static Expr coordinate(std::string name);

  Kind kind() const;
  std::optional<int64_t> constant() const;
  /// The name of a symbol or a coordinate; empty for other kinds.
  const std::string& name() const;
  /// The operands of a binary kind. A call on a constant or a symbol is a bug.
  Expr lhs() const;
  Expr rhs() const;
  std::string text() const;
  /// The spelling of a binary kind: `before` a `between` b `after`. An operand that binds less
  /// strongly than its place asks for gets parentheses.
  struct Form {
    llvm::StringRef before, between, after;
    int strength = 3; ///< 1: a sum, 2: a product, 3: needs no parentheses, like a call
    int left = 0, right = 0;
  };
  /// The form in `text()`: the operators of C, and functions with the names of kinds.
  static Form form(Kind kind);
  static Form plain_form(const Expr& e) { return form(e.kind()); }
  /// The spelling of expressions in another language.
  struct Style {
    /// Spells a symbol or a coordinate.
    llvm::function_ref<std::string(const Expr&)> leaf;
    /// Spells an expression of a binary kind.
    llvm::function_ref<Form(const Expr&)> form = plain_form;
    /// The function to wrap a divisor in if the divisor is not a number; empty: none.
    llvm::StringRef divisor = {};
    /// The type of checked numbers. It wraps the first of two numbers, and the least int64, which
    /// has no literal in C++; empty: none.
    llvm::StringRef number = {};
  };
  std::string text(const Style& style) const;
  /// Calls `visit` for each occurrence of a symbol or a coordinate.
  void for_each_leaf(llvm::function_ref<void(const Expr&)> visit) const;
  /// Calls `visit` for each occurrence of a part: the operands, left before right, then the whole.
  /// A stack machine computes in this order.
  void for_each_part(llvm::function_ref<void(const Expr&)> visit) const;
  /// The most numbers that such a machine holds at once.
  int stack_depth() const;

  /// The value of the expression; `lookup` gives the values of symbols. nullopt if a symbol is
  /// unknown, if a divisor is not positive, or on int64 overflow.
  using Lookup = std::function<std::optional<int64_t>(llvm::StringRef)>;
  std::optional<int64_t> evaluate(const Lookup& lookup) const;

  /// Applies a binary `kind` to two numbers. Returns nullopt in the cases of evaluate.
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

/// Reads the text form back. Errors name the character and the token that was expected.
llvm::Expected<Expr> parse_expr(llvm::StringRef text);

} // namespace ingot
