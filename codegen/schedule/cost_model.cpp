// SPDX-License-Identifier: Apache-2.0
// See cost_model.h.
#include "codegen/schedule/cost_model.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/split_k.h"
#include "codegen/kernel/traffic.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"
#include "codegen/schedule/choosers.h"
#include "codegen/schedule/cost_nested.h"
#include "codegen/schedule/cost_wgmma.h"
#include "codegen/schedule/instructions.h"
#include "ir/assumed_size.h"
#include "ir/fusion/prologue_cost.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ingot {
namespace {

// As those of cost_model.h.
// [1023, 1027] by [1025, 1027] on an H100, element by element, ms: 0.227 in bf16, 0.236 in TF32.
constexpr double kBatch = 0.42e-6;  ///< a batch of loads of a staged operand, and its stores
constexpr double kLatency = 1.0e-6; ///< latency of memory under load
constexpr double kRowLatency =
    1.15e-6; ///< the same, and again for stores, where a row's threads wait
/// One block adds one element of one part of a tile (split_k.cpp).
constexpr double kPart = 0.4e-6 / (128 * 128);
// Split products of bf16 in tiles of 128x128 on an H100, w as [N, K], us, measured and predicted
// without this term: 1024 x 1024 by 1024 19.2, 10.1; 256 x 1024 by 4096 21.1, 10.1; 1024 x 4096 by
// 1024 29.7, 20.1; 512 x 8192 by 1024 33.7, 20.9; 128 x 4096 by 1024 21.9, 13.8. Other
// tiles are not measured alone: with this term for each of their elements, 512 x 256 by 512 in bf16
// thirds in tiles of 64x64 on an H200 is predicted at 11.6 us, 2.5 us more than it takes.
/// From a split tile's last product to its sums: the parts move through L2 twice.
constexpr double kMeeting = 10e-6 / (128 * 128); ///< of an element
constexpr double kMultiplying = 0.52; ///< weight of the products' time beside shared memory's
constexpr double kSharing = 0.86;     ///< weight of shared memory's time beside the products'
// [1000, 1000] by 1000 in TF32, w as [K, N], on an H100: 0.050 ms by 4 warps on an SM, for which
// the whole rate predicts 0.025.
constexpr double kTensorWarps = 8;    ///< warps per SM that fill its tensor cores by mma.sync
constexpr double kResidentWarps = 32; ///< warps per SM from which instructions overlap
// Softmax of f32 [4096, 393216] on an H100: 4.44 ms with 16 warps on each of 112 SMs.
constexpr double kKeptWarps = 16;    ///< the warps per SM of kept rows, which do not wait for loads
constexpr double kFilledCache = 0.9; ///< share of L2 in which rows are found again
// Softmax of f32 on an H100, in ms. One block on an SM: [2048, 65536] by clusters of 2 0.389,
// [512, 131072] by 4 0.204, [128, 262144] by 8 0.112. Two blocks: [2048, 65536] by 4 0.385 and by 8
// 0.435, [512, 131072] by 8 0.197.
constexpr double kRowWait = 2.8e-6;     ///< from the end of a kept row's loads to its stores
constexpr double kIssue = 0.9;          ///< instructions of stages that are issued per clock
constexpr double kStagedFmaShare = 0.8; ///< share of f32 multiply-adds in a SIMT mainloop
constexpr double kCopiedFmaShare = 0.9; ///< the same, if operands are copied unchanged
constexpr double kPromoting = 0.8;      ///< share of the tensor cores' rate if sums are promoted
// [65536, 4096] by 64 in f32 on an H100: 0.66 ms, 312 TFLOP/s of bf16 products of 632.
constexpr double kSplitting = 0.55; ///< share of their rate if warps split the operands
// Products of bf16 on an H100, w as [N, K], us, by turns and by both warpgroups on a tile: 1024 x
// 1024 by 1024 14.4, 12.4; 2048 x 1024 by 1024 15.0, 13.0; 4096 x 256 by 256 11.2, 9.1. Without
// this factor, turns were predicted to be 1.5 us faster.
constexpr double kAlone = 3; ///< time of the last tile's stages by one warpgroup, beside by both
// Chain 56 reads 2.1 GB of weights for 128 rows. On an H100 it takes 0.727 ms in bf16 by wgmma and
// 0.824 by mma.sync.
constexpr double kThreadCopies = 0.88; ///< rate of memory of copies by threads, beside bulk copies
constexpr double kPartsOfARow = 8;     ///< parts of a row per SM: blocks of 128 threads
/// A thread of a staged FMA mainloop loads a slot while it multiplies the one before. On an H200 a
/// slot of 64x64 takes 0.8 us, and one of 128x64 1.3, where the multiply-adds take 0.35 and 0.75.
constexpr double kStagedSlot = 0.45e-6;
/// An SM starts a copy of 4 or 8 bytes in two cycles for a warp. On an H200 1024x1026 by 1026 in
/// bf16, in tiles of 128x128 with copies of 4 bytes, takes 4.5 us more than predicted without.
constexpr double kNarrowCopy = 1.1e-9 / 32;

/// The bytes of a point that stages read element by element.
double bytes_read(const Kernel& kernel, const TileBody& body) {
  double bytes = 0;
  for (const MemoryRead& read : body.frame.reads)
    if (is_wide(body, read.map))
      bytes += static_cast<double>(size_of(kernel.parameters[read.parameter].dtype));
  return bytes;
}

bool reduces(const TileBody& body) {
  return llvm::any_of(body.stages, [](const Stage& stage) {
    return std::holds_alternative<ReduceStage>(stage.step);
  });
}

/// Predicts a kernel with a TileBody.
class Predictor {
public:
  Predictor(const Kernel& kernel, const Schedule& schedule, const DeviceSpec& device,
            const std::map<std::string, int64_t>& dims)
      : kernel_(kernel), body_(std::get<TileBody>(kernel.body)), s_(schedule), device_(device),
        dims_(dims), traffic_(traffic_of(kernel, schedule)),
        sms_(static_cast<double>(device.sm_count)), rows_(value(body_.rows)),
        columns_(value(body_.columns)), points_(value(body_.batch) * rows_ * columns_) {}

