// SPDX-License-Identifier: Apache-2.0
// Operands that a product's kernel computes along K: which graphs have one, and which do not.
#include "codegen/kernel/visit.h"
#include "src/compiler.h"

#include "ir/fusion/grouping.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

FusionPlan plan_of(const std::string& spec, const FusionLimits& limits = {}) {
  auto parsed = parse_graph("graph g(" + spec + "\n}\n", "test");
  if (!parsed) FAIL(take_error(parsed.takeError()).second);
  const Graph graph = llvm::cantFail(run_passes(*parsed, {MathMode::relaxed}));
  FusionPlan plan = llvm::cantFail(plan_fusion(graph, limits));
  llvm::cantFail(verify(plan, graph));
  return plan;
}

/// The number of kernels with a computed operand.
int64_t computed(const FusionPlan& plan) {
  return llvm::count_if(plan.groups, [](const Group& group) { return group.computed.has_value(); });
}

const char* const kHeads = "q: f16[8, 64, 32], k: f16[8, 96, 32], v: f16[8, 96, 48]";

/// More scores in a row than a tile has columns.
const char* const kLongHeads = "q: f16[8, 64, 32], k: f16[8, 320, 32], v: f16[8, 320, 48]";

std::string attention(const std::string& statements, const std::string& inputs = "",
                      const std::string& heads = kHeads) {
  return heads + inputs + ") {\n  s = matmul(q, k, transpose_b=true)\n" + statements;
}

} // namespace

TEST_CASE("computed operands: a softmax of scores is computed where it is multiplied") {
  const FusionPlan plan = plan_of(attention("  return matmul(softmax(s * 0.5), v)"));
  REQUIRE(plan.groups.size() == 1);
  const Group& group = plan.groups.front();
  REQUIRE(group.computed);
  CHECK(group.computed->factors.size() == 1);
  CHECK(group.computed->tile->reductions.size() == 1);
  CHECK_FALSE(group.computed->tile->reductions.front().global);
  CHECK(group.writes.size() == 1);
  CHECK(memory_reads(group).size() == 3);
  // Ops between the products, behind them, and none at all.
  for (const char* statements :
       {"  return matmul(softmax(tanh(s + b)), v)", "  return matmul(relu(s), v) + 1.0",
        "  return matmul(s, v)", "  return gelu(matmul(softmax(s), v))"}) {
    CAPTURE(statements);
    const FusionPlan other = plan_of(attention(statements, ", b: f16[64, 96]"));
    CHECK(other.groups.size() == 1);
    CHECK(computed(other) == 1);
  }
}

TEST_CASE("computed operands: scores that others need, or that run along other axes, are stored") {
  for (const char* statements : {
           "  p = softmax(s)\n  return matmul(p, v), p",           // returned
           "  return matmul(softmax(s), v), sum(s, axis=2)",       // reduced elsewhere
           "  return matmul(softmax(s, axis=1), v)",               // along the rows
           "  return matmul(s / sum(s, axis=2, keepdim=true), v)", // not linear in exponentials
           "  return matmul(softmax(s) * s, v)",                   // beside the softmax
           "  return matmul(softmax(softmax(s)), v)",              // two reductions
       }) {
    CAPTURE(statements);
    CHECK(computed(plan_of(attention(statements, "", kLongHeads))) == 0);
  }
}

TEST_CASE("computed operands: only exponentials that their sum divides move to another maximum") {
  const auto written_out = [](const std::string& operand) {
    return computed(plan_of(attention("  m, z = max_sumexp(s, axes=[2])\n"
                                      "  e = exp(s - reshape(m, [8, 64, 1]))\n"
                                      "  d = reshape(z, [8, 64, 1])\n  return matmul(" +
                                          operand + ", v)",
                                      ", b: f16[64, 320]", kLongHeads)));
  };
  CHECK(written_out("e / d") == 1);
  for (const char* operand :
       {"e", "e * e / d", "(e + b) / d", "sqrt(e) / d", "where(e > 0.5, e, 0) / d", "relu(e - 0.1)",
        "e * b / d", "e / where(is_nan(d), 1, d)", "e / (d + 1)"}) {
    CAPTURE(operand);
    CHECK(written_out(operand) == 0);
  }
}

