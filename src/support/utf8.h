// SPDX-License-Identifier: Apache-2.0
// UTF-8, character by character. Called where messages quote text, and by the lexer.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace ingot {

/// One character of UTF-8, or one byte that begins none.
struct Character {
  size_t size = 1;
  std::optional<uint32_t> point; ///< none: no UTF-8
};

/// `text` is not empty.
Character first_character(llvm::StringRef text);

} // namespace ingot
