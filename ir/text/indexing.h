// SPDX-License-Identifier: Apache-2.0
// x[...] as slices, gathers and reshapes of a tensor. Called by the parser of expressions.
#pragma once

#include "ir/builder.h"
#include "ir/library.h"

namespace ingot {

/// One item between the brackets: a position, a range, a new axis or an ellipsis.
struct IndexItem {
  enum class Kind : uint8_t { position, range, new_axis, ellipsis } kind = Kind::range;
  SourceLocation location;
  LibraryArgument start, stop, step; ///< of a range, none where left out; a position is a start
};

/// x[items], as PyTorch has it: positions and bounds count from the end where negative, bounds stop
/// at the ends. Errors, which the builder keeps: more items than dims, a position outside, a range
/// of no elements, a step below 1, a step above 1 where a bound or the extent is named.
Term index(Builder& builder, const Term& x, llvm::ArrayRef<IndexItem> items);

} // namespace ingot
