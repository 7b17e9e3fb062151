// SPDX-License-Identifier: Apache-2.0
// Which schedules groups get, as text, with the shared memory that the host plans for each.
#include "tests/unit/schedule_text.h"

#include "codegen/schedule/choose.h"
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;
using ingot::testing::schedules;

namespace {

/// The schedules of a group norm behind a linear layer; `groups` 0: of the linear layer alone.
std::string linear(int64_t rows, int64_t columns, int64_t groups, MatmulPrecision precision) {
  const std::string norm =
      groups ? fmt::format("group_norm(linear(x, w), groups={})", groups) : "relu(linear(x, w))";
  return schedules(fmt::format("x: f32[{}, 64], w: f32[{}, 64]) {{ return {}", rows, columns, norm),
                   precision);
}

/// Of each line: each of `words` that it has, with the word after it.
std::string picked(const std::string& text, llvm::ArrayRef<llvm::StringRef> words) {
  std::string result;
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    rest = next;
    llvm::SmallVector<llvm::StringRef, 32> parts;
    line.split(parts, ' ');
    std::string kept;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      if (llvm::is_contained(words, parts[i]))
        kept += fmt::format("{}{} {}", kept.empty() ? "" : " ", parts[i].str(), parts[i + 1].str());
    result += (result.empty() ? "" : "; ") + kept;
  }
  return result;
}

} // namespace

TEST_CASE("schedule: a matmul in each precision, aligned and not") {
  CHECK(linear(1024, 8192, 256, MatmulPrecision::pedantic) ==
        "simt f32 128x128x32 step 128 warp 0x0 stages 3 threads 256 a direct*4 b direct*4 vec 4 "
        "shared 98304\n"
        "simt f32 128x128x16 step 128 warp 0x0 stages 2 threads 256 a staged*1 b staged*1 vec 1 "
        "shared 32768\n");
  CHECK(linear(1024, 8192, 256, MatmulPrecision::highest) ==
        "mma bf16x3 64x128x32 step 128 warp 32x32 stages 3 threads 256 a direct*4 b direct*4 vec 2 "
        "staged-stores promote 16 shared 73728\n"
        "mma bf16x3 64x128x32 step 128 warp 32x32 stages 3 threads 256 a staged*1 b staged*1 vec 1 "
        "promote 16 shared 73728\n");
  CHECK(linear(1024, 8192, 256, MatmulPrecision::high) ==
        "mma tf32 128x128x16 step 128 warp 64x64 stages 4 threads 128 a direct*4 b direct*4 vec 2 "
        "staged-stores shared 65536\n"
        "mma tf32 128x128x16 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1 "
        "shared 65536\n");
  CHECK(linear(1024, 8192, 256, MatmulPrecision::medium) ==
        "mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*4 b staged*4 vec 2 "
        "staged-stores shared 81920\n"
        "mma bf16 128x128x32 step 128 warp 64x32 stages 4 threads 256 a staged*1 b staged*1 vec 1 "
        "shared 65536\n");
}

TEST_CASE("schedule: tiles of halves are wide where that leaves no processor idle") {
  auto tile = [](const char* x, const char* w) {
    return picked(
        schedules(fmt::format("x: f16[{}], w: f16[{}]) {{ return relu(linear(x, w))", x, w)),
        {"f16", "warp", "threads"});
  };
  // 108 processors: 2 waves of 128 wide tiles, or of 256 usual ones by two.
  CHECK(tile("1024, 2048", "4096, 2048").starts_with("f16 128x256x64 warp 64x64 threads 256"));
  // One wave of 96 wide tiles, of 192 usual ones too: these run by two, and their stages have half
  // the depth, as this device's memory takes three of 64 for one block only.
  CHECK(tile("768, 2048", "4096, 2048").starts_with("f16 128x128x32 warp 64x64 threads 128"));
  // One wave of 96 usual ones.
  CHECK(tile("768, 2048", "2048, 2048").starts_with("f16 128x128x64 warp 64x64 threads 128"));
  // 3 waves of 220 wide tiles, where 440 usual ones take 3 by two.
  CHECK(tile("1280, 2048", "5632, 2048").starts_with("f16 128x256x64 warp 64x64 threads 256"));
  // Short rows: the stages of a tile outweigh the savings of a wide one.
  CHECK(tile("1024, 1024", "4096, 1024").starts_with("f16 128x128x32 warp 64x64 threads 128"));
  // Rows that are no multiple of 16 bytes are not copied as they are.
  CHECK(tile("1024, 2047", "4096, 2047").starts_with("f16 128x128x32 warp 64x64 threads 128"));
  // The tiles of a batch count together.
  CHECK(picked(schedules("x: f16[64, 256, 2048], w: f16[64, 2048, 512]) {\n"
                         "  return relu(matmul(x, w))"),
               {"f16"})
            .starts_with("f16 128x256x64"));
  CHECK(picked(schedules("x: f16[1024, 2048], w: f16[4096, 2048]) {\n"
                         "  return amax(reshape(linear(x, w), [1024, 32, 128]), axes=[2])"),
               {"f16", "step"})
            .starts_with("f16 128x256x64 step 256"));
}

