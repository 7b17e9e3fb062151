// SPDX-License-Identifier: Apache-2.0
// See choose.h.
#include "codegen/schedule/choose.h"

#include "codegen/kernel/mapping.h"
#include "codegen/kernel/packing.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/split_k.h"
#include "codegen/schedule/choosers.h"
#include "codegen/schedule/cost_model.h"
#include "codegen/schedule/halves.h"
#include "codegen/schedule/wgmma.h"
#include "ir/assumed_size.h"
#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

namespace ingot {

std::optional<ComputeType> compute_type(const Graph& graph, const Group& group,
                                        const ScheduleOptions& options) {
  switch (graph.type(graph.op(group.matmuls.front().op).operands[0]).dtype) {
  case DType::f16: return ComputeType::f16;
  case DType::bf16: return ComputeType::bf16;
  case DType::f32: break;
  default: return std::nullopt;
  }
  MatmulPrecision precision = options.precision; // that of the shortest contraction
  for (const Matmul& matmul : group.matmuls)
    precision = precision_of(precision, group.space.extent(matmul.contraction));
  if (precision == MatmulPrecision::high) return ComputeType::tf32;
  if (precision == MatmulPrecision::medium) return ComputeType::bf16;
  if (suits_halves(graph, group, options)) return ComputeType::f16x3;
  const bool has_thirds =
      precision == MatmulPrecision::highest && suits_thirds(graph, group, options);
  return has_thirds ? ComputeType::bf16x3 : ComputeType::f32;
}

namespace {

struct ChoiceField {
  llvm::StringRef name;
  int64_t ScheduleChoice::* value;
};
constexpr ChoiceField kChoiceFields[] = {
    {"tile_m", &ScheduleChoice::tile_m},   {"tile_n", &ScheduleChoice::tile_n},
    {"warp_m", &ScheduleChoice::warp_m},   {"warp_n", &ScheduleChoice::warp_n},
    {"stages", &ScheduleChoice::slots},    {"group_rows", &ScheduleChoice::group_rows},
    {"split_k", &ScheduleChoice::split_k}, {"per_row", &ScheduleChoice::per_row},
    {"held", &ScheduleChoice::held},       {"min_blocks", &ScheduleChoice::min_blocks},
    {"cluster", &ScheduleChoice::cluster}, {"tile_k", &ScheduleChoice::tile_k},
    {"packs_a", &ScheduleChoice::packs_a}, {"wgmma", &ScheduleChoice::wgmma}};

} // namespace

std::string ScheduleChoice::text() const {
  std::string text;
  for (const auto& [name, value] : kChoiceFields)
    if (this->*value > 0)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name.str(), this->*value);
  return text;
}

llvm::Expected<ScheduleChoice> ScheduleChoice::parse(llvm::StringRef text) {
  ScheduleChoice choice;
  llvm::SmallVector<llvm::StringRef, 8> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    const auto [name, number] = word.split('=');
    const auto* field = llvm::find_if(kChoiceFields, [&](auto& f) { return f.name == name; });
    int64_t value = 0;
    if (field == std::end(kChoiceFields) || number.getAsInteger(10, value) || value < 1 ||
        value > 4096)
      return make_error(ErrorCode::invalid_argument,
                        "a choice of schedule: expected NAME=NUMBER with a number from 1 to 4096, "
                        "got '{}'",
                        word.str());
    choice.*field->value = value;
  }
  return choice;
}

ScheduleChoice choice_of(const Schedule& s) {
  ScheduleChoice choice;
  choice.tile_m = s.tile_m;
  choice.tile_n = s.tile_n;
  choice.group_rows = s.group_rows;
  choice.split_k = s.splits_k() ? 0 : 1;
  if (s.is_specialised()) {
    choice.warp_m = s.warp_m;
    choice.tile_k = s.tile_k;
    choice.wgmma = s.slots;
    choice.cluster = s.cluster;
    choice.packs_a = s.packs_a ? 1 : 0;
    return choice;
  }
  choice.min_blocks = s.min_blocks_per_sm;
  if (s.mainloop == MainloopKind::tensor) {
    choice.warp_n = s.warp_n;
    choice.slots = s.slots;
  }
  return choice;
}

