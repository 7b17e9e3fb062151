// SPDX-License-Identifier: Apache-2.0
// Sizes from the extents that a caller gives, which may be sums of names.
#include "runtime/launch_check.h"

#include "src/support/error.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;

Expr name(const char* text) { return Expr::symbol(text); }

/// A module of inputs with these shapes over the names a, b and c.
Module module_of(const std::vector<std::vector<Expr>>& shapes) {
  Module module;
  module.name = "g";
  module.family = module.arch = "sm_80";
  module.dims = {{"a"}, {"b"}, {"c"}};
  for (const auto& shape : shapes)
    module.inputs.push_back(
        {std::string(1, char('x' + module.inputs.size())), DType::f32, shape, 4});
  return module;
}

/// The error of solve_dims or check_requirements for shapes of the inputs; the sizes if both pass.
std::string solved(const Module& module, const Shapes& shapes,
                   UnknownDims unknown = UnknownDims::refuse) {
  const LaunchPlan plan = llvm::cantFail(LaunchPlan::bind(module));
  std::vector<TensorArgument> given;
  for (const auto& shape : shapes) given.push_back({0x1000, shape});
  const TensorGroup group{"input", plan.inputs, given, 0};
  SlotValues slots(plan.num_dims, kUnknownDim);
  if (auto error = solve_dims(module, group, unknown, slots))
    return take_error(std::move(error)).second;
  if (auto error = check_requirements(module, plan, slots))
    return take_error(std::move(error)).second;
  return fmt::format("{}", fmt::join(slots, " "));
}

/// The error of check_sizes for ranges of a and b.
std::string sized(const Module& module, IntRange a, IntRange b) {
  const LaunchPlan plan = llvm::cantFail(LaunchPlan::bind(module));
  auto error = check_sizes(module, plan, {a, b, {0, 0}});
  return error ? take_error(std::move(error)).second : "";
}

const Expr kA = name("a"), kB = name("b"), kC = name("c");

} // namespace

TEST_CASE("launch sizes: differences are checked once their names are known") {
  const Module module = module_of({{kA - 1}, {kA}, {kB - 2 * kA, kB}});
  CHECK(solved(module, {{0}, {1}, {3, 5}}) == "1 5 -1");
  CHECK(solved(module, {{3}, {5}, {0, 10}}) ==
        "input 'x', dimension 0: expected 4 (a - 1), got 3; a is 5");
  CHECK(solved(module, {{0}, {0}, {0, 0}}) ==
        "input 'x', dimension 0: a - 1 is -1, expected at least 0; a is 0");
  CHECK(solved(module, {{2}, {3}, {0, 5}}) ==
        "input 'z', dimension 0: b - 2 * a is -1, expected at least 0; a is 3, b is 5");
  CHECK(solved(module, {{INT64_MAX - 1}, {INT64_MAX}, {0, 0}}) ==
        "input 'z', dimension 0: b - 2 * a overflows, got 0; a is 9223372036854775807, b is 0");
}

TEST_CASE("launch sizes: an extent below 0 is refused where it stands") {
  const Module module = module_of({{kA - 1}, {kA}});
  for (const int64_t extent : {int64_t{-1}, int64_t{-5}, INT64_MIN})
    CHECK(solved(module, {{4}, {extent}}) ==
          fmt::format("input 'y', dimension 0: expected at least 0, got {}", extent));
  CHECK(solved(module, {{-2}, {-1}}) == "input 'x', dimension 0: expected at least 0, got -2");
}

TEST_CASE("launch sizes: inputs that disagree are told with the size that was taken") {
  const Module module = module_of({{kA, 2}, {kA + 1}, {kA}});
  CHECK(solved(module, {{4, 2}, {5}, {4}}) == "4 -1 -1");
  CHECK(solved(module, {{4, 2}, {5}, {5}}) == "input 'z', dimension 0: expected 4 (a), got 5");
  CHECK(solved(module, {{4, 2}, {4}, {4}}) ==
        "input 'y', dimension 0: expected 5 (a + 1), got 4; a is 4");
  CHECK(solved(module, {{INT64_MAX, 2}, {0}, {INT64_MAX}}) ==
        "input 'y', dimension 0: a + 1 overflows, got 0; a is 9223372036854775807");
}

