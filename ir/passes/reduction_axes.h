// SPDX-License-Identifier: Apache-2.0
// Axes of reductions as rewrite rules compute with them. Axes are sorted and not repeated.
#pragma once

#include "ir/passes/rewriter.h"

#include <optional>

namespace ingot {

using Axes = llvm::SmallVector<int64_t, 4>;

const Axes& reduced_axes(const Op& op);

/// Axes of x, of rank `rank`, that reducing it over `inner` and the result over `outer` drops.
Axes join_axes(llvm::ArrayRef<int64_t> inner, llvm::ArrayRef<int64_t> outer, int64_t rank);

/// `axes` as they are counted once those of `dropped` are gone; the two share none.
Axes shift_axes(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> dropped);

/// What is left to reduce of a broadcast value. Reducing `value` over `axes`, which may be none,
/// gives something that broadcasts to what reducing the broadcast gives, but for the repeats.
struct Unrepeated {
  ValueId value;
  Axes axes;
  Dim repeats; ///< how often a reduced element of value was met
};
Unrepeated without_repeats(GraphRewriter& rewriter, ValueId broadcast,
                           llvm::ArrayRef<int64_t> axes);

} // namespace ingot
