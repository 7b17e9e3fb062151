// SPDX-License-Identifier: Apache-2.0
// Suggestions for misspelt words. Used by the graph language and the command line.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace ingot {

/// The known word that needs fewest edits (two neighbours swapped are one), whatever its case, if
/// these are at most a third of the letters of `word`: more would suggest words that only look
/// alike.
std::optional<llvm::StringRef> nearest_word(llvm::StringRef word,
                                            llvm::ArrayRef<llvm::StringRef> known);

} // namespace ingot
