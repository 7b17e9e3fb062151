// SPDX-License-Identifier: Apache-2.0
// Tests of constants and numbers; see match.h.
#include "ir/passes/match.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <cfloat>
#include <cmath>

namespace ingot {

std::optional<ConstantAttributes> splat_literal(const Graph& graph, ValueId id) {
  while (true) {
    const Op& op = graph.producer(id);
    if (op.kind == OpKind::constant) return graph.attributes<ConstantAttributes>(op);
    if (!is_view(op.kind)) return std::nullopt;
    id = op.operands[0];
  }
}

std::optional<double> splat_real(const Graph& graph, ValueId id) {
  if (!is_float(graph.type(id).dtype)) return std::nullopt;
  std::optional<ConstantAttributes> literal = splat_literal(graph, id);
  if (!literal) return std::nullopt;
  return literal->real;
}

bool is_real(const Graph& graph, ValueId id, double value) {
  std::optional<double> real = splat_real(graph, id);
  return graph.producer(id).kind == OpKind::constant && real &&
         std::bit_cast<uint64_t>(*real) == std::bit_cast<uint64_t>(value);
}

bool is_exact_in_f32(double value) {
  return std::isnan(value) || std::isinf(value) ||
         (std::abs(value) <= FLT_MAX && static_cast<double>(static_cast<float>(value)) == value);
}

bool is_power_of_two(double value) {
  int exponent = 0;
  return std::isfinite(value) && std::abs(std::frexp(value, &exponent)) == 0.5 &&
         std::abs(value) >= FLT_MIN && std::abs(value) <= FLT_MAX;
}

bool may_reduce_nothing(const Graph& graph, const Op& reduction) {
  const Shape& shape = graph.type(reduction.operands[0]).shape;
  const auto& axes = graph.attributes<ReduceAttributes>(reduction).axes;
  return llvm::any_of(axes, [&](int64_t axis) { return !shape[axis].is_fixed(); });
}

bool swaps_matrix(llvm::ArrayRef<int64_t> permutation) {
  if (permutation.size() < 2) return false;
  llvm::SmallVector<int64_t, 4> swapped(permutation.begin(), permutation.end());
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  return llvm::is_sorted(swapped);
}

Moved moved(const Graph& graph, ValueId value) {
  Moved result{value};
  for (const Op* op = &graph.producer(value); info(op->kind).op_class == OpClass::movement;
       op = &graph.producer(result.root)) {
    const ValueId from = op->operands[0];
    result.repeats |=
        op->kind == OpKind::broadcast &&
        !(element_count(graph.type(from).shape) == element_count(graph.type(result.root).shape));
    result.root = from;
    if (op->kind == OpKind::concat) break;
  }
  return result;
}

} // namespace ingot
