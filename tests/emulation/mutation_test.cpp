// SPDX-License-Identifier: Apache-2.0
// The emulation finds races: kernels run with one barrier, one wait for copies or one commit of
// them left out, and each must be missed.
#include "tests/emulation/cases.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

using namespace ingot::emulation;

namespace {

/// Whether results differ, in any of several orders, because of the operation that `options` skip.
bool is_noticed(const BuiltCase& built, const Outcome& whole, RunOptions options) {
  for (uint64_t seed = 1; seed <= 128; ++seed)
    for (const bool late : {true, false}) {
      options.adversary.seed = seed;
      options.adversary.late_copies = late;
      const Outcome outcome = built.run(options);
      if (!built.judge(outcome).empty() || !difference(whole, outcome).empty()) return true;
    }
  return false;
}

/// The kind of operation that is left out.
struct Mutation {
  const char* name;
  Operation operation;
};
constexpr Mutation kBarrier = {"barrier", Operation::barrier};
constexpr Mutation kWait = {"wait", Operation::copy_wait};
constexpr Mutation kWarpBarrier = {"warp barrier", Operation::warp_barrier};
constexpr Mutation kCommit = {"commit", Operation::copy_commit};
constexpr Mutation kGroupBarrier = {"barrier of the group", Operation::group_barrier};
constexpr Mutation kArrival = {"arrival", Operation::arrival};
constexpr Mutation kPhaseWait = {"wait for a phase", Operation::phase_wait};
constexpr Mutation kClusterArrival = {"arrival in the cluster", Operation::cluster_arrival};
constexpr Mutation kClusterWait = {"wait for the cluster", Operation::cluster_wait};
constexpr Mutation kProductWait = {"wait for products", Operation::product_wait};

/// Leaves out each of them in each kernel in turn; barriers only where there is shared memory.
/// Blocks take several tiles, so that operations between tiles count too, unless there are
/// `most_blocks`. Nothing depends on those of `idle`.
void check_each(const Mutation& mutation, const Case& one, int least, llvm::ArrayRef<int> idle = {},
                int64_t most_blocks = 1) {
  const BuiltCase built = BuiltCase::make(one);
  RunOptions options;
  options.most_blocks = most_blocks;
  const Outcome whole = built.run(options);
  REQUIRE(built.judge(whole) == "");
  int found = 0;
  for (const Launched& launched : whole.launches) {
    if (mutation.operation == Operation::barrier && launched.shared_bytes == 0) continue;
    // Kernels that pack operands are not asked here.
    if (llvm::StringRef(launched.entry).starts_with("packed_")) continue;
    options.mutated = launched.entry;
    const int count = launched.met[static_cast<size_t>(mutation.operation)];
    found += count;
    for (int skipped = 0; skipped < count; ++skipped) {
      options.adversary.skipped = {mutation.operation, skipped};
      if (llvm::is_contained(idle, skipped)) continue;
      CHECK_MESSAGE(is_noticed(built, whole, options), one.spec, ": nothing misses ",
                    std::string(mutation.name), " ", skipped, " of ", count, " in ",
                    launched.entry);
    }
  }
  CHECK(found >= least);
}

} // namespace

TEST_CASE("emulation: every barrier of the SIMT mainloop and of a column reduction is needed") {
  check_each(kBarrier,
             {"graph g(x: f32[140, 39], w: f32[70, 39]) {\n"
              "  h = relu(matmul(x, w, transpose_b=true))\n"
              "  return h - mean(h, axis=0, keepdim=true) }"},
             5);
}

namespace {

// Two tiles of 128x64x32 in three stages, of five steps of k each.
const Case kCopiedToFmas = {"graph g(x: f32[140, 140], w: f32[140, 40]) {\n"
                            "  h = relu(matmul(x, w))\n"
                            "  return h - mean(h, axis=0, keepdim=true) }"};

} // namespace

