// SPDX-License-Identifier: Apache-2.0
// The words for enumerations in a manifest, and the texts for words that are none of them. Its
// writer, reader and checker use them, and reports.
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
inline constexpr llvm::StringLiteral kArgumentsExpected =
    "expected input, output, param, prepared, workspace, state, dim or tensormap";

inline constexpr std::pair<PredicateKind, llvm::StringLiteral> kPredicateWords[] = {
    {PredicateKind::divisible, "divisible"}, {PredicateKind::aligned, "aligned"}};
inline constexpr llvm::StringLiteral kPredicatesExpected = "expected divisible or aligned";

inline constexpr std::pair<MapType, llvm::StringLiteral> kMapWords[] = {
    {MapType::f16, "f16"}, {MapType::bf16, "bf16"}, {MapType::f32, "f32"}, {MapType::tf32, "tf32"}};
inline constexpr llvm::StringLiteral kMapsExpected = "expected f16, bf16, f32 or tf32";

template <class Kind, size_t N>
llvm::StringRef word_in(const std::pair<Kind, llvm::StringLiteral> (&words)[N], Kind kind) {
  for (const auto& [value, word] : words)
    if (value == kind) return word;
  return "";
}

inline llvm::StringRef word_of(ArgumentKind kind) { return word_in(kArgumentWords, kind); }
inline llvm::StringRef word_of(PredicateKind kind) { return word_in(kPredicateWords, kind); }
inline llvm::StringRef word_of(MapType type) { return word_in(kMapWords, type); }

/// Whether an argument is an offset into one of the caller's memories.
inline bool is_memory(ArgumentKind kind) {
  return kind == ArgumentKind::prepared || kind == ArgumentKind::workspace ||
         kind == ArgumentKind::state;
}

} // namespace ingot