TEST_CASE("computed operands: factors of the rows apply to the product") {
  const auto factors_of = [](const std::string& statements) {
    const FusionPlan plan =
        plan_of(attention("  p = softmax(s)\n  return matmul(" + statements + ", v)",
                          ", g: f16[64, 1], c: bool[8, 64, 1], b: f16[64, 320]"
                          ", m: bool[64, 320]",
                          kLongHeads));
    const Group& group = plan.groups.back();
    return plan.groups.size() == 1 && group.computed ? group.computed->factors.size() : 0;
  };
  CHECK(factors_of("p") == 1);
  CHECK(factors_of("p * g") == 2);
  CHECK(factors_of("g * p") == 2);
  CHECK(factors_of("tanh(g) * p / (g * g + 1.0)") == 3);
  CHECK(factors_of("where(c, p, 0.0)") == 2);
  CHECK(factors_of("where(c, 0.0, p)") == 2);
  // They vary along K, or something is added.
  for (const char* operand : {"p * b", "b / p", "where(m, p, 0.0)", "where(c, p, 1.0)",
                              "where(c, p, g)", "p + g", "g / p"}) {
    CAPTURE(operand);
    CHECK(factors_of(operand) == 0);
  }
}

TEST_CASE("computed operands: a cast behind a softmax moves to its exponentials") {
  const auto factors_of = [](const std::string& operand) {
    const FusionPlan plan =
        plan_of(attention("  w = cast(s, f32)\n  m, z = max_sumexp(w, axes=[2])\n"
                          "  e = exp(w - reshape(m, [8, 64, 1]))\n  d = reshape(z, [8, 64, 1])\n"
                          "  return matmul(" +
                          operand + ", v)"));
    const Group& group = plan.groups.back();
    return plan.groups.size() == 1 && group.computed ? group.computed->factors.size() : 0;
  };
  CHECK(factors_of("cast(e / d, f16)") == 2);
  CHECK(factors_of("cast(where(is_nan(d), 0.0, e / d), f16)") == 3);
  CHECK(factors_of("cast(cast(cast(e, f16), f32) / d, f16)") == 4);
  CHECK(factors_of("cast(floor(e / d), f16)") == 0);
  CHECK(factors_of("cast(e > d, f16)") == 0); // not of a float
}

TEST_CASE("computed operands: the tile's product may have a prologue of its rows") {
  const auto plan = [](const char* q, const char* k, const char* tail = "") {
    return plan_of(std::string(kHeads) + ", b: f16[32]) {\n  x = " + q + "\n  y = " + k +
                   "\n  s = matmul(x, y, transpose_b=true)\n  return matmul(softmax(s), v)" + tail);
  };
  for (const char* q : {"relu(q)", "q * b", "exp(q * b + b)"}) {
    CAPTURE(q);
    const FusionPlan fused = plan(q, "k");
    REQUIRE(fused.groups.size() == 1);
    REQUIRE(fused.groups.front().computed);
    CHECK_FALSE(fused.groups.front().computed->tile->matmuls.front().operands[0].prologue.empty());
  }
  // A kernel of its own computes B, reductions, and values that others read.
  CHECK(plan("q", "relu(k)").groups.size() == 2);
  CHECK(plan("layer_norm(q)", "k").groups.size() == 2);
  CHECK(plan("relu(q)", "k", ", x").groups.size() == 2);
  // So does A where one kernel is predicted to be slower, as where copies by threads would keep
  // the products from wgmma.
  FusionLimits limits;
  limits.seconds = [](const Group& group) -> std::optional<double> {
    const bool is_staged =
        group.computed && !group.computed->tile->matmuls.front().operands[0].prologue.empty();
    return is_staged ? 5.0 : group.computed ? 2.0 : 1.5;
  };
  CHECK(plan_of(std::string(kHeads) + ") {\n  s = matmul(relu(q), k, transpose_b=true)\n"
                                      "  return matmul(softmax(s), v)",
                limits)
            .groups.size() == 2);
}

