// SPDX-License-Identifier: Apache-2.0
// Whether a `//` comment behind an operand reads as code: who writes Python means a floor division.
// Called by the parser at the end of each statement.
#pragma once

#include "ir/text/cursor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

enum class CommentKind : uint8_t {
  prose,
  divisor,   ///< a number or a name, alone or with a number added: `// 2`, which may be a remark
  statement, ///< the rest of the statement too: `// 2, b = y`, `// 2)`, `// 2 }`
};

/// Names that code may use where the comment stands.
using IsDefined = llvm::function_ref<bool(llvm::StringRef name)>;

/// Whether it ends with `}`, which may have been meant to end the graph.
bool closes_graph(const TrailingComment& comment);
CommentKind kind_of(const TrailingComment& comment, bool is_in_return, IsDefined is_defined);

} // namespace ingot
