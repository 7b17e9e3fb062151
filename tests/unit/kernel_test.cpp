// SPDX-License-Identifier: Apache-2.0
// kernel: the data of a kernel holds all that its code needs, and no names of the graph.
#include "codegen/emit/emit_kernel.h"
#include "codegen/program/manifest.h"

#include "ir/text/parser.h"
#include "src/compiler.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Compilation compiled(const std::string& graph, const CompileOptions& options = {}) {
  auto compilation = compile_graph(llvm::cantFail(parse_graph(graph, "case")), options);
  REQUIRE(bool(compilation));
  return std::move(*compilation);
}

std::vector<std::string> dims_of(const Kernel& kernel) {
  std::vector<std::string> dims;
  for (const KernelParameter& parameter : kernel.parameters)
    if (parameter.purpose == Purpose::dim) dims.push_back(parameter.buffer.argument.value.text());
  return dims;
}

/// `graph` of linear layers with names that are made of `name`.
std::string layers(const std::string& name, int count) {
  std::string text = "graph " + name + "(x_" + name + ": f16[512, 512]";
  for (int i = 0; i < count; ++i)
    text += ", param w" + std::to_string(i) + "_" + name + ": f16[512, 512]";
  text += ") {\n  y0 = x_" + name + "\n";
  for (int i = 0; i < count; ++i)
    text += "  y" + std::to_string(i + 1) + " = relu(linear(y" + std::to_string(i) + ", w" +
            std::to_string(i) + "_" + name + "))\n";
  return text + "  return y" + std::to_string(count) + "\n}\n";
}

} // namespace

TEST_CASE("kernel: a kernel is passed the named dims that its expressions hold, and no others") {
  const Compilation c = compiled("graph g(x: f32[m, 64], y: f32[k, 32]) {\n"
                                 "  return exp(x), exp(y)\n}");
  REQUIRE(c.kernels.size() == 2);
  CHECK(dims_of(c.kernels[0]) == std::vector<std::string>{"m"});
  CHECK(dims_of(c.kernels[1]) == std::vector<std::string>{"k"});
}

TEST_CASE("kernel: a read of one element twice is one") {
  const Compilation c = compiled("graph g(x: f32[64, 64], b: f32[64]) {\n"
                                 "  return x * b + exp(x) / b\n}");
  const auto& body = std::get<TileBody>(c.kernels[0].body);
  CHECK(body.frame.reads.size() == 2);
}

TEST_CASE("kernel: wide accesses have the conditions that make them legal, the last variant none") {
  const Compilation c = compiled("graph g(x: f32[64, n], b: f32[n]) {\n  return x + b\n}");
  const std::vector<Variant>& variants = c.kernels[0].variants;
  REQUIRE(variants.size() == 2);
  CHECK(variants.back().when.empty());
  const auto asks = [&](PredicateKind kind) {
    return llvm::count_if(variants.front().when,
                          [&](const Predicate& p) { return p.kind == kind; });
  };
  CHECK(asks(PredicateKind::divisible) == 1); // n, said once
  CHECK(asks(PredicateKind::aligned) == 3);   // x, b and the result
}

TEST_CASE("kernel: equal layers have equal code, whatever their names are") {
  const Compilation one = compiled(layers("a", 3)), other = compiled(layers("other", 1));
  REQUIRE(one.module.kernels.size() == 3);
  for (const KernelCode& kernel : one.module.kernels) {
    CHECK(kernel.space == other.module.kernels[0].space);
    CHECK(variant_source(kernel, kernel.variants[0]) ==
          variant_source(other.module.kernels[0], other.module.kernels[0].variants[0]));
  }
  // The comparison can fail.
  const Compilation wider = compiled("graph g(x: f16[512, 256], param w: f16[512, 256]) {\n"
                                     "  return relu(linear(x, w))\n}");
  CHECK(wider.module.kernels[0].space != other.module.kernels[0].space);
}

TEST_CASE("kernel: operands of equal depth are packed by the same code") {
  for (const char* target : {"sm_80", "sm_90a"}) {
    CAPTURE(target);
    CompileOptions options;
    options.device = "h200";
    options.target = target;
    const Compilation c = compiled("graph g(x: f32[1024, 2048], w: f32[4096, 2048],\n"
                                   "        v: f32[2048, 4096]) {\n"
                                   "  return linear(linear(x, w), v) }",
                                   options);
    std::map<std::string, std::string> spaces; // by kernel
    for (const KernelCode& kernel : c.module.kernels) spaces[kernel.name] = kernel.space;
    CHECK(spaces.at("g_0_packed_a") == spaces.at("g_0_packed_b"));
    CHECK(spaces.at("g_1_packed_b") != spaces.at("g_0_packed_b")); // a depth of 4096
  }
}