TEST_CASE("schedule: few rows are multiplied as halves where prepare makes those of the rest") {
  auto tile = [](const char* inputs) {
    return picked(
        schedules(std::string(inputs) + ") { return relu(linear(x, w))", MatmulPrecision::highest),
        {"f16x3", "bf16x3", "f32", "stages"});
  };
  const char* const few = "f16x3 64x64x32 stages 4; f16x3 64x64x32 stages 4";
  CHECK(tile("x: f32[33, 4096], param w: f32[8192, 4096]") == few);
  CHECK(tile("x: f32[64, 4096], param w: f32[8192, 4096]") == few);
  // Halves that each launch makes of w take the time of 100 rows.
  CHECK(tile("x: f32[64, 4096], w: f32[8192, 4096]").starts_with("bf16x3 64x128x32"));
  CHECK(tile("x: f32[33, 4096], w: f32[8192, 4096]").starts_with("bf16x3 64x128x32"));
  // A tile computes all of its rows, also those past the last row of the product.
  CHECK(tile("x: f32[32, 4096], w: f32[8192, 4096]").starts_with("bf16x3 32x128x32"));
  CHECK(tile("x: f32[2, 4096], param w: f32[8192, 4096]").starts_with("bf16x3 32x128x32"));
  CHECK(tile("x: f32[2, 4096], w: f32[32768, 4096]").starts_with("bf16x3 32x256x32"));
  CHECK(tile("x: f32[9, 30983], w: f32[26, 30983]").starts_with("bf16x3 64x64x32"));
  CHECK(tile("x: f32[112, 4096], w: f32[8192, 4096]").starts_with("f16x3 128x"));
  CHECK(tile("param x: f32[8192, 4096], w: f32[16, 4096]").starts_with("f16x3 128x"));
  CHECK(tile("x: f32[8192, 4096], param w: f32[16, 4096]").starts_with("bf16x3 128x64x32"));
  // Too little to multiply, however few the rows are.
  CHECK(tile("x: f32[2, 256], param w: f32[256, 256]").starts_with("f32 64x64x16"));
  // As much again in operands that no halves are made of.
  CHECK(tile("x: f32[64, 256], param w: f32[256, 256]").starts_with("bf16x3 64x64x32"));
}

TEST_CASE("schedule: tiles that share their products are not wide") {
  CHECK(picked(schedules("x: f16[m, 8192], w: f16[4096, 8192]) { return relu(linear(x, w))"),
               {"f16", "split-k"}) == "f16 128x128x32 split-k at; f16 128x128x32 split-k at");
}

TEST_CASE("schedule: wide tiles need shared memory for three stages, 144 KB") {
  CompileOptions options;
  options.device = "native";
  options.native = DeviceSpec{.name = "native",
                              .arch = "sm_89",
                              .shared_per_block = 99 * 1024,
                              .shared_per_sm = 100 * 1024};
  const char* const text =
      "graph g(x: f16[1024, 2048], w: f16[4096, 2048]) { return linear(x, w) }";
  auto compilation = compile_graph(llvm::cantFail(parse_graph(text, "test")), options);
  REQUIRE_MESSAGE(bool(compilation), take_error(compilation.takeError()).second);
  const std::string& schedule = compilation->module.kernels.back().variants.front().schedule;
  CHECK(llvm::StringRef(schedule).starts_with("mma f16 128x128x64"));
}

TEST_CASE("schedule: an operand whose neighbours are those of a batch is read element by element") {
  const std::string text = schedules("x: f16[128, 2, 256], w: f16[256, 128, 64]) {\n"
                                     "  return matmul(transpose(x, [2, 1, 0]), w)");
  CHECK(picked(text, {"a", "b"}) == "a staged*1 b direct*8; a staged*1 b staged*1");
}

