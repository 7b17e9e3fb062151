// SPDX-License-Identifier: Apache-2.0
// See cost_nested.h.
#include "codegen/schedule/cost_nested.h"

#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/visit.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

// Attention on an H200 by mma.sync: in f16, 64 heads of 2048 rows and 64 columns, 0.228 ms; in
// bf16, 32 heads of 4096 rows and 128 columns, 0.758 ms.
constexpr double kStagesBeside = 0.8; ///< the part of the stages' time that no product hides
// By wgmma the same takes 0.179 ms with two warpgroups and 0.165 with three in turns. In bf16, 32
// heads of 4096 rows and 128 columns take 0.402 ms with two.
constexpr double kShorterBeside = 0.2; ///< the part of the shorter one that the other does not hide
constexpr double kShorterOfThree = 0.02; ///< with three warpgroups

// With a bias of each head, the same take 0.149 and 0.146 ms more in f16, and 0.35 by wgmma in
// bf16.
constexpr double kRead = 0.036e-9; ///< of an SM, for a byte that stages read

// Decoding by mma.sync in bf16, 32 heads over 8 of 8192 keys and 128 columns: 0.0235 ms for one
// sequence by 32 parts, 0.048 for four by 8.
constexpr double kJoining = 6e-6;       ///< from a part's last product to the last block's sums
constexpr double kJoiningPart = 0.2e-6; ///< a block adds a part

/// The time for each part of f32 elements, by that of a product of 16 bits at the rate of mma.sync.
/// Attention by six products of three parts on an H200: 64 heads of 1024 rows and 64 columns take
/// 0.333 ms, 32 heads of 2048 rows and 128 columns 1.25.
constexpr double kSplitting = 1.67;
/// The same in a row of layers: three of 64 columns take 0.81 ms for 1,048,576 rows, and three of
/// 128 columns 0.874 for 262,144.
constexpr double kSplittingOfLayers = 3.3;

/// The share of the rate of mma.sync that products reach, with the splitting of f32 elements.
double share_of_products(ComputeType compute, double splitting) {
  const auto terms = static_cast<double>(facts_of(compute).tensor_products);
  return terms / (terms / kBusy + splitting * bf16_parts(compute));
}

/// The time that SMs wait for those with the most tiles. Blocks of one SM share its rate.
double idle_seconds(double busy, double tiles_of_sm) {
  return busy * (std::ceil(tiles_of_sm) / tiles_of_sm - 1);
}

/// The blocks that share an SM which has so many tiles. One alone has the SM's rate.
double blocks_under_way(double of_sm, double most) { return std::clamp(of_sm, 1.0, most); }

/// Copies arrive beside products and stages, from memory too.
double wgmma_seconds(const NestedWork& work, const Schedule& s, const DeviceSpec& device,
                     KernelCost& cost) {
  const double of_sm = work.tiles / static_cast<double>(device.sm_count);
  const double m = static_cast<double>(s.tile_m);
  cost.products = 2 * work.tiles * m * work.depth * work.units / (kWgmma * device.tensor_flops);
  // Of a step, a warpgroup reads its rows of the inner A, and both B whole. These are written once.
  const double steps = work.depth / static_cast<double>(s.tile_k);
  const double inner = steps * m * static_cast<double>(s.depth);
  const double others = work.depth * work.units;
  cost.shared = 2 * work.tiles * (inner + (m / 64 + 1) * others) / device.shared_bytes_per_second;
  cost.cache = 2 * work.tiles * others / device.l2_bytes_per_second;
  const double stages = cost.stages;
  const double both =
      std::max(cost.products, stages) +
      (s.tile_m > 128 ? kShorterOfThree : kShorterBeside) * std::min(cost.products, stages);
  return std::max({both, cost.shared, cost.cache, cost.memory, of_sm * steps * kArrival / s.slots});
}

double mma_seconds(const NestedWork& work, const Schedule& s, const DeviceSpec& device,
                   KernelCost& cost) {
  const double warps = static_cast<double>(s.threads) / 32;
  const ComputeFacts& facts = facts_of(s.compute);
  const double copied =
      static_cast<double>(facts.operand_bytes) * work.tiles * work.depth * work.units;
  const auto terms = static_cast<double>(facts.tensor_products);
  cost.products = 2 * terms * work.tiles * static_cast<double>(s.tile_m) * work.depth * work.units /
                  (share_of_products(s.compute, kSplitting) * device.mma_flops * work.share);
  cost.shared = warps * copied / device.shared_bytes_per_second;
  cost.cache = copied / device.l2_bytes_per_second;
  const double steps = work.tiles / static_cast<double>(device.sm_count) / work.blocks *
                       std::ceil(work.depth / static_cast<double>(s.tile_k));
  return std::max({cost.products + kStagesBeside * cost.stages, cost.shared, cost.cache,
                   cost.memory, steps * kArrival});
}

} // namespace

