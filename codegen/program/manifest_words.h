// SPDX-License-Identifier: Apache-2.0
// The words for enumerations in a manifest. Its writer, reader and checker use them, and reports.
#pragma once

#include "codegen/program/program.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <utility>

namespace ingot {

inline constexpr std::pair<ArgumentKind, llvm::StringLiteral> kArgumentWords[] = {
    {ArgumentKind::input, "input"},
    {ArgumentKind::output, "output"},
    {ArgumentKind::param, "param"},
    {ArgumentKind::prepared, "prepared"},
    {ArgumentKind::workspace, "workspace"},
    {ArgumentKind::state, "state"},
    {ArgumentKind::dim, "dim"},
    {ArgumentKind::tensormap, "tensormap"}};

inline constexpr std::pair<PredicateKind, llvm::StringLiteral> kPredicateWords[] = {
    {PredicateKind::divisible, "divisible"}, {PredicateKind::aligned, "aligned"}};

inline llvm::StringRef word_of(ArgumentKind kind) {
  for (const auto& [value, word] : kArgumentWords)
    if (value == kind) return word;
  return "";
}

inline llvm::StringRef word_of(PredicateKind kind) {
  for (const auto& [value, word] : kPredicateWords)
    if (value == kind) return word;
  return "";
}

/// Whether an argument is an offset into one of the caller's memories.
inline bool is_memory(ArgumentKind kind) {
  return kind == ArgumentKind::prepared || kind == ArgumentKind::workspace ||
         kind == ArgumentKind::state;
}

} // namespace ingot