TEST_CASE("schedule: blocks share rows that are too few to fill the machine") {
  // The first kernel reduces, the last one merges its states.
  auto both = [](const std::string& graph) {
    auto compilation =
        compile_graph(llvm::cantFail(parse_graph("graph g(" + graph + " }", "test")), {});
    if (!compilation) return take_error(compilation.takeError()).second;
    std::string text;
    for (const KernelCode& kernel : compilation->module.kernels) {
      const KernelVariant& variant = kernel.variants.front();
      text += fmt::format("{} grid {}\n", variant.schedule, variant.launch.grid[0].text());
    }
    return text;
  };
  CHECK(both("x: f32[4, 100000000]) { return softmax(x, axis=1)") ==
        "split 1x8192 threads 512 per-row 512 along-columns vec 4 parts 54 grid 216\n"
        "split 1x4096 threads 256 per-row 256 along-columns vec 4 parts 108 grid 432\n");
  CHECK(both("x: f32[m, n]) { return sum(x)") ==
        "split 1x8192 threads 512 per-row 512 along-columns vec 4 parts 216 grid "
        "min(max(min(ceil_div(m * n, max(ceil_div(ceil_div(m * n, 8192), 216), 1) * 8192), 216), "
        "1), 2147483647)\n"
        "held 1x1024 threads 1024 per-row 1024 along-columns vec 1 grid 1\n");
  CHECK(both("x: f32[10000000, 8]) { return sum(x, axis=0)") ==
        "split 32x128 threads 256 per-row 8 along-rows vec 1 parts 432 grid 432\n"
        "held 1x256 threads 256 per-row 256 along-columns vec 1 grid 8\n");
  // Two rows to a lane would leave half as many parts as fill it.
  CHECK(llvm::StringRef(both("x: bf16[2048, 1024]) { return sum(x, axis=0)"))
            .starts_with("split 32x256 threads 256"));
  // Half of the machine's processors, and more.
  CHECK(picked(both("x: f32[54, 40000]) { return sum(x, axis=1)"), {"split", "held", "parts"}) ==
        "split 1x8192 parts 4; held 4x32");
  CHECK(picked(both("x: f32[55, 40000]) { return sum(x, axis=1)"), {"streamed"}) ==
        "streamed 1x8192");
  // As many columns as a block holds, and more.
  CHECK(picked(both("x: f32[2, 32768]) { return sum(x, axis=1)"), {"held"}) == "held 1x32768");
  CHECK(picked(both("x: f32[2, 32769]) { return sum(x, axis=1)"), {"split", "parts"}) ==
        "split 1x8192 parts 108; ");
}

TEST_CASE("schedule: small and odd matmuls") {
  CHECK(picked(linear(32, 32, 0, MatmulPrecision::pedantic), {"f32", "vec"}) ==
        "f32 64x64x32 vec 4; f32 64x64x16 vec 1");
  // K of 15: x and w lie along it, and are copied one by one.
  CHECK(picked(schedules("x: f32[66, 15], w: f32[7, 15]) { return relu(linear(x, w))"),
               {"a", "b"}) == "a direct*1 b direct*1");
  // cp.async copies no 2 bytes.
  CHECK(picked(schedules("x: f16[66, 15], w: f16[7, 15]) { return relu(linear(x, w))"),
               {"a", "b"}) == "a staged*1 b staged*1");
  CHECK(picked(schedules("x: f16[66, 16], w: f16[16, 216]) { return relu(matmul(x, w))"),
               {"a", "b"}) == "a direct*8 b direct*8; a staged*1 b staged*1");
}

