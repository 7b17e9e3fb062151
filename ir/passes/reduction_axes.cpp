// SPDX-License-Identifier: Apache-2.0
// See reduction_axes.h.
#include "ir/passes/reduction_axes.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

const Axes& reduced_axes(const Op& op) { return std::get<ReduceAttributes>(op.attributes).axes; }

Axes join_axes(llvm::ArrayRef<int64_t> inner, llvm::ArrayRef<int64_t> outer, int64_t rank) {
  Axes joined(inner.begin(), inner.end());
  int64_t position = 0; // of an axis among those that the inner reduction keeps
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (llvm::is_contained(inner, axis)) continue;
    if (llvm::is_contained(outer, position++)) joined.push_back(axis);
  }
  llvm::sort(joined);
  return joined;
}

Axes shift_axes(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> dropped) {
  Axes shifted;
  for (int64_t axis : axes) {
    shifted.push_back(axis - llvm::count_if(dropped, [&](int64_t gone) { return gone < axis; }));
  }
  return shifted;
}

Unrepeated without_repeats(const GraphRewriter& rewriter, ValueId broadcast,
                           llvm::ArrayRef<int64_t> axes) {
  ValueId value = rewriter.operand(broadcast);
  const Shape from = rewriter.type(value).shape;
  const Shape to = rewriter.type(broadcast).shape;
  auto offset = static_cast<int64_t>(to.size() - from.size());
  Unrepeated result{value, {}, {}, 1};
  for (int64_t axis = 0; axis < static_cast<int64_t>(to.size()); ++axis) {
    bool is_reduced = llvm::is_contained(axes, axis);
    bool is_repeated = axis < offset || !(from[axis - offset] == to[axis]);
    if (is_reduced && is_repeated) {
      result.repeats = result.repeats * to[axis];
      continue;
    }
    if (axis < offset) continue;
    if (is_reduced) result.axes.push_back(static_cast<int64_t>(result.shape.size()));
    result.shape.push_back(from[axis - offset]);
  }
  return result;
}

} // namespace ingot
