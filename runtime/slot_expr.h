// SPDX-License-Identifier: Apache-2.0
// An Expr flattened over numbered slots, so that a launch evaluates it without names, allocation
// or recursion. Made when an executable is created.
#pragma once

#include "src/support/expr.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ingot {

/// Which slot holds which symbol.
using SlotNames = llvm::StringMap<uint32_t>;

/// All values from `least` to `most`.
struct SlotRange {
  int64_t least = 0;
  int64_t most = 0;
};

/// An interval, and whether its upper end comes from one that overflowed and so bounds nothing.
struct SlotBounds {
  SlotRange range;
  bool is_open = false;
};

class SlotExpr {
public:
  SlotExpr() = default;

  /// internal error when a symbol has no slot or the expression is too deep.
  static llvm::Expected<SlotExpr> flatten(const Expr& expr, const SlotNames& names);

  /// nullopt on overflow or a divisor that is not positive.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> slots) const {
    if (code_.empty()) return constant_;
    return run(slots);
  }

  /// An interval that holds every value that `evaluate` gives for slots within `slots`; nullopt
  /// when none is known. What overflows for some slots may be bounded by a min around it.
  std::optional<SlotRange> bounds(llvm::ArrayRef<SlotRange> slots) const;
  /// A value that none of them is below; INT64_MAX where all overflow, nullopt when none is known.
  std::optional<int64_t> least(llvm::ArrayRef<SlotRange> slots) const;

  bool is_constant() const { return code_.empty(); }
  /// The slot, when the expression is one symbol and nothing else.
  std::optional<uint32_t> sole_slot() const;
  bool uses(uint32_t slot) const;

  /// factor * slot + constant
  struct Linear {
    uint32_t slot = 0;
    int64_t factor = 0; ///< not 0
    int64_t constant = 0;
    /// The value of the slot, at least 0, that makes the sum `sum`; nullopt when none does.
    std::optional<int64_t> solve(int64_t sum) const;
  };
  /// The expression as a function of the one slot whose value is `unknown`; nullopt when there are
  /// none or more of them, when it is another function, and when a number overflows.
  std::optional<Linear> sole_unknown(llvm::ArrayRef<int64_t> slots, int64_t unknown) const;

private:
  static constexpr int kMaxStack = 64;

  /// One step of a stack machine.
  struct Instruction {
    Expr::Kind kind;
    int64_t operand; ///< constant: the value; symbol: the slot
  };

  std::optional<int64_t> run(llvm::ArrayRef<int64_t> slots) const;
  std::optional<SlotBounds> run_bounds(llvm::ArrayRef<SlotRange> slots) const;

  int64_t constant_ = 0;
  std::vector<Instruction> code_; ///< empty: constant_
};

} // namespace ingot