TEST_CASE("launch sizes: a sum with one unknown name gives its size") {
  CHECK(solved(module_of({{kA - 1}}), {{4}}) == "5 -1 -1");
  CHECK(solved(module_of({{2 * kA - 1, kA + kB}}), {{9, 11}}) == "5 6 -1");
  CHECK(solved(module_of({{kC - kA}, {kA}, {kB * kC - kA}}), {{3}, {4}, {10}}) == "4 2 7");
  CHECK(solved(module_of({{kA - kB}, {kA}}), {{4}, {4}}) == "4 0 -1");
  const auto refused = [](const Expr& extent, int64_t got) {
    return solved(module_of({{extent}, {kA}}), {{got}, {4}});
  };
  CHECK(refused(kA - kB, 5) ==
        "input 'x', dimension 0: expected a - b for a size b from 0 to 2^63 - 1, got 5; a is 4");
  CHECK(refused(2 * kB - 1, 4) ==
        "input 'x', dimension 0: expected 2 * b - 1 for a size b from 0 to 2^63 - 1, got 4");
  CHECK(refused(kB - 1, INT64_MAX) == "input 'x', dimension 0: expected b - 1 for a size b from 0 "
                                      "to 2^63 - 1, got 9223372036854775807");
  CHECK(refused(kB + 3, 2) ==
        "input 'x', dimension 0: expected b + 3 for a size b from 0 to 2^63 - 1, got 2");
}

TEST_CASE("launch sizes: an extent that gives no name a size is passed or refused") {
  for (const Expr& extent : {kB - kC, kB * kB, min(kB, 8), (kA - 4) * kB}) {
    const Module module = module_of({{extent}, {kA}});
    CHECK(solved(module, {{4}, {4}}, UnknownDims::pass) == "4 -1 -1");
    CHECK(solved(module, {{4}, {4}}) ==
          fmt::format("input 'x', dimension 0: '{}' has no value, as no shape gives {}; got 4",
                      extent.text(), extent == kB - kC ? "b, c" : "b"));
  }
}

TEST_CASE("launch sizes: a size that must be at least 0 is named with its tensor") {
  Module module = module_of({{kA}, {kB}});
  module.outputs = {{"out", DType::f32, {2, kA - kB}, 4}};
  module.requirements = {kA - kB, kB - 3, 2 * kA - 5};
  CHECK(solved(module, {{3}, {3}}) == "3 3 -1");
  CHECK(solved(module, {{3}, {4}}) ==
        "'g': output 'out', dimension 1: a - b is -1, expected at least 0; a is 3, b is 4");
  CHECK(solved(module, {{3}, {2}}) ==
        "'g': a tensor of the graph would have a negative extent, or a slice outside of it: b - 3 "
        "is -1, expected at least 0; b is 2");
  CHECK(solved(module, {{INT64_MAX}, {3}}) ==
        "'g': a tensor of the graph would have a negative extent, or a slice outside of it: "
        "2 * a - 5 overflows, expected at least 0; a is 9223372036854775807");
}

TEST_CASE("launch sizes: tensors that overflow for all sizes of the ranges are refused") {
  const int64_t large = int64_t{1} << 40;
  const char* refusal = "the sizes overflow: input 'x' of 'g' would have 2^63 bytes or more; give "
                        "smaller ones";
  const Module whole = module_of({{kA, kB}});
  CHECK(sized(whole, {0, INT64_MAX}, {0, INT64_MAX}) == "");
  CHECK(sized(whole, {large, large}, {large, INT64_MAX}) == refusal);
  CHECK(sized(module_of({{2 * kA}}), {INT64_MAX - 1, INT64_MAX}, {0, 0}) == refusal);
  // An extent below 0 is that of no launch, and a difference may be 0 for larger sizes than the
  // least.
  CHECK(sized(module_of({{kA - large, kA + large}}), {0, 0}, {0, 0}) == "");
  CHECK(sized(module_of({{kA - kB, kA}}), {large, large}, {0, large}) == "");
  CHECK(sized(module_of({{kA - kB, kA}}), {large, large}, {5, 5}) == refusal);
}
