// SPDX-License-Identifier: Apache-2.0
// See candidates.h.
#include "codegen/schedule/candidates.h"

#include "codegen/schedule/choosers.h"
#include "codegen/schedule/wgmma.h"
#include "ir/fusion/loaded_domain.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

constexpr int64_t kMostThreads = 1024;    ///< per block
constexpr int64_t kMostRegisters = 255;   ///< per thread
constexpr int64_t kLoopRegisters = 64;    ///< a mainloop's fragments, addresses and counters
constexpr int64_t kAddressRegisters = 32; ///< a mainloop's addresses and counters
constexpr int64_t kRowRegisters = 24;     ///< addresses and the state of a reduction
constexpr int64_t kLeastRegisters = 32;   ///< the stages of any kernel need these

/// The registers of a thread for its sums of `products` and for the mainloop.
int64_t product_registers(const Schedule& s, int64_t products) {
  const int64_t sums = s.tile_m * s.tile_n / s.threads;
  switch (s.mainloop) {
  case MainloopKind::none: break;
  case MainloopKind::tensor: return products * sums + kLoopRegisters;
  // A promoted sum takes three registers: its chain, its value and the error of the value.
  case MainloopKind::staged_fma:
    return (s.promote_every > 0 ? 3 : 1) * products * sums + kLoopRegisters;
  // A thread loads four k of its rows and columns at a time, one step ahead.
  case MainloopKind::copied_fma:
    return products * sums + 8 * (s.tile_m / 16 + s.tile_n / 16) + kAddressRegisters;
  // All products use one set of parts, one after the other.
  case MainloopKind::thirds:
  case MainloopKind::halves: return (products + 1) * sums + kLoopRegisters;
  case MainloopKind::wgmma: // wgmma_candidates counts them
  case MainloopKind::wgmma_swapped:
  case MainloopKind::wgmma_halves:
  case MainloopKind::wgmma_thirds:
  case MainloopKind::nested: // nested_candidates counts them
  case MainloopKind::nested_thirds:
  case MainloopKind::nested_wgmma:
  case MainloopKind::resident:
  case MainloopKind::resident_thirds:
  case MainloopKind::resident_wgmma: return 0;
  case MainloopKind::guard:
  case MainloopKind::tensor_guard: break; // no tuner chooses them
  }
  llvm_unreachable("not a mainloop");
}

/// True if a thread under `s` has enough registers for its sums and the rest of its work.
bool has_registers(const Group& group, const Schedule& s, const DeviceSpec& device) {
  const int64_t given =
      std::min(kMostRegisters, device.registers_per_sm / (s.threads * s.min_blocks_per_sm));
  if (group.matmuls.empty()) {
    const bool held = s.skeleton == Skeleton::held;
    const int64_t elements = s.tile_m * s.tile_n / s.threads;
    // If a lane has several rows, a chunk is loaded at once, packed.
    const bool packed = s.row_threads == RowThreads::along_rows && s.tile_m > kRowsOfAWarp;
    const int64_t kept = held ? elements : packed ? elements / 2 : 0;
    return given >= std::max(kLeastRegisters, kept + kRowRegisters);
  }
  return given >= product_registers(s, static_cast<int64_t>(product_tiles(group)));
}

bool fits(const Schedule& s, const DeviceSpec& device) {
  return s.threads <= kMostThreads && s.threads * s.min_blocks_per_sm <= device.threads_per_sm &&
         s.min_blocks_per_sm <= std::max<int64_t>(1, blocks_by_memory(s.shared_bytes, device));
}

/// Choices for a kernel whose own schedule is `usual`.
std::vector<ScheduleChoice> product_choices(const Schedule& usual) {
  std::vector<ScheduleChoice> choices;
  const bool is_tensor = usual.mainloop == MainloopKind::tensor;
  const bool large = is_tensor && usual.tile_m == 128 && usual.warp_n == 64;
  const bool split = usual.splits_k();
  // The cost model does not know rasterisation: it varies only for the usual tile.
  for (int64_t group_rows : {4, 16}) choices.emplace_back().group_rows = group_rows;
  if (split) choices.emplace_back().split_k = 1;
  llvm::SmallVector<int64_t, 5> slots;
  switch (usual.mainloop) {
  case MainloopKind::none: break;
  case MainloopKind::tensor: slots = {2, 3, 4, 5, 6}; break;
  case MainloopKind::copied_fma: slots = {3, 4}; break;
  case MainloopKind::staged_fma: slots = {0}; break;
  case MainloopKind::thirds:
  case MainloopKind::halves: slots = {0, 3, 4, 5, 6}; break;
  case MainloopKind::wgmma:
  case MainloopKind::wgmma_swapped:
  case MainloopKind::wgmma_halves:
  case MainloopKind::wgmma_thirds:
  case MainloopKind::guard:
  case MainloopKind::tensor_guard:
  case MainloopKind::nested:
  case MainloopKind::nested_thirds:
  case MainloopKind::nested_wgmma:
  case MainloopKind::resident:
  case MainloopKind::resident_thirds:
  case MainloopKind::resident_wgmma: break;
  }
  for (int64_t tile_m : {int64_t{64}, usual.tile_m})
    for (int64_t tile_n : {64, 128, 256})
      for (int64_t warp_n : {32, 64})
        for (int64_t slot_count : slots)
          for (int64_t blocks : {1, 2}) {
            if (tile_n == 256 && (!large || split)) continue;
            if (warp_n == 64 && (!large || tile_m < 128 || tile_n < 128)) continue;
            ScheduleChoice& choice = choices.emplace_back();
            choice.tile_m = tile_m;
            choice.tile_n = tile_n;
            choice.warp_n = is_tensor ? warp_n : 0;
            choice.slots = slot_count;
            choice.min_blocks = blocks;
          }
  return choices;
}

