// SPDX-License-Identifier: Apache-2.0
// See cost_model.h.
#include "codegen/schedule/cost_model.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/split_k.h"
#include "codegen/kernel/stage_list.h"
#include "ir/fusion/legality.h"
#include "ir/fusion/prologue_cost.h"
#include "src/support/quantities.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ingot {
namespace {

// What no data sheet says, in seconds and shares of a unit's rate; from the measurements in
// docs/benchmarks.md.
constexpr double kLaunch = 2.5e-6;  ///< until the first block runs, and after the last
constexpr double kArrival = 0.6e-6; ///< of a stage of operands, from when it is asked for
constexpr double kFill = 1.2e-6;    ///< a tile's first operands on their way
constexpr double kLatency = 1.0e-6; ///< of memory under load
constexpr double kRowLatency =
    1.15e-6;                     ///< the same, and again for stores, where a row's threads wait
constexpr double kPart = 0.4e-6; ///< one block adds a part of a split tile (split_k.cpp)
constexpr double kBusy = 0.95;   ///< of a unit's rate at best
constexpr double kMultiplying = 0.52;   ///< of the time of products beside shared memory's, in sum
constexpr double kSharing = 0.86;       ///< and of the latter
constexpr double kResidentWarps = 32;   ///< of an SM, from which instructions overlap
constexpr double kHalving = 0.53;       ///< of the rate of a copy, to make halves
constexpr double kIssue = 0.9;          ///< instructions of a stage issued a clock
constexpr double kStagedFmaShare = 0.8; ///< of f32 multiply-adds in a SIMT mainloop's instructions
constexpr double kCopiedFmaShare = 0.9; ///< where operands are copied as they are
constexpr double kPromoting = 0.8;      ///< of the rate of products whose sums are promoted
constexpr double kMostParts = 8;        ///< of a row, for each SM: blocks of 128 threads

class Predictor {
public:
  Predictor(const Graph& graph, const Group& group, const Schedule& schedule,
            const DeviceSpec& device, const std::map<std::string, int64_t>& dims)
      : graph_(graph), group_(group), s_(schedule), device_(device), dims_(dims),
        sms_(static_cast<double>(device.sm_count)) {}

  KernelCost run() {
    if (points() == 0) return launch_alone();
    cost_.memory = transferred() / (kBusy * device_.bytes_per_second);
    const double lanes = device_.f32_flops / 2; // a multiply-add counts as two
    cost_.stages = instructions() / (kIssue * lanes);
    if (group_.matmuls.empty())
      rows();
    else
      products();
    cost_.seconds += kLaunch;
    return cost_;
  }

private:
  double value(const Expr& expr) const {
    const auto result = expr.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
      const auto found = dims_.find(name.str());
      return found == dims_.end() ? kUsualExtent : found->second;
    });
    return static_cast<double>(result.value_or(INT64_MAX));
  }
  double extent(const AtomList& atoms) const { return value(dim_expr(group_.space.extent(atoms))); }
  double bytes_of(ValueId id, const Shape& shape) const {
    return value(dim_expr(element_count(shape))) *
           static_cast<double>(size_of(graph_.stored_type(id)));
  }
  /// Of a slice no more than it shows.
  double read_bytes(const Access& access) const {
    const double all = bytes_of(access.value, access.shape);
    if (access.ranges.empty()) return all;
    return std::min(all, extent(group_.space.leaves(access.dims)) *
                             static_cast<double>(size_of(graph_.stored_type(access.value))));
  }
  double transferred() const;
  double instructions() const;
  double points() const {
    return extent(group_.domain.batch) * extent(group_.domain.rows) * extent(group_.domain.columns);
  }
  /// Of the partial states that are merged: one of two numbers for each line of a usual tile, and
  /// no more of a result than blocks share a loaded row.
  double merged_bytes(const Read& r) const {
    const Op& op = graph_.producer(r.access.value);
    const double lines =
        value(dim_expr(element_count(graph_.type(op.operands[0]).shape))) / kUsualTileWidth;
    const double results = value(dim_expr(element_count(r.access.shape)));
    return 8 * std::min(lines, results * kMostParts * sms_);
  }
  static KernelCost launch_alone() {
    KernelCost cost;
    cost.seconds = kLaunch;
    return cost;
  }
  /// One element for each point of the domain, at least.
  bool is_wide(const Write& w) const {
    return value(dim_expr(stored_elements(group_, w))) >= points();
  }
  double written_bytes(const Write& w) const {
    return value(dim_expr(stored_elements(group_, w))) *
           static_cast<double>(size_of(graph_.stored_type(w.value)));
  }
  double bytes_of_point(bool written) const;
  double blocks_per_sm() const;
  void rows();
  void products();
  double mainloop(double depth);

  const Graph& graph_;
  const Group& group_;
  const Schedule& s_;
  const DeviceSpec& device_;
  const std::map<std::string, int64_t>& dims_;
  const double sms_;
  KernelCost cost_;
};

