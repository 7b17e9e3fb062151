// SPDX-License-Identifier: Apache-2.0
// Small chains of every source and skeleton on the GPU against the f64 reference, in every
// precision that their types tell apart: odd sizes, a batch, half types, named dimensions.
#include "ir/interpreter/compare.h"
#include "ir/text/parser.h"
#include "src/device.h"
#include "src/gpu_run.h"
#include "src/reports/check.h"
#include "tests/support/gpu.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

#include <limits>

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
    {"parts of a product that no vector stores",
     "graph e2(x: bf16[m, 72], param w: bf16[72, 128]) {\n"
     "  return narrow(reshape(matmul(x, w), [m, 8, 16]), 2, 0, 7)\n}\n"},
    {"a product of few terms that computes an operand",
     "graph e3(x: f32[m, 3], param w: f32[3, 32], param v: f32[128, 32]) {\n"
     "  return linear(matmul(x, w), v)\n}\n"},
    {"an elementwise chain",
     "graph f(x: f32[m, 1001]) {\n  return mish(gelu(x * 1.5 + 0.25))\n}\n"},
    {"layer norm of short and long rows", "graph g(x: f32[m, 33], y: f32[m, 20000]) {\n"
                                          "  return a = layer_norm(x), b = layer_norm(y)\n}\n"},
};

/// The sources of sm_90a, where the card has them.
constexpr Chain kWideChains[] = {
    {"mapped operands in both orders, one of them a slice",
     "graph a(x: f16[3, 200, 264], w: f16[2, 3, 200, 520], y: bf16[m, 264], z: bf16[520, 264]) {\n"
     "  return softmax(matmul(x, w[1], transpose_a=true)), relu(linear(y, z)) }\n"},
    {"a gated pair",
     "graph b(x: bf16[m, 328], param g: bf16[520, 328], param u: bf16[520, 328]) {\n"
     "  return swish(linear(x, g)) * linear(x, u) }\n"},
    {"long stages in bands, and statistics of columns",
     "graph c(x: f32[700, 512], param w: f32[1024, 512], param b: f32[1024]) {\n"
     "  h = mish(gelu(hardtanh(linear(x, w, b))))\n"
     "  return group_norm(h, groups=16), mean(h, axis=0) }\n"},
    {"long stages in bands alone",
     "graph e(x: f32[700, 512], param w: f32[1024, 512], param b: f32[1024]) {\n"
     "  return hardtanh(gelu(tanh(swish(linear(x, w, b))))) }\n"},
    {"products that compute their operand: causal attention, and two layers",
     "graph n(q: bf16[2, 4, 300, 80], k: bf16[2, 4, 500, 80], v: bf16[2, 4, 500, 128],\n"
     "        x: f16[20000, 128], param a: f16[128, 64], param b: f16[64, 200]) {\n"
     "  h = scaled_dot_product_attention(q, k, v, is_causal=true)\n"
     "  return gelu(h), matmul(relu(matmul(x, a)), b) }\n"},
    {"few tiles of a long k, which blocks share",
     "graph s(x: bf16[250, 8200], w: bf16[300, 8200], b: bf16[300], y: f32[250, 4100],\n"
     "        v: f32[300, 4100], c: f32[300]) {\n"
     "  return gelu(linear(x, w, b)), gelu(linear(y, v, c)) }\n"},
    {"rows in the shared memory of a block and of clusters",
     "graph d(x: f32[70, 40000], y: f32[m, 100004], z: bf16[70, 200000], w: f32[100004]) {\n"
     "  return softmax(x), layer_norm(y, w), argmax(y, axis=1), softmax(z) }\n"},
};

