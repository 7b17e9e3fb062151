// SPDX-License-Identifier: Apache-2.0
// Suggestions for misspelt words. Used by the graph language and the command line.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace ingot {

/// The known word with the fewest edits from `word`, ignoring case; a swap of neighbours is one
/// edit. Returns none if the edits exceed a third of the letters of `word`, because such words only
/// look alike.
std::optional<llvm::StringRef> nearest_word(llvm::StringRef word,
                                            llvm::ArrayRef<llvm::StringRef> known);

} // namespace ingot