/// Streamed rows are walked again for each reduction and for the stores.
double Predictor::transferred() const {
  std::set<ValueId> seen;
  double read = 0, written = 0;
  for (const Read& r : group_.reads) {
    if (!seen.insert(r.access.value).second) continue;
    double bytes = r.combine ? merged_bytes(r) : read_bytes(r.access);
    // Of a gather's table no more than is chosen.
    if (!r.indexed.empty())
      bytes = std::min(bytes, points() * double(size_of(graph_.stored_type(r.access.value))));
    read += bytes;
  }
  for (const Write& w : group_.writes) written += written_bytes(w);
  if (s_.skeleton == Skeleton::streamed) {
    const bool stores = llvm::any_of(group_.writes, [&](const Write& w) { return is_wide(w); });
    read *= static_cast<double>(group_.reductions.size() + (stores ? 1 : 0));
  }
  return read + written;
}

/// Bytes that are read of a point of the tile, and with `written` also those that are stored.
double Predictor::bytes_of_point(bool written) const {
  std::set<ValueId> seen;
  double bytes = 0;
  for (const Read& r : group_.reads) {
    if (!(r.combine || is_wide_read(group_, r)) || !seen.insert(r.access.value).second) continue;
    bytes += r.combine ? merged_bytes(r) / points()
                       : static_cast<double>(size_of(graph_.stored_type(r.access.value)));
  }
  for (const Write& w : group_.writes)
    if (written) bytes += written_bytes(w) / points();
  return std::max(bytes, 1.0);
}

double Predictor::instructions() const {
  double sum = 0;
  for (OpId id : group_.ops) {
    const Op& op = graph_.op(id);
    const OpClass kind = info(op.kind).op_class;
    const ValueId counted = kind == OpClass::reduce ? op.operands[0] : op.results[0];
    const double elements = value(dim_expr(element_count(graph_.type(counted).shape)));
    if (kind == OpClass::elementwise || kind == OpClass::reduce || kind == OpClass::scan)
      sum += elements * info(op.kind).instructions;
  }
  return sum;
}

/// As many as registers are set aside for, where shared memory does.
double Predictor::blocks_per_sm() const {
  const int64_t by_shared = device_.shared_per_sm / (s_.shared_bytes + kReservedSharedBytes);
  return static_cast<double>(std::clamp<int64_t>(by_shared, 1, s_.min_blocks_per_sm));
}

/// What the blocks of an SM read and write of their rows at a time takes a while to arrive, and
/// longer where the threads of a row wait for one another: Little's law, softened where the memory
/// is nearly busy.
void Predictor::rows() {
  const double threads = static_cast<double>(s_.threads);
  const double columns = extent(group_.domain.columns);
  const double held = std::min(static_cast<double>(s_.tile_m), extent(group_.domain.rows)) *
                      std::min(static_cast<double>(s_.tile_n), columns);
  const bool waits = s_.skeleton == Skeleton::held && !group_.reductions.empty() &&
                     s_.row_threads == RowThreads::along_columns && s_.per_row > 32;
  const double registers = std::min(255.0, 30 + held / threads);
  const double blocks =
      std::clamp(std::floor(static_cast<double>(device_.registers_per_sm) / (threads * registers)),
                 static_cast<double>(s_.min_blocks_per_sm),
                 std::floor(static_cast<double>(device_.threads_per_sm) / threads));
  const double bands = extent(group_.domain.batch) *
                       std::ceil(extent(group_.domain.rows) / static_cast<double>(s_.tile_m));
  const double tiles = s_.skeleton == Skeleton::held    ? value(tile_count(group_, s_))
                       : s_.skeleton == Skeleton::split ? bands * static_cast<double>(s_.parts)
                                                        : bands;
  const double resident = std::min(sms_ * blocks, tiles);
  const double read = bytes_of_point(false), moved = bytes_of_point(true);
  const double latency = waits ? kRowLatency * moved / read : kLatency;
  const double under_way = resident * held * (waits ? moved : read);
  const double share = std::tanh(under_way / (device_.bytes_per_second * latency));
  const double rows = std::min(1.0, extent(group_.domain.rows) / static_cast<double>(s_.tile_m));
  const double warps = resident / sms_ * threads / 32 * rows; // of an SM, that have a row
  const double issued = std::min(1.0, warps / kResidentWarps);
  const double busy = std::max(cost_.memory / share, cost_.stages / issued);
  const double waves = tiles / (sms_ * blocks);
  cost_.idle = waves > 1 ? busy * (std::ceil(waves) / waves - 1) / 2 : 0; // the rest keeps moving
  cost_.exposed = busy - cost_.memory;
  cost_.seconds = busy + cost_.idle;
}

