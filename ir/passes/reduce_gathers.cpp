// SPDX-License-Identifier: Apache-2.0
// Rewrites a gather of one element from each row of a matmul's result to a reduction of the row. An
// example is the target's logit of a cross entropy. The matmul's kernel then need not store the
// rows.
#include "ir/passes/gather_index.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"
#include "ir/passes/two_step_reductions.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace ingot {
namespace {

/// Whether each position along `axis` of `shape` equals `index`, whose extent there is 1.
ValueId is_picked(GraphRewriter& rewriter, const Shape& shape, int64_t axis, ValueId index) {
  // An index beyond i32 may then equal other positions, but it is out of range anyway.
  const bool is_short = shape[axis].is_fixed() && shape[axis].fixed() <= INT32_MAX;
  const DType counter = is_short ? DType::i32 : DType::i64;
  const ValueId position = rewriter.make(OpKind::iota, {}, IotaAttributes{axis, {counter, shape}});
  const ValueId wanted = rewriter.broadcast(rewriter.cast(index, counter), shape);
  return rewriter.make(OpKind::equal, {position, wanted});
}

/// The maximum of the picked element and -Inf for the others; NaN if no element is picked.
Replacement reduce(GraphRewriter& rewriter, const Candidate& candidate) {
  if (candidate.kind() != OpKind::gather) return {};
  const int64_t axis = candidate.attributes<AxisAttributes>().axis;
  const ValueId x = candidate.operands[0], index = candidate.operands[1];
  const Type type = rewriter.type(x);
  const Shape picked = rewriter.type(index).shape;
  if (!picked[axis].is(1) || !is_float(type.dtype) ||
      rewriter.is_returned(candidate.source_operand()))
    return {};
  const auto product = product_behind(rewriter.graph(), x);
  const bool is_row = axis + 1 == static_cast<int64_t>(type.shape.size()) && product &&
                      product->back() == type.shape.back();
  if (!is_row) return {};
  const double infinity = std::numeric_limits<double>::infinity();
  const ValueId element =
      rewriter.make(OpKind::select, {is_picked(rewriter, type.shape, axis, index), x,
                                     rewriter.constant(type.dtype, -infinity)});
  const ValueId greatest = rewriter.make(OpKind::reduce_max, {element}, ReduceAttributes{{axis}});
  return {rewriter.make(OpKind::select, {is_in_range(rewriter, index, type.shape[axis]),
                                         rewriter.reshape(greatest, picked),
                                         missing_element(rewriter, type.dtype)})};
}

} // namespace

Graph reduce_gathers(const Graph& graph, const PassContext&) { return rewrite(graph, reduce); }

} // namespace ingot
