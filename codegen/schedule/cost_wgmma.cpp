// SPDX-License-Identifier: Apache-2.0
// See cost_wgmma.h.
#include "codegen/schedule/cost_wgmma.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace ingot {
namespace {

// f32 products of bf16 thirds by wgmma on an H200: 32768 x 64 by 4096 in tiles of 128x64 0.220 ms,
// 48 x 50000 by 2048 in tiles of 128x128 0.233 ms; 0.86 and 1.2 us for 32 of K.
constexpr double kSplitSlot = 0.52e-6;        ///< to split a slot's rows of A, and pass the slot on
constexpr double kSplitColumn = 0.34e-6 / 64; ///< to split a column of B, and multiply by it
// L2 serves blocks together that read the same bytes at the same time. Blocks begin so, and drift
// apart. Products of bf16, TB/s from L2. On an H200, with 36 to 64 slots an SM, 2048 x 768 by 3072
// and 2048 x 2304 by 768 in tiles of 64x192, 256 x 4096 by 4096 and 1024 x 1024 by 1024 in tiles of
// 128x64: 12.7 to 13; with 497, chain 94 by turns of 128x128: 10.6. On an H100 by turns of 128x128:
// 31 tiles an SM, of 8192 x 8192 by 8192 and by 1024, 11.6, in chain 39 9.7 to 11.4; 62 tiles an
// SM, of 32768 x 4096 by 1024 and by 2048, 9.5 and 9.4, in chain 37 10.4.
constexpr double kBulkCopiesAtFirst = 1.5; ///< rate of bulk copies from L2, beside the device's
constexpr double kSlotsAtFirst = 64, kSlotsLater = 497; ///< slots an SM
constexpr double kBulkCopies = 1.2;                     ///< the same later
constexpr double kBulkCopiesApart = 1.1;                ///< the same of blocks far apart
// On a line between the two counts, clusters are as fast as blocks alone at 45 tiles.
constexpr double kTilesTogether = 45, kTilesApart = 62; ///< tiles an SM, of one matrix
// By clusters of two the same products take 1.12 to 1.25 times their time at kWgmma, of which
// shared memory alone takes 1.04.
constexpr double kClustered = 1.14; ///< time of a cluster, beside that of its busiest unit
// The lanes of a warp merge their states of columns in steps that wait for one another, and so do
// its warps. The product of chain 39 in bf16 takes 0.757 ms by tiles of 128x256 with the moments of
// its columns on an H100, and 0.714 without them.
constexpr double kColumnMerge = 40; ///< instructions that could be issued while a column is merged

/// Bytes per second of bulk copies from L2, if an SM has so many tiles of a matrix, and fills so
/// many slots.
double bulk_rate(double tiles, double slots, const DeviceSpec& device) {
  const auto between = [](double at, double first, double last) {
    return std::clamp((at - first) / (last - first), 0.0, 1.0);
  };
  const double rate =
      kBulkCopiesAtFirst -
      (kBulkCopiesAtFirst - kBulkCopies) * between(slots, kSlotsAtFirst, kSlotsLater) -
      (kBulkCopies - kBulkCopiesApart) * between(tiles, kTilesTogether, kTilesApart);
  return rate * device.l2_bytes_per_second;
}

/// The bytes of shared memory that pass for each k of a tile of m rows and n columns, which are
/// those of all its products. A warpgroup reads its part of one operand, 64 rows or columns, and
/// all of the other one.
double shared_bytes_of_k(const Schedule& s, double m, double n, double products) {
  const ComputeFacts& facts = facts_of(s.compute);
  const auto terms = static_cast<double>(facts.tensor_products);
  const double written = static_cast<double>(facts.operand_bytes) * (m + n);
  const double read_whole = terms * 2 * n * m / 64;
  if (s.mainloop != MainloopKind::wgmma_thirds) {
    const double part = s.mainloop == MainloopKind::wgmma_swapped ? n : products * m;
    return written + terms * 2 * part + read_whole;
  }
  // Reads of A have conflicts of two lines. B is read, and its thirds are written.
  return written + 2 * 4 * m + (4 + 3 * 2) * n + read_whole;
}

} // namespace

double lines_of_copies(const Kernel& kernel, const MatrixOperand& operand) {
  constexpr int64_t kLine = 128;
  const IndexMap& map = operand.from.map;
  const auto row =
      map.strides.find(map.contiguous == Coordinate::k ? Coordinate::mn : Coordinate::k);
  if (operand.packed || row == map.strides.end()) return 1;
  const int64_t bytes =
      row->second.factor() * size_of(kernel.parameters[operand.from.parameter].dtype);
  return 2 - static_cast<double>(std::gcd(bytes, kLine)) / kLine;
}

double column_merges(const TileBody& body, const Schedule& s) {
  const auto columns = llvm::count_if(body.stages, [](const Stage& stage) {
    const auto* reduce = std::get_if<ReduceStage>(&stage.step);
    return reduce && reduce->span == ReduceSpan::column;
  });
  const double rows_of_a_thread = static_cast<double>(s.warp_m) / 8;
  return kColumnMerge / rows_of_a_thread * static_cast<double>(columns);
}

double add_wgmma(const WgmmaWork& work, const Schedule& s, const DeviceSpec& device,
                 KernelCost& cost) {
  const auto sms = static_cast<double>(device.sm_count);
  const double m = static_cast<double>(s.tile_m);
  const double n = work.products * static_cast<double>(s.tile_n);
  const ComputeFacts& facts = facts_of(s.compute);
  const auto terms = static_cast<double>(facts.tensor_products);
  const auto size = static_cast<double>(facts.operand_bytes);
  const double slots = work.depth / static_cast<double>(s.tile_k);
  // A cluster shares B. L2 serves whole lines. On an H200, bf16 in tiles of 128x128, [65536, 1000]
  // by 768, whose rows begin at multiples of 16 bytes, takes 0.303 ms; all 128 copied bytes lie in
  // two lines. 0.154 ms were predicted from bytes alone.
  const double copied = work.lines[0] * m + work.lines[1] * n / static_cast<double>(s.cluster);
  const double products = sms * 2 * m * n * work.depth * terms / (kWgmma * device.tensor_flops);
  const double shared =
      sms * work.depth * shared_bytes_of_k(s, m, n, work.products) / device.shared_bytes_per_second;
  const double cache = sms * work.depth * size * copied /
                       bulk_rate(work.tiles / work.batches, slots * work.tiles, device);
  cost.products += products * work.tiles;
  cost.shared += shared * work.tiles;
  cost.cache += cache * work.tiles;
  const double waits = s.cluster > 1 ? kClustered : 1; // for the other block
  const double splitting =
      s.mainloop == MainloopKind::wgmma_thirds ? slots * (kSplitSlot + kSplitColumn * n) : 0;
  return waits * std::max({products, shared, cache, arriving(s, work.depth, cache), splitting});
}

} // namespace ingot
