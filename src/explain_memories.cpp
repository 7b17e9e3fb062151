// SPDX-License-Identifier: Apache-2.0
// See explain_memories.h.
#include "src/explain_memories.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <tuple>

namespace ingot {

Memories::Memories(const Module& module) : module_(module) {
  for (const KernelCode& kernel : module.kernels)
    for (const Argument& argument : kernel.variants.front().arguments)
      if (is_memory(argument.kind))
        places_[argument.kind].index.try_emplace(argument.offset.text(), argument.offset,
                                                 size_t{0});
  for (auto& [kind, places] : places_) sort(places);
}

std::string Memories::name(const Argument& argument) const {
  return fmt::format("{} {}", argument.kind == ArgumentKind::prepared ? "prepared" : "workspace",
                     position(argument));
}

Expr Memories::size(const Argument& argument) const {
  const std::vector<Expr>& offsets = places_.at(argument.kind).offsets;
  const size_t next = position(argument) + 1;
  const Expr total =
      (argument.kind == ArgumentKind::prepared ? module_.prepared : module_.workspace).bytes;
  return (next < offsets.size() ? offsets[next] : total) - argument.offset;
}

/// Offsets are sums of sizes, so that any sizes of the dims order them. What is empty at 1 adds a
/// term all the same.
void Memories::sort(Places& places) {
  std::vector<std::tuple<std::optional<int64_t>, size_t, std::string>> ranks;
  ranks.reserve(places.index.size());
  for (const auto& [text, place] : places.index)
    ranks.emplace_back(place.first.evaluate([](llvm::StringRef) { return 1; }), text.size(), text);
  llvm::sort(ranks);
  for (const auto& [at_one, length, text] : ranks) {
    auto& [offset, position] = places.index.at(text);
    position = places.offsets.size();
    places.offsets.push_back(offset);
  }
}

} // namespace ingot
