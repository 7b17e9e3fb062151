// SPDX-License-Identifier: Apache-2.0
// See schedule.h.
#include "codegen/kernel/schedule.h"

#include <fmt/format.h>
#include <tuple>

namespace ingot {

llvm::StringRef spelling(Skeleton skeleton) {
  static const char* const names[] = {"held",          "streamed",          "scanned",      "split",
                                      "packing_tiles", "specialised",       "packing_rows", "kept",
                                      "nested",        "nested_specialised"};
  return names[static_cast<size_t>(skeleton)];
}

llvm::StringRef spelling(RowThreads threads) {
  static const char* const names[] = {"along-columns", "along-rows", "along-both"};
  return names[static_cast<size_t>(threads)];
}

llvm::StringRef spelling(PathKind path) {
  static const char* const names[] = {"direct", "staged", "mapped"};
  return names[static_cast<size_t>(path)];
}

const ComputeFacts& facts_of(ComputeType compute) {
  static constexpr ComputeFacts facts[] = {{"f32", 4, 0},    {"f16", 2, 1},   {"bf16", 2, 1},
                                           {"tf32", 4, 2},   {"f16x3", 4, 3}, {"f16x1", 2, 1},
                                           {"bf16x3", 4, 6}, {"bf16x2", 4, 3}};
  return facts[static_cast<size_t>(compute)];
}

bool Schedule::cuts_like(const Schedule& other) const {
  const auto cut = [](const Schedule& s) {
    return std::tuple(s.skeleton == Skeleton::split, s.tile_m, s.tile_n, s.step_n, s.split_k,
                      s.split_depth, s.split_blocks, s.parts);
  };
  return cut(*this) == cut(other);
}

bool Schedule::multiplies_like(const Schedule& other) const {
  const auto numbers = [](const Schedule& s) {
    return std::tie(s.mainloop, s.compute, s.tile_m, s.tile_n, s.tile_k, s.step_n, s.warp_m,
                    s.warp_n, s.depth, s.slots, s.slots_of_a, s.keeps_b, s.threads, s.promote_every,
                    s.total_every, s.split_k, s.group_rows, s.cluster, s.packs_a, s.operands);
  };
  return numbers(*this) == numbers(other);
}

namespace {

const char* instructions_of(const Schedule& s) {
  if (is_wgmma(s.mainloop)) return "wgmma";
  if (is_guard(s.mainloop)) return "guard";
  if (s.mainloop == MainloopKind::nested || s.mainloop == MainloopKind::nested_thirds)
    return "nested mma";
  if (s.mainloop == MainloopKind::nested_wgmma) return "nested wgmma";
  if (s.mainloop == MainloopKind::resident || s.mainloop == MainloopKind::resident_thirds)
    return "resident mma";
  if (s.mainloop == MainloopKind::resident_wgmma) return "resident wgmma";
  return s.uses_tensor_cores() ? "mma" : "simt";
}

const char* operand_text(const Schedule& s, size_t number) {
  static const char* const of_nested[] = {"a of a", "b of a", "b"};
  if (is_nested(s.mainloop)) return of_nested[number];
  // The first of resident tiles has both operands, others have b.
  return number == 0 || (number % 2 == 0 && !is_resident(s.mainloop)) ? "a" : "b";
}

} // namespace

std::string Schedule::text() const {
  if (skeleton == Skeleton::packing_tiles || skeleton == Skeleton::packing_rows)
    return fmt::format("{} {}x{} threads {} vec {}", spelling(skeleton).str(), tile_m, tile_k,
                       threads, operands.front().vec);
  if (mainloop == MainloopKind::none)
    return fmt::format("{} {}x{} threads {} per-row {} {} vec {}{}", spelling(skeleton).str(),
                       tile_m, tile_n, threads, per_row, spelling(row_threads).str(), vec,
                       skeleton == Skeleton::split ? fmt::format(" parts {}", parts)
                       : skeleton == Skeleton::kept
                           ? fmt::format(" cluster {} slots {}", cluster, slots)
                           : "");
  std::string paths = is_nested(mainloop)     ? fmt::format(" depth {}", depth)
                      : is_resident(mainloop) ? fmt::format(" widest {}", depth)
                                              : "";
  if (slots_of_a > 0)
    paths += fmt::format(" stages-of-a {}{}", slots_of_a, keeps_b ? " keeps-b" : "");
  for (size_t i = 0; i < operands.size(); ++i)
    paths += fmt::format(" {} {}*{}", operand_text(*this, i), spelling(operands[i].path).str(),
                         operands[i].vec);
  return fmt::format("{} {} {}x{}x{} step {} warp {}x{} stages {} threads {}{} vec {}{}{}{}",
                     instructions_of(*this), facts_of(compute).name, tile_m, tile_n, tile_k, step_n,
                     warp_m, warp_n, slots, threads, paths, vec,
                     std::string(staged_stores ? " staged-stores" : "") +
                         (in_bands ? " in-bands" : "") + (packs_a ? " packs-a" : ""),
                     (promote_every > 0 ? fmt::format(" promote {}", promote_every) : "") +
                         (total_every > 0 ? fmt::format(" total {}", total_every) : ""),
                     splits_k()    ? fmt::format(" split-k at most {}", split_k)
                     : cluster > 1 ? fmt::format(" cluster {}", cluster)
                                   : "");
}

} // namespace ingot