TEST_CASE("schedule: tiles hold whole segments, and accesses divide the step") {
  using P = MatmulPrecision;
  const std::initializer_list<llvm::StringRef> words = {"f32", "step", "vec", "shared"};
  CHECK(picked(linear(1024, 4800, 100, P::pedantic), words) ==
        "f32 128x128x32 step 96 vec 4 shared 98304; f32 128x128x16 step 96 vec 1 shared 70144");
  CHECK(picked(linear(1024, 3300, 100, P::pedantic), words) ==
        "f32 128x128x32 step 99 vec 1 shared 98304; f32 128x128x16 step 99 vec 1 shared 72192");
  CHECK(picked(linear(16384, 252, 42, P::pedantic), words) ==
        "f32 128x128x32 step 126 vec 2 shared 109056; f32 128x128x16 step 126 vec 1 shared 109056");
  CHECK(picked(linear(1024, 2560, 10, P::pedantic), words) ==
        "f32 64x256x16 step 256 vec 4 shared 40960; f32 64x256x16 step 256 vec 1 shared 40960");
  const std::initializer_list<llvm::StringRef> of_thirds = {"bf16x3", "step", "vec", "shared"};
  CHECK(picked(linear(1024, 4800, 100, P::highest), of_thirds) ==
        "bf16x3 64x128x32 step 96 vec 2 shared 76032; bf16x3 64x128x32 step 96 vec 1 shared 73728");
  CHECK(picked(linear(1024, 2000, 10, P::highest), words) ==
        "f32 32x256x16 step 200 vec 4 shared 36864; f32 32x256x16 step 200 vec 1 shared 36864");
  CHECK(picked(linear(1024, 3300, 100, P::high), {"step", "a", "b", "vec"}) ==
        "step 99 a direct*4 b direct*4 vec 1; step 99 a staged*1 b staged*1 vec 1");
  // One tile: every access begins at column 0.
  CHECK(picked(linear(32, 36, 1, P::pedantic), {"step", "vec"}) == "step 36 vec 4; step 36 vec 1");
}

TEST_CASE("schedule: tiles divide the segments that they share") {
  auto steps = [](int64_t width, MatmulPrecision precision) {
    auto compilation = compile_graph(
        llvm::cantFail(parse_graph(fmt::format("graph g(x: f32[1024, 64], w: f32[{}, 64]) {{\n"
                                               "  h = reshape(linear(x, w), [1024, 2, {}])\n"
                                               "  return reduce_max(h, axis=2) }}",
                                               2 * width, width),
                                   "test")),
        [&] {
          CompileOptions options;
          options.precision = precision;
          return options;
        }());
    if (!compilation) return take_error(compilation.takeError()).second;
    const KernelVariant& first = compilation->module.kernels.front().variants.front();
    return picked(first.schedule, {"f32", "bf16x3", "tf32", "step", "vec"}) + " grid " +
           first.launch.grid[0].text();
  };
  using P = MatmulPrecision;
  CHECK(steps(512, P::pedantic) == "f32 128x128x32 step 128 vec 4 grid 64");
  CHECK(steps(512, P::highest) == "bf16x3 64x128x32 step 128 vec 2 grid 128");
  CHECK(steps(512, P::high) == "tf32 128x128x32 step 128 vec 2 grid 64");
  // Smaller tiles where more than half of the SMs would have none.
  CHECK(steps(384, P::high) == "tf32 64x128x16 step 128 vec 2 grid 96");
  CHECK(steps(960, P::pedantic) == "f32 128x128x32 step 120 vec 4 grid 128");
  CHECK(steps(1000, P::pedantic) == "f32 128x128x32 step 125 vec 1 grid 128");
  CHECK(steps(1000, P::high) == "tf32 128x128x16 step 125 vec 1 grid 128");
  CHECK(steps(320, P::pedantic) == "f32 128x64x32 step 64 vec 4 grid 80");
  CHECK(steps(700, P::pedantic) == "f32 128x128x32 step 100 vec 4 grid 112");
  CHECK(steps(753, P::high) == "tf32 64x256x16 step 251 vec 1 grid 96");
}

TEST_CASE("schedule: segments that tiles share take no tile from those inside") {
  const std::string inputs = "x: f16[1024, 64], w: f16[7200, 64]) {\n  h = linear(x, w)\n"
                             "  a = reduce_max(reshape(h, [1024, 100, 72]), axis=2)\n";
  const std::initializer_list<llvm::StringRef> words = {"f16", "step"};
  const std::string alone = picked(schedules(inputs + "  return a"), words);
  CHECK(alone == "f16 128x128x32 step 72; f16 128x128x32 step 72");
  auto compilation = compile_graph(
      llvm::cantFail(parse_graph(
          "graph g(" + inputs + "  return a, reduce_max(reshape(h, [1024, 10, 720]), axis=2) }",
          "test")),
      {});
  REQUIRE(static_cast<bool>(compilation));
  CHECK(compilation->module.kernels.size() == 2);
  const auto& kernel = compilation->module.kernels.front();
  CHECK(picked(kernel.variants.front().schedule, words) == "f16 128x128x32 step 72");
}