/// Graphs of one kernel each: rows of layers, whose later stages read earlier tiles, and a sum of
/// two products.
constexpr Chain kJoined[] = {
    {"two residual blocks",
     "graph a(x: f16[7011, 100], param w: f16[100, 104], param u: f16[104, 100],\n"
     "        param v: f16[100, 104], param t: f16[104, 100]) {\n"
     "  h = x + matmul(relu(matmul(x, w)), u)\n"
     "  return h + matmul(relu(matmul(h, v)), t) }\n"},
    {"pre-normalised blocks",
     "graph b(x: bf16[7011, 60], param w: bf16[60, 128], param u: bf16[128, 96],\n"
     "        param v: bf16[96, 128], param g: bf16[128], param b: bf16[128]) {\n"
     "  h = matmul(x, w)\n"
     "  return h + matmul(gelu(matmul(layer_norm(h, [128], g, b), u)), v) }\n"},
    {"layers in f32", "graph c(x: f32[7011, 50], param w: f32[50, 64], param u: f32[64, 60], "
                      "param v: f32[60, 1]) {\n"
                      "  return matmul(tanh(matmul(tanh(matmul(x, w)), u)), v) }\n"},
    {"a residual in f32", "graph d(x: f32[7011, 33], param w: f32[33, 64], param u: f32[64, 64], "
                          "param v: f32[64, 40]) {\n"
                          "  h = relu(matmul(x, w))\n"
                          "  return matmul(h + relu(matmul(h, u)), v) }\n"},
    {"a recurrent cell", "graph e(x: f16[250, 504], h: f16[250, 1000], param w: f16[1000, 504],\n"
                         "        param u: f16[1000, 1000], param b: f16[1000]) {\n"
                         "  return tanh(linear(x, w, b) + linear(h, u)) }\n"},
};

/// f32 products on tensor cores: tiles that halves suit and tiles that they do not.
constexpr Chain kProducts[] = {
    {"ragged tiles", "graph a(x: f32[m, 300], param w: f32[131, 300]) {\n"
                     "  return softmax(linear(x, w)) }\n"},
    {"ragged tiles of few columns", "graph l(x: f32[m, 300], param w: f32[91, 300]) {\n"
                                    "  return softmax(linear(x, w)) }\n"},
    {"both operands along m and n", "graph b(x: f32[264, 130], w: f32[264, 200]) {\n"
                                    "  return matmul(x, w, transpose_a=true) }\n"},
    {"a batch with one right operand", "graph c(x: f32[3, 130, 257], w: f32[257, 66]) {\n"
                                       "  return matmul(x, w) }\n"},
    {"positive sums of 8192", "graph d(x: f32[130, 8192], param w: f32[8192, 130]) {\n"
                              "  return matmul(abs(x), abs(w)) }\n"},
    {"positive sums of 32768", "graph e(x: f32[70, 32768], param w: f32[32768, 70]) {\n"
                               "  return matmul(abs(x), abs(w)) }\n"},
    {"opposite skew along k",
     "graph f(x: f32[70, 1000], param w: f32[70, 1000], s: f32[1000]) {\n"
     "  return matmul(x * exp(s * 20.0), w * exp(s * -20.0), transpose_b=true) }\n"},
    {"rows of very different size",
     "graph g(x: f32[130, 300], w: f32[300, 130], s: f32[130, 1]) {\n"
     "  return matmul(x * exp(s * 15.0), w) }\n"},
    {"subnormal rows", "graph h(x: f32[70, 300], w: f32[300, 70]) {\n"
                       "  return matmul(x * 1.0e-38, w * 1.0e10) }\n"},
    {"sparse operands", "graph i(x: f32[130, 1000], w: f32[1000, 130]) {\n"
                        "  return matmul(where(x > 2.0, x, 0.0), w) }\n"},
};

/// Checks one chain; a failure names the output and its error. No precisions: all that its
/// types tell apart.
void check_chain(const Chain& chain, const CompileOptions& compile,
                 const std::vector<MatmulPrecision>& precisions) {
  auto graph = parse_graph(chain.text, chain.name);
  REQUIRE(bool(graph));
  CheckOptions options;
  options.compile = compile;
  options.precisions = precisions;
  auto service = std::make_shared<CompileService>(CompileService::options_from_environment({}));
  auto report = check_on_gpu(*graph, options, service);
  if (!report) FAIL_CHECK(chain.name, ": ", llvm::toString(report.takeError()));
  if (!report) return;
  for (const OutputCheck& check : report->checks)
    CHECK_MESSAGE(check.problem.empty(), chain.name, ", ", check.precision, ", ", check.output,
                  ": ", check.problem);
  CHECK(report->pass);
}

