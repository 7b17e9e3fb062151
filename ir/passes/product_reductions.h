// SPDX-License-Identifier: Apache-2.0
// Reductions over rows and part of the columns of a value computed from a matmul's result. With two
// steps, the matmul's kernel begins the first one. With one step, it would store all elements.
#pragma once

#include "ir/passes/reduction_axes.h"

namespace ingot {

/// The two steps: reduce the value in `shape` over `rows`, then the result over `rest`.
struct ProductSteps {
  Shape shape;
  Axes rows, rest;
};

/// The shape of the matmul's result from which `x` is computed element by element, in order.
std::optional<Shape> product_behind(const Graph& graph, ValueId x);

/// Two steps to reduce `x` over `axes`. None if `x` does not come from a matmul, if it has no such
/// axes, if the axes are a whole matrix, which the kernel reduces in one step, or if `x` is so
/// small that one block reduces it as quickly. `is_shared`: other ops read `x` too, so it is stored
/// anyway.
std::optional<ProductSteps> product_steps(const Graph& graph, ValueId x,
                                          llvm::ArrayRef<int64_t> axes, bool is_shared);

/// Joins a reduction of a reduction of the same kind without other uses, unless they are the two
/// steps over a product.
Replacement join_reductions(GraphRewriter& rewriter, const Candidate& candidate);

} // namespace ingot