TEST_CASE("kernel: names of tensors, values and dims do not reach its code") {
  const auto named = [](const char* x, const char* dim, const char* index, const char* value,
                        const char* output) {
    return compiled(fmt::format("graph g({0}: f32[{1}, 64], {2}: i32[{1}]) {{\n"
                                "  {3} = softmax(index_select({0}, 0, {2}))\n"
                                "  return {4}={3} * extent(f32, [{1}])\n}}",
                                x, dim, index, value, output));
  };
  const Compilation plain = named("a", "n", "i", "s", "r");
  const Compilation close = named("in0", "Params", "threadIdx", "Kernel", "out0");
  const Compilation words = named("nullptr", "and_eq", "u32", "INFINITY", "p");
  for (const Compilation* other : {&close, &words}) {
    REQUIRE(other->module.kernels.size() == plain.module.kernels.size());
    for (const auto& [a, b] : llvm::zip_equal(plain.module.kernels, other->module.kernels))
      CHECK(variant_source(a, a.variants[0]) == variant_source(b, b.variants[0]));
  }
}

TEST_CASE("kernel: kernels that differ in their launch bounds alone have other names") {
  const Compilation c = compiled("graph g(x: f32[64, 64]) {\n  return exp(x)\n}");
  Kernel kernel = c.kernels[0];
  const KernelCode one = emit_kernel(kernel);
  CHECK(emit_kernel(kernel).space == one.space);
  kernel.variants[0].launch.min_blocks_per_sm += 1;
  CHECK(emit_kernel(kernel).space != one.space);
}

TEST_CASE("kernel: one of a plan, lowered alone, is the one of the module") {
  // A product of halves that leaves states, the kernel that merges them, and tiles that are shared.
  CompileOptions options;
  SUBCASE("on an A100") { options.device = "a100"; }
  SUBCASE("on an H100, where launches overlap") { options.device = "h100"; }
  const Compilation c = llvm::cantFail(compile_graph(
      llvm::cantFail(parse_graph("graph g(x: f32[512, 4096], param w: f32[4096, 2048]) {\n"
                                 "  y = matmul(x, w)\n"
                                 "  return softmax(y), sum(matmul(transpose(x), y), axis=0)\n}",
                                 "case")),
      options));
  REQUIRE(c.plan.groups.size() > 2);
  for (size_t g = 0; g < c.plan.groups.size(); ++g) {
    Module module = c.module;
    module.kernels[g] = kernel_with(c, g, c.schedules[g]);
    CHECK(module_source(module) == module_source(c.module));
    CHECK(write_manifest(module, {}) == write_manifest(c.module, {}));
  }
}

TEST_CASE("kernel: on GPUs where launches overlap, each kernel first waits for those before it") {
  const auto parsed = llvm::cantFail(
      parse_graph("graph g(x: f32[512, 4096], param w: f32[4096, 2048], y: f16[512, 40]) {\n"
                  "  return softmax(matmul(x, w)), cumsum(y, axis=1), sum(x, axis=0)\n}",
                  "case"));
  for (const auto& [target, device, overlaps] :
       {std::tuple("sm_80", "a100", false), std::tuple("sm_80", "h100", true),
        std::tuple("sm_90a", "h100", true)}) {
    CAPTURE(std::string(target) + " on " + device);
    CompileOptions options;
    options.target = target;
    options.device = device;
    const Module module = llvm::cantFail(compile_graph(parsed, options)).module;
    CHECK(module.overlaps == overlaps);
    REQUIRE(module.kernels.size() > 3); // one splits, and one may guard
    for (const KernelCode& kernel : module.kernels)
      for (const KernelVariant& variant : kernel.variants) {
        const auto [before, entry] = llvm::StringRef(variant.body).split("__global__");
        const llvm::StringRef first = entry.split(") {\n").second.ltrim();
        CHECK(first.starts_with("ptx::wait_for_kernels_before();\n") == overlaps);
      }
  }
}

TEST_CASE("kernel: a reciprocal has one operand") {
  const Compilation c = compiled("graph g(x: f32[64]) {\n  return sigmoid(x)\n}");
  const auto& body = std::get<TileBody>(c.kernels[0].body);
  const auto& store = std::get<StoreStage>(body.stages.back().step);
  const auto division = llvm::find_if(store.value.ops, [](const PointOp& op) {
    return op.kind == PointOp::Kind::call && op.function.op == OpKind::div;
  });
  REQUIRE(division != store.value.ops.end());
  CHECK(division->function.form == DeviceFunction::Form::reciprocal);
  CHECK(division->operands.size() == 1);
}
