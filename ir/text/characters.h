// SPDX-License-Identifier: Apache-2.0
// Characters outside of ASCII, which come with pasted text: their names, and their replacement in
// the language. The lexer and messages use them.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Whether `text` begins with a sign that is not ASCII and would not occur in a name: a
/// mathematical sign, a quote, a dash, a blank, a full-width form.
bool begins_with_foreign_sign(llvm::StringRef text);
/// `U+00D7 (multiplication sign); write *` for the first character of `text`.
std::string describe_character(llvm::StringRef text);

} // namespace ingot