double resident_area(const TileBody& body, const Schedule& s,
                     llvm::function_ref<double(const Expr&)> value) {
  double area = value(body.mainloops.front().depth) * static_cast<double>(s.tile_n);
  for (const ComputedTile* tile : computed_tiles(body))
    area += value(tile->body.mainloops.front().depth) *
            static_cast<double>(resident_columns(tile->body, s));
  return area;
}

double copied_depth(const TileBody& body, const Schedule& s,
                    llvm::function_ref<double(const Expr&)> value) {
  const auto tiles = computed_tiles(body);
  if (s.keeps_b) return value(tiles.front()->body.mainloops.front().depth);
  double depth = value(body.mainloops.front().depth);
  for (const ComputedTile* tile : tiles) depth += value(tile->body.mainloops.front().depth);
  return depth;
}

void add_resident(const ResidentWork& work, const Schedule& s, const DeviceSpec& device,
                  KernelCost& cost) {
  const bool is_mma = computes_by_mma(s.mainloop);
  const ComputeFacts& facts = facts_of(s.compute);
  const auto terms = static_cast<double>(facts.tensor_products);
  const double m = static_cast<double>(s.tile_m), of_sm = work.tiles / device.sm_count;
  const double rate =
      is_mma ? share_of_products(s.compute, kSplittingOfLayers) * device.mma_flops * work.share
             : kWgmma * device.tensor_flops;
  cost.products = 2 * terms * work.tiles * m * work.area / rate;
  const double readers = is_mma ? static_cast<double>(s.threads) / 32 : m / 64;
  const auto size = static_cast<double>(facts.operand_bytes);
  // Of an f32 element, a block reads 4 bytes and writes its parts, which each warp reads.
  const double parts = 2.0 * bf16_parts(s.compute);
  const double read = parts > 0 ? parts * (readers + 1) + 4 : size * readers;
  cost.shared = work.tiles * read * work.area / device.shared_bytes_per_second;
  const double copied = s.keeps_b ? 0 : size * work.tiles * work.area;
  cost.cache = copied / device.l2_bytes_per_second;
  // Warpgroups with tiles of their own hide one another's stages.
  const double beside = is_mma ? kStagesBeside : m > 128 ? kShorterOfThree : kShorterBeside;
  const double longer = std::max(cost.products, cost.stages);
  const double shorter = std::min(cost.products, cost.stages);
  const double turns = of_sm / blocks_under_way(of_sm, work.blocks);
  const double steps = turns * work.depth / static_cast<double>(s.tile_k);
  const double arriving = steps * kArrival / std::max(1.0, static_cast<double>(s.slots - 1));
  const double busy =
      std::max({longer + beside * shorter, cost.shared, cost.cache, cost.memory, arriving});
  cost.idle = idle_seconds(busy, of_sm);
  cost.exposed = busy - cost.products + (is_mma ? std::ceil(turns) : 1) * kFill;
  cost.seconds = cost.products + cost.exposed + cost.idle;
}

void add_nested(const NestedWork& work, const Schedule& s, const DeviceSpec& device,
                KernelCost& cost) {
  const bool is_mma = s.mainloop != MainloopKind::nested_wgmma;
  const double busy =
      is_mma ? mma_seconds(work, s, device, cost) : wgmma_seconds(work, s, device, cost);
  cost.exposed = kRead * work.reads * work.tiles * static_cast<double>(s.tile_m) * work.depth /
                 static_cast<double>(device.sm_count);
  const double of_sm = work.tiles / static_cast<double>(device.sm_count);
  const double rounds = std::ceil(of_sm / blocks_under_way(of_sm, work.blocks));
  cost.idle = idle_seconds(busy, of_sm);
  cost.exposed += busy - cost.products + rounds * kFill;
  if (work.parts > 1) cost.exposed += kJoining + kJoiningPart * work.parts;
  cost.seconds = cost.products + cost.exposed + cost.idle;
}

} // namespace ingot