TEST_CASE("emulation: every barrier, wait and commit of operands copied to FMAs is needed") {
  REQUIRE(schedules_of(kCopiedToFmas).find("simt f32 128x64x32 step 64") == 0);
  // Of each tile, the wait in the last step of k is for a stage that nobody reads, and the last two
  // commits are of groups that no wait is for. Of the second one, also the barrier behind the loop:
  // the scratch of the column sums does not overlay the slot that is read last.
  check_each(kBarrier, kCopiedToFmas, 17, {5, 14, 15});
  check_each(kWait, kCopiedToFmas, 14, {5, 12});
  check_each(kCommit, kCopiedToFmas, 14, {5, 6, 12, 13});
}

TEST_CASE("emulation: every barrier of two mainloops in one kernel is needed") {
  check_each(kBarrier,
             {"graph g(x: f32[140, 40], w: f32[70, 40], v: f32[70, 40]) {\n"
              "  h = matmul(x, w, transpose_b=true) * matmul(x, v, transpose_b=true)\n"
              "  return h - mean(h, axis=0, keepdim=true) }"},
             9);
}

TEST_CASE("emulation: every barrier of segments reduced through scratch is needed") {
  check_each(kBarrier,
             {"graph g(x: f32[65, 21], w: f32[96, 21]) {\n"
              "  return group_norm(matmul(x, w, transpose_b=true), groups=2) }"},
             4);
}

TEST_CASE("emulation: every barrier of tiles shared by blocks is needed") {
  // Three parts of 17 tiles of k at most, each part a block: a barrier a tile and one behind them,
  // one before the block's arrival and one after it. Behind the tile of one part the scratch of the
  // column sums is free.
  const Case shared = {"graph g(x: f32[70, 801], w: f32[40, 801]) {\n"
                       "  return sum(matmul(x, w, transpose_b=true), axis=0) }"};
  check_each(kBarrier, shared, 18 + 2, {17}, 8);
}

TEST_CASE("emulation: every barrier of rows shared by warps is needed") {
  check_each(kBarrier, {"graph g(x: f32[4, 2500]) { return x / sum(x, axis=1, keepdim=true) }"}, 4);
}

TEST_CASE("emulation: every barrier of rows shared by blocks is needed") {
  // Two rows of three parts: one barrier within each, and one before each but the first.
  check_each(kBarrier, {"graph g(x: f32[2, n]) { return sum(x, axis=1) }", {{{"n", 20001}}}}, 11);
  check_each(kBarrier, {"graph g(x: f32[n, 40]) { return sum(x, axis=0) }", {{{"n", 300}}}}, 11);
  // One part a row, so that each merges other states than the last one.
  check_each(kBarrier,
             {"graph g(x: f32[2, n]) { return x / sum(x, axis=1, keepdim=true) }", {{{"n", 3000}}}},
             3 + 3);
  check_each(
      kBarrier,
      {"graph g(x: f32[n, 40]) { return x - mean(x, axis=0, keepdim=true) }", {{{"n", 100}}}},
      3 + 3);
}

TEST_CASE("emulation: every barrier of scanned rows is needed") {
  // Three rows of three chunks, one barrier each.
  check_each(kBarrier, {"graph g(x: f32[3, 9000]) { return cumsum(x, axis=1) }"}, 9);
  // Two tiles of three chunks.
  check_each(kBarrier, {"graph g(x: f32[300, 40]) { return cumsum(x, axis=0) }"}, 6);
}

namespace {

// Tiles of 128x128x32 in four stages: two outputs leave no registers for large warps.
const Case kSmallWarps = {"graph g(x: f16[240, 176], w: f16[72, 176]) {\n"
                          "  h = matmul(x, w, transpose_b=true)\n"
                          "  return h - mean(h, axis=0, keepdim=true), relu(h) }"};

} // namespace

TEST_CASE("emulation: every barrier of the tensor-core mainloop is needed") {
  // Of each tile, the wait in the last step of k is for a stage that nobody reads.
  check_each(kBarrier, kSmallWarps, 19, {6, 16});
}