  KernelCost run() {
    if (points_ == 0) return {.seconds = kLaunch};
    cost_.memory = transferred() / (kBusy * device_.bytes_per_second);
    const double lanes = device_.f32_flops / 2; // a multiply-add counts as two
    const auto of = [&](const Expr& expr) { return value(expr); };
    const double parts = value(split_parts(body_, s_));
    cost_.stages = stage_instructions(kernel_, of) / (kIssue * lanes);
    if (s_.skeleton == Skeleton::kept)
      kept_rows();
    else if (is_nested(s_.mainloop))
      add_nested({std::max(1.0, value(tile_count(body_, s_))) * parts,
                  value(body_.mainloops.front().depth) / parts, parts,
                  static_cast<double>(s_.tile_n + s_.depth), blocks_per_sm(), resident_share(),
                  bytes_read(kernel_, computed_tile(body_)->body)},
                 s_, device_, cost_);
    else if (is_resident(s_.mainloop)) {
      add_resident({std::max(1.0, value(tile_count(body_, s_))), resident_area(body_, s_, of),
                    copied_depth(body_, s_, of), blocks_per_sm(), resident_share()},
                   s_, device_, cost_);
      // Warpgroups with tiles of their own hide one another's stages.
      const bool is_hidden = !computes_by_mma(s_.mainloop) && value(tile_count(body_, s_)) > sms_;
      if (!is_hidden) add_fetched_code();
    } else if (body_.mainloops.empty())
      rows();
    else
      products();
    cost_.seconds += kLaunch;
    return cost_;
  }

private:
  double value(const Expr& expr) const { return likely_value(expr, dims_); }
  double transferred() const;
  double tensor_bytes(std::vector<Expr> ParameterTraffic::* moved) const;
  double reread_bytes() const;
  /// Bytes of the partial states that are merged. There is one state for each line of a usual tile.
  /// A result has no more states than blocks that share a loaded row.
  double merged_bytes(const MergeStage& merge) const {
    const double results = value(kernel_.parameters[merge.parameter].elements);
    const double lines = results * value(merge.count) / kUsualTileWidth;
    return static_cast<double>(state_bytes(merge.reducer)) *
           std::min(lines, results * kPartsOfARow * sms_);
  }
  double bytes_of_point(bool written) const;
  double blocks_per_sm() const;
  double resident_share() const;
  double fetched_code() const {
    return code_seconds(body_, s_, [&](const Expr& expr) { return value(expr); });
  }
  void add_fetched_code() {
    const double code = fetched_code();
    cost_.exposed += code;
    cost_.seconds += code;
  }
  void rows();
  void kept_rows();
  double issued(double blocks, double enough) const;
  void products();
  double mainloop(size_t matmul, double depth);
  double staging(size_t matmul) const;
  double narrow_copies(size_t matmul, double depth) const;

