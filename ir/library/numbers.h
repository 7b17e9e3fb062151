// SPDX-License-Identifier: Apache-2.0
// Functions whose arguments are all numbers give a number, as in Python. It has no element type
// until it is used with a tensor. The parser calls them.
#pragma once

#include "ir/library.h"

namespace ingot {

/// The value of a call whose arguments are numbers, truth values and texts, computed in f64. It is
/// a number or a truth value, and an integer if all numbers are integers and the result is exact.
/// nullopt if an argument is of another kind, if the call fails, or if its result is not one
/// scalar.
std::optional<LibraryArgument> value_of_numbers(llvm::StringRef function,
                                                llvm::ArrayRef<CallArgument> arguments);

} // namespace ingot