TEST_CASE("emulation: every wait of the tensor-core mainloop is needed") {
  // As for barriers; of each tile the seventh wait is the last one within the loop over k.
  check_each(kWait, kSmallWarps, 16, {6, 14});
}

namespace {

/// A tile of an f32 product from halves: of 72 rows four tiles of k in two slots, of 64 eight
/// tiles in five. A race in making the halves changes their scale, which the product takes away
/// again: the kernels that make them are left as they are.
Case halves(int rows) {
  Case result{fmt::format("graph g(x: f32[{}, 256], param w: f32[64, 256]) {{\n"
                          "  return relu(matmul(x, w, transpose_b=true)) }}",
                          rows)};
  result.precision = ingot::MatmulPrecision::highest;
  result.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                           .thirds = std::numeric_limits<int64_t>::max()};
  return result;
}

} // namespace

TEST_CASE("emulation: every barrier of products from halves is needed") {
  REQUIRE(schedules_of(halves(72)).find("64x64 step 64 warp 32x32 stages 2") != std::string::npos);
  REQUIRE(schedules_of(halves(64)).find("64x32 step 64 warp 32x16 stages 5") != std::string::npos);
  // Two around the rows' records, one before the loop, one a step and one behind. That of the last
  // step is for a slot that nobody reads, and behind the loop nothing overlays memory that is read.
  check_each(kBarrier, halves(72), 8, {6, 7});
  check_each(kBarrier, halves(64), 12, {10, 11});
  // Here it does: a tile passes through shared memory to segments that no warp has.
  Case norm = halves(0);
  norm.spec = "graph g(x: f32[128, 256], param w: f32[126, 256]) {\n"
              "  return group_norm(linear(x, w), groups=42) }";
  check_each(kBarrier, norm, 9, {6});
}

TEST_CASE("emulation: every barrier, wait and commit of products of bf16 thirds is needed") {
  // Seven tiles of k in six slots.
  Case thirds{"graph g(x: f32[64, 200], w: f32[72, 200]) {\n"
              "  h = relu(matmul(x, w, transpose_b=true))\n"
              "  return h - mean(h, axis=0, keepdim=true) }"};
  thirds.precision = ingot::MatmulPrecision::highest;
  thirds.least_products.thirds = std::numeric_limits<int64_t>::min();
  REQUIRE(schedules_of(thirds).find("mma bf16x3 64x128x32") == 0);
  // The barrier of the last step is for a slot that nobody reads. Behind the loop come one for the
  // slots, two around the flags of sums that are not finite, and that of the column sums. Nothing
  // overlays the slots and the flags that are read last.
  check_each(kBarrier, thirds, 12, {7, 8, 10});
  // Copies behind the end of k write zeros that nobody reads.
  check_each(kWait, thirds, 9, {7, 8});
  check_each(kCommit, thirds, 12, {10, 11});
}

TEST_CASE("emulation: every wait and commit of products from halves is needed") {
  // As for barriers; the last commit is of a group that no wait is for.
  check_each(kWait, halves(72), 6, {4, 5});
  check_each(kCommit, halves(72), 5, {4});
  check_each(kWait, halves(64), 10, {8, 9});
  check_each(kCommit, halves(64), 12, {11});
}

TEST_CASE("emulation: every commit of the tensor-core mainloop is needed") {
  // The last two of each tile are of groups that no wait is for.
  check_each(kCommit, kSmallWarps, 16, {7, 8, 16, 17});
}

// Two tiles of 128x128x64 in warps of 64x64 and three stages, of five steps of k each. Rows of f32
// leave in two passes through the drained stages. Copies for steps beyond the last one, which write
// zeros, end in the first stage, where the rows pass.
const Case kLargeWarps = {"graph g(x: f16[140, 304], w: f16[72, 304]) {\n"
                          "  return cast(relu(matmul(x, w, transpose_b=true)), f32) }"};