TEST_CASE("schedule: operands along n are copied as wide as tiles are aligned") {
  auto of = [](int columns, int groups) {
    return picked(schedules(fmt::format("x: f16[8194, 16], w: f16[16, {}]) {{\n"
                                        "return group_norm(matmul(x, w), groups={})",
                                        columns, groups)),
                  {"step", "a", "b"});
  };
  CHECK(of(216, 6) == "step 108 a direct*8 b direct*4; step 108 a staged*1 b staged*1");
  CHECK(of(240, 6) == "step 120 a direct*8 b direct*8; step 120 a staged*1 b staged*1");
  CHECK(of(264, 24) == "step 121 a direct*8 b staged*1; step 121 a staged*1 b staged*1");
}

TEST_CASE("schedule: rows are held up to a block's registers, then in shared memory, or streamed") {
  auto softmax = [](const char* shape, int axis) {
    return llvm::StringRef(
               schedules(fmt::format("x: f32{}) {{ return softmax(x, axis={})", shape, axis)))
        .split('\n')
        .first.str();
  };
  CHECK(softmax("[512, 768]", 1) ==
        "held 2x768 threads 128 per-row 64 along-columns vec 4 shared 32");
  // In accesses of 8, 64 threads would have one and a half each.
  CHECK(schedules("x: f32[1024, 768]) { return cast(softmax(x), bf16)")
            .starts_with("held 4x768 threads 128 per-row 32 along-columns vec 8 "));
  CHECK(softmax("[64, 5]", 1) == "held 16x8 threads 128 per-row 8 along-columns vec 1 shared 0");
  // More threads where rows of 64 threads leave SMs idle.
  CHECK(softmax("[64, 1000]", 1) ==
        "held 1x1024 threads 256 per-row 256 along-columns vec 4 shared 64");
  CHECK(softmax("[512, 1000]", 1) ==
        "held 2x1024 threads 128 per-row 64 along-columns vec 4 shared 32");
  CHECK(softmax("[64, 16384]", 1) ==
        "kept 1x8192 threads 512 per-row 512 along-columns vec 4 cluster 1 slots 2 shared 65664");
  // Rows for all SMs: as few threads as hold one.
  CHECK(softmax("[4096, 8192]", 1) ==
        "held 1x8192 threads 256 per-row 256 along-columns vec 4 shared 64");
  CHECK(softmax("[64, 40000]", 1) ==
        "kept 1x8192 threads 512 per-row 512 along-columns vec 4 cluster 1 slots 5 shared 163968");
  CHECK(softmax("[64, 40001]", 1) ==
        "streamed 1x8192 threads 512 per-row 512 along-columns vec 1 shared 128");
  CHECK(softmax("[64, 100000]", 1) ==
        "streamed 1x8192 threads 512 per-row 512 along-columns vec 4 shared 128");
  CHECK(softmax("[m, n]", 1) ==
        "streamed 1x8192 threads 512 per-row 512 along-columns vec 4 shared 128");
  CHECK(softmax("[64, 5, 400]", 1) ==
        "held 32x8 threads 256 per-row 8 along-rows vec 1 shared 2048");
}

TEST_CASE("schedule: many rows that one reduction reads once are walked by two warps each") {
  const char* const walked = "streamed 2x2048 threads 128 per-row 64 along-columns vec 4 shared 16";
  auto first = [](const char* graph) {
    return llvm::StringRef(schedules(graph)).split('\n').first.str();
  };
  CHECK(first("x: f32[16384, 8192]) { return sum(x, axis=1)") == walked);
  // Two reductions would read the row twice, a store of the row again; few rows need more threads,
  // and few columns are held by 128.
  CHECK(first("x: f32[16384, 8192]) { return sum(x, axis=1), reduce_max(x, axis=1)").find("held") ==
        0);
  CHECK(first("x: f32[16384, 8192]) { return x - sum(x, axis=1, keepdim=true)").find("held") == 0);
  CHECK(first("x: f32[4096, 8192]) { return sum(x, axis=1)").find("held 1x8192") == 0);
  CHECK(first("x: f32[16384, 4096]) { return sum(x, axis=1)").find("held 1x4096") == 0);
}

