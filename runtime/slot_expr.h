// SPDX-License-Identifier: Apache-2.0
// An Expr flattened over numbered slots. A launch evaluates it without names, allocation or
// recursion. It is made when an executable is created.
#pragma once

#include "src/support/int_bounds.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ingot {

/// The slot of each symbol.
using SlotNames = llvm::StringMap<uint32_t>;

class SlotExpr {
public:
  SlotExpr() = default;

  /// Every symbol has a slot, and the stack depth of `expr` is at most kMostExprStack.
  static SlotExpr flatten(const Expr& expr, const SlotNames& names);

  /// nullopt on overflow or for a divisor that is not positive.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> slots) const {
    if (code_.empty()) return constant_;
    return run(slots);
  }

  /// An interval that holds every value of `evaluate` for slots within `slots`; nullopt if none is
  /// known. A subexpression that overflows for some slots may be bounded by a min around it.
  std::optional<IntRange> bounds(llvm::ArrayRef<IntRange> slots) const;
  /// A lower bound of all these values; INT64_MAX if all overflow, nullopt if none is known.
  std::optional<int64_t> least(llvm::ArrayRef<IntRange> slots) const;

  bool is_constant() const { return code_.empty(); }
  /// The slot, if the expression is a single symbol.
  std::optional<uint32_t> sole_slot() const;
  bool uses(uint32_t slot) const;

  /// factor * slot + constant.
  struct Linear {
    uint32_t slot = 0;
    int64_t factor = 0; ///< not 0
    int64_t constant = 0;
    /// The value of the slot, at least 0, for which the result is `sum`; nullopt if there is none.
    std::optional<int64_t> solve(int64_t sum) const;
  };
  /// The expression as a linear function of the one slot whose value is `unknown`. nullopt if the
  /// number of such slots is not one, if the function is not linear, or if a number overflows.
  std::optional<Linear> sole_unknown(llvm::ArrayRef<int64_t> slots, int64_t unknown) const;

private:
  /// One step of a stack machine.
  struct Instruction {
    Expr::Kind kind;
    int64_t operand; ///< constant: the value; symbol: the slot
  };

  /// Runs the machine on values of any type. `leaf` gives the value of a constant or a slot; where
  /// `apply` gives none, the result is nullopt.
  template <typename Value, typename Leaf, typename Apply>
  std::optional<Value> run(Leaf leaf, Apply apply) const;
  std::optional<int64_t> run(llvm::ArrayRef<int64_t> slots) const;
  std::optional<IntBounds> run_bounds(llvm::ArrayRef<IntRange> slots) const;

  int64_t constant_ = 0;
  std::vector<Instruction> code_; ///< empty: constant_
};

} // namespace ingot
