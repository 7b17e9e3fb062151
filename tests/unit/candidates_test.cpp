// SPDX-License-Identifier: Apache-2.0
// The candidates of a tuner and their ranks: legal, distinct, and the same text back and forth.
#include "codegen/schedule/candidates.h"
#include "ir/text/parser.h"
#include "src/reports/explain.h"
#include "src/reports/tune.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace ingot;

namespace {

Compilation compiled(const std::string& spec, const std::string& device,
                     MatmulPrecision precision = MatmulPrecision::highest,
                     const std::string& target = "sm_80") {
  CompileOptions options;
  options.target = target;
  options.device = device;
  options.precision = precision;
  return llvm::cantFail(compile_graph(llvm::cantFail(parse_graph(spec, "test")), options));
}

std::vector<ScheduleCandidate> candidates_of(const Compilation& c, size_t kernel = 0) {
  return candidates(schedule_site(c, kernel), {});
}

const char* const kSpecs[] = {
    "graph g(x: bf16[1024, 8192], param w: bf16[8192, 8192], param b: bf16[8192]) {\n"
    "  return gelu(linear(x, w, b)) }",
    "graph g(x: f32[1024, 8192], param w: f32[8192, 8192]) {\n  return relu(linear(x, w)) }",
    "graph g(x: f16[n, 512], param w: f16[1000, 512]) {\n"
    "  return group_norm(linear(x, w), groups=25) }",
    "graph g(x: f32[64, 100000], y: f32[100000, 64]) {\n  return sum(matmul(x, y), axis=0) }",
    "graph g(x: bf16[16384, 8192]) {\n  return softmax(x) }",
    "graph g(x: f32[128, 262144]) {\n  return softmax(x) }",
    "graph g(x: f32[16384, 8192]) {\n  return sum(x, axis=0) }",
    "graph g(x: f32[1000, 333]) {\n  return exp(x) + 1.0 }",
    "graph g(x: bool[16, 4194304]) {\n  return sum(cast(x, f32)) }",
    "graph g(x: f32[16, 4194304], y: bool[16, 4194304]) {\n  return softmax(x * cast(y, f32)) }",
    "graph g(x: f32[1024, 4096], param v: f32[4096, 2048], param w: f32[4096, 2048]) {\n"
    "  return silu(matmul(x, v)) * matmul(x, w) }",
};

} // namespace

TEST_CASE("candidates: the usual schedule first, then others by their cost, none twice") {
  for (const char* spec : kSpecs)
    for (const char* device : {"a100", "h200"})
      for (MatmulPrecision precision : all_matmul_precisions()) {
        CAPTURE(spec);
        const Compilation c = compiled(spec, device, precision);
        const auto list = candidates_of(c);
        REQUIRE(!list.empty());
        CHECK(list.front().choice == ScheduleChoice());
        CHECK(list.front().schedules == c.schedules.front());
        CHECK(std::is_sorted(list.begin() + 1, list.end(),
                             [](auto& a, auto& b) { return a.cost.seconds < b.cost.seconds; }));
        for (size_t i = 0; i < list.size(); ++i) {
          CHECK(list[i].cost.seconds > 0);
          CHECK(std::isfinite(list[i].cost.seconds));
          for (const Schedule& s : list[i].schedules)
            CHECK(s.shared_bytes <= c.target.device.shared_per_block);
          for (size_t j = 0; j < i; ++j)
            CHECK_FALSE(list[i].schedules.front() == list[j].schedules.front());
        }
      }
}

TEST_CASE("candidates: on Hopper products by wgmma and by mma.sync, each found by its own choice") {
  for (MatmulPrecision precision : all_matmul_precisions()) {
    if (precision == MatmulPrecision::pedantic) continue;
    const Compilation c = compiled(kSpecs[1], "h200", precision, "sm_90a");
    const auto list = candidates_of(c);
    REQUIRE(is_wgmma(list.front().schedules.front().mainloop));
    const auto others = llvm::count_if(list, [](const ScheduleCandidate& candidate) {
      return !is_wgmma(candidate.schedules.front().mainloop);
    });
    CHECK(others > 5);
    CHECK(others + 2 <= static_cast<int64_t>(list.size()));
    for (const ScheduleCandidate& candidate : list) {
      const Schedule& s = candidate.schedules.front();
      if (!is_wgmma(s.mainloop)) continue;
      auto again = choose_schedules(schedule_site(c, 0), choice_of(s));
      REQUIRE(bool(again));
      CHECK(again->front().multiplies_like(s));
    }
  }
}

