// SPDX-License-Identifier: Apache-2.0
// See gather_index.h.
#include "ir/passes/gather_index.h"

#include <limits>

namespace ingot {

ValueId is_in_range(GraphRewriter& rewriter, ValueId index, const Dim& extent) {
  const ValueId wide = rewriter.cast(index, DType::i64);
  const auto number = [&](int64_t value) {
    return rewriter.make(OpKind::constant, {}, ConstantAttributes{DType::i64, 0, value});
  };
  const ValueId count =
      extent.is_fixed() ? number(extent.fixed())
                        : rewriter.make(OpKind::extent, {}, ExtentAttributes{DType::i64, {extent}});
  return rewriter.make(OpKind::and_, {rewriter.make(OpKind::less_equal, {number(0), wide}),
                                      rewriter.make(OpKind::less, {wide, count})});
}

ValueId missing_element(GraphRewriter& rewriter, DType dtype) {
  if (is_float(dtype)) return rewriter.constant(dtype, std::numeric_limits<double>::quiet_NaN());
  return rewriter.make(OpKind::constant, {}, ConstantAttributes{dtype, 0, 0});
}

} // namespace ingot