TEST_CASE("schedule: lanes have a word of adjacent rows, where tiles of them fill the machine") {
  CHECK(schedules("x: bf16[16384, 8192]) { return sum(x, axis=0)") ==
        "streamed 64x512 threads 512 per-row 16 along-rows vec 2 shared 4096\n"
        "streamed 64x512 threads 512 per-row 16 along-rows vec 1 shared 4096\n");
  CHECK(schedules("x: bf16[16384, 8191]) { return sum(x, axis=0)") ==
        "streamed 32x512 threads 512 per-row 16 along-rows vec 1 shared 2048\n");
  // Few tiles have more warps.
  CHECK(schedules("x: bf16[16384, 4096]) { return sum(x, axis=0)") ==
        "streamed 32x512 threads 1024 per-row 32 along-rows vec 1 shared 4096\n");
  CHECK(schedules("x: f32[16384, 8192]) { return sum(x, axis=0)") ==
        "streamed 32x256 threads 512 per-row 16 along-rows vec 1 shared 2048\n");
  // A second tensor, or values that are held, take the registers.
  CHECK(llvm::StringRef(
            schedules("x: bf16[16384, 8192], y: bf16[16384, 8192]) { return sum(x * y, axis=0)"))
            .starts_with("streamed 32x256 threads 256"));
  CHECK(llvm::StringRef(schedules("x: bf16[16384, 8192]) { return softmax(x, axis=0)"))
            .starts_with("streamed 32x256 threads 256"));
}

TEST_CASE("schedule: scanned rows get a warp, then more of a block, then more chunks") {
  auto cumsum = [](const char* type, int axis) {
    return schedules(fmt::format("x: {}) {{ return cumsum(x, axis={})", type, axis));
  };
  CHECK(cumsum("f32[64, 5]", 1) ==
        "scanned 16x8 threads 128 per-row 8 along-columns vec 1 shared 0\n");
  CHECK(cumsum("f32[64, 500]", 1) ==
        "scanned 4x512 threads 128 per-row 32 along-columns vec 4 shared 0\n"
        "scanned 4x512 threads 128 per-row 32 along-columns vec 1 shared 0\n");
  CHECK(cumsum("f32[64, 1000]", 1) ==
        "scanned 2x1024 threads 128 per-row 64 along-columns vec 4 shared 128\n"
        "scanned 2x1024 threads 128 per-row 64 along-columns vec 1 shared 512\n");
  CHECK(cumsum("f16[64, 40000]", 1) ==
        "scanned 1x4096 threads 256 per-row 256 along-columns vec 8 shared 128\n"
        "scanned 1x4096 threads 256 per-row 256 along-columns vec 1 shared 1024\n");
  CHECK(cumsum("i64[m, n]", 1) ==
        "scanned 1x4096 threads 256 per-row 256 along-columns vec 2 shared 1024\n"
        "scanned 1x4096 threads 256 per-row 256 along-columns vec 1 shared 2048\n");
  CHECK(cumsum("f32[64, 20, 400]", 1) ==
        "scanned 32x24 threads 256 per-row 8 along-rows vec 1 shared 2048\n");
  CHECK(cumsum("f32[64, n, 400]", 1) ==
        "scanned 32x128 threads 256 per-row 8 along-rows vec 1 shared 2048\n");
}