  const Kernel& kernel_;
  const TileBody& body_;
  const Schedule& s_;
  const DeviceSpec& device_;
  const std::map<std::string, int64_t>& dims_;
  const std::vector<ParameterTraffic> traffic_; ///< by parameter
  const double sms_, rows_, columns_, points_;
  KernelCost cost_;
};

/// Bytes of tensors and packed operands.
double Predictor::tensor_bytes(std::vector<Expr> ParameterTraffic::* moved) const {
  double bytes = 0;
  for (const auto& [parameter, traffic] : llvm::zip_equal(kernel_.parameters, traffic_))
    if (llvm::is_contained({Purpose::read, Purpose::write, Purpose::packed}, parameter.purpose))
      for (const Expr& elements : traffic.*moved)
        bytes += value(elements) * static_cast<double>(size_of(parameter.dtype));
  return bytes;
}

/// Bytes that later walks over the rows read again.
double Predictor::reread_bytes() const {
  double bytes = 0;
  for (const auto& [parameter, traffic] : llvm::zip_equal(kernel_.parameters, traffic_))
    if (parameter.purpose == Purpose::read && traffic.reads.size() > 1)
      for (const Expr& elements : llvm::ArrayRef(traffic.reads).drop_front())
        bytes += value(elements) * static_cast<double>(size_of(parameter.dtype));
  return bytes;
}

double Predictor::transferred() const {
  double bytes = tensor_bytes(&ParameterTraffic::reads) + tensor_bytes(&ParameterTraffic::writes);
  for (const Stage& stage : body_.stages)
    if (const auto* merge = std::get_if<MergeStage>(&stage.step))
      bytes += merged_bytes(*merge) * static_cast<double>(traffic_[merge->parameter].reads.size());
  return bytes;
}

/// The bytes that are read per point of the tile, and if `written`, also those that are stored.
double Predictor::bytes_of_point(bool written) const {
  std::set<uint32_t> wide;
  for (const MemoryRead& read : body_.frame.reads)
    if (is_wide(body_, read.map)) wide.insert(read.parameter);
  double bytes = written ? tensor_bytes(&ParameterTraffic::writes) / points_ : 0;
  for (uint32_t parameter : wide)
    bytes += static_cast<double>(size_of(kernel_.parameters[parameter].dtype));
  for (const Stage& stage : body_.stages)
    if (const auto* merge = std::get_if<MergeStage>(&stage.step))
      bytes += merged_bytes(*merge) / points_;
  return std::max(bytes, 1.0);
}

/// The share of the tensor cores' rate that the warps of an SM reach. An SM has as many blocks as
/// fit, but no more than it has tiles.
double Predictor::resident_share() const {
  if (!s_.uses_tensor_cores()) return 1;
  const double units = value(tile_count(body_, s_)) * value(split_parts(body_, s_));
  const double blocks = std::clamp(std::ceil(units / sms_), 1.0, blocks_per_sm());
  return std::min(1.0, blocks * static_cast<double>(s_.threads) / 32 / kTensorWarps);
}

/// As many blocks as registers are reserved for, if shared memory suffices.
double Predictor::blocks_per_sm() const {
  const int64_t most = blocks_by_memory(s_.shared_bytes, device_);
  return static_cast<double>(std::clamp<int64_t>(most, 1, s_.min_blocks_per_sm));
}

/// Little's law: the data that the blocks of an SM read and write at a time takes a while to
/// arrive. It takes longer if the threads of a row wait for one another. The law is softened if the
/// memory is nearly busy.
void Predictor::rows() {
  const double threads = static_cast<double>(s_.threads);
  const double held = std::min(static_cast<double>(s_.tile_m), rows_) *
                      std::min(static_cast<double>(s_.tile_n), columns_);
  const bool waits = s_.skeleton == Skeleton::held && reduces(body_) &&
                     s_.row_threads == RowThreads::along_columns && s_.per_row > 32;
  const double registers =
      std::min(255.0, 30 + held / threads * static_cast<double>(std::max(1, body_.tile_slots)));
  const double blocks =
      std::clamp(std::floor(static_cast<double>(device_.registers_per_sm) / (threads * registers)),
                 static_cast<double>(s_.min_blocks_per_sm),
                 std::floor(static_cast<double>(device_.threads_per_sm) / threads));
  const double bands = value(row_tile_count(body_, s_.tile_m));
  const double tiles = s_.skeleton == Skeleton::held    ? value(tile_count(body_, s_))
                       : s_.skeleton == Skeleton::split ? bands * static_cast<double>(s_.parts)
                                                        : bands;
  const double resident = std::min(sms_ * blocks, tiles);
  const double read = bytes_of_point(false), moved = bytes_of_point(true);
  if (resident * static_cast<double>(s_.tile_m) * columns_ * read <=
      kFilledCache * static_cast<double>(device_.l2_bytes)) {
    cost_.cache = reread_bytes() / device_.l2_bytes_per_second;
    cost_.memory -= reread_bytes() / (kBusy * device_.bytes_per_second);
  }
  const double latency = waits ? kRowLatency * moved / read : kLatency;
  // Where some threads lack their last access to a row, accesses are behind branches, and wait for
  // one another. A norm of f32 [2048, 768] between two products on an H200: 2.5 us more by 64
  // threads a row, which have 1.5 accesses each, than by 32 with 3 or by 128 with at most one.
  const bool is_ragged = s_.skeleton == Skeleton::held &&
                         s_.row_threads == RowThreads::along_columns &&
                         columns_ < static_cast<double>(s_.tile_n);
  const double chunks = static_cast<double>(s_.chunks);
  const double whole = std::floor(columns_ / static_cast<double>(s_.per_row * s_.vec));
  const double at_once = is_ragged ? held * std::max(1.0, whole) / chunks : held;
  const double under_way = resident * at_once * (waits ? moved : read);
  const double share = std::tanh(under_way / (device_.bytes_per_second * latency));
  const double rows = std::min(1.0, rows_ / static_cast<double>(s_.tile_m));
  const double moving = std::max(cost_.memory, cost_.cache) / share;
  const double computing = cost_.stages / issued(resident * rows, kResidentWarps);
  // Where the threads of a row wait for one another, only another block of the SM goes on. A block
  // of 1024 threads is alone: an RMS norm and a logsumexp of bf16 [4096, 32768] on an H200, 0.312
  // ms.
  const double busy = std::max(moving, computing) +
                      (waits ? std::min(moving, computing) / std::max(1.0, resident / sms_) : 0);
  const double waves = tiles / (sms_ * blocks);
  cost_.idle = waves > 1 ? busy * (std::ceil(waves) / waves - 1) / 2 : 0; // the rest keeps moving
  cost_.exposed = busy - cost_.memory;
  cost_.seconds = busy + cost_.idle;
  add_fetched_code();
}

/// The share of the instructions' rate if so many blocks are under way. `enough`: warps per SM.
double Predictor::issued(double blocks, double enough) const {
  const double warps = blocks * static_cast<double>(s_.threads) / 32;
  return std::min(1.0, warps / sms_ / enough);
}

/// The next row of a block arrives while this one's results leave. In between its threads wait for
/// one another, while another block of the SM goes on. Copies to slots beyond a row are not priced:
/// they hide a sixth of the wait (an H200's softmax of f32 [128, 262144]).
void Predictor::kept_rows() {
  const double rows = value(row_tile_count(body_, s_.tile_m));
  const double cluster = static_cast<double>(s_.cluster);
  const double clusters = std::min(rows, static_cast<double>(s_.most_blocks) / cluster);
  const double blocks = clusters * cluster, rounds = std::ceil(rows / clusters);
  const double under_way = blocks * static_cast<double>(s_.shared_bytes);
  const double share = std::tanh(under_way / (device_.bytes_per_second * kLatency));
  const double waits = rounds * kRowWait / static_cast<double>(s_.min_blocks_per_sm);
  const double busy =
      std::max(cost_.memory / share, cost_.stages / issued(blocks, kKeptWarps)) + waits;
  cost_.idle = busy * (rounds * clusters / rows - 1) / 2; // the rest keeps moving
  cost_.exposed = busy - cost_.memory;
  cost_.seconds = busy + cost_.idle;
  add_fetched_code();
}

double share_of_tensor_cores(const Schedule& s) {
  if (s.mainloop == MainloopKind::thirds) return kSplitting;
  return s.promote_every > 0 ? kPromoting : 1.0;
}

/// The seconds in which an SM starts the copies of less than 16 bytes of one tile.
double Predictor::narrow_copies(size_t matmul, double depth) const {
  double copies = 0;
  for (size_t side : {0, 1}) {
    const OperandSchedule& operand = s_.operands[2 * matmul + side];
    const auto bytes = operand.vec * facts_of(s_.compute).operand_bytes;
    if (operand.path == PathKind::direct && bytes < kWidestAccess)
      copies += depth * static_cast<double>((side == 0 ? s_.tile_m : s_.tile_n) / operand.vec);
  }
  return copies * kNarrowCopy;
}

/// The seconds that an SM spends in the mainloop of one tile, for `depth` of the contraction.
double Predictor::mainloop(size_t matmul, double depth) {
  const llvm::ArrayRef<MatrixOperand> operands = body_.mainloops.front().operands;
  const std::array lines = {lines_of_copies(kernel_, operands[0]),
                            lines_of_copies(kernel_, operands[1])};
  if (is_wgmma(s_.mainloop))
    return add_wgmma({value(tile_count(body_, s_)) / sms_, value(body_.batch), depth,
                      static_cast<double>(product_slots(body_)), lines},
                     s_, device_, cost_);
  const double m = static_cast<double>(s_.tile_m), n = static_cast<double>(s_.tile_n);
  const bool simt = !s_.uses_tensor_cores();
  const double fma_share =
      s_.mainloop == MainloopKind::copied_fma ? kCopiedFmaShare : kStagedFmaShare;
  const ComputeFacts& facts = facts_of(s_.compute);
  const double rate = simt ? fma_share * device_.f32_flops
                           : share_of_tensor_cores(s_) * device_.mma_flops /
                                 static_cast<double>(facts.tensor_products);
  const auto size = static_cast<double>(facts.operand_bytes); // in shared memory
  const double warps = static_cast<double>(s_.threads) / 32;
  // Threads of a warp that read the same element share the read: a SIMT warp reads a square.
  const double sides =
      simt ? 2 * std::sqrt(m * n / warps) : static_cast<double>(s_.warp_m + s_.warp_n);
  const double products = sms_ * 2 * m * n * depth / (kBusy * rate * resident_share());
  const double shared =
      sms_ * depth * size * (warps * sides + m + n) / device_.shared_bytes_per_second;
  const double copied = lines[0] * m + lines[1] * n;
  const double cache = sms_ * depth * size * copied / device_.l2_bytes_per_second;
  const double tiles = value(tile_count(body_, s_)) / sms_;
  cost_.products += products * tiles;
  cost_.shared += shared * tiles;
  cost_.cache += cache * tiles;
  // Fragments are read between products, so the two overlap only in part.
  const double both = kMultiplying * products + kSharing * shared;
  return std::max({products, shared, cache, simt ? 0 : arriving(s_, depth, cache), both}) +
         narrow_copies(matmul, depth);
}

/// The seconds for which the threads of one tile of product `matmul` wait for operands that they
/// load in batches and store in shared memory. Other blocks of the SM go on.
double Predictor::staging(size_t matmul) const {
  const double slots = value(body_.mainloops[matmul].depth) / static_cast<double>(s_.tile_k);
  if (s_.mainloop == MainloopKind::staged_fma) return slots * kStagedSlot / blocks_per_sm();
  if (s_.mainloop != MainloopKind::tensor && s_.mainloop != MainloopKind::thirds) return 0;
  constexpr int64_t kMostAhead = 4; // vectors that are loaded a tile ahead (tile/mma_feed.cuh)
  const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  int64_t batches = 0;
  for (size_t side : {0, 1}) {
    const OperandSchedule& operand = s_.operands[2 * matmul + side];
    if (operand.path != PathKind::staged) continue;
    const int64_t elements = (side == 0 ? s_.tile_m : s_.tile_n) * s_.tile_k;
    const int64_t vectors = ceil_div(elements, operand.vec * s_.threads);
    if (vectors > kMostAhead)
      batches += ceil_div(vectors, operand.vec >= 4 ? kMostAhead : s_.staged_loads);
  }
  return slots * static_cast<double>(batches) * kBatch / blocks_per_sm();
}

void Predictor::products() {
  double whole = 0;
  const llvm::ArrayRef<Mainloop> loops(body_.mainloops);
  for (const auto& [matmul, loop] : llvm::enumerate(
           is_wgmma(s_.mainloop) ? loops.take_front(loops.size() / product_slots(body_)) : loops))
    whole += mainloop(matmul, value(loop.depth)) + staging(matmul);
  const double tiles = std::max(1.0, value(tile_count(body_, s_)));
  const double parts = value(split_parts(body_, s_));
  // Warpgroups that take turns are like blocks: one's stages run beside the other's products.
  const double blocks = blocks_per_sm() * static_cast<double>(s_.tiles_at_a_time());
  const double work = tiles * parts / sms_; // blocks of work per SM
  const double loop = whole / parts;
  // Tiles share the memory and the lanes of the machine. One block's stages run beside another's
  // mainloop. A block that is alone on its SM stalls it during its stages.
  const double stored = bytes_of_point(true) * points_ / (kBusy * device_.bytes_per_second);
  const bool is_specialised = s_.skeleton == Skeleton::specialised; // fills ahead of each tile
  if (is_specialised)
    cost_.stages += points_ * column_merges(body_, s_) / (kIssue * device_.f32_flops / 2);
  const double fill = kFill * static_cast<double>(is_specialised ? 1 : body_.mainloops.size());
  const double rest = (is_specialised ? 0 : fill) +
                      std::max(cost_.stages, stored) / (tiles / sms_) / parts +
                      (parts > 1 ? kPart * parts * static_cast<double>(s_.tile_m * s_.tile_n) : 0);
  const double each = std::max(loop, (loop + rest) / blocks);
  const double rounds = std::ceil(work);
  const double last = s_.tiles_at_a_time() > 1 ? kAlone * rest : rest;
  // The other warpgroup multiplies meanwhile. kMeeting was measured with the code of the stages.
  const bool is_hidden = (s_.tiles_at_a_time() > 1 && rounds > 1) || parts > 1;
  const double code = is_hidden ? 0 : fetched_code();
  const double once = (is_specialised ? fill : 0) + last + code +
                      (parts > 1 ? kMeeting * static_cast<double>(s_.tile_m * s_.tile_n) : 0);
  cost_.idle = (rounds - work) * each;
  cost_.exposed = work * (each - loop) + once;
  cost_.seconds =
      std::max(rounds * each + once, cost_.memory / (is_specialised ? 1 : kThreadCopies));
}

/// Each SM reads a byte of each row. Tiles that a guard computes are not expected.
KernelCost guard_cost(const Kernel& kernel, const DeviceSpec& device,
                      const std::map<std::string, int64_t>& dims) {
  const auto& body = std::get<TileBody>(kernel.body);
  const double rows = likely_value(body.batch * (body.rows + body.columns), dims);
  const double read = static_cast<double>(device.sm_count) * rows;
  const double seconds = read / device.l2_bytes_per_second;
  return {.cache = seconds, .seconds = seconds + kLaunch};
}

} // namespace

double arriving(const Schedule& s, double depth, double cache) {
  const double ahead = static_cast<double>((s.slots - 1) * s.min_blocks_per_sm);
  const double steps = depth / static_cast<double>(s.tile_k);
  return (steps * kArrival + cache) / std::max(1.0, ahead);
}

KernelCost predict(const Kernel& kernel, const Schedule& schedule, const DeviceSpec& device,
                   const std::map<std::string, int64_t>& dims) {
  if (is_guard(schedule.mainloop)) return guard_cost(kernel, device, dims);
  if (std::holds_alternative<PackingBody>(kernel.body))
    return packing_cost(kernel, schedule, device, dims);
  const KernelCost cost = Predictor(kernel, schedule, device, dims).run();
  return schedule.packs_a ? with_packing(cost, kernel, schedule, device, dims) : cost;
}

} // namespace ingot