TEST_CASE("candidates: on Hopper few tiles have their K whole and split, each by its own choice") {
  const Compilation c = compiled("graph g(x: bf16[512, 8192], w: bf16[1024, 8192]) {\n"
                                 "  return linear(x, w) }",
                                 "h200", MatmulPrecision::highest, "sm_90a");
  int whole = 0, split = 0;
  for (const ScheduleCandidate& candidate : candidates_of(c)) {
    const Schedule& s = candidate.schedules.front();
    if (!is_wgmma(s.mainloop)) continue;
    ++(s.splits_k() ? split : whole);
    auto again = choose_schedules(schedule_site(c, 0), choice_of(s));
    REQUIRE(bool(again));
    CHECK(again->front() == s);
  }
  CHECK(whole > 2);
  CHECK(split > 1);
}

TEST_CASE("candidates: each is lowered to code with its numbers") {
  for (const char* spec : kSpecs) {
    CAPTURE(spec);
    const Compilation c = compiled(spec, "h200");
    for (size_t kernel = 0; kernel < c.plan.groups.size(); ++kernel)
      for (const ScheduleCandidate& candidate : candidates_of(c, kernel)) {
        const Module module = module_with(c, kernel, candidate.schedules);
        const std::vector<KernelVariant>& variants = module.kernels[kernel].variants;
        REQUIRE_FALSE(variants.empty());
        CHECK(variants.back().when.empty());
        for (const auto& [variant, s] : llvm::zip(variants, candidate.schedules)) {
          CAPTURE(s.text());
          CHECK(variant.launch.max_threads == s.threads);
          CHECK(variant.launch.shared_bytes == Expr(s.shared_bytes));
          std::string numbers = fmt::format("kTileM = {},", s.tile_m);
          if (s.mainloop != MainloopKind::none)
            numbers += fmt::format(" kTileN = {}, kTileK = {},", s.tile_n, s.tile_k);
          CHECK(llvm::StringRef(variant.body).contains(numbers));
        }
      }
  }
}

TEST_CASE("predicted times: an empty launch, and launches bound by bytes or by operations") {
  auto seconds = [](const char* spec, int64_t m, const char* device = "h200") {
    const Compilation c = compiled(spec, device);
    const auto facts = llvm::cantFail(explain(c, {{"m", m}}));
    for (const KernelFacts& kernel : facts.kernels) {
      CHECK(std::isfinite(kernel.predicted.seconds));
      CHECK(kernel.predicted.seconds > 0);
    }
    return facts.predicted_seconds;
  };
  const char* rows = "graph g(x: f32[m, 8192]) {\n  return softmax(x) }";
  const char* product = "graph g(x: bf16[m, 8192], w: bf16[8192, 8192]) {\n"
                        "  return relu(linear(x, w)) }";
  const char* gather = "graph g(t: f32[50000, 64], i: i32[m]) {\n"
                       "  return gather(t, expand(reshape(i, [m, 1]), [m, 64]), axis=0) }";
  for (const char* spec : {rows, product, gather}) {
    CAPTURE(spec);
    CHECK(seconds(spec, 0) < 20e-6);
    CHECK(seconds(spec, 1) < 100e-6);
    CHECK(seconds(spec, 1 << 20) > 4 * seconds(spec, 1 << 16));
    CHECK(seconds(spec, 1 << 20) < 64 * seconds(spec, 1 << 16));
  }
  // 0.289 and 0.297 ms were measured (docs/benchmarks.md).
  CHECK(seconds(rows, 16384) == doctest::Approx(0.289e-3).epsilon(0.25));
  CHECK(seconds(product, 1024) == doctest::Approx(0.297e-3).epsilon(0.25));
  CHECK(seconds(product, 1024, "a100") > 1.5 * seconds(product, 1024));
}

TEST_CASE("a choice of schedule reads its own text back") {
  const Compilation c = compiled(kSpecs[0], "a100");
  for (const ScheduleCandidate& candidate : candidates_of(c))
    CHECK(llvm::cantFail(ScheduleChoice::parse(candidate.choice.text())) == candidate.choice);
  for (const char* text : {"tile_m", "tile_m=", "tile_m=0", "tile_m=5000", "size=3", "tile_m=1x"})
    CHECK(llvm::errorToBool(ScheduleChoice::parse(text).takeError()));
}