TEST_CASE("computed operands: shifted rows are not the rows of the tile") {
  const auto with = [](const std::string& operand) {
    return computed(plan_of(attention("  m, z = max_sumexp(s, axes=[2])\n"
                                      "  p = exp(s - reshape(m, [8, 64, 1])) / reshape(z, [8, 64, "
                                      "1])\n  return matmul(" +
                                      operand + ", v)")));
  };
  CHECK(with("p * reshape(m, [8, 64, 1])") == 1);
  CHECK(with("p * reshape(pad(narrow(m, 1, 1, 63), [0, 1]), [8, 64, 1])") == 0);
  CHECK(with("window(p, axis=1, start=1, extent=64)") == 0);
}

TEST_CASE("computed operands: values of the rows are stored beside the product, or for others") {
  const auto plan = [](const std::string& results) {
    return plan_of(attention("  m, z = max_sumexp(s, axes=[2])\n"
                             "  p = exp(s - reshape(m, [8, 64, 1])) / reshape(z, [8, 64, 1])\n"
                             "  h = matmul(p, v)\n  return " +
                             results));
  };
  for (const char* results : {"h, m", "h, m, z", "h, m + log(z)", "h, reshape(m, [512]), tanh(z)",
                              "h, logsumexp(s, dim=2)", "h + reshape(m + log(z), [8, 64, 1])",
                              "h, transpose(m + log(z), 0, 1)"}) {
    CAPTURE(results);
    const FusionPlan one = plan(results);
    CHECK(one.groups.size() == 1);
    CHECK(computed(one) == 1);
  }
  // Kernels behind it read them from memory.
  for (const char* results : {"h, sum(m + log(z), axis=1)", "h, cumsum(z, axis=1)"}) {
    CAPTURE(results);
    const FusionPlan two = plan(results);
    CHECK(two.groups.size() == 2);
    CHECK(computed(two) == 1);
  }
  // A slice of them is no value of the kernel's rows.
  CHECK(computed(plan("h, narrow(m, 1, 0, 10)")) == 0);
}

TEST_CASE("computed operands: scaled_dot_product_attention is one kernel in all its forms") {
  for (const char* options :
       {"", ", is_causal=true", ", attn_mask=m", ", attn_mask=a", ", attn_mask=m, scale=0.3",
        ", attn_mask=h, enable_gqa=true", ", is_causal=true, enable_gqa=true"}) {
    CAPTURE(options);
    const std::string shared = std::string(options).find("gqa") == std::string::npos ? "8" : "2";
    const std::string rest = "[2, " + shared + ", 96, 32]";
    const FusionPlan plan =
        plan_of("q: bf16[2, 8, 64, 32], k: bf16" + rest + ", v: bf16" + rest +
                ", m: bool[64, 96], a: bf16[2, 1, 64, 96], h: bool[8, 1, 96]) {\n"
                "  return scaled_dot_product_attention(q, k, v" +
                options + ")");
    CHECK(plan.groups.size() == 1);
    CHECK(computed(plan) == 1);
  }
}

TEST_CASE("computed operands: a tensor that both products read is stored") {
  for (const char* spec :
       {"x: f32[2, 256, 64]) {\n  y = cast(x, f16)\n"
        "  return matmul(softmax(matmul(y, y, transpose_b=true)), y)",
        "q: f16[2, 64, 64], a: f16[2, 80, 64], b: f16[2, 48, 64]) {\n  y = concat([a, b], axis=1)\n"
        "  return matmul(softmax(matmul(q, y, transpose_b=true)), y)",
        "x: f16[128, 64], a: f16[64, 64]) {\n  y = relu(a)\n"
        "  return matmul(relu(matmul(x, y)), y)"}) {
    CAPTURE(spec);
    CHECK(computed(plan_of(spec)) == 1); // and verify() finds every read
  }
}

