// SPDX-License-Identifier: Apache-2.0
// Arithmetic on the axes of reductions, for rewrite rules. Axes are sorted and distinct.
#pragma once

#include "ir/passes/rewriter.h"

#include <optional>

namespace ingot {

using Axes = llvm::SmallVector<int64_t, 4>;

const Axes& reduced_axes(const Op& op);

/// The axes of x, which has rank `rank`, that are dropped by reducing x over `inner` and the result
/// over `outer`.
Axes join_axes(llvm::ArrayRef<int64_t> inner, llvm::ArrayRef<int64_t> outer, int64_t rank);

/// The numbers of `axes` after the axes in `dropped` are removed. The two lists have no axis in
/// common.
Axes shift_axes(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> dropped);

/// The reduction that remains for a broadcast value. Reducing `value`, reshaped to `shape`, over
/// `axes`, which may be empty, gives a value that broadcasts to the original result, except for the
/// number of repeats.
struct Unrepeated {
  ValueId value;
  Shape shape;
  Axes axes;
  Dim repeats; ///< how often the broadcast repeated each reduced element
};
Unrepeated without_repeats(const GraphRewriter& rewriter, ValueId broadcast,
                           llvm::ArrayRef<int64_t> axes);

} // namespace ingot
