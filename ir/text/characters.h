// SPDX-License-Identifier: Apache-2.0
// Characters that are not ASCII, which come with text that was pasted: their names, and what the
// language has in their place. Called by the lexer and by messages.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Whether `text` begins with a sign that is not ASCII and that no name would hold: a sign of
/// mathematics, a quote, a dash, a blank, a full-width form.
bool begins_with_foreign_sign(llvm::StringRef text);
/// `U+00D7 (multiplication sign); write *` of the character that `text` begins with.
std::string describe_character(llvm::StringRef text);

} // namespace ingot
