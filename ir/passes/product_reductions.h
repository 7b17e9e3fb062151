// SPDX-License-Identifier: Apache-2.0
// Reductions over rows and parts of the columns of what is made of a matmul's result. In two steps
// the kernel of the matmul begins the first one; in one step it would store all that is reduced.
#pragma once

#include "ir/passes/reduction_axes.h"

namespace ingot {

/// The steps of such a reduction: over `rows` of the value in `shape`, then over `rest` of that.
struct ProductSteps {
  Shape shape;
  Axes rows, rest;
};

/// The shape of a matmul's result whose elements those of `x` are made of, one of one and in order.
std::optional<Shape> product_behind(const Graph& graph, ValueId x);

/// How to reduce `x` over `axes` in two steps; none where no matmul is behind it, where it has no
/// such axes, where they are all of a matrix, which the kernel reduces in one step, or where it is
/// so small that one block reduces it as quickly. `is_shared`: others read it too, so that it is
/// stored all the same.
std::optional<ProductSteps> product_steps(const Graph& graph, ValueId x,
                                          llvm::ArrayRef<int64_t> axes, bool is_shared);

/// True when a candidate reduces what reduces a value that others read too.
bool is_reduced_and_shared(const GraphRewriter& rewriter, const Candidate& candidate);

/// True for reductions of which results are reduced like the values themselves.
bool reduces_in_steps(OpKind kind);

} // namespace ingot