TEST_CASE("emulation: every barrier of large warps is needed") {
  REQUIRE(schedules_of(kLargeWarps).find("mma f16 128x128x64 step 128 warp 64x64 stages 3") == 0);
  // Of each tile: one before the loop, one a step, one behind, and one before the next tile. That
  // of the last step is for a stage that nobody reads.
  check_each(kBarrier, kLargeWarps, 7 + 1 + 7, {5, 13});
}

TEST_CASE("emulation: every wait of large warps is needed") {
  // As for barriers.
  check_each(kWait, kLargeWarps, 14, {5, 12});
}

TEST_CASE("emulation: every commit of large warps is needed") {
  // The last two of each tile are of groups that no wait is for.
  check_each(kCommit, kLargeWarps, 14, {5, 6, 12, 13});
}

TEST_CASE("emulation: every barrier, wait and commit of large warps in two stages is needed") {
  Case two = kLargeWarps;
  two.choice.tile_m = two.choice.tile_n = 128;
  two.choice.warp_n = 64;
  two.choice.slots = 2;
  // The last step's wait and barrier, and those behind the loop, do for one another: each copy is
  // complete at both.
  check_each(kBarrier, two, 7 + 1 + 7, {5, 6, 13, 14});
  check_each(kWait, two, 14, {5, 6, 12, 13});
  check_each(kCommit, two, 12, {5, 11});
}

TEST_CASE("emulation: every barrier of a warp that stores lines is needed") {
  // Each of two tiles has two bands, of two passes each. A pass has one barrier before the lines
  // are read and one behind; behind a tile's last pass comes a barrier of the block or the kernel's
  // end.
  check_each(kWarpBarrier, kLargeWarps, 16, {7, 12, 13, 14, 15});
}

// One such tile, eight steps of k in each of two parts.
const Case kSharedLargeWarps = {"graph g(x: f16[70, 1024], w: f16[72, 1024]) {\n"
                                "  return cast(relu(matmul(x, w, transpose_b=true)), f32) }"};

TEST_CASE("emulation: every barrier, wait and commit of large warps that share tiles is needed") {
  const std::string schedule = schedules_of(kSharedLargeWarps);
  REQUIRE(schedule.find("mma f16 128x128x64 step 128 warp 64x64 stages 3") == 0);
  REQUIRE(schedule.find("split-k") != std::string::npos);
  // Of a part: ten as above, of which the last step's is for nobody, and behind the last one only
  // registers are stored until the next barrier, that before the arrival; then one after it.
  check_each(kBarrier, kSharedLargeWarps, 10 + 2, {8, 9}, 2);
  check_each(kWait, kSharedLargeWarps, 10, {8}, 2);
  check_each(kCommit, kSharedLargeWarps, 10, {8, 9}, 2);
  check_each(kWarpBarrier, kSharedLargeWarps, 8, {7}, 2);
}

TEST_CASE("emulation: every barrier of streamed rows is needed") {
  // Rows of a known length that are this few would be shared by blocks.
  check_each(
      kBarrier,
      {"graph g(x: f32[m, 33000]) { return x / sum(x, axis=1, keepdim=true) }", {{{"m", 2}}}}, 2);
}

TEST_CASE("emulation: every operation that orders rows in shared memory is needed") {
  // Three rows of one cluster: a chunk and moments in two sweeps each.
  Case kept = {"graph g(x: f32[m, 16512]) { return layer_norm(x) }", {{{"m", 3}}}};
  kept.target = "sm_90a";
  kept.choice = {.per_row = 256, .held = 16, .cluster = 2};
  REQUIRE(schedules_of(kept).find("kept 1x4096") == 0);
  check_each(kBarrier, kept, 3 * 2);
  check_each(kWait, kept, 9);
  check_each(kCommit, kept, 9);
  check_each(kArrival, kept, 6);
  check_each(kPhaseWait, kept, 6);
  check_each(kClusterArrival, kept, 1);
  check_each(kClusterWait, kept, 1);
  // Without a cluster, one sweep's scratch needs a barrier between rows.
  Case alone = kept;
  alone.spec = "graph g(x: f32[m, 16512]) { return x / sum(x, axis=1, keepdim=true) }";
  alone.choice.cluster = 1;
  check_each(kBarrier, alone, 3 + 2);
}

