// SPDX-License-Identifier: Apache-2.0
// Sums of exponentials that run along steps (math/running.cuh), for elements of any size.
#include "src/support/error.h"
#include "tests/emulation/hand_written.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace ingot;
using namespace ingot::emulation;

namespace {

constexpr int kStep = 4; ///< elements of a step

/// A kernel that runs along `steps` steps. Its results are the maximum, the sum, and the sum of
/// the summands that a product scales. Every centre counts as far from 0 if `all_far` is not 0.
KernelCode running_kernel() {
  return hand_written(
      "running", "tile/computed_steps.cuh",
      "struct Scale { static constexpr f32 kValue = 0.5f; };\n"
      "using Sums = Running<ShortMaxSumexpReducer, Scale>;\n"
      "template <bool kIsFar> void add(const Sums::State& moved, const f32* y, Sums::State& "
      "state,\n"
      "                                f32& product) {\n"
      "  const f32 factor = Sums::moving<kIsFar>(state, moved);\n"
      "  f32 sum = 0.0f;\n"
      "  for (int k = 0; k < 4; ++k) sum += Sums::summand<kIsFar>(moved, y[k]);\n"
      "  product = product * factor + sum;\n"
      "  state = {moved.max, state.sum * factor + sum};\n}\n"
      "extern \"C\" __global__ void running(const f32* y, i64 steps, i64 all_far, f32* result) {\n"
      "  Sums::State state = Sums::init();\n  f32 product = 0.0f;\n"
      "  for (i64 step = 0; step < steps; ++step, y += 4) {\n"
      "    Sums::First::State first = Sums::First::init();\n"
      "    for (int k = 0; k < 4; ++k) Sums::First::step(first, y[k], k);\n"
      "    Sums::State moved = Sums::begin(Sums::First::merge(Sums::first(state), first));\n"
      "    if (all_far || Sums::is_far(moved)) add<true>(moved, y, state, product);\n"
      "    else add<false>(moved, y, state, product);\n  }\n"
      "  result[0] = Sums::finished(state).max;\n  result[1] = state.sum;\n"
      "  result[2] = product;\n}\n");
}

struct Result {
  float max, sum, product;
};

Result run(const std::vector<float>& y, bool all_far = false) {
  static auto library = library_of({running_kernel()});
  REQUIRE_MESSAGE(bool(library), take_error(library.takeError()).second);
  Result result{};
  const unsigned long long words[] = {reinterpret_cast<uintptr_t>(y.data()), y.size() / kStep,
                                      all_far, reinterpret_cast<uintptr_t>(&result)};
  (*library)->kernel("running")(words);
  return result;
}

/// Whether the sums are those of exp(y / 2 - max).
bool is_right(const std::vector<float>& y) {
  float max = -std::numeric_limits<float>::infinity();
  for (float x : y) max = std::max(max, x);
  double sum = 0;
  for (float x : y) sum += std::exp((static_cast<double>(x) - max) / 2);
  return llvm::all_of(std::array{false, true}, [&](bool all_far) {
    const Result got = run(y, all_far);
    return got.max == max / 2 && std::abs(got.sum - sum) <= 1e-4 * sum &&
           std::abs(got.product - sum) <= 1e-4 * sum;
  });
}

} // namespace

TEST_CASE("emulation: running sums of exponentials of elements far from 0") {
  CHECK(is_right({1, 2, 3, -4, 5, 0.5, -2, 7}));
  for (const float far : {-5000.0f, -1e9f, -1e10f, -1e12f, -3.3895e38f, 1e9f, 3e38f}) {
    CAPTURE(far);
    CHECK(is_right({far, far, far, far, far, far, far, far})); // a row without a key
    CHECK(is_right({far, far, far, far, 1, 2, 3, 4}));
    CHECK(is_right({1, 2, 3, 4, far, far, far, far}));
  }
  // Rows that cross the bound between near and far.
  CHECK(is_right({1410, 1411, 1412, 1413, 1419, 1420, 1421, 1422, 1430, 1429, 1428, 1427}));
}

TEST_CASE("emulation: running sums of infinite elements") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Result masked = run({-kInfinity, -kInfinity, -kInfinity, -kInfinity, 1, 2, -kInfinity, 2});
  CHECK(masked.max == 1.0f);
  CHECK(std::abs(masked.sum - (2 + std::exp(-0.5))) < 1e-5);
  const Result none = run({-kInfinity, -kInfinity, -kInfinity, -kInfinity});
  CHECK(none.max == -kInfinity);
  CHECK(none.sum == 0.0f);
}
