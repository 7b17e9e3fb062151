// SPDX-License-Identifier: Apache-2.0
// point_steps: positive factors of the scores of a softmax.
#include "codegen/kernel/point_steps.h"

#include <doctest/doctest.h>

#include <limits>

using namespace ingot;

namespace {

using Kind = PointOp::Kind;

PointOp constant(double value) { return {.kind = Kind::constant, .constant = {DType::f32, value}}; }
PointOp call(OpKind op, llvm::SmallVector<uint32_t, 3> operands) {
  return {.kind = Kind::call, .function = {.op = op}, .operands = std::move(operands)};
}
/// The steps of an expression: slot 0, a condition, then `rest`.
PointExpr expression(std::vector<PointOp> rest) {
  PointExpr result;
  result.ops = {{.kind = Kind::slot}, {.kind = Kind::read, .dtype = DType::boolean}};
  result.ops.insert(result.ops.end(), rest.begin(), rest.end());
  return result;
}
constexpr double kInfinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("point_steps: a positive factor leaves a product, on either side") {
  for (const auto& operands : {llvm::SmallVector<uint32_t, 3>{0, 2}, {2, 0}}) {
    PointExpr scaled = expression({constant(0.125), call(OpKind::mul, operands)});
    CHECK(take_positive_factor(scaled) == 0.125f);
    CHECK(is_slot(scaled));
  }
}

TEST_CASE("point_steps: a factor leaves selections between products and infinities") {
  PointExpr masked = expression({constant(0.5), call(OpKind::mul, {0, 2}), constant(-kInfinity),
                                 call(OpKind::select, {1, 3, 4})});
  CHECK(take_positive_factor(masked) == 0.5f);
  REQUIRE(masked.ops.size() == 4); // slot, condition, infinity, selection
  CHECK(masked.ops.back().function.op == OpKind::select);
  CHECK(masked.ops[masked.ops.back().operands[1]].kind == Kind::slot);
  CHECK(masked.ops[masked.ops.back().operands[2]].constant.real == -kInfinity);
}

TEST_CASE("point_steps: other expressions stay as they are") {
  const auto stays = [](PointExpr value) {
    const size_t steps = value.ops.size();
    return take_positive_factor(value) == 1.0f && value.ops.size() == steps;
  };
  CHECK(stays(expression({constant(-2), call(OpKind::mul, {0, 2})})));
  CHECK(stays(expression({constant(0), call(OpKind::mul, {0, 2})})));
  CHECK(stays(expression({constant(1e30), call(OpKind::mul, {0, 2})})));
  CHECK(stays(expression({constant(2), call(OpKind::add, {0, 2})})));
  // A finite number beside a product, and two factors.
  CHECK(stays(expression(
      {constant(2), call(OpKind::mul, {0, 2}), constant(-1e9), call(OpKind::select, {1, 3, 4})})));
  CHECK(stays(expression({constant(2), call(OpKind::mul, {0, 2}), constant(3),
                          call(OpKind::mul, {0, 4}), call(OpKind::select, {1, 3, 5})})));
  CHECK_FALSE(is_slot(expression({constant(2), call(OpKind::add, {0, 2})})));
}
