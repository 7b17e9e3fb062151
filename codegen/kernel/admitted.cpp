// SPDX-License-Identifier: Apache-2.0
// See admitted.h.
#include "codegen/kernel/admitted.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/point_steps.h"

#include <cmath>

namespace ingot {
namespace {

/// Rows and columns are fewer than 2^30: scores of more take days. Sums of a few of these numbers
/// stay in 32 bits.
constexpr int64_t kMostShift = int64_t{1} << 20;

class MaskReader {
public:
  explicit MaskReader(const PointExpr& value) : value_(value), ops_(value.ops) {}

  AdmittedPoints run() {
    const uint32_t value = admit(static_cast<uint32_t>(ops_.size() - 1));
    AdmittedPoints result{std::move(admitted_), {}};
    if (value + 1 != ops_.size()) result.within = steps_of(value_, value);
    return result;
  }

private:
  using Compare = Condition::Compare;

  /// Adds the comparisons that hold where step `step` is not -Inf. Returns the step that has its
  /// value where they do.
  uint32_t admit(uint32_t step) {
    const PointOp& op = ops_[step];
    if (op.kind != PointOp::Kind::call || op.function.op != OpKind::select) return step;
    const uint32_t condition = op.operands[0], chosen = op.operands[1], other = op.operands[2];
    const bool is_chosen = is_lowest(other);
    if (!is_chosen && !is_lowest(chosen)) return step;
    const bool is_whole = require(condition, !is_chosen);
    const uint32_t value = admit(is_chosen ? chosen : other);
    return is_whole ? value : step;
  }

  bool is_lowest(uint32_t step) const {
    const PointOp& op = ops_[step];
    return op.kind == PointOp::Kind::constant && is_float(op.dtype) &&
           std::isinf(op.constant.real) && op.constant.real < 0;
  }

  /// Adds comparisons that hold where a step of booleans is true, or false if it is `negated`.
  /// Returns whether the step is so wherever they hold.
  bool require(uint32_t step, bool negated) {
    const PointOp& op = ops_[step];
    if (op.kind != PointOp::Kind::call) return false;
    const OpKind kind = op.function.op;
    if (kind == OpKind::not_) return require(op.operands[0], !negated);
    if (kind == (negated ? OpKind::or_ : OpKind::and_)) {
      const bool first = require(op.operands[0], negated);
      return require(op.operands[1], negated) && first;
    }
    if (op.operands.size() != 2 || is_float(op.function.from)) return false;
    const auto left = position(op.operands[0]), right = position(op.operands[1]);
    if (!left || !right) return false;
    switch (kind) {
    case OpKind::less: return add(negated ? Compare::at_least : Compare::below, *left, *right);
    case OpKind::greater_equal:
      return add(negated ? Compare::below : Compare::at_least, *left, *right);
    case OpKind::greater: return add(negated ? Compare::at_least : Compare::below, *right, *left);
    case OpKind::less_equal:
      return add(negated ? Compare::below : Compare::at_least, *right, *left);
    default: return false;
    }
  }

  bool add(Compare compare, const Expr& left, const Expr& right) {
    admitted_.push_back({compare, left, right});
    return true;
  }

  /// A step as a sum of the row, the column and small numbers, which no type of integers wraps;
  /// none: it is something else.
  std::optional<Expr> position(uint32_t step) const {
    const PointOp& op = ops_[step];
    if (is_float(op.dtype)) return std::nullopt;
    if (op.kind == PointOp::Kind::constant && std::abs(op.constant.integer) <= kMostShift)
      return Expr(op.constant.integer);
    if (op.kind == PointOp::Kind::number &&
        (op.number == coordinate(Coordinate::row) || op.number == coordinate(Coordinate::col)))
      return op.number;
    if (op.kind != PointOp::Kind::call || op.operands.size() != 2) return std::nullopt;
    const auto left = position(op.operands[0]), right = position(op.operands[1]);
    if (!left || !right) return std::nullopt;
    if (op.function.op == OpKind::add) return *left + *right;
    if (op.function.op == OpKind::sub) return *left - *right;
    return std::nullopt;
  }

  const PointExpr& value_;
  const std::vector<PointOp>& ops_;
  std::vector<Condition> admitted_;
};

} // namespace

AdmittedPoints admitted_points(const PointExpr& value) { return MaskReader(value).run(); }

} // namespace ingot