/// A part of a card.
DeviceSpec few_sms(DeviceSpec device, int64_t count) {
  const double share = static_cast<double>(count) / static_cast<double>(device.sm_count);
  device.sm_count = count;
  for (double DeviceSpec::* rate :
       {&DeviceSpec::bytes_per_second, &DeviceSpec::l2_bytes_per_second, &DeviceSpec::tensor_flops,
        &DeviceSpec::shared_bytes_per_second, &DeviceSpec::f32_flops, &DeviceSpec::mma_flops})
    device.*rate *= share;
  return device;
}

void check_chains(llvm::ArrayRef<Chain> chains, CompileOptions options,
                  const std::vector<MatmulPrecision>& precisions) {
  auto native = native_device_spec();
  if (!native) INGOT_SKIP(llvm::toString(native.takeError()));
  options.device = "native";
  options.native = *native;
  for (const Chain& chain : chains) check_chain(chain, options, precisions);
}

} // namespace

TEST_CASE("gpu: kernels of small chains are within the bound of the reference") {
  check_chains(kChains, {}, {});
}

TEST_CASE(
    "gpu: maps, pairs, bands, a split K and kept rows are within the bound of the reference") {
  CompileOptions options;
  options.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                            .thirds = std::numeric_limits<int64_t>::max()};
  check_chains(kWideChains, options, {});
}

TEST_CASE("gpu: rows of layers and sums of products in one kernel") {
  for (const char* target : {"sm_80", "sm_90a"}) {
    CompileOptions options;
    options.target = target;
    options.device = "h100";
    for (const Chain& chain : kJoined) {
      auto compilation =
          compile_graph(llvm::cantFail(parse_graph(chain.text, chain.name)), options);
      REQUIRE(bool(compilation));
      CHECK_MESSAGE(compilation->schedules.size() == 1, std::string(chain.name), " by ",
                    std::string(target));
    }
    check_chains(kJoined, options, {});
  }
}

TEST_CASE("gpu: f32 products from halves are within the bound of precision highest") {
  CompileOptions options;
  options.least_products = {.halves = std::numeric_limits<int64_t>::min(),
                            .thirds = std::numeric_limits<int64_t>::max()};
  check_chains(kProducts, options, {MatmulPrecision::highest});
}

TEST_CASE("gpu: f32 products of bf16 thirds are within the bound of precision highest") {
  CompileOptions options;
  options.target = "sm_80"; // sm_90a may pack halves instead
  options.least_products = {.halves = std::numeric_limits<int64_t>::max(),
                            .thirds = std::numeric_limits<int64_t>::min()};
  const auto chains = llvm::ArrayRef(kProducts).drop_front(); // thirds have no tile so wide
  for (const Chain& chain : chains) {
    auto compilation = compile_graph(llvm::cantFail(parse_graph(chain.text, chain.name)), options);
    REQUIRE(bool(compilation));
    const auto is_of_thirds = [](const std::vector<Schedule>& variants) {
      return variants.front().mainloop == MainloopKind::thirds;
    };
    CHECK_MESSAGE(llvm::any_of(compilation->schedules, is_of_thirds), std::string(chain.name));
  }
  check_chains(chains, options, {MatmulPrecision::highest});
}

TEST_CASE("gpu: products in TF32 of operands that copies round") {
  constexpr Chain kRounded[] = {
      {"swapped", "graph g(a: f32[4, 700, 268], b: f32[4, 268, 332], c: f32[332]) {\n"
                  "  return relu(matmul(a, b) + c) }"},
      {"rows along k", "graph g(a: f32[2700, 268], b: f32[300, 268]) {\n"
                       "  return softmax(matmul(a, b, transpose_b=true)) }"},
      {"few columns", "graph g(a: f32[2700, 268], b: f32[60, 268]) {\n"
                      "  return gelu(linear(a, b)) }"},
  };
  CompileOptions options;
  options.target = "sm_90a";
  options.device = "h100";
  options.precision = MatmulPrecision::high;
  for (const Chain& chain : kRounded) {
    auto compilation = compile_graph(llvm::cantFail(parse_graph(chain.text, chain.name)), options);
    REQUIRE(bool(compilation));
    const Schedule& schedule = compilation->schedules.front().front();
    CHECK(is_wgmma(schedule.mainloop));
    CHECK(schedule.compute == ComputeType::tf32);
  }
  check_chains(kRounded, {}, {MatmulPrecision::high});
}