/// The seconds that an SM spends in the mainloop of one tile, of so much of the contraction.
double Predictor::mainloop(double depth) {
  const double m = static_cast<double>(s_.tile_m), n = static_cast<double>(s_.tile_n);
  const bool simt = s_.source == SourceKind::simt;
  const double fma_share = s_.copies() ? kCopiedFmaShare : kStagedFmaShare;
  const double rate = simt                               ? fma_share * device_.f32_flops
                      : s_.compute == ComputeType::tf32  ? device_.mma_flops / 2
                      : s_.compute == ComputeType::f16x3 ? kPromoting * device_.mma_flops / 3
                                                         : device_.mma_flops;
  const bool halves = s_.compute == ComputeType::f16 || s_.compute == ComputeType::bf16;
  const double size = halves ? 2 : 4; // in shared memory
  const double warps = static_cast<double>(s_.threads) / 32;
  // Threads of a warp that read one element take it together: a SIMT warp reads a square.
  const double sides =
      simt ? 2 * std::sqrt(m * n / warps) : static_cast<double>(s_.warp_m + s_.warp_n);
  const double products = sms_ * 2 * m * n * depth / (kBusy * rate);
  const double shared =
      sms_ * depth * size * (warps * sides + m + n) / device_.shared_bytes_per_second;
  const double cache = sms_ * depth * size * (m + n) / device_.l2_bytes_per_second;
  // The stages that are asked for ahead must arrive in time.
  const double ahead = static_cast<double>((s_.stages - 1) * s_.min_blocks_per_sm);
  const double steps = depth / static_cast<double>(s_.tile_k);
  const double arriving = simt ? 0 : (steps * kArrival + cache) / std::max(1.0, ahead);
  const double tiles = value(tile_count(group_, s_)) / sms_;
  cost_.products += products * tiles;
  cost_.shared += shared * tiles;
  cost_.cache += cache * tiles;
  // Fragments are read between products: the two overlap only in part.
  const double both = kMultiplying * products + kSharing * shared;
  return std::max({products, shared, cache, arriving, both});
}

void Predictor::products() {
  double whole = 0;
  for (const Matmul& matmul : group_.matmuls) whole += mainloop(extent(matmul.contraction));
  const double tiles = std::max(1.0, value(tile_count(group_, s_)));
  const double parts = value(part_count(group_, s_));
  const double blocks = blocks_per_sm();
  const double work = tiles * parts / sms_; // blocks' work for one SM
  const double loop = whole / parts;
  // Tiles share the memory and the lanes of the machine. One block's stages run beside another's
  // mainloop; alone they hold the SM up.
  const double stored = bytes_of_point(true) * points() / (kBusy * device_.bytes_per_second);
  const double fill = kFill * static_cast<double>(group_.matmuls.size());
  const double rest = fill + std::max(cost_.stages, stored) / (tiles / sms_) / parts +
                      (parts > 1 ? kPart * parts : 0);
  const double each = std::max(loop, (loop + rest) / blocks);
  const double rounds = std::ceil(work);
  cost_.idle = (rounds - work) * each;
  cost_.exposed = work * (each - loop) + rest;
  cost_.seconds = std::max(rounds * each + rest, cost_.memory);
}

} // namespace

std::string KernelCost::text() const {
  const std::pair<const char*, double> terms[] = {
      {"products", products}, {"shared", shared},   {"cache", cache}, {"memory", memory},
      {"stages", stages},     {"exposed", exposed}, {"idle", idle}};
  std::string text;
  for (const auto& [name, term] : terms)
    if (term >= seconds / 1000)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, seconds_text(term));
  return fmt::format("{}{}{}", seconds_text(seconds), text.empty() ? "" : ": ", text);
}

KernelCost predict(const Graph& graph, const Group& group, const Schedule& schedule,
                   const DeviceSpec& device, const std::map<std::string, int64_t>& dims) {
  return Predictor(graph, group, schedule, device, dims).run();
}

KernelCost predict_halving(int64_t bytes, const DeviceSpec& device) {
  KernelCost cost;
  cost.memory = static_cast<double>(bytes) / (kHalving * device.bytes_per_second);
  cost.seconds = cost.memory + kLaunch;
  return cost;
}

} // namespace ingot
