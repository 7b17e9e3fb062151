// SPDX-License-Identifier: Apache-2.0
// Python's words that graphs do not have: what to write instead. Called by the parser.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// For `if`, `for`, `def`, `lambda`, `import` and their like; empty for other words.
llvm::StringRef hint_of_python(llvm::StringRef word);

} // namespace ingot
