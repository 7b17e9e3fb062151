// SPDX-License-Identifier: Apache-2.0
// The emulation finds races: kernels run with one barrier, one wait for copies or one commit of
// them left out, and each must be missed.
#include "tests/emulation/mutations.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

using namespace ingot::emulation;

TEST_CASE("emulation: every barrier of the SIMT mainloop and of a column reduction is needed") {
  check_each(kBarrier,
             {"graph g(x: f32[140, 39], w: f32[70, 39]) {\n"
              "  h = relu(matmul(abs(x), w, transpose_b=true))\n"
              "  return h - mean(h, axis=0, keepdim=true) }"},
             5);
}

namespace {

// Two tiles of 128x64x32 in three stages, of five steps of k each.
const Case kCopiedToFmas = {.spec = "graph g(x: f32[140, 140], w: f32[140, 40]) {\n"
                                    "  h = relu(matmul(x, w))\n"
                                    "  return h - mean(h, axis=0, keepdim=true) }",
                            .choice = {.tile_m = 128, .tile_n = 64}};

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
             {.spec = "graph g(x: f32[140, 40], w: f32[70, 40], v: f32[70, 40]) {\n"
                      "  h = matmul(x, w, transpose_b=true) * matmul(x, v, transpose_b=true)\n"
                      "  return h - mean(h, axis=0, keepdim=true) }",
              .sm_count = 4},
             9);
}

TEST_CASE("emulation: every barrier of segments reduced through scratch is needed") {
  check_each(kBarrier,
             {"graph g(x: f32[65, 21], w: f32[96, 21]) {\n"
              "  return group_norm(matmul(abs(x), w, transpose_b=true), groups=2) }"},
             4);
}

TEST_CASE("emulation: every barrier of tiles shared by blocks is needed") {
  // Three parts of 17 tiles of k at most, each part a block: a barrier a tile and one behind them,
  // one before the block's arrival and one after it. Behind the tile of one part the scratch of the
  // column sums is free.
  const Case shared = {"graph g(x: f32[70, 801], w: f32[40, 801]) {\n"
                       "  return sum(matmul(abs(x), w, transpose_b=true), axis=0) }"};
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
const Case kSmallWarps = {.spec = "graph g(x: f16[240, 176], w: f16[72, 176]) {\n"
                                  "  h = matmul(x, w, transpose_b=true)\n"
                                  "  return h - mean(h, axis=0, keepdim=true), relu(h) }",
                          .choice = {.tile_m = 128, .tile_n = 128}};

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
  result.sm_count = 1;
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
  thirds.choice.tile_m = 64;
  thirds.choice.tile_n = 128;
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
const Case kLargeWarps = {.spec = "graph g(x: f16[140, 304], w: f16[72, 304]) {\n"
                                  "  return cast(relu(matmul(x, w, transpose_b=true)), f32) }",
                          .choice = {.tile_m = 128, .tile_n = 128}};

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

TEST_CASE("emulation: every barrier of operands that are staged alone is needed") {
  // Two tiles, of three steps of k each. One copy of the code that stages them fills the first
  // slots too. Nothing is copied, so waits and commits are for nothing. Of each tile, the barrier
  // of the last step and the one behind the loop do for one another.
  Case staged = {"graph g(x: f16[140, 175], w: f16[72, 175]) {\n"
                 "  return cast(relu(matmul(x, w, transpose_b=true)), f32) }"};
  for (int64_t slots : {2, 3}) {
    staged.choice.slots = slots;
    REQUIRE(schedules_of(staged).find("a staged") != std::string::npos);
    REQUIRE(schedules_of(staged).find(fmt::format("stages {}", slots)) != std::string::npos);
    check_each(kBarrier, staged, 5 + 1 + 5, {3, 4, 9, 10});
  }
}

TEST_CASE("emulation: every barrier of a warp that stores lines is needed") {
  // Each of two tiles has two bands, of two passes each. A pass has one barrier before the lines
  // are read and one behind; behind a tile's last pass comes a barrier of the block or the kernel's
  // end.
  check_each(kWarpBarrier, kLargeWarps, 16, {7, 12, 13, 14, 15});
}

// One such tile, eight steps of k in each of two parts.
const Case kSharedLargeWarps = {.spec =
                                    "graph g(x: f16[70, 1024], w: f16[72, 1024]) {\n"
                                    "  return cast(relu(matmul(x, w, transpose_b=true)), f32) }",
                                .choice = {.tile_m = 128, .tile_n = 128}};

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

TEST_CASE("emulation: every barrier of results that one thread merges is needed") {
  // Two tiles of 64 rows: one barrier before a result is merged, one behind, and one between tiles,
  // which nobody needs here, because the threads that store a result have merged it.
  Case first = {"graph g(x: bf16[600, 128]) { return argmax(x, axis=0) }"};
  first.choice = {.tile_m = 64, .per_row = 16};
  REQUIRE(schedules_of(first).find("streamed 64x512 threads 512 per-row 16 along-rows") == 0);
  check_each(kBarrier, first, 2 + 1 + 2, {2});
}

TEST_CASE("emulation: every operation that orders rows in shared memory is needed") {
  // Three rows of one cluster, each merged once. A block has at most three chunks of a row.
  Case kept = {"graph g(x: f32[m, 16512]) { return layer_norm(x) }", {{{"m", 3}}}};
  kept.target = "sm_90a";
  kept.choice = {.per_row = 256, .held = 16, .cluster = 2};
  REQUIRE(schedules_of(kept).find("kept 1x4096") == 0);
  check_each(kBarrier, kept, 3);
  check_each(kWait, kept, 9);
  check_each(kCommit, kept, 9);
  check_each(kArrival, kept, 3);
  check_each(kPhaseWait, kept, 3);
  check_each(kClusterArrival, kept, 1);
  check_each(kClusterWait, kept, 1);
  // Without a cluster, one sweep's scratch needs a barrier between rows.
  Case alone = kept;
  alone.spec = "graph g(x: f32[m, 33024]) { return x / sum(x, axis=1, keepdim=true) }";
  alone.choice = {.per_row = 512, .held = 16, .cluster = 1};
  check_each(kBarrier, alone, 3 + 2);
  // Copies run ahead in seven slots, for three rows of five chunks.
  REQUIRE(schedules_of(alone).find("slots 7") != std::string::npos);
  check_each(kWait, alone, 15);
  check_each(kCommit, alone, 15);
  // The same in both blocks of a cluster.
  Case together = alone;
  together.spec = "graph g(x: f32[m, 66048]) { return x / sum(x, axis=1, keepdim=true) }";
  together.choice.cluster = 2;
  REQUIRE(schedules_of(together).find("cluster 2 slots 7") != std::string::npos);
  check_each(kWait, together, 15);
  check_each(kCommit, together, 15);
  check_each(kArrival, together, 3);
  check_each(kPhaseWait, together, 3);
}