TEST_CASE("computed operands: both products have one type") {
  const auto kernels = [](const char* of_scores, const char* of_values) {
    const std::string a = of_scores, b = of_values;
    auto graph = parse_graph("graph g(q: " + a + "[64, 2048, 64], k: " + a +
                                 "[64, 2048, 64],\n"
                                 "        v: " +
                                 b +
                                 "[64, 2048, 64]) {\n"
                                 "  s = matmul(q, k, transpose_b=true)\n"
                                 "  p = softmax(s)\n  return matmul(" +
                                 (a == b ? "p" : "cast(p, " + b + ")") + ", v)\n}\n",
                             "test");
    if (!graph) FAIL(take_error(graph.takeError()).second);
    return llvm::cantFail(compile_graph(std::move(*graph), {})).kernels.size();
  };
  CHECK(kernels("f16", "f16") == 1);
  CHECK(kernels("bf16", "bf16") == 1);
  CHECK(kernels("bf16", "f16") > 1);
  CHECK(kernels("f32", "bf16") > 1);
  CHECK(kernels("f32", "f32") == 1);
}

TEST_CASE("computed operands: chains behind a product may be long") {
  std::string chain = attention("");
  for (int i = 0; i < 20000; ++i) chain += "  s = " + std::string(i % 2 ? "tanh" : "exp") + "(s)\n";
  CHECK(computed(plan_of(chain + "  return matmul(s, v)")) == 0);
}

TEST_CASE("computed operands: sums keep their order where that is asked for") {
  FusionLimits strict;
  strict.reassociates = false;
  CHECK(computed(plan_of(attention("  return matmul(softmax(s), v)"), strict)) == 0);
}

TEST_CASE("computed operands: a slower kernel is not taken") {
  FusionLimits limits;
  limits.seconds = [](const Group& group) { return group.computed ? 2.0 : 0.5; };
  CHECK(computed(plan_of(attention("  return matmul(softmax(s), v)"), limits)) == 0);
  limits.seconds = [](const Group& group) {
    return group.writes.empty() ? 0.1 : group.computed ? 2.0 : 0.5;
  };
  CHECK(computed(plan_of(attention("  return matmul(s, v)"), limits)) == 0);
  limits.seconds = [](const Group& group) { return group.computed ? 0.9 : 0.5; };
  CHECK(computed(plan_of(attention("  return matmul(softmax(s), v)"), limits)) == 1);
}

TEST_CASE("computed operands: masks of positions say which points they admit") {
  const auto tile_of = [](const std::string& mask) {
    auto graph = parse_graph("graph g(q: f16[64, 256, 64], k: f16[64, 256, 64],\n"
                             "        v: f16[64, 256, 64], m: bool[256, 256]) {\n"
                             "  s = matmul(q, k, transpose_b=true)\n"
                             "  i = iota(i32, [256, 256], axis=0)\n"
                             "  j = iota(i32, [256, 256], axis=1)\n  s = " +
                                 mask + "\n  return matmul(softmax(s), v)\n}\n",
                             "test");
    if (!graph) FAIL(take_error(graph.takeError()).second);
    const Compilation compilation = llvm::cantFail(compile_graph(std::move(*graph), {}));
    REQUIRE(compilation.kernels.size() == 1);
    const auto* tile = computed_tile(std::get<TileBody>(compilation.kernels.front().body));
    REQUIRE(tile);
    const auto& map = std::get<MapStage>(tile->body.stages.front().step);
    return std::pair(tile->admits.size(), !map.within.empty());
  };
  CHECK(tile_of("where(i >= j, s, -inf)") == std::pair(size_t{1}, true));
  CHECK(tile_of("where(i < j, -inf, s)") == std::pair(size_t{1}, true));
  CHECK(tile_of("where((i >= j) & (i - j < 64), s, -inf)") == std::pair(size_t{2}, true));
  CHECK(tile_of("where((i < j) | (i - j >= 64), -inf, s)") == std::pair(size_t{2}, true));
  // A tensor decides too: the comparison empties tiles, but does not fill them.
  CHECK(tile_of("where((i >= j) & m, s, -inf)") == std::pair(size_t{1}, false));
  // Either may hold, positions are multiplied, or the other value is finite.
  CHECK(tile_of("where((i >= j) | m, s, -inf)") == std::pair(size_t{0}, false));
  CHECK(tile_of("where(i * j >= 64, s, -inf)") == std::pair(size_t{0}, false));
  CHECK(tile_of("where(i >= j, s, -1000.0)") == std::pair(size_t{0}, false));
  // The sum wraps in i32.
  CHECK(tile_of("where(j + 2147483647 < i, s, -inf)") == std::pair(size_t{0}, false));
}
