// SPDX-License-Identifier: Apache-2.0
// The list of the residuals of a row (tile/residual_list.cuh): its elements, when it is full, and
// that its barriers are needed.
#include "codegen/device/sizes/f32_products.h"
#include "tests/emulation/block.h"
#include "tests/emulation/cluster.h"
#include "tests/emulation/hand_written.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

using namespace ingot;
using namespace ingot::emulation;

namespace {

constexpr int kDepth = 128, kMost = sizes::kListedResiduals;

/// A warp lists a row of kDepth elements, four by each lane. Writes whether the list is complete,
/// then its length, and the k and the bits of each residual.
KernelCode list_kernel() {
  return hand_written(
      "list", "tile/residual_list.cuh",
      "extern \"C\" __global__ void list(const f32* row, u8* memory, i64* result) {\n"
      "  const PackedHalves to = {memory, 1, 1, 128};\n"
      "  const u32 lane = static_cast<u32>(ptx::thread_index());\n"
      "  const Vector<f32, 4> own = load_vector<4>(row + 4 * lane);\n"
      "  RowExtremes extremes;\n  extremes.add(own);\n"
      "  const u32 own_least = extremes.least;\n"
      "  extremes.add_threads([](u32 value, int, auto combine) {\n"
      "    return combined_in_warp(value, combine);\n  });\n"
      "  const RowSplit<2> split(extremes, own_least);\n"
      "  const ResidualList<PackedHalves> list = {to, 0, 0};\n"
      "  if (lane == 0) list.clear();\n"
      "  ptx::warp_barrier();\n"
      "  if (split.has_own_weak()) list.add(split, own, 4 * lane);\n"
      "  ptx::warp_barrier();\n"
      "  const bool is_complete = list.finish(lane);\n"
      "  ptx::warp_barrier();\n"
      "  if (lane != 0) return;\n"
      "  result[0] = is_complete && split.can_list();\n"
      "  result[1] = *to.residual_count(0, 0);\n"
      "  for (int n = 0; n < 8; ++n) {\n"
      "    result[2 + 2 * n] = to.residuals(0, 0)[n].k;\n"
      "    result[3 + 2 * n] = ptx::as_bits(to.residuals(0, 0)[n].value);\n  }\n}\n");
}

using Listed = std::array<int64_t, 2 + 2 * kMost>;

/// The list of a row, by one warp.
Listed list_of(const KernelLibrary& library, const std::vector<float>& row,
               const Adversary& adversary) {
  alignas(128) static std::array<unsigned char, 1 << 16> memory;
  memory.fill(0xa5);
  Listed result = {};
  const unsigned long long words[] = {reinterpret_cast<uintptr_t>(row.data()),
                                      reinterpret_cast<uintptr_t>(memory.data()),
                                      reinterpret_cast<uintptr_t>(result.data())};
  auto cluster = std::make_shared<Cluster>();
  cluster->threads = 32;
  Block block(32, 1024, adversary);
  cluster->blocks = {&block};
  cluster->has_ended = {false};
  library.enter(&block);
  block.start(library.kernel("list"), words, 0, 1, cluster);
  Progress progress = block.resume();
  while (progress == Progress::paused) progress = block.resume();
  CHECK(progress == Progress::done);
  CHECK(block.problem() == "");
  return result;
}

/// The rest of an element beside its halves, in the scale of a row whose largest element is 1.
double residual_of(float element) {
  const double t = std::ldexp(static_cast<double>(element), 14);
  const auto half = [](double x) { // f16, of numbers below 1
    const double step = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
    return x == 0 ? 0 : std::nearbyint(x / step) * step;
  };
  const double rest = t - half(t);
  return rest - half(rest);
}

/// A row whose largest element is 1, with these elements at some k that do not ascend.
std::vector<float> row_of(const std::vector<float>& elements) {
  std::vector<float> row(kDepth, 0.0f);
  row[64] = 1.0f;
  for (size_t n = 0; n < elements.size(); ++n) row[(n * 37 + 5) % kDepth] = elements[n];
  return row;
}

void check_list(const Listed& found, const std::vector<float>& row, bool is_complete) {
  CAPTURE(row);
  CHECK(found[0] == (is_complete ? 1 : 0));
  if (!is_complete) return;
  size_t n = 0;
  for (int k = 0; k < kDepth; ++k) {
    const double residual = residual_of(row[k]);
    if (std::fabs(row[k]) >= std::ldexp(1.0f, -16) || residual == 0) continue;
    REQUIRE(n < kMost);
    const auto bits = static_cast<uint32_t>(found[3 + 2 * n]);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    CHECK(found[2 + 2 * n] == k);
    CHECK(value == residual);
    ++n;
  }
  CHECK(found[1] == static_cast<int64_t>(n));
}

} // namespace

TEST_CASE("emulation: a list holds the residuals of a row's weak elements in order") {
  auto library = library_of({list_kernel()});
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  std::vector<float> weak;
  for (int n = 0; n < 9; ++n) weak.push_back((n % 2 == 0 ? 1.1e-6f : -3.3e-7f) * (1.0f + n / 7.0f));
  const std::vector<float> eight(weak.begin(), weak.end() - 1);
  std::vector<float> exact = eight; // powers of two and halves' own numbers have no residuals
  for (int n = 0; n < 20; ++n) exact.push_back(std::ldexp(1.0f + (n % 3) / 2.0f, -17 - n % 4));
  const std::vector<float> small = {std::ldexp(1.0f, -40)}; // below 2^-24 of the scaled row
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Adversary adversary;
    adversary.seed = seed;
    for (size_t count : {1, 3, 8})
      check_list(list_of(**library, row_of({weak.begin(), weak.begin() + count}), adversary),
                 row_of({weak.begin(), weak.begin() + count}), true);
    check_list(list_of(**library, row_of(exact), adversary), row_of(exact), true);
    check_list(list_of(**library, row_of(weak), adversary), row_of(weak), false);
    check_list(list_of(**library, row_of(small), adversary), row_of(small), false);
  }
}

TEST_CASE("emulation: every barrier of a list is needed") {
  auto library = library_of({list_kernel()});
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  const std::vector<float> row = row_of({1.1e-6f, 2.3e-6f, -3.3e-7f, 7.7e-7f, 5.1e-6f});
  const Listed whole = list_of(**library, row, {});
  for (const int skipped : {0, 1, 2}) {
    bool is_noticed = false;
    for (uint64_t seed = 1; seed <= 200 && !is_noticed; ++seed) {
      Adversary adversary;
      adversary.seed = seed;
      adversary.skipped = Adversary::Skipped{Operation::warp_barrier, skipped};
      const Listed found = list_of(**library, row, adversary);
      is_noticed = !std::equal(whole.begin(), whole.begin() + 12, found.begin());
    }
    CHECK_MESSAGE(is_noticed, "barrier ", skipped);
  }
}