namespace {

/// Four tiles of an f32 product by wgmma, by one block, with sums of columns through scratch.
Case wgmma(int64_t depth, int slots) {
  Case result{"graph g(x: f32[200, k], w: f32[132, k]) {\n"
              "  h = matmul(x, w, transpose_b=true)\n"
              "  return h - mean(h, axis=0, keepdim=true) }",
              {{{"k", depth}}}};
  result.precision = ingot::MatmulPrecision::highest;
  result.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                           .thirds = std::numeric_limits<int64_t>::max()};
  result.target = "sm_90a";
  result.choice.wgmma = slots;
  return result;
}

} // namespace

TEST_CASE("emulation: every operation that orders a specialised kernel is needed") {
  // Five slots' k a tile, through a ring of two.
  const Case long_rows = wgmma(300, 2);
  REQUIRE(schedules_of(long_rows).find("wgmma f16x3") == 0);
  // One in the kernel itself. Of the guard's, around the bytes of all rows, the first one alone is
  // needed: behind the second one it has nothing to do.
  check_each(kBarrier, long_rows, 1 + 2, {1});
  // Of a tile, that behind the stages is idle here: a warpgroup gets no further ahead than the ring
  // lets it. The one before the stages is for the shifts of rows and columns.
  check_each(kGroupBarrier, long_rows, 12, {2, 5, 8, 11});
  check_each(kWait, long_rows, 4);
  check_each(kCommit, long_rows, 4);
  check_each(kArrival, long_rows, 20);
  check_each(kPhaseWait, long_rows, 20);
  check_each(kProductWait, long_rows, 20);
}

TEST_CASE("emulation: tiles of a specialised kernel do not share scratch with the next one") {
  // One slot's k: a warpgroup could be two tiles ahead. Nothing comes behind the last tile.
  check_each(kGroupBarrier, wgmma(64, 3), 12, {11});
}

TEST_CASE("emulation: every operation that orders warpgroups in turns is needed") {
  // Two tiles of each warpgroup, of five slots' k, through a ring of three, with sums of columns
  // through scratch.
  Case turns = {"graph g(x: bf16[200, 300], w: bf16[132, 300], b: bf16[132]) {\n"
                "  h = linear(x, w, b)\n"
                "  return h - mean(h, axis=0, keepdim=true) }"};
  turns.target = "sm_90a";
  turns.choice.wgmma = 3;
  turns.choice.tile_m = 64;
  turns.choice.tile_n = 256;
  REQUIRE(schedules_of(turns).find("wgmma bf16 64x256x64") == 0);
  // Of a tile, the barrier behind the stages is idle here: products wait for all warps of a
  // warpgroup, but in emulation alone. The first wait for products leaves those of one slot under
  // way, and there are no others.
  check_each(kGroupBarrier, turns, 6, {2, 5});
  check_each(kWait, turns, 2);
  check_each(kCommit, turns, 2);
  check_each(kArrival, turns, 12);
  check_each(kPhaseWait, turns, 12);
  check_each(kProductWait, turns, 12, {0, 6});
}

TEST_CASE("emulation: every operation that orders the blocks of a cluster is needed") {
  // Six tiles of two blocks, of five slots' k, through rings of three.
  Case cluster = {"graph g(x: bf16[320, 296], w: bf16[264, 296], b: bf16[264]) {\n"
                  "  h = linear(x, w, b)\n"
                  "  return h - mean(h, axis=0, keepdim=true) }"};
  cluster.target = "sm_90a";
  cluster.choice.wgmma = 3;
  cluster.choice.tile_m = 64;
  cluster.choice.tile_n = 256;
  cluster.choice.cluster = 2;
  REQUIRE(schedules_of(cluster).find(" cluster 2") != std::string::npos);
  check_each(kArrival, cluster, 24, {}, 2);
  check_each(kPhaseWait, cluster, 12, {}, 2);
  check_each(kClusterArrival, cluster, 2, {}, 2);
  check_each(kClusterWait, cluster, 2, {}, 2);
}

