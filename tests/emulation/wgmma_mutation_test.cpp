// SPDX-License-Identifier: Apache-2.0
// The emulation finds races of the specialised skeleton: each operation that orders its copies,
// warpgroups and blocks is missed.
#include "tests/emulation/mutations.h"
#include "tests/emulation/wgmma_cases.h"

using namespace ingot::emulation;

namespace {

/// Four tiles of an f32 product by wgmma, by one block, with sums of columns through scratch.
Case sums_of_columns(int64_t depth, int slots) {
  return wgmma("graph g(x: f32[200, k], w: f32[132, k]) {\n"
               "  h = matmul(x, w, transpose_b=true)\n"
               "  return h - mean(h, axis=0, keepdim=true) }",
               {{{"k", depth}}}, slots);
}

} // namespace

TEST_CASE("emulation: every operation that orders a specialised kernel is needed") {
  // Five slots' k a tile, through a ring of two.
  const Case long_rows = sums_of_columns(300, 2);
  REQUIRE(schedules_of(long_rows).find("wgmma f16x3") == 0);
  // One in the kernel itself. Of the guard's, around the bytes of all rows, the first one alone is
  // needed: behind the second one it has nothing to do.
  check_each(kBarrier, long_rows, 1 + 2, {1});
  // Of a tile, that behind the stages is idle here: a warpgroup gets no further ahead than the ring
  // lets it. The one before the stages is for the factors of rows and columns.
  check_each(kGroupBarrier, long_rows, 12, {2, 5, 8, 11});
  check_each(kWait, long_rows, 4);
  check_each(kCommit, long_rows, 4);
  check_each(kArrival, long_rows, 20);
  check_each(kPhaseWait, long_rows, 20);
  check_each(kProductWait, long_rows, 20);
}

TEST_CASE("emulation: a tile that needs residuals has no other tile's note") {
  // By one block: the first tile's rows are dense. Those of the second one have one large element
  // and one weak one, which alone meets the large elements of the columns.
  const Case rows = wgmma("graph g(a: f32[256, 260], b: f32[260, 128]) {\n"
                          "  k = iota(f32, [256, 260], axis=1)\n"
                          "  few = where(k < 1.0, 1.0, where(k > 258.0, 1.5e-7, 0.0))\n"
                          "  of_a = where(iota(f32, [256, 260], axis=0) < 128.0, 1.0, few)\n"
                          "  of_b = where(iota(f32, [260, 128], axis=0) > 40.0, 1.0, 0.0)\n"
                          "  return relu(matmul(a * of_a, b * of_b)) }",
                          {{}}, 2);
  REQUIRE(schedules_of(rows).find("wgmma f16x3") == 0);
  check_each(kPhaseWait, rows, 4);
}

TEST_CASE("emulation: tiles of a specialised kernel do not share scratch with the next one") {
  // One slot's k: a warpgroup could be two tiles ahead. Nothing comes behind the last tile.
  check_each(kGroupBarrier, sums_of_columns(64, 3), 12, {11});
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
  // Six tiles of each of two blocks, of five slots' k, through rings of three.
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

TEST_CASE("emulation: every operation that orders the warps of a product of thirds is needed") {
  // Two tiles of five slots' k by one block, through rings of four slots and of two.
  const Case thirds = thirds_by_wgmma("graph g(x: f32[200, 160], w: f32[60, 160]) {\n"
                                      "  return matmul(x, w, transpose_b=true) }",
                                      {128, 64, 16, 4});
  REQUIRE(schedules_of(thirds).find("wgmma bf16x3 128x64x32") == 0);
  // The last but one frees a slot that nobody fills again.
  check_each(kArrival, thirds, 20, {18});
  check_each(kPhaseWait, thirds, 20);
  check_each(kProductWait, thirds, 10);
  // Those of the last four slots of A, and of the last store, are idle. The fence before the
  // products that read the thirds of B is not emulated.
  check_each(kWarpBarrier, thirds, 18, {10, 11, 12, 13, 17});
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
  // One before the arrival of a part, and one behind it; that for the factors, which is idle behind
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
