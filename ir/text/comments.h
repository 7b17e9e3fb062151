// SPDX-License-Identifier: Apache-2.0
// Decides whether a `//` comment behind an operand is code, because Python users write it for floor
// division. The parser calls it at the end of each statement.
#pragma once

#include "ir/text/cursor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

enum class CommentKind : uint8_t {
  prose,
  divisor,   ///< a number or a name, perhaps plus a number: `// 2`; it may be prose
  statement, ///< also the rest of the statement: `// 2, b = y`, `// 2)`, `// 2 }`
};

/// Whether code at the place of the comment may use the name.
using IsDefined = llvm::function_ref<bool(llvm::StringRef name)>;

/// Whether the comment ends with `}`, which may have been meant to end the graph.
bool closes_graph(const TrailingComment& comment);
CommentKind kind_of(const TrailingComment& comment, bool is_in_return, IsDefined is_defined);

} // namespace ingot
