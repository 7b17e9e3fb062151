// SPDX-License-Identifier: Apache-2.0
// Reductions over rows and other axes of a value that a kernel computes row by row: behind a
// matmul, or behind a reduction of the same rows. With two steps, that kernel makes or begins the
// first one. With one step, it would store all elements.
#pragma once

#include "ir/passes/reduction_axes.h"

namespace ingot {

/// Reduce the value in `shape` over `rows`, then the result over `rest`.
struct TwoSteps {
  Shape shape;
  Axes rows, rest;
};

/// The shape of the matmul's result from which `x` is computed element by element, in order.
std::optional<Shape> product_behind(const Graph& graph, ValueId x);

/// Two steps to reduce `x` over `axes`. None if no kernel has `x` in rows, if the axes are not
/// whole rows and others, if they are a whole matrix of a product, which its kernel reduces in one
/// step, or if `x` is so small that one block reduces it as quickly. `is_shared`: other ops read
/// `x` too, so it is stored anyway.
std::optional<TwoSteps> two_steps(const Graph& graph, ValueId x, llvm::ArrayRef<int64_t> axes,
                                  bool is_shared);

/// Joins a reduction of a reduction of the same kind without other uses, unless they are the two
/// steps.
Replacement join_reductions(GraphRewriter& rewriter, const Candidate& candidate);

} // namespace ingot