TEST_CASE("gpu: f32 products of thirds, whose operands warps split") {
  constexpr Chain kSplit[] = {
      {"columns of B along k", "graph g(a: f32[16400, 516], b: f32[132, 516], c: f32[132]) {\n"
                               "  return relu(linear(a, b, c)) }"},
      {"columns of B along its rows, batches",
       "graph g(a: f32[3, 16400, 68], b: f32[3, 68, 60]) {\n"
       "  return gelu(matmul(a, b)) }"},
      {"rows of A along its columns", "graph g(a: f32[516, 16400], b: f32[516, 132]) {\n"
                                      "  return softmax(matmul(a, b, transpose_a=true)) }"},
      {"states of columns, in tiles of any tensor",
       "graph g(a: f32[16400, 516], b: f32[516, 260]) {\n"
       "  h = matmul(a, b)\n  return h, mean(h, axis=0) }"},
      {"blocks that share a long k", "graph g(a: f32[250, 33000], b: f32[130, 33000]) {\n"
                                     "  return linear(a, b) }"},
  };
  auto native = native_device_spec();
  if (!native) INGOT_SKIP(llvm::toString(native.takeError()));
  CompileOptions options;
  options.target = "sm_90a";
  options.device = "h100";
  for (const Chain& chain : kSplit) {
    CAPTURE(std::string(chain.name));
    auto compilation = compile_graph(llvm::cantFail(parse_graph(chain.text, chain.name)), options);
    REQUIRE(bool(compilation));
    const Schedule& schedule = compilation->schedules.front().front();
    CHECK(schedule.mainloop == MainloopKind::wgmma_thirds);
    check_chain(chain, options, {MatmulPrecision::highest});
  }
}

TEST_CASE("gpu: products in tiles of three blocks of 64 columns") {
  constexpr Chain kThree[] = {
      {"norms of rows behind them", "graph g(a: bf16[2048, 3136], w: bf16[768, 3136],\n"
                                    "        r: bf16[2048, 768]) {\n"
                                    "  h = linear(a, w) + r\n  return h, layer_norm(h) }"},
      {"rows of B along its columns", "graph g(a: f16[2040, 2056], w: f16[2056, 768]) {\n"
                                      "  return gelu(matmul(a, w)) }"},
  };
  auto native = native_device_spec();
  if (!native) INGOT_SKIP(llvm::toString(native.takeError()));
  CompileOptions options;
  options.target = "sm_90a";
  options.device = "h100";
  for (const Chain& chain : kThree) {
    CAPTURE(std::string(chain.name));
    auto compilation = compile_graph(llvm::cantFail(parse_graph(chain.text, chain.name)), options);
    REQUIRE(bool(compilation));
    CHECK(compilation->schedules.front().front().tile_n == 192);
    check_chain(chain, options, {MatmulPrecision::highest});
  }
}

TEST_CASE("gpu: products by clusters, whose blocks copy operands to each other") {
  constexpr Chain kClustered[] = {
      {"an odd number of row tiles, and statistics of columns",
       "graph g(a: bf16[2170, 520], b: bf16[2056, 520], c: bf16[2056]) {\n"
       "  h = gelu(linear(a, b, c))\n  return h, mean(h, axis=0) }"},
      {"columns of B along its rows", "graph g(a: f16[m, 520], b: f16[520, 2056]) {\n"
                                      "  return swish(matmul(a, b)) }"},
  };
  auto native = native_device_spec();
  if (!native) INGOT_SKIP(llvm::toString(native.takeError()));
  CompileOptions options;
  options.target = "sm_90a";
  options.device = "native";
  options.native = few_sms(*native, 4); // of which each has many tiles
  for (const Chain& chain : kClustered) {
    auto compilation = compile_graph(llvm::cantFail(parse_graph(chain.text, chain.name)), options);
    REQUIRE(bool(compilation));
    const auto has_clusters = [](const std::vector<Schedule>& variants) {
      return is_wgmma(variants.front().mainloop) && variants.front().cluster > 1;
    };
    CHECK_MESSAGE(llvm::any_of(compilation->schedules, has_clusters), std::string(chain.name));
    check_chain(chain, options, {MatmulPrecision::highest});
  }
}