namespace {

/// Takes the candidate with so many slots, and with the chosen tile: the one that splits K, if it
/// may. Blocks are in clusters only if those are chosen.
llvm::Error take_wgmma(const ScheduleSite& site, const ScheduleChoice& choice,
                       std::vector<Schedule>& schedules) {
  if (site.group.matmuls.empty())
    return make_error(ErrorCode::unsupported, "a kernel without a matmul has no products by wgmma");
  const auto takes = [](int64_t chosen, int64_t is) { return chosen == 0 || chosen == is; };
  ScheduleChoice usual = choice;
  usual.tile_m = usual.tile_n = usual.tile_k = usual.warp_m = usual.cluster = usual.packs_a = 0;
  bool is_found = false;
  std::set<std::string> known;
  auto candidates =
      site.group.computed ? nested_candidates(site, schedules) : wgmma_candidates(site, usual);
  for (auto& candidate : candidates) {
    const Schedule& s = candidate.front();
    known.insert(choice_of(s).text());
    if (s.slots != choice.wgmma || !takes(choice.tile_m, s.tile_m) ||
        !takes(choice.tile_n, s.tile_n) || !takes(choice.warp_m, s.warp_m) ||
        !takes(choice.tile_k, s.tile_k) || s.cluster != std::max<int64_t>(choice.cluster, 1) ||
        s.packs_a != (choice.packs_a > 0) || (choice.split_k == 1 && s.splits_k()))
      continue;
    schedules = std::move(candidate);
    is_found = true;
  }
  if (is_found) return llvm::Error::success();
  return make_error(ErrorCode::unsupported,
                    "no product of this kernel by wgmma has '{}'; it can have {}", choice.text(),
                    known.empty() ? "none" : "'" + llvm::join(known, "', '") + "'");
}

/// Takes the schedules that keep rows, by clusters of the chosen size.
llvm::Error take_kept(const ScheduleSite& site, const ScheduleChoice& choice,
                      std::vector<Schedule>& schedules) {
  auto candidates = kept_candidates(site, schedules, choice);
  if (candidates.empty())
    return make_error(ErrorCode::unsupported,
                      "clusters of {} blocks cannot keep the kernel's rows in shared memory",
                      choice.cluster);
  schedules = std::move(candidates.front());
  return llvm::Error::success();
}

/// The group's kernel with the operands that the mainloop of `schedule` reads.
Kernel with_operands(const ScheduleSite& site, const Schedule& schedule) {
  Kernel kernel = site.kernel;
  if (!reads_packed(schedule.mainloop)) return kernel;
  for (MatmulSide of : matmul_sides(site.group)) {
    if (is_mapped(schedule, of)) continue;
    add_packed(kernel, of, packed_operand(site.graph, site.group, of, pack_format(schedule)),
               [] { return Buffer(); });
  }
  if (schedule.packs_a) {
    kernel.pack_counters = static_cast<uint32_t>(kernel.parameters.size());
    kernel.parameters.push_back({Purpose::pack_counters, DType::f32, {}, {}, {}});
  }
  return kernel;
}

} // namespace

double launch_seconds(const ScheduleSite& site, const Schedule& schedule,
                      const std::vector<bool>& params_only) {
  const Kernel kernel = with_operands(site, schedule);
  double seconds = predict(kernel, schedule, site.device, {}).seconds;
  if (needs_guard(schedule))
    seconds += predict(kernel, guard_schedule(schedule), site.device, {}).seconds;
  if (!reads_packed(schedule.mainloop)) return seconds;
  const auto& body = std::get<TileBody>(kernel.body);
  for (MatmulSide of : matmul_sides(site.group)) {
    if (is_mapped(schedule, of) || (schedule.packs_a && of == MatmulSide())) continue;
    if (packed_in_launch(site.graph, site.group, of, params_only) == 0) continue;
    const MatrixOperand& operand = body.mainloops[of.matmul].operands[of.side];
    const Schedule packing = packing_schedule(operand, schedule.operands[of.index()]);
    const DType stored = site.kernel.parameters[operand.from.parameter].dtype;
    const PackedOperand& packed = operand.packing;
    seconds += packing_seconds(packing, likely_count(packed.batches) * likely_count(packed.rows),
                               likely_count(packed.depth),
                               static_cast<double>(size_of(stored)) + packed_element_bytes(packed),
                               site.device);
  }
  return seconds;
}

