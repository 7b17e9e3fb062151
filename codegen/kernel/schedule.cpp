// SPDX-License-Identifier: Apache-2.0
// See schedule.h.
#include "codegen/kernel/schedule.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace ingot {

llvm::StringRef spelling(Skeleton skeleton) {
  static const char* const names[] = {"held", "streamed", "scanned", "split", "halving"};
  return names[static_cast<size_t>(skeleton)];
}

const ComputeFacts& facts_of(ComputeType compute) {
  static constexpr ComputeFacts facts[] = {
      {"f32", 4, 0}, {"f16", 2, 1}, {"bf16", 2, 1}, {"tf32", 4, 2}, {"f16x3", 4, 3}};
  return facts[static_cast<size_t>(compute)];
}

MainloopKind Schedule::mainloop() const {
  if (source == SourceKind::simt)
    return copies() ? MainloopKind::copied_fma : MainloopKind::staged_fma;
  return compute == ComputeType::f16x3 ? MainloopKind::halves : MainloopKind::tensor;
}

bool Schedule::copies() const {
  return llvm::all_of(operands,
                      [](const OperandSchedule& o) { return o.path == PathKind::direct; });
}

std::string Schedule::text() const {
  if (skeleton == Skeleton::halving)
    return fmt::format("halving {}x{} threads {} vec {}", tile_m, tile_k, threads,
                       operands.front().vec);
  if (source == SourceKind::loaded)
    return fmt::format("{} {}x{} threads {} per-row {} {} vec {}{}", spelling(skeleton).str(),
                       tile_m, tile_n, threads, per_row,
                       row_threads == RowThreads::along_rows ? "along-rows" : "along-columns", vec,
                       skeleton == Skeleton::split ? fmt::format(" parts {}", parts) : "");
  std::string paths;
  for (size_t i = 0; i < operands.size(); ++i)
    paths +=
        fmt::format(" {} {}*{}", i % 2 == 0 ? "a" : "b",
                    operands[i].path == PathKind::direct ? "direct" : "staged", operands[i].vec);
  return fmt::format(
      "{} {} {}x{}x{} step {} warp {}x{} stages {} threads {}{} vec {}{}{}{}",
      source == SourceKind::simt ? "simt" : "mma", facts_of(compute).name, tile_m, tile_n, tile_k,
      step_n, warp_m, warp_n, stages, threads, paths, vec,
      staging == Staging::none ? "" : " staged-stores",
      (promote_every > 0 ? fmt::format(" promote {}", promote_every) : "") +
          (total_every > 0 ? fmt::format(" total {}", total_every) : ""),
      scheduler == TileScheduler::split_k ? fmt::format(" split-k at most {}", split_k) : "");
}

} // namespace ingot
