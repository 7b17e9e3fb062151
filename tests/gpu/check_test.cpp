// SPDX-License-Identifier: Apache-2.0
// Small chains of every source and skeleton on the GPU against the f64 reference, in every
// precision that their types tell apart: odd sizes, a batch, half types, named dimensions.
#include "ir/text/parser.h"
#include "src/check.h"
#include "src/device.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

struct Chain {
  const char* name;
  const char* text;
};

constexpr Chain kChains[] = {
    {"linear and group norm at odd sizes",
     "graph a(x: f32[m, 77], param w: f32[96, 77], param b: f32[96]) {\n"
     "  return group_norm(mish(hardtanh(linear(x, w, b))), groups=3)\n}\n"},
    {"linear and a row softmax", "graph b(x: f32[m, 130], param w: f32[515, 130]) {\n"
                                 "  return softmax(gelu(linear(x, w)))\n}\n"},
    {"linear and logsumexp", "graph c(x: f32[m, 64], param w: f32[300, 64]) {\n"
                             "  return logsumexp(linear(x, w) * 2, axis=1, keepdim=true)\n}\n"},
    {"bf16 operands", "graph d(x: bf16[m, 72], param w: bf16[128, 72]) {\n"
                      "  return relu(linear(x, w))\n}\n"},
    {"f16 operands", "graph e(x: f16[m, 72], param w: f16[128, 72]) {\n"
                     "  return layer_norm(linear(x, w))\n}\n"},
    {"an elementwise chain",
     "graph f(x: f32[m, 1001]) {\n  return mish(gelu(x * 1.5 + 0.25))\n}\n"},
    {"layer norm of short and long rows", "graph g(x: f32[m, 33], y: f32[m, 20000]) {\n"
                                          "  return a = layer_norm(x), b = layer_norm(y)\n}\n"},
};

/// Checks one chain; a failure names the output and what is wrong.
void check_chain(const Chain& chain, const CompileOptions& compile) {
  auto graph = parse_graph(chain.text, chain.name);
  REQUIRE(bool(graph));
  CheckOptions options;
  options.compile = compile;
  auto service = std::make_shared<CompileService>(CompileService::options_from_environment({}));
  auto report = check_on_gpu(*graph, options, service);
  if (!report) FAIL_CHECK(chain.name, ": ", llvm::toString(report.takeError()));
  if (!report) return;
  for (const OutputCheck& check : report->checks)
    CHECK_MESSAGE(check.problem.empty(), chain.name, ", ", check.precision, ", ", check.output,
                  ": ", check.problem);
  CHECK(report->pass);
}

} // namespace

TEST_CASE("gpu: kernels of small chains are within the bound of the reference") {
  CompileOptions options;
  auto native = native_device_spec();
  if (!native) INGOT_SKIP(llvm::toString(native.takeError()));
  options.device = "native";
  options.native = *native;
  for (const Chain& chain : kChains) check_chain(chain, options);
}