TEST_CASE("emulation: every operation that orders a swapped product is needed") {
  // Two tiles of seven slots' k, through a ring of four, with one operand along the columns.
  Case swapped = {"graph g(x: f32[200, 224], w: f32[224, 100], b: f32[100]) {\n"
                  "  return matmul(x, w) + b }"};
  swapped.precision = ingot::MatmulPrecision::high;
  swapped.target = "sm_90a";
  swapped.choice.wgmma = 4;
  swapped.choice.tile_m = 128;
  swapped.choice.tile_k = 32;
  REQUIRE(schedules_of(swapped).find("wgmma tf32 128x128x32 step 128 warp 128x16") == 0);
  // Nothing comes behind the last tile. The first wait for products leaves those of one slot under
  // way, and there are no others. The last but one frees a slot, which nobody fills again.
  check_each(kGroupBarrier, swapped, 4, {3});
  check_each(kWait, swapped, 2);
  check_each(kCommit, swapped, 2);
  check_each(kArrival, swapped, 14);
  check_each(kPhaseWait, swapped, 14);
  check_each(kProductWait, swapped, 16, {0, 8, 14});
}

TEST_CASE("emulation: warpgroups do not copy over the operands of a tile that is being stored") {
  // Four tiles of two warpgroups that share them, of one slot's k each, without scratch. The copies
  // of a tile begin while other warps may still store the tile before. Nothing comes behind the
  // last tile.
  Case bias = {"graph g(x: bf16[200, 64], w: bf16[264, 64], b: bf16[264], c: f32[264]) {\n"
               "  return cast(linear(x, w, b), f32) * c }"};
  bias.target = "sm_90a";
  bias.choice.wgmma = 4;
  bias.choice.tile_m = 128;
  bias.choice.tile_n = 128;
  bias.choice.warp_m = 16;
  REQUIRE(schedules_of(bias).find("wgmma bf16 128x128x64 step 128 warp 16x128") == 0);
  check_each(kGroupBarrier, bias, 12, {11});
  check_each(kWait, bias, 6);
  check_each(kCommit, bias, 6);
}

TEST_CASE("emulation: the barrier between the records at which a guard looks is needed") {
  // A fifth of each row of A is strong: the bytes do not decide, and the records suit. So the
  // barriers around the bytes, and the one behind the records, change no result here.
  Case few = {"graph g(x: f32[200, 300], w: f32[132, 300]) {\n"
              "  a = x * where(iota(f32, [200, 300], axis=1) < 60.0, 1.0, 1e-6)\n"
              "  return matmul(a, w, transpose_b=true) }"};
  few.precision = ingot::MatmulPrecision::highest;
  few.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                        .thirds = std::numeric_limits<int64_t>::max()};
  few.target = "sm_90a";
  few.choice.wgmma = 3;
  REQUIRE(schedules_of(few).find("wgmma f16x3") == 0);
  check_each(kBarrier, few, 1 + 4, {0, 1, 3});
}

TEST_CASE("emulation: every barrier of tiles by wgmma that blocks share is needed") {
  // One before the arrival of a part, and one behind it; that for the shifts, which is idle behind
  // these two; one in the sums of columns, and one behind the last tile, which is idle.
  Case shared = {"graph g(x: f32[70, 801], w: f32[40, 801]) {\n"
                 "  return sum(matmul(x, w, transpose_b=true), axis=0) }"};
  shared.precision = ingot::MatmulPrecision::highest;
  shared.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                           .thirds = std::numeric_limits<int64_t>::max()};
  shared.target = "sm_90a";
  shared.choice.wgmma = 3;
  REQUIRE(schedules_of(shared).find("split-k") != std::string::npos);
  check_each(kGroupBarrier, shared, 5, {2, 4}, 8);
}