TEST_CASE("the fastest candidate: one that gains, of those that run") {
  const Compilation c = compiled(kSpecs[4], "h200");
  auto list = candidates_of(c);
  REQUIRE(list.size() >= 4);
  list.resize(4);
  auto choose = [&](std::vector<double> times, double gain) {
    return choose_fastest(
        list,
        [&](size_t i) -> llvm::Expected<double> {
          if (times[i] > 0) return times[i];
          return make_error(ErrorCode::internal, "a wrong result");
        },
        [&](size_t) -> llvm::Expected<std::pair<double, double>> {
          return std::pair(1, 1 - gain);
        });
  };
  auto tuning = llvm::cantFail(choose({4, 3, 0, 2}, 0.1));
  CHECK(tuning.winner == 3);
  CHECK(tuning.trials[2].problem == "a wrong result");
  CHECK(tuning.trials[1].measured_ms == 3);
  CHECK(tuning.trials[1].choice == list[1].choice);
  CHECK(llvm::cantFail(choose({4, 3, 0, 2}, 0.005)).winner == 0);
  CHECK(llvm::cantFail(choose({1, 3, 4, 2}, 0.1)).winner == 0);
  auto failed = choose({0, 1, 1, 1}, 0.1);
  CHECK(take_error(failed.takeError()).second == "a wrong result");
}

TEST_CASE("rank correlation: of the same order, of the opposite one, and of none") {
  CHECK(rank_correlation({{1, 10}, {2, 20}, {3, 25}}) == doctest::Approx(1));
  CHECK(rank_correlation({{1, 3}, {2, 2}, {3, 1}}) == doctest::Approx(-1));
  CHECK(rank_correlation({{1, 1}, {1, 2}}) == 0);
  CHECK(rank_correlation({{1, 1}}) == 0);
  // Ties share a rank: 1 2.5 2.5 4 beside 1 2 3 4.
  CHECK(rank_correlation({{1, 1}, {2, 2}, {2, 3}, {3, 4}}) == doctest::Approx(0.9486833));
}

TEST_CASE("tuned schedules: a kept schedule is found for its kernel, and for no other") {
  llvm::SmallString<128> folder;
  REQUIRE_FALSE(llvm::sys::fs::createUniqueDirectory("ingot-tuned", folder));
  CacheSettings settings;
  settings.folder = folder.str().str();
  TunedSchedules tuned(settings);
  const ScheduleOptions options{};
  const Compilation c = compiled(kSpecs[4], "h200");
  const Group& group = c.plan.groups[0];
  const DeviceSpec& device = c.target.device;
  CHECK_FALSE(tuned.find(c.rewritten, group, device, options));
  const ScheduleCandidate other = candidates_of(c).back();
  llvm::cantFail(tuned.keep(c.rewritten, group, device, options, {other.choice, 1, 2, {}}));
  CHECK(tuned.find(c.rewritten, group, device, options) == other.choice);
  CHECK_FALSE(tuned.find(c.rewritten, group, device_presets()[0], options));
  ScheduleOptions hopper = options; // its rows may have clusters
  hopper.family = Family::sm_90a;
  CHECK_FALSE(tuned.find(c.rewritten, group, device, hopper));
  // A schedule that no tuner could have kept is not used.
  ScheduleChoice odd;
  odd.per_row = 3;
  CHECK_FALSE(chosen_schedules(schedule_site(c, 0), odd));
  CHECK(chosen_schedules(schedule_site(c, 0), other.choice) == other.schedules);
  const Compilation wider =
      compiled("graph g(x: bf16[16384, 4096]) {\n  return softmax(x) }", "h200");
  CHECK_FALSE(tuned.find(wider.rewritten, wider.plan.groups[0], device, options));

  // The same kernel of a graph of other names is compiled with it.
  CompileOptions compile;
  compile.device = "h200";
  compile.tuned = std::make_shared<TunedSchedules>(settings);
  const Compilation again = llvm::cantFail(compile_graph(
      llvm::cantFail(parse_graph("graph h(y: bf16[16384, 8192]) {\n  return z=softmax(y) }", "t")),
      compile));
  CHECK(again.schedules[0] == other.schedules);
  llvm::sys::fs::remove_directories(folder);
}

TEST_CASE("candidates: matrices of a batch do not stay in shared memory") {
  const auto keeping = [](const std::string& shape) {
    const Compilation c = compiled("graph g(x: f16[64, 2048, 64], a: f16[64, 64], c: f16" + shape +
                                       ", d: f16[64, 64]) {\n"
                                       "  return matmul(relu(matmul(relu(matmul(x, a)), c)), d) }",
                                   "h200", MatmulPrecision::highest, "sm_90a");
    REQUIRE(c.plan.groups.size() == 1);
    const auto list = candidates_of(c);
    CHECK(list.size() > 1);
    return llvm::count_if(list, [](const ScheduleCandidate& candidate) {
      return candidate.schedules.front().keeps_b;
    });
  };
  CHECK(keeping("[64, 64]") > 0);
  CHECK(keeping("[64, 64, 64]") == 0);
}
