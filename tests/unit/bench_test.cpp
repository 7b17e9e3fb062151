// SPDX-License-Identifier: Apache-2.0
// The text of a measurement; measuring itself needs a GPU.
#include "src/reports/bench.h"
#include "src/reports/bench_ceilings.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("bench: a spread is the median and the deciles of its samples") {
  std::vector<double> samples;
  for (int i = 100; i >= 0; --i) samples.push_back(i);
  const Spread spread = spread_of(samples);
  CHECK(spread.median == 50);
  CHECK(spread.p10 == 10);
  CHECK(spread.p90 == 90);
  CHECK(spread.count == 101);
  const Spread one = spread_of({3});
  CHECK(one.median == 3);
  CHECK(one.p10 == 3);
  CHECK(one.p90 == 3);
}

TEST_CASE("bench: an f32 product's unit is that of its pieces") {
  CHECK(unit_name(ComputeType::f16x3) == "mma f16 / 3");
  CHECK(unit_name(ComputeType::f16x1) == "mma f16");
  CHECK(unit_name(ComputeType::bf16x3) == "mma bf16 / 6");
}

TEST_CASE("bench: rates are printed as shares of the GPU's measured maxima") {
  BenchReport report;
  report.graph = "g";
  report.device = "a GPU";
  report.arch = "sm_80";
  report.precision = "high";
  report.dims = {{"m", 4}};
  report.kernels = 1;
  report.launch = {0.5, 0.4, 0.6, 100};
  report.flops = 50'000'000'000;
  report.bytes = 500'000'000;
  report.copy_ceiling = 2e12;
  std::string text = text_of(report);
  CHECK(text.find("g on a GPU (sm_80), high, m = 4\n") == 0);
  CHECK(text.find("1 kernel, L2 flushed") != std::string::npos);
  CHECK(text.find("1.000 TB/s of 2.000 TB/s that a copy does: 0.50") != std::string::npos);
  CHECK(text.find("TFLOP/s") == std::string::npos);
  CHECK(text.find("prepare") == std::string::npos);
  report.unit = "mma tf32";
  report.unit_ceiling = 400e12;
  report.prepare = {0.25, 0.2, 0.3, 20};
  report.prepared_bytes = 64;
  text = text_of(report);
  CHECK(text.find("mma tf32  100.0 TFLOP/s of 400.0 TFLOP/s: 0.25") != std::string::npos);
  CHECK(text.find("0.2500 ms (p10 0.2000, p90 0.3000 of 20), 64 bytes") != std::string::npos);
  const llvm::json::Value json = json_of(report);
  const llvm::json::Object& object = *json.getAsObject();
  CHECK(object.getNumber("flops_per_second") == 1e14);
  CHECK(object.getNumber("unit_ceiling") == 400e12);
  CHECK(object.getObject("dims")->getInteger("m") == 4);
  CHECK(object.getObject("launch")->getNumber("median_ms") == 0.5);
}
