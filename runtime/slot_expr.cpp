// SPDX-License-Identifier: Apache-2.0
// See slot_expr.h.
#include "runtime/slot_expr.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>

namespace ingot {

namespace {

using Kind = Expr::Kind;
using Bounds = SlotBounds;
using Linear = SlotExpr::Linear;

/// The stack depth that the evaluation of `expr` needs.
int stack_depth(const Expr& expr) {
  if (expr.kind() == Kind::constant || expr.kind() == Kind::symbol) return 1;
  return std::max(stack_depth(expr.lhs()), 1 + stack_depth(expr.rhs()));
}

/// The smallest and largest of the four corner results. They bound a function that is monotone in
/// each operand.
std::optional<SlotRange> corners(Kind kind, const SlotRange& a, const SlotRange& b) {
  std::optional<SlotRange> result;
  for (int64_t x : {a.least, a.most})
    for (int64_t y : {b.least, b.most}) {
      std::optional<int64_t> value = Expr::apply(kind, x, y);
      if (!value) return std::nullopt;
      if (!result) result = SlotRange{*value, *value};
      result->least = std::min(result->least, *value);
      result->most = std::max(result->most, *value);
    }
  return result;
}

/// A product or sum of values of at least 0, or INT64_MAX on overflow. No evaluation yields a
/// larger value, and a later min may bound it.
int64_t saturated(Kind kind, int64_t a, int64_t b) {
  return Expr::apply(kind, a, b).value_or(INT64_MAX);
}

std::optional<SlotRange> quotient_bounds(Kind kind, const SlotRange& a, const SlotRange& b) {
  if (b.least <= 0) return std::nullopt;
  if (kind != Kind::mod) return corners(kind, a, b);
  if (a.least == a.most && b.least == b.most) return corners(kind, a, b);
  if (a.least >= 0 && a.most < b.least) return a;
  return SlotRange{0, b.most - 1};
}

std::optional<SlotRange> range_of(Kind kind, const SlotRange& a, const SlotRange& b) {
  switch (kind) {
  case Kind::div:
  case Kind::ceil_div:
  case Kind::mod: return quotient_bounds(kind, a, b);
  case Kind::add:
  case Kind::mul:
    if (a.least >= 0 && b.least >= 0)
      return SlotRange{saturated(kind, a.least, b.least), saturated(kind, a.most, b.most)};
    return corners(kind, a, b);
  default: return corners(kind, a, b);
  }
}

/// Whether the upper end of a result is open.
bool opens(Kind kind, const Bounds& a, const Bounds& b) {
  switch (kind) {
  case Kind::add:
  case Kind::mul: return a.is_open || b.is_open || !Expr::apply(kind, a.range.most, b.range.most);
  case Kind::max: return a.is_open || b.is_open;
  case Kind::min: return a.is_open && b.is_open;
  case Kind::mod: return b.is_open;
  default: return a.is_open; // a larger subtrahend or divisor gives a smaller result
  }
}

std::optional<Bounds> apply_bounds(Kind kind, const Bounds& a, const Bounds& b) {
  const auto range = range_of(kind, a.range, b.range);
  if (!range) return std::nullopt;
  return Bounds{*range, opens(kind, a, b)};
}

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

llvm::Expected<SlotExpr> SlotExpr::flatten(const Expr& expr, const SlotNames& names) {
  SlotExpr result;
  if (auto value = expr.constant()) {
    result.constant_ = *value;
    return result;
  }
  if (stack_depth(expr) > kMaxStack)
    return make_error(ErrorCode::internal, "expression '{}' is nested too deep", expr.text());
  std::string unknown;
  auto emit = [&](auto&& self, const Expr& e) -> void {
    if (auto value = e.constant()) {
      result.code_.push_back({Kind::constant, *value});
    } else if (e.kind() == Kind::symbol) {
      auto slot = names.find(e.name());
      if (slot == names.end())
        unknown = e.name();
      else
        result.code_.push_back({Kind::symbol, slot->second});
    } else {
      self(self, e.lhs());
      self(self, e.rhs());
      result.code_.push_back({e.kind(), 0});
    }
  };
  emit(emit, expr);
  if (!unknown.empty())
    return make_error(ErrorCode::internal,
                      "expression '{}' uses '{}', which is no named dimension "
                      "and no device constant",
                      expr.text(), unknown);
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

std::optional<SlotExpr::Linear> SlotExpr::sole_unknown(llvm::ArrayRef<int64_t> slots,
                                                       int64_t unknown) const {
  std::optional<uint32_t> found;
  std::array<Linear, kMaxStack> stack;
  int top = 0;
  for (const Instruction& step : code_) {
    if (step.kind == Kind::constant) {
      stack[top++] = {0, 0, step.operand};
    } else if (step.kind != Kind::symbol) {
      --top;
      const auto value = combined(step.kind, stack[top - 1], stack[top]);
      if (!value) return std::nullopt;
      stack[top - 1] = *value;
    } else if (slots[step.operand] != unknown) {
      stack[top++] = {0, 0, slots[step.operand]};
    } else {
      const auto slot = uint32_t(step.operand);
      if (found.value_or(slot) != slot) return std::nullopt;
      found = slot;
      stack[top++] = {slot, 1, 0};
    }
  }
  if (!found || stack[0].factor == 0) return std::nullopt;
  return Linear{*found, stack[0].factor, stack[0].constant};
}

std::optional<int64_t> SlotExpr::run(llvm::ArrayRef<int64_t> slots) const {
  std::array<int64_t, kMaxStack> stack;
  int top = 0;
  for (const Instruction& step : code_) {
    if (step.kind == Kind::constant) {
      stack[top++] = step.operand;
    } else if (step.kind == Kind::symbol) {
      stack[top++] = slots[step.operand];
    } else {
      --top;
      std::optional<int64_t> value = Expr::apply(step.kind, stack[top - 1], stack[top]);
      if (!value) return std::nullopt;
      stack[top - 1] = *value;
    }
  }
  return stack[0];
}

std::optional<SlotBounds> SlotExpr::run_bounds(llvm::ArrayRef<SlotRange> slots) const {
  if (code_.empty()) return Bounds{{constant_, constant_}};
  std::array<Bounds, kMaxStack> stack;
  int top = 0;
  for (const Instruction& step : code_) {
    if (step.kind == Kind::constant) {
      stack[top++] = {{step.operand, step.operand}};
    } else if (step.kind == Kind::symbol) {
      stack[top++] = {slots[step.operand]};
    } else {
      --top;
      std::optional<Bounds> value = apply_bounds(step.kind, stack[top - 1], stack[top]);
      if (!value) return std::nullopt;
      stack[top - 1] = *value;
    }
  }
  return stack[0];
}

std::optional<SlotRange> SlotExpr::bounds(llvm::ArrayRef<SlotRange> slots) const {
  const auto bounds = run_bounds(slots);
  if (!bounds || bounds->is_open) return std::nullopt;
  return bounds->range;
}

std::optional<int64_t> SlotExpr::least(llvm::ArrayRef<SlotRange> slots) const {
  const auto bounds = run_bounds(slots);
  if (!bounds) return std::nullopt;
  return bounds->range.least;
}

} // namespace ingot