TEST_CASE("gpu: products that pack their own A") {
  constexpr std::pair<Chain, MatmulPrecision> kPacking[] = {
      {{"halves", "graph g(x: f32[8200, 260], w: f32[2056, 260], b: f32[2056]) {\n"
                  "  return relu(linear(x, w, b)) }"},
       MatmulPrecision::highest},
      {{"a prologue", "graph g(x: f32[8200, 260], w: f32[260, 2056], s: f32[260]) {\n"
                      "  return gelu(matmul(relu(x) * s, w)) }"},
       MatmulPrecision::highest},
      {{"scaled rows", "graph g(x: f32[8200, 512], w: f32[4104, 512], b: f32[4104]) {\n"
                       "  return relu(linear(x, w, b)) }"},
       MatmulPrecision::high},
  };
  auto native = native_device_spec();
  if (!native) INGOT_SKIP(llvm::toString(native.takeError()));
  CompileOptions options;
  options.target = "sm_90a";
  options.device = "h100"; // by its prices, all of them pack beside
  for (const auto& [chain, precision] : kPacking) {
    options.precision = precision;
    auto compilation = compile_graph(llvm::cantFail(parse_graph(chain.text, chain.name)), options);
    REQUIRE(bool(compilation));
    CHECK_MESSAGE(compilation->schedules.front().front().packs_a, std::string(chain.name));
    check_chain(chain, options, {precision});
  }
}

TEST_CASE("gpu: a graph with prepared data is prepared once for all sizes of a range") {
  auto gpu = ingot::testing::open_gpu();
  if (!gpu) return;
  CompileOptions options;
  options.device = "native";
  options.native = llvm::cantFail(native_device_spec());
  const Graph graph =
      llvm::cantFail(parse_graph("graph g(x: f32[m, 64], param w: f32[32, 64], param b: f32[32],\n"
                                 "        param c: f32[32]) { return linear(x, w, b) + c }",
                                 "range"));
  auto compilation = compile_graph(graph, options);
  REQUIRE(bool(compilation));
  CHECK_FALSE(compilation->module.prepare.steps.empty());
  auto service = std::make_shared<CompileService>(CompileService::options_from_environment({}));
  const std::shared_ptr<Executable> executable =
      llvm::cantFail(load_executable(*compilation, service));
  const DimInfo range = {"m", 1, 300};
  for (int64_t m : {67, 1, 300}) {
    std::vector<Tensor> tensors;
    std::vector<const Tensor*> inputs;
    for (ValueId id : graph.inputs()) {
      const Type& type = graph.type(id);
      Tensor& tensor = tensors.emplace_back(type.dtype, evaluate_shape(type.shape, {{"m", m}}));
      for (int64_t i = 0; i < tensor.count(); ++i)
        tensor.set(i, double((i * 37 + int64_t(tensors.size())) % 101) / 50 - 1);
    }
    for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
    const auto uploaded = llvm::cantFail(GpuInputs::upload(*gpu->driver, graph, inputs));
    auto run = GpuRun::create(*gpu->driver, executable, graph, uploaded, {{"m", m}}, range);
    if (!run) FAIL_CHECK("m = ", m, ": ", llvm::toString(run.takeError()));
    if (!run) return;
    if (auto error = run->launch()) {
      FAIL_CHECK("m = ", m, ": ", llvm::toString(std::move(error)));
      return;
    }
    const auto reference = llvm::cantFail(evaluate(graph, inputs, {}));
    const auto fetched = llvm::cantFail(run->fetch(0));
    const Comparison comparison = compare(reference[0], fetched.tensor, 0, {});
    CHECK_MESSAGE(comparison.pass, "m = ", m, ": ", comparison.problem);
    CHECK(fetched.surroundings_kept);
  }
}
