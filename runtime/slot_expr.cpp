// SPDX-License-Identifier: Apache-2.0
// See slot_expr.h.
#include "runtime/slot_expr.h"

#include "codegen/program/program.h"
#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <array>

namespace ingot {

namespace {

using Kind = Expr::Kind;
using Linear = SlotExpr::Linear;

/// `kind` applied to two linear functions of the same slot, if the result is linear.
std::optional<Linear> combined(Kind kind, const Linear& a, const Linear& b) {
  const auto constant = Expr::apply(kind, a.constant, b.constant);
  std::optional<int64_t> factor = 0;
  if (kind == Kind::add || kind == Kind::sub)
    factor = Expr::apply(kind, a.factor, b.factor);
  else if (kind == Kind::mul && b.factor == 0)
    factor = Expr::apply(kind, a.factor, b.constant);
  else if (kind == Kind::mul && a.factor == 0)
    factor = Expr::apply(kind, b.factor, a.constant);
  else if (a.factor != 0 || b.factor != 0)
    return std::nullopt;
  if (!factor || !constant) return std::nullopt;
  return Linear{0, *factor, *constant};
}

} // namespace

SlotExpr SlotExpr::flatten(const Expr& expr, const SlotNames& names) {
  SlotExpr result;
  if (auto value = expr.constant()) {
    result.constant_ = *value;
    return result;
  }
  INGOT_ASSERT(expr.stack_depth() <= kMostExprStack);
  expr.for_each_part([&](const Expr& part) {
    INGOT_ASSERT(part.kind() != Kind::coordinate);
    int64_t operand = part.constant().value_or(0);
    if (part.kind() == Kind::symbol) {
      const auto slot = names.find(part.name());
      INGOT_ASSERT(slot != names.end());
      operand = slot->second;
    }
    result.code_.push_back({part.kind(), operand});
  });
  return result;
}

std::optional<uint32_t> SlotExpr::sole_slot() const {
  if (code_.size() != 1 || code_[0].kind != Kind::symbol) return std::nullopt;
  return uint32_t(code_[0].operand);
}

bool SlotExpr::uses(uint32_t slot) const {
  return llvm::any_of(code_, [&](const Instruction& step) {
    return step.kind == Kind::symbol && step.operand == int64_t(slot);
  });
}

std::optional<int64_t> SlotExpr::Linear::solve(int64_t sum) const {
  int64_t product = 0;
  // INT64_MIN / -1 overflows, and no size is that large.
  if (llvm::SubOverflow(sum, constant, product) || (product == INT64_MIN && factor == -1) ||
      product % factor != 0 || product / factor < 0)
    return std::nullopt;
  return product / factor;
}

template <typename Value, typename Leaf, typename Apply>
std::optional<Value> SlotExpr::run(Leaf leaf, Apply apply) const {
  if (code_.empty()) return leaf({Kind::constant, constant_});
  std::array<Value, kMostExprStack> stack;
  int top = 0;
  for (const Instruction& step : code_) {
    if (step.kind == Kind::constant || step.kind == Kind::symbol) {
      stack[top++] = leaf(step);
    } else {
      --top;
      const std::optional<Value> value = apply(step.kind, stack[top - 1], stack[top]);
      if (!value) return std::nullopt;
      stack[top - 1] = *value;
    }
  }
  return stack[0];
}

std::optional<SlotExpr::Linear> SlotExpr::sole_unknown(llvm::ArrayRef<int64_t> slots,
                                                       int64_t unknown) const {
  std::optional<uint32_t> found;
  bool is_sole = true;
  const auto leaf = [&](const Instruction& step) {
    if (step.kind == Kind::constant) return Linear{0, 0, step.operand};
    const auto slot = uint32_t(step.operand);
    if (slots[slot] != unknown) return Linear{0, 0, slots[slot]};
    is_sole &= found.value_or(slot) == slot;
    found = slot;
    return Linear{slot, 1, 0};
  };
  const std::optional<Linear> linear = run<Linear>(leaf, combined);
  if (!linear || !found || !is_sole || linear->factor == 0) return std::nullopt;
  return Linear{*found, linear->factor, linear->constant};
}

std::optional<int64_t> SlotExpr::run(llvm::ArrayRef<int64_t> slots) const {
  const auto leaf = [&](const Instruction& step) {
    return step.kind == Kind::constant ? step.operand : slots[step.operand];
  };
  return run<int64_t>(leaf, Expr::apply);
}

std::optional<IntBounds> SlotExpr::run_bounds(llvm::ArrayRef<IntRange> slots) const {
  const auto leaf = [&](const Instruction& step) {
    const bool is_constant = step.kind == Kind::constant;
    return IntBounds{is_constant ? IntRange{step.operand, step.operand} : slots[step.operand]};
  };
  return run<IntBounds>(leaf, apply);
}

std::optional<IntRange> SlotExpr::bounds(llvm::ArrayRef<IntRange> slots) const {
  const auto bounds = run_bounds(slots);
  if (!bounds || bounds->is_open) return std::nullopt;
  return bounds->range;
}

std::optional<int64_t> SlotExpr::least(llvm::ArrayRef<IntRange> slots) const {
  const auto bounds = run_bounds(slots);
  if (!bounds) return std::nullopt;
  return bounds->range.least;
}

} // namespace ingot