TEST_CASE("schedule: two products and prologues take the registers of half the rows") {
  auto tile = [](const std::string& graph, MatmulPrecision precision) {
    const std::string text = schedules(graph, precision);
    return text.substr(0, text.find(" step"));
  };
  const std::string pair = ": f32[1024, 64], v: f32[64, 1024], w: f32[64, 1024]) {\n"
                           "  return swish(matmul(x, v)) * matmul(x, w)";
  CHECK(tile("x" + pair, MatmulPrecision::pedantic) == "simt f32 64x128x16");
  CHECK(tile("x" + pair, MatmulPrecision::highest) == "mma bf16x3 64x64x32");
  CHECK(tile("x" + pair, MatmulPrecision::high) == "mma tf32 64x128x16");
  const std::string large = "x: f32[1024, 1024], v: f32[1024, 1024], w: f32[1024, 1024]) {\n"
                            "  return group_norm(swish(matmul(x, v)) * matmul(x, w), groups=";
  CHECK(tile(large + "8)", MatmulPrecision::highest) == "mma f16x3 64x128x32");
  const std::string wide = "x: f32[1024, 16], v: f32[16, 1024], w: f32[16, 1024]) {\n"
                           "  return group_norm(swish(matmul(x, v)) * matmul(x, w), groups=4)";
  CHECK(tile(wide, MatmulPrecision::highest) == "simt f32 32x256x16"); // 256 columns
  const std::string halves = "x: f16[1024, 64], v: f16[64, 1024], w: f16[64, 1024]";
  CHECK(tile(halves + ") { return swish(matmul(x, v)) * matmul(x, w)", MatmulPrecision::highest) ==
        "mma f16 128x128x32");
  CHECK(tile(halves + ", r: f16[1024, 1024]) { return matmul(x, v) * matmul(x, w) + r",
             MatmulPrecision::highest) == "mma f16 64x128x32");
  CHECK(tile(halves + ") { return matmul(x * 0.3 + 1.0, v) + matmul(x, w)",
             MatmulPrecision::highest) == "mma f16 64x128x32");
  CHECK(tile("x: f16[8192, 64], s: f16[64], w: f16[64, 256]) { return matmul(x * s, w)",
             MatmulPrecision::highest) == "mma f16 64x128x32");
}

TEST_CASE("schedule: products of vectors are stored along columns") {
  for (const char* body :
       {"x: f32[4096, 1], y: f32[4096, 1]) { return matmul(x, y, transpose_b=true)",
        "x: f32[4096, 1], y: f32[1, 4096]) { return y * x",
        "x: f32[4096, 1]) { return exp(expand(x, [4096, 4096])) * 2"}) {
    CAPTURE(body);
    CHECK(schedules(body, MatmulPrecision::high).find("along-columns vec 4") != std::string::npos);
  }
  CHECK(schedules("x: f32[4096, 4096]) { return sum(x, axis=0)", MatmulPrecision::high)
            .find("along-rows") != std::string::npos);
}

TEST_CASE("schedule: short contractions are plain FMA in every precision") {
  auto computes = [](int64_t depth, MatmulPrecision precision) {
    const std::string text = schedules(
        fmt::format("x: f32[8, 512, {0}], y: f32[8, {0}, 512]) {{ return matmul(x, y)", depth),
        precision);
    return text.substr(0, text.find(' ', text.find(' ') + 1));
  };
  for (MatmulPrecision precision : {MatmulPrecision::high, MatmulPrecision::medium})
    for (int64_t depth : {2, 3, 16}) CHECK(computes(depth, precision) == "simt f32");
  CHECK(computes(17, MatmulPrecision::high) == "mma tf32");
  CHECK(computes(17, MatmulPrecision::medium) == "mma bf16");
  CHECK(computes(1, MatmulPrecision::high).find("mma") == std::string::npos);
}

TEST_CASE("schedule: idle SMs get small tiles, and parts of rows that are not reduced") {
  const auto first = [](const char* body, MatmulPrecision precision) {
    return llvm::StringRef(schedules(body, precision)).split('\n').first.str();
  };
  CHECK(picked(first("x: f16[256, 256], w: f16[256, 256]) { return gelu(linear(x, w))",
                     MatmulPrecision::highest),
               {"f16", "stages"}) == "f16 64x64x32 stages 6");
  CHECK(picked(first("x: f32[128, 64], w: f32[128, 64]) { return relu(linear(x, w))",
                     MatmulPrecision::pedantic),
               {"f32"}) == "f32 64x64x32");
  // A row of 8192 is no more than one tile of the usual number of elements a thread.
  CHECK(picked(first("x: f32[8192], y: f32[8192]) { return x + y", MatmulPrecision::highest),
               {"held", "threads"}) == "held 1x1024 threads 256");
}

TEST_CASE("schedule: narrow copies are priced, and rows are aligned first where that is faster") {
  const auto kernels = [](int64_t size) {
    CompileOptions options;
    options.target = "sm_90a";
    options.device = "h200";
    auto graph = parse_graph(fmt::format("graph g(x: bf16[{0}, {1}], w: bf16[{1}, {1}]) {{\n"
                                         "  return relu(linear(x, w)) }}",
                                         size, size + 2),
                             "test");
    const Compilation one =
        llvm::cantFail(compile_graph(llvm::cantFail(std::move(graph)), options));
    return one.module.kernels.size();
  };
  CHECK(kernels(256) == 1);
  CHECK(kernels(1024) == 3);
}
