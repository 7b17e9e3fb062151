// SPDX-License-Identifier: Apache-2.0
// Hints for words of Python that graphs do not have. The parser calls it.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// A hint for `if`, `for`, `def`, `lambda`, `import` and similar words; empty for others.
llvm::StringRef hint_of_python(llvm::StringRef word);

} // namespace ingot
