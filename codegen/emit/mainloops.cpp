// SPDX-License-Identifier: Apache-2.0
// See mainloops.h.
#include "codegen/emit/mainloops.h"

#include "codegen/emit/functors.h"
#include "ir/fusion/loaded_domain.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

std::string layout_text(const TileBody& body, const Schedule& s) {
  if (s.row_threads == RowThreads::along_columns) {
    const int64_t rows = s.rows_of_a_thread();
    const std::string layout =
        fmt::format("RowLayout<{}, {}, {}, {}{}{}>", s.threads, s.per_row, s.chunks, s.vec,
                    s.cluster > 1 || rows > 1 ? fmt::format(", {}", s.cluster) : "",
                    rows > 1 ? fmt::format(", {}", rows) : "");
    return s.skeleton == Skeleton::kept ? fmt::format("KeptLayout<{}, {}>", layout, s.slots)
                                        : layout;
  }
  const bool scans = llvm::any_of(body.stages, [](const Stage& stage) {
    return std::holds_alternative<ScanStage>(stage.step);
  });
  if (scans) return fmt::format("LaneRunLayout<{}, {}>", s.threads, s.chunks);
  if (s.row_threads == RowThreads::along_both)
    return fmt::format("LaneRowLayout<{}, {}, 1, {}>", s.threads, s.chunks * s.vec, s.vec);
  return fmt::format("LaneRowLayout<{}, {}, {}>", s.threads, s.chunks, s.tile_m / kRowsOfAWarp);
}

void write_mainloop_numbers(CodeWriter& out, const Schedule& s, const std::string& step) {
  std::vector<std::string> numbers;
  const auto add = [&](const char* name, int64_t value) {
    numbers.push_back(fmt::format("{} = {}", name, value));
  };
  add("kTileM", s.tile_m);
  add("kTileN", s.tile_n);
  add("kTileK", s.tile_k);
  const MainloopKind kind = s.mainloop;
  const bool is_thirds = kind == MainloopKind::thirds;
  const bool is_tensor = kind == MainloopKind::tensor || kind == MainloopKind::tensor_guard ||
                         is_thirds || computes_by_mma(kind);
  const bool has_ring =
      is_wgmma(kind) || kind == MainloopKind::nested_wgmma || kind == MainloopKind::resident_wgmma;
  const bool is_halves = kind == MainloopKind::halves;
  const bool is_staged_fma = kind == MainloopKind::staged_fma;
  const bool is_fma_guard = kind == MainloopKind::guard;
  const bool is_swapped = kind == MainloopKind::wgmma_swapped; // a warp has all rows
  if (is_tensor || is_halves || is_fma_guard || (is_wgmma(kind) && !is_swapped) ||
      is_resident(kind))
    add("kWarpM", s.warp_m);
  if (is_resident(kind)) {
    add("kWidest", s.depth);
    add("kNarrowest", narrowest_tile(kind));
  }
  if (is_nested(kind))
    add("kDepth", s.depth);
  else if (!is_resident(kind) && (is_tensor || is_halves || is_fma_guard))
    add("kWarpN", s.warp_n);
  if (s.slots_of_a > 0) add("kSlotsOfA", s.slots_of_a);
  if (!is_staged_fma && !is_fma_guard && !computes_by_mma(kind))
    add(has_ring ? "kRingSlots" : "kStages", s.slots);
  if (is_staged_fma || is_halves) add("kPromoteEvery", s.promote_every);
  if (is_wgmma(kind)) add("kCluster", s.cluster);
  if (is_halves || is_thirds || kind == MainloopKind::wgmma_halves ||
      kind == MainloopKind::wgmma_thirds)
    add("kTotalEvery", s.total_every);
  if (is_tensor) add("kStagedLoads", s.staged_loads);
  add("kGroupRows", s.group_rows);
  if (!step.empty()) numbers.push_back(step);
  write_list(out, "static constexpr int ", numbers, ";");
  if (kind == MainloopKind::resident_wgmma)
    out.line("static constexpr bool kKeepsB = {};", s.keeps_b);
  if (is_wgmma(kind)) out.line("static constexpr bool kInBands = {};", s.in_bands);
  if (is_tensor)
    out.line("static constexpr Compute kCompute = Compute::{};", facts_of(s.compute).name);
}

} // namespace

