// SPDX-License-Identifier: Apache-2.0
// See admitted.h.
#include "codegen/kernel/admitted.h"

#include "codegen/kernel/index_map.h"

#include <cmath>

namespace ingot {
namespace {

class MaskReader {
public:
  explicit MaskReader(const PointExpr& value) : ops_(value.ops) {}

  std::vector<Condition> run() {
    admit(static_cast<uint32_t>(ops_.size() - 1));
    return std::move(admitted_);
  }

private:
  using Compare = Condition::Compare;

  /// Adds the comparisons that hold where step `step` is not -Inf.
  void admit(uint32_t step) {
    const PointOp& op = ops_[step];
    if (op.kind != PointOp::Kind::call || op.function.op != OpKind::select) return;
    const uint32_t condition = op.operands[0], chosen = op.operands[1], other = op.operands[2];
    if (is_lowest(other)) {
      require(condition, false);
      admit(chosen);
    } else if (is_lowest(chosen)) {
      require(condition, true);
      admit(other);
    }
  }

  bool is_lowest(uint32_t step) const {
    const PointOp& op = ops_[step];
    return op.kind == PointOp::Kind::constant && is_float(op.dtype) &&
           std::isinf(op.constant.real) && op.constant.real < 0;
  }

  /// Adds the comparisons that hold where a step of booleans is true, or false if it is `negated`.
  void require(uint32_t step, bool negated) {
    const PointOp& op = ops_[step];
    if (op.kind != PointOp::Kind::call) return;
    const OpKind kind = op.function.op;
    if (kind == OpKind::not_) return require(op.operands[0], !negated);
    if (kind == (negated ? OpKind::or_ : OpKind::and_)) {
      for (uint32_t operand : op.operands) require(operand, negated);
      return;
    }
    if (op.operands.size() != 2 || is_float(op.function.from)) return;
    const auto left = position(op.operands[0]), right = position(op.operands[1]);
    if (!left || !right) return;
    switch (kind) {
    case OpKind::less: return add(negated ? Compare::at_least : Compare::below, *left, *right);
    case OpKind::greater_equal:
      return add(negated ? Compare::below : Compare::at_least, *left, *right);
    case OpKind::greater: return add(negated ? Compare::at_least : Compare::below, *right, *left);
    case OpKind::less_equal:
      return add(negated ? Compare::below : Compare::at_least, *right, *left);
    default: return;
    }
  }

  void add(Compare compare, const Expr& left, const Expr& right) {
    admitted_.push_back({compare, left, right});
  }

  /// A step as a sum of the row, the column and numbers; none: it is something else.
  std::optional<Expr> position(uint32_t step) const {
    const PointOp& op = ops_[step];
    if (is_float(op.dtype)) return std::nullopt;
    if (op.kind == PointOp::Kind::constant) return Expr(op.constant.integer);
    if (op.kind == PointOp::Kind::number) {
      const bool is_position =
          op.number == coordinate(Coordinate::row) || op.number == coordinate(Coordinate::col) ||
          !(varies_along(op.number, Coordinate::row) || varies_along(op.number, Coordinate::col));
      return is_position ? std::optional(op.number) : std::nullopt;
    }
    if (op.kind != PointOp::Kind::call || op.operands.size() != 2) return std::nullopt;
    const auto left = position(op.operands[0]), right = position(op.operands[1]);
    if (!left || !right) return std::nullopt;
    if (op.function.op == OpKind::add) return *left + *right;
    if (op.function.op == OpKind::sub) return *left - *right;
    return std::nullopt;
  }

  const std::vector<PointOp>& ops_;
  std::vector<Condition> admitted_;
};

} // namespace

std::vector<Condition> admitted_points(const PointExpr& value) { return MaskReader(value).run(); }

} // namespace ingot
