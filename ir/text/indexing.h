// SPDX-License-Identifier: Apache-2.0
// Translates x[...] to slices, gathers and reshapes. The parser of expressions calls it.
#pragma once

#include "ir/builder.h"
#include "ir/library.h"

namespace ingot {

/// One item between the brackets: a position, a range, a new axis or an ellipsis.
struct IndexItem {
  enum class Kind : uint8_t { position, range, new_axis, ellipsis } kind = Kind::range;
  SourceLocation location;
  LibraryArgument start, stop, step; ///< of a range, none if left out; a position is a start
};

/// x[items], as in PyTorch: negative positions and bounds count from the end, and bounds are
/// limited to the ends. The builder keeps errors: more items than dims, a position outside, a range
/// without elements, a step below 1, a step above 1 with a named bound or extent.
Term index(Builder& builder, const Term& x, llvm::ArrayRef<IndexItem> items);

} // namespace ingot