MainloopType mainloop_of(const Schedule& s) {
  switch (s.mainloop) {
  case MainloopKind::none: break;
  case MainloopKind::staged_fma: return {"SimtMainloop", "tile/simt_mainloop.cuh"};
  case MainloopKind::copied_fma: return {"FmaMainloop", "tile/fma_mainloop.cuh"};
  case MainloopKind::tensor: return {"MmaMainloop", "tile/mma_mainloop.cuh"};
  case MainloopKind::thirds: return {"ThirdsMainloop", "tile/thirds_mainloop.cuh"};
  case MainloopKind::halves: return {"HalvesMainloop", "tile/halves_mainloop.cuh"};
  case MainloopKind::wgmma: return {"WgmmaMainloop", "tile/wgmma_mainloop.cuh"};
  case MainloopKind::wgmma_swapped:
    return {"WgmmaSwappedMainloop", "tile/wgmma_swapped_mainloop.cuh"};
  case MainloopKind::wgmma_halves: return {"WgmmaHalvesMainloop", "tile/wgmma_halves_mainloop.cuh"};
  case MainloopKind::wgmma_thirds: return {"WgmmaThirdsMainloop", "tile/wgmma_thirds_mainloop.cuh"};
  case MainloopKind::guard: return {"GuardMainloop", "tile/guard_mainloop.cuh"};
  case MainloopKind::tensor_guard: return {"TensorGuardMainloop", "tile/guard_mainloop.cuh"};
  case MainloopKind::nested: return {"NestedMainloop", "tile/nested_mainloop.cuh"};
  case MainloopKind::nested_thirds:
    return {"NestedThirdsMainloop", "tile/nested_thirds_mainloop.cuh"};
  case MainloopKind::resident: return {"ResidentMainloop", "tile/resident_mainloop.cuh"};
  case MainloopKind::resident_thirds:
    return {"ResidentThirdsMainloop", "tile/resident_thirds_mainloop.cuh"};
  case MainloopKind::resident_wgmma:
    return {"ResidentWgmmaMainloop", "tile/resident_wgmma_mainloop.cuh"};
  case MainloopKind::nested_wgmma: return {"NestedWgmmaMainloop", "tile/nested_wgmma_mainloop.cuh"};
  }
  llvm_unreachable("not a mainloop");
}

bool has_fixed_steps(const Kernel& kernel) {
  return llvm::all_of(kernel.variants, [](const Variant& variant) {
    const auto step = variant.tile_columns.constant();
    return step && *step <= INT32_MAX;
  });
}

void write_source_numbers(CodeWriter& out, const Kernel& kernel, const Variant& variant,
                          const std::string& name) {
  const auto& body = std::get<TileBody>(kernel.body);
  const Schedule& s = variant.schedule;
  std::string step;
  if (has_fixed_steps(kernel)) step = "kStepN = " + variant.tile_columns.text();
  if (body.mainloops.empty()) {
    out.line("using Layout = {};", layout_text(body, s));
    out.line("static constexpr int kTileM = {}, kGroupRows = {}{};", s.tile_m, s.group_rows,
             step.empty() ? "" : ", " + step);
    return;
  }
  if (is_resident(s.mainloop))
    out.line("template <class... Parts> using Mainloop = {}<{}, Parts...>;", mainloop_of(s).type,
             name);
  else
    out.line("template <class A, class B> using Mainloop = {}<{}, A, B>;", mainloop_of(s).type,
             name);
  write_mainloop_numbers(out, s, step);
}

} // namespace ingot
