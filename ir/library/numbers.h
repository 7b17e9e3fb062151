// SPDX-License-Identifier: Apache-2.0
// Functions of numbers alone are numbers, as in Python: they have no element type until they stand
// beside a tensor. Called by the parser.
#pragma once

#include "ir/library.h"

namespace ingot {

/// What a call gives whose arguments are numbers, truth values and texts: a number or a truth
/// value, computed in f64. Integers give an integer where that is the value. nullopt where an
/// argument is something else, and where the call fails or does not give one scalar.
std::optional<LibraryArgument> value_of_numbers(llvm::StringRef function,
                                                llvm::ArrayRef<CallArgument> arguments);

} // namespace ingot