std::vector<ScheduleChoice> row_choices(const Schedule& usual) {
  std::vector<ScheduleChoice> choices;
  if (usual.skeleton == Skeleton::scanned) return choices;
  const bool lanes = usual.row_threads != RowThreads::along_columns;
  llvm::SmallVector<int64_t, 8> threads = {32, 64, 128, 256, 512, 1024};
  llvm::SmallVector<int64_t, 4> tiles = {0};
  llvm::SmallVector<int64_t, 8> residents = {0, 2, 3, 4, 6};
  if (lanes) {
    residents = {0};
    threads = {2, 4, 8, 16, 32}; // warps
    tiles = {kRowsOfAWarp, 2 * kRowsOfAWarp, 4 * kRowsOfAWarp};
  }
  for (int64_t tile_m : tiles)
    for (int64_t per_row : threads)
      for (int64_t held : {8, 16, 32})
        for (int64_t blocks : residents) {
          ScheduleChoice& choice = choices.emplace_back();
          choice.tile_m = tile_m;
          choice.per_row = per_row;
          choice.held = held;
          choice.min_blocks = blocks;
        }
  for (int64_t per_row : {256, 512})
    for (int64_t held : {8, 16, 32})
      for (int64_t cluster : kClusterSizes) {
        ScheduleChoice& choice = choices.emplace_back();
        choice.per_row = per_row;
        choice.held = held;
        choice.cluster = cluster;
      }
  return choices;
}

std::vector<ScheduleChoice> choices_for(const ScheduleSite& site, const Schedule& usual) {
  if (site.group.computed) {
    std::vector<ScheduleChoice> choices;
    for (const auto& candidate : nested_candidates(site, {usual}))
      choices.push_back(choice_of(candidate.front()));
    return choices;
  }
  if (site.group.matmuls.empty()) return row_choices(usual);
  if (site.options.family == Family::sm_80) return product_choices(usual);
  auto others = choose_product_schedules(site, {}); // by mma.sync
  if (!others) return llvm::consumeError(others.takeError()), std::vector<ScheduleChoice>();
  std::vector<ScheduleChoice> choices = product_choices(others->front());
  choices.emplace_back().group_rows = others->front().group_rows;
  for (const auto& candidate : wgmma_candidates(site, {}))
    choices.push_back(choice_of(candidate.front()));
  return choices;
}

} // namespace

std::optional<std::vector<Schedule>> chosen_schedules(const ScheduleSite& site,
                                                      const ScheduleChoice& choice) {
  auto usual = choose_schedules(site);
  if (!usual) return llvm::consumeError(usual.takeError()), std::nullopt;
  if (choice == ScheduleChoice()) return std::move(*usual);
  if (!llvm::is_contained(choices_for(site, usual->front()), choice)) return std::nullopt;
  auto schedules = choose_schedules(site, choice);
  if (!schedules) return llvm::consumeError(schedules.takeError()), std::nullopt;
  const Schedule& first = schedules->front();
  // If no row is held, a lower register limit leaves the registers the same.
  const bool is_idle =
      site.group.matmuls.empty() && choice.min_blocks > 0 && first.skeleton != Skeleton::held;
  const bool runs = llvm::all_of(*schedules, [&](const Schedule& s) {
    return fits(s, site.device) && has_registers(site.group, s, site.device);
  });
  if (is_idle || !runs) return std::nullopt;
  return std::move(*schedules);
}

std::vector<ScheduleCandidate> candidates(const ScheduleSite& site,
                                          const std::map<std::string, int64_t>& dims) {
  std::vector<ScheduleCandidate> result;
  auto add = [&](const ScheduleChoice& choice) {
    auto schedules = chosen_schedules(site, choice);
    if (!schedules || llvm::any_of(result, [&](const ScheduleCandidate& c) {
          return c.schedules.front() == schedules->front();
        }))
      return;
    const KernelCost cost = predict(site.kernel, schedules->front(), site.device, dims);
    result.push_back({choice, std::move(*schedules), cost});
  };
  add({});
  if (result.empty()) return result;
  for (const ScheduleChoice& choice : choices_for(site, result.front().schedules.front()))
    add(choice);
  std::stable_sort(result.begin() + 1, result.end(),
                   [](const ScheduleCandidate& a, const ScheduleCandidate& b) {
                     return a.cost.seconds < b.cost.seconds;
                   });
  return result;
}

} // namespace ingot
