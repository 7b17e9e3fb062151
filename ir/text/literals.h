// SPDX-License-Identifier: Apache-2.0
// Arithmetic on values that are known while a spec is read: numbers and named dimensions.
#pragma once

#include "ir/library.h"
#include "ir/text/lexer.h"

namespace ingot {

/// An integer or real token as a number. Errors: out of range.
llvm::Expected<LibraryArgument> parse_number(const Token& token);

/// Whether neither side is a tensor and `op` is one of + - * / % **.
bool folds(TokenKind op, const LibraryArgument& a, const LibraryArgument& b);
/// The value of `a op b` where it folds. Integers stay integers if the result is exact. Errors:
/// overflow; dimensions with % and **; a division by 0 with %.
llvm::Expected<LibraryArgument> fold(TokenKind op, const LibraryArgument& a,
                                     const LibraryArgument& b);
/// -x for a number; nullopt for anything else.
std::optional<LibraryArgument> fold_negation(const LibraryArgument& x);

/// The value of a call whose arguments are numbers, truth values and texts, computed in f64 by the
/// reference interpreter. As in Python it is a number or a truth value, without an element type
/// until it is used with a tensor, and an integer if all numbers are integers and the result is
/// exact. nullopt if an argument is of another kind, if the call fails, or if its result is not one
/// scalar.
std::optional<LibraryArgument> value_of_numbers(llvm::StringRef function,
                                                llvm::ArrayRef<CallArgument> arguments);

} // namespace ingot
