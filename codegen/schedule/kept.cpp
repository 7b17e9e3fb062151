// SPDX-License-Identifier: Apache-2.0
// Schedules of rows that stay in shared memory (codegen/device/kernels/kept.cuh). See choosers.h.
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/walks.h"
#include "codegen/schedule/choosers.h"

#include <algorithm>

namespace ingot {
namespace {

constexpr int64_t kThreads = 512;
constexpr int64_t kMostBlocksOfAnSm = 2; ///< 64 registers a thread
/// Chunks. A wait in kernels/kept.cuh leaves at most 7 in flight, and waits for the older ones.
constexpr int64_t kMostAhead = 7;

/// Elements of a chunk per thread, of which 64 registers hold those of all operands and the states
/// of the reductions. An H100's layer norm of f32 [4096, 65536] takes 0.826 ms with 8 elements, and
/// 0.901 with 16, of which some spill.
int64_t elements_of_chunk(const TileBody& body) {
  constexpr int64_t kMany = 16, kFew = 8, kFewStateBytes = 8;
  int64_t states = 0;
  for (const Stage& stage : body.stages)
    if (const auto* reduce = std::get_if<ReduceStage>(&stage.step))
      states += state_bytes(reduce->reducer);
  return kept_reads(body).size() == 1 && states <= kFewStateBytes ? kMany : kFew;
}

/// Adds slots, in which chunks of later rows arrive while the threads of a row wait for one
/// another. If an SM has two blocks, the other one goes on meanwhile, and more slots do not pay: an
/// H200's layer norm of f32 [4096, 65536] takes 0.565 ms without, and 0.576 with three more.
void take_memory_left(const ScheduleSite& site, Schedule& s) {
  if (s.min_blocks_per_sm > 1) return;
  for (int64_t ahead = 0; ahead < kMostAhead; ++ahead) {
    Schedule more = s;
    ++more.slots;
    more.shared_bytes = shared_bytes(site.kernel, more);
    if (more.shared_bytes > site.device.shared_per_block) return;
    s = more;
  }
}

/// The kernel's rows in shared memory, by clusters of so many blocks; nothing if they do not fit.
std::optional<Schedule> kept_rows(const ScheduleSite& site, const Schedule& streamed,
                                  const ScheduleChoice& choice, int64_t cluster) {
  const int64_t threads = choice.per_row > 0 ? choice.per_row : kThreads;
  const int64_t elements =
      choice.held > 0 ? choice.held : elements_of_chunk(std::get<TileBody>(site.kernel.body));
  Schedule s = streamed;
  s.skeleton = Skeleton::kept;
  s.threads = s.per_row = threads;
  s.tile_m = 1;
  s.chunks = std::max<int64_t>(1, elements / s.vec);
  s.tile_n = s.step_n = s.per_row * s.chunks * s.vec;
  s.cluster = cluster;
  if (!can_keep(site.kernel, s)) return std::nullopt;
  const int64_t columns = *std::get<TileBody>(site.kernel.body).columns.constant();
  const int64_t part = sizes::kept_columns(columns, static_cast<int>(cluster));
  if (part > site.device.shared_per_block) return std::nullopt; // sizes in bytes may overflow
  s.slots = (part + s.tile_n - 1) / s.tile_n;
  s.shared_bytes = shared_bytes(site.kernel, s);
  if (s.shared_bytes > site.device.shared_per_block) return std::nullopt;
  s.min_blocks_per_sm =
      std::clamp<int64_t>(blocks_by_memory(s.shared_bytes, site.device), 1,
                          std::max<int64_t>(1, kMostBlocksOfAnSm * kThreads / threads));
  take_memory_left(site, s);
  const int64_t sms = cluster > 2 ? site.device.clustered_sms() : site.device.sm_count;
  s.most_blocks = sms * s.min_blocks_per_sm / cluster * cluster;
  return s.most_blocks > 0 ? std::optional(s) : std::nullopt;
}

} // namespace

Candidates kept_candidates(const ScheduleSite& site, llvm::ArrayRef<Schedule> streamed,
                           const ScheduleChoice& choice) {
  std::vector<std::vector<Schedule>> result;
  const Schedule& first = streamed.front();
  if (first.skeleton != Skeleton::streamed || first.row_threads != RowThreads::along_columns)
    return result;
  const bool has_clusters = site.options.family != Family::sm_80;
  for (int64_t cluster : kClusterSizes) {
    if ((cluster > 1 && !has_clusters) || (choice.cluster > 0 && choice.cluster != cluster))
      continue;
    const auto kept = kept_rows(site, first, choice, cluster);
    if (!kept) continue;
    std::vector<Schedule>& candidate = result.emplace_back();
    candidate.push_back(*kept);
    candidate.insert(candidate.end(), streamed.begin(), streamed.end());
  }
  return result;
}

} // namespace ingot
