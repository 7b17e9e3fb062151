// SPDX-License-Identifier: Apache-2.0
// UTF-8, character by character. Messages that quote text and the lexer use it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace ingot {

/// One UTF-8 character, or one byte that starts none.
struct Character {
  size_t size = 1;
  std::optional<uint32_t> point; ///< none: not UTF-8
};

/// The first character of `text`, which must not be empty.
Character first_character(llvm::StringRef text);

} // namespace ingot