namespace {

llvm::Error set_shared_bytes(const ScheduleSite& site, std::vector<Schedule>& schedules) {
  for (Schedule& schedule : schedules) {
    schedule.shared_bytes = shared_bytes(site.kernel, schedule);
    if (schedule.shared_bytes > site.device.shared_per_block)
      return make_error(ErrorCode::unsupported,
                        "a kernel needs {} bytes of shared memory, {} has {}: its segments do not "
                        "divide the tile",
                        schedule.shared_bytes, site.device.name, site.device.shared_per_block);
  }
  return llvm::Error::success();
}

/// Adds schedules whose shared memory suffices.
void add(const ScheduleSite& site, llvm::Expected<std::vector<Schedule>> schedules,
         Candidates& result) {
  if (!schedules) return llvm::consumeError(schedules.takeError());
  if (auto error = set_shared_bytes(site, *schedules)) return llvm::consumeError(std::move(error));
  result.push_back(std::move(*schedules));
}

/// True if SMs have no tile, even of `copies` as many tiles.
bool leaves_idle(const ScheduleSite& site, const Schedule& s, int64_t copies = 1) {
  return copies * assumed(tile_count(std::get<TileBody>(site.kernel.body), s)) <
         site.device.sm_count;
}

/// Adds products by mma.sync or FMA in smaller tiles than `usual`. Idle SMs have memory for more
/// slots, which help where K is long.
void add_small_tiles(const ScheduleSite& site, const Schedule& usual, Candidates& result) {
  constexpr int64_t kSlots = 6;
  ScheduleChoice choice;
  choice.slots = usual.uses_tensor_cores() ? kSlots : 0;
  for (choice.tile_m = kTileWidths.front(); choice.tile_m <= usual.tile_m; choice.tile_m *= 2)
    for (choice.tile_n = kTileWidths.front(); choice.tile_n <= usual.tile_n; choice.tile_n *= 2)
      if (choice.tile_m * choice.tile_n < usual.tile_m * usual.tile_n)
        add(site, choose_product_schedules(site, choice, usual.compute), result);
}

/// The other ways to multiply: those of the target's family, thirds in place of halves, and small
/// tiles where the usual ones leave half of the SMs idle.
Candidates product_candidates(const ScheduleSite& site, const Schedule& usual) {
  Candidates candidates = wgmma_candidates(site, {});
  if (leaves_idle(site, usual, 2)) add_small_tiles(site, usual, candidates);
  if (usual.mainloop == MainloopKind::halves && suits_thirds(site.graph, site.group, site.options))
    add(site, choose_product_schedules(site, {}, ComputeType::bf16x3), candidates);
  return candidates;
}

/// The other ways to go through rows: kept ones; rows with more threads, or parts of rows that are
/// not reduced, where SMs are idle; rows with more threads where the values of a thread leave
/// registers for few blocks; and blocks of few threads, which hold or stream a row, in place of
/// blocks of many, which wait for one another.
Candidates row_candidates(const ScheduleSite& site, const std::vector<Schedule>& usual) {
  constexpr int64_t kManyThreads = 512, kFewThreads = 256;
  const Schedule& s = usual.front();
  if (s.skeleton != Skeleton::held || s.row_threads != RowThreads::along_columns)
    return kept_candidates(site, usual, {});
  Candidates candidates;
  ScheduleChoice choice;
  choice.per_row = kFewThreads;
  if (s.per_row >= kManyThreads) {
    add(site, choose_row_schedules(site, choice), candidates);
    if (!candidates.empty())
      llvm::append_range(candidates, kept_candidates(site, candidates.front(), {}));
  }
  const bool is_idle = leaves_idle(site, s);
  const int64_t held = s.chunks * s.vec;
  if (!is_idle && held * std::get<TileBody>(site.kernel.body).tile_slots <= kMostHeld)
    return candidates;
  const bool merges = llvm::any_of(site.group.reads, [](const Read& read) { return read.combine; });
  if (is_idle && site.group.reductions.empty() && !merges) {
    choice = {};
    for (choice.held = held / 2; choice.held >= s.vec; choice.held /= 2)
      add(site, choose_row_schedules(site, choice), candidates);
    return candidates;
  }
  for (choice.per_row = 2 * s.per_row;
       choice.per_row <= kMostPerRow && choice.per_row * s.vec < 2 * s.tile_n; choice.per_row *= 2)
    add(site, choose_row_schedules(site, choice), candidates);
  return candidates;
}

/// Takes the cheapest of `schedules` and the other candidates.
void take_cheapest(const ScheduleSite& site, std::vector<Schedule>& schedules) {
  auto candidates = site.group.computed          ? nested_candidates(site, schedules)
                    : site.group.matmuls.empty() ? row_candidates(site, schedules)
                                                 : product_candidates(site, schedules.front());
  if (candidates.empty()) return;
  const std::vector<bool> params_only = depends_only_on_params(site.graph);
  double least = launch_seconds(site, schedules.front(), params_only);
  const bool has_fixed_rows = site.group.space.extent(site.group.domain.rows).is_fixed();
  for (auto& candidate : candidates) {
    // With few rows, products wait for most of them. A launch may have few.
    if (candidate.front().packs_a && !has_fixed_rows) continue;
    const double seconds = launch_seconds(site, candidate.front(), params_only);
    if (seconds >= least) continue;
    least = seconds;
    schedules = std::move(candidate);
  }
}

} // namespace

llvm::Expected<std::vector<Schedule>> choose_schedules(const ScheduleSite& site,
                                                       const ScheduleChoice& choice) {
  auto schedules = site.group.computed          ? choose_nested_schedules(site)
                   : site.group.matmuls.empty() ? choose_row_schedules(site, choice)
                                                : choose_product_schedules(site, choice);
  if (!schedules) return schedules.takeError();
  if (auto error = set_shared_bytes(site, *schedules)) return error;
  if (choice.wgmma > 0) {
    if (auto error = take_wgmma(site, choice, *schedules)) return error;
  } else if (choice.cluster > 0) {
    if (auto error = take_kept(site, choice, *schedules)) return error;
  } else if (choice == ScheduleChoice()) {
    take_cheapest(site, *schedules);
  }
  return schedules;
}

MatmulTile matmul_tile(const Schedule& schedule, const DeviceSpec& device) {
  // A multiply-add counts as two.
  const auto products = static_cast<double>(facts_of(schedule.compute).tensor_products);
  const double flops = products == 0 ? device.f32_flops : device.tensor_flops / products;
  return {schedule.tile_m, schedule.step_n, flops / 2};
}

MachineRates machine_rates(const DeviceSpec& device) {
  MachineRates rates;
  rates.bytes_per_second = device.bytes_per_second;
  rates.instructions_per_second = device.f32_flops / 2; // a multiply-add counts as two
  return rates;
}

} // namespace ingot
