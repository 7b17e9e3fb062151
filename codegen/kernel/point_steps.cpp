// SPDX-License-Identifier: Apache-2.0
// See point_steps.h.
#include "codegen/kernel/point_steps.h"

#include <cmath>

namespace ingot {
namespace {

/// Factors far from the ends of the range of f32: values without them do not overflow.
constexpr double kLeastFactor = 0x1p-40, kMostFactor = 0x1p40;

class FactorTaker {
public:
  explicit FactorTaker(PointExpr& value) : ops_(value.ops) {}

  struct Taken {
    uint32_t step;                ///< the value without the factor
    std::optional<double> factor; ///< none: an infinity, which has any
  };
  std::optional<Taken> take(uint32_t step) {
    const PointOp& op = ops_[step];
    if (op.kind == PointOp::Kind::constant && is_float(op.dtype) && std::isinf(op.constant.real))
      return Taken{step, std::nullopt};
    if (op.kind != PointOp::Kind::call) return std::nullopt;
    if (op.function.op == OpKind::mul) return take_product(op);
    if (op.function.op == OpKind::select) return take_selection(step);
    return std::nullopt;
  }

private:
  std::optional<Taken> take_product(const PointOp& op) const {
    for (const size_t number : {0, 1}) {
      const PointOp& factor = ops_[op.operands[number]];
      if (factor.kind != PointOp::Kind::constant || !is_float(factor.dtype)) continue;
      const double value = static_cast<float>(factor.constant.real);
      if (value >= kLeastFactor && value <= kMostFactor)
        return Taken{op.operands[1 - number], value};
    }
    return std::nullopt;
  }

  std::optional<Taken> take_selection(uint32_t step) {
    const auto first = take(ops_[step].operands[1]), second = take(ops_[step].operands[2]);
    if (!first || !second) return std::nullopt;
    if (first->factor && second->factor && *first->factor != *second->factor) return std::nullopt;
    PointOp selection = ops_[step];
    selection.operands = {selection.operands[0], first->step, second->step};
    ops_.push_back(std::move(selection));
    return Taken{static_cast<uint32_t>(ops_.size() - 1),
                 first->factor ? first->factor : second->factor};
  }

  std::vector<PointOp>& ops_;
};

} // namespace

PointExpr steps_of(const PointExpr& value, uint32_t last) {
  std::vector<bool> used(last + 1, false);
  used[last] = true;
  for (uint32_t step = last + 1; step-- > 0;)
    if (used[step])
      for (uint32_t operand : value.ops[step].operands) used[operand] = true;
  PointExpr result;
  std::vector<uint32_t> numbers(last + 1, 0);
  for (uint32_t step = 0; step <= last; ++step) {
    if (!used[step]) continue;
    numbers[step] = static_cast<uint32_t>(result.ops.size());
    result.ops.push_back(value.ops[step]);
    for (uint32_t& operand : result.ops.back().operands) operand = numbers[operand];
  }
  return result;
}

float take_positive_factor(PointExpr& value) {
  PointExpr copy = value;
  const auto taken = FactorTaker(copy).take(static_cast<uint32_t>(copy.ops.size() - 1));
  if (!taken || !taken->factor) return 1;
  value = steps_of(copy, taken->step);
  return static_cast<float>(*taken->factor);
}

bool is_slot(const PointExpr& value) {
  return value.ops.size() == 1 && value.ops.front().kind == PointOp::Kind::slot &&
         value.ops.front().index == 0;
}

} // namespace ingot
