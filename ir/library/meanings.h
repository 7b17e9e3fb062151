// SPDX-License-Identifier: Apache-2.0
// What people mean by names that no function has: the rows of ir/meanings.def. Called where a name
// is unknown.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace ingot {

struct Meaning {
  llvm::StringRef name; ///< in small letters, without _
  llvm::StringRef text; ///< what to write instead, or why it stays out
};

llvm::ArrayRef<Meaning> meanings();
/// `; TEXT` of a name, whatever its case and with or without _; empty where no row has it.
std::string hint_by_meaning(llvm::StringRef name);
/// The same of an argument that a function does not have.
std::string hint_by_argument(llvm::StringRef function, llvm::StringRef argument);
/// The same of an element type of another system, or one that is misspelt.
std::string hint_by_type(llvm::StringRef name);
/// Whether a row of types has the name.
bool is_foreign_type(llvm::StringRef name);
/// Whether it is a module of another system: `torch`, `F`.
bool is_foreign_module(llvm::StringRef name);

} // namespace ingot
