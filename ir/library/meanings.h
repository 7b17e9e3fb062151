// SPDX-License-Identifier: Apache-2.0
// Hints for unknown names, from the rows of ir/meanings.def. Code that reports an unknown name
// calls them.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace ingot {

struct Meaning {
  llvm::StringRef name; ///< in small letters, without _
  llvm::StringRef text; ///< a replacement, or the reason for its absence
};

llvm::ArrayRef<Meaning> meanings();
/// `; TEXT` for a name, ignoring case and `_`; empty if no row has the name. `numbers` holds, for
/// each argument of a call, its text if it is a number, else "".
std::string hint_by_meaning(llvm::StringRef name, llvm::ArrayRef<std::string> numbers = {});
/// Like hint_by_meaning, for an argument that a function lacks.
std::string hint_by_argument(llvm::StringRef function, llvm::StringRef argument);
/// Like hint_by_meaning, for an element type of another system or a misspelt one.
std::string hint_by_type(llvm::StringRef name);
/// Whether the name is an element type of another system.
bool is_foreign_type(llvm::StringRef name);
/// Whether the name is a module of another system: `torch`, `F`.
bool is_foreign_module(llvm::StringRef name);

} // namespace ingot
