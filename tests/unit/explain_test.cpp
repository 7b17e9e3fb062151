// SPDX-License-Identifier: Apache-2.0
// The figures of explain: bytes that kernels move and hold, and why kernels are apart.
#include "ir/text/parser.h"
#include "src/reports/explain.h"
#include "tests/support/random_chains.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Explanation explained(const std::string& spec, const DimBindings& dims = {},
                      const CompileOptions& options = {}) {
  auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "case")), options);
  if (!compilation) FAIL(take_error(compilation.takeError()).second);
  return llvm::cantFail(explain(*compilation, dims));
}

/// Bytes that kernel `k` reads of a tensor, or of `workspace 0`.
int64_t read_bytes(const Explanation& explanation, size_t k, const std::string& name) {
  for (const Transfer& transfer : explanation.kernels.at(k).transfers)
    if (transfer.name() == name && !transfer.is_write) return transfer.bytes;
  return -1;
}

} // namespace

TEST_CASE("explain: a gather moves no more of its table than it chooses") {
  const auto few = explained("graph g(t: f32[50000, 64], i: i32[100, 64]) {\n"
                             "  return gather(t, i, axis=0) }");
  CHECK(read_bytes(few, 0, "t") == 100 * 64 * 4);
  CHECK(few.unfused.bytes == 3 * 100 * 64 * 4);
  const auto many = explained("graph g(t: f32[10, 64], i: i32[100, 64]) {\n"
                              "  return gather(t, i, axis=0) }");
  CHECK(read_bytes(many, 0, "t") == 10 * 64 * 4);
  // Two gathers of one kernel, and a table that is read as a whole as well.
  const auto two = explained("graph g(t: f32[50000, 64], i: i32[100, 64], j: i32[100, 64]) {\n"
                             "  return gather(t, i, axis=0) + gather(t, j, axis=0) }");
  CHECK(read_bytes(two, 0, "t") == 2 * 100 * 64 * 4);
  const auto whole = explained("graph g(t: f32[100, 64], i: i32[100, 64]) {\n"
                               "  return gather(t, i, axis=0) + t }");
  CHECK(read_bytes(whole, 0, "t") == 100 * 64 * 4);
}

TEST_CASE("explain: a slice moves no more of its tensor than it shows") {
  const auto one = explained("graph g(x: f32[100, 64]) { return relu(narrow(x, 0, 10, 20)) }");
  CHECK(read_bytes(one, 0, "x") == 20 * 64 * 4);
  const auto two = explained("graph g(x: f32[100, 64]) {\n"
                             "  return narrow(x, 0, 10, 20) + narrow(x, 0, 50, 20) }");
  CHECK(read_bytes(two, 0, "x") == 2 * 20 * 64 * 4);
  const auto most = explained("graph g(x: f32[100, 64]) {\n"
                              "  return narrow(x, 0, 0, 99) + narrow(x, 0, 1, 99) }");
  CHECK(read_bytes(most, 0, "x") == 100 * 64 * 4);
  // Parts of a concat are read once.
  const auto parts = explained("graph g(x: f32[100, 64], y: f32[100, 32]) {\n"
                               "  return relu(concat([x, y], axis=1)) }");
  CHECK(parts.kernels.size() == 1);
  CHECK(read_bytes(parts, 0, "x") == 100 * 64 * 4);
  CHECK(read_bytes(parts, 0, "y") == 100 * 32 * 4);
}

TEST_CASE("explain: streamed rows count for each walk over them") {
  const DimBindings sizes = {{"n", 5000}};
  const int64_t x = 200 * 5000 * 4, row = 5000 * 4;
  // One walk for the maximum and the sum, one for the stores; the vector stays in caches.
  const auto softmax = explained("graph g(x: f32[200, n], b: f32[n]) {\n"
                                 "  return softmax(x + b, axis=1) }",
                                 sizes);
  REQUIRE(softmax.kernels.size() == 1);
  CHECK(read_bytes(softmax, 0, "x") == 2 * x);
  CHECK(read_bytes(softmax, 0, "b") == row);
  CHECK(softmax.bytes == 3 * x + row);
  // A result of each row needs no walk of its own.
  const auto sum = explained("graph g(x: f32[200, n]) { return sum(x, axis=1) }", sizes);
  CHECK(read_bytes(sum, 0, "x") == x);
  // A tensor that only the stores need is read once.
  const auto residual = explained("graph g(x: f32[200, n], r: f32[200, n]) {\n"
                                  "  return softmax(x, axis=1) + r }",
                                  sizes);
  CHECK(read_bytes(residual, 0, "r") == x);
  // Held rows are read once.
  const auto held = explained("graph g(x: f32[200, 5000]) { return softmax(x, axis=1) }");
  CHECK(read_bytes(held, 0, "x") == x);
}

TEST_CASE("explain: sums of shared tiles are written and read where tiles are divided") {
  constexpr int64_t m = 20, h = m * 64 * 2;
  for (const int64_t k : {1, 511, 1023, 1024, 5000, 100000}) {
    CAPTURE(k);
    const auto explanation = explained("graph g(x: f16[m, k], w: f16[64, k], u: f16[k, 64]) {\n"
                                       "  h = linear(x, w)\n"
                                       "  return h, y=linear(tanh(linear(h, u)), w) }",
                                       {{"m", m}, {"k", k}});
    REQUIRE(explanation.kernels.size() == 3);
    // One tile of 128 x 64; parts have at least 512 of K.
    const int64_t parts = std::min<int64_t>(k / 512, 24);
    const int64_t sums = parts > 1 ? parts * 128 * 64 * 4 : 0;
    const int64_t between = m * k * 2, place = (between + 255) / 256 * 256;
    CHECK(explanation.kernels[0].bytes() == (m + 64) * k * 2 + h + 2 * sums);
    CHECK(explanation.kernels[1].bytes() == h + 64 * k * 2 + between);
    CHECK(explanation.kernels[2].bytes() == between + 64 * k * 2 + h + 2 * sums);
    CHECK(explanation.workspace_bytes == place + sums);
    CHECK(explanation.state_bytes == (parts > 1 ? 2 * 256 : 0));
    CHECK(read_bytes(explanation, 2, "workspace 0") == between);
    CHECK(read_bytes(explanation, 0, "workspace 1") == (sums > 0 ? sums : -1));
    CHECK(read_bytes(explanation, 2, "workspace 2") == (sums > 0 ? sums : -1));
  }
}

TEST_CASE("explain: a kernel that merges partials holds their reductions") {
  const auto explanation = explained("graph g(x: f32[4, 1000000], y: f32[4, 1000000]) {\n"
                                     "  return a=sum(x * y, axis=1), b=reduce_max(x, axis=1) }");
  REQUIRE(explanation.kernels.size() == 2);
  const auto ops = explanation.kernels[1].op_texts();
  REQUIRE(ops.size() == 2);
  CHECK(llvm::StringRef(ops[0]).ends_with("axes=[1]), merged from its partials"));
  CHECK(llvm::StringRef(ops[1]).contains(" = reduce_max("));
}

TEST_CASE("explain: blocks of a cluster share rows that are kept, not the tiles of products") {
  CompileOptions hopper;
  hopper.target = "sm_90a";
  const auto product = explained("graph g(x: bf16[32768, 1024], w: bf16[4096, 1024]) {\n"
                                 "  return group_norm(swish(linear(x, w)), groups=64) }",
                                 {}, hopper);
  REQUIRE(product.kernels.at(0).schedules.front().find(" cluster 2") != std::string::npos);
  CHECK(product.kernels.at(0).reductions.at(0) ==
        "moments over segments of each row (64 elements), in one block");
  const auto rows = explained("graph g(x: f32[4096, 131072]) { return softmax(x) }", {}, hopper);
  REQUIRE(rows.kernels.at(0).schedules.front().find(" cluster ") != std::string::npos);
  CHECK(rows.kernels.at(0).reductions.at(0).find("in a cluster of ") != std::string::npos);
}

TEST_CASE("explain: merging is predicted from the number of states, not of reduced elements") {
  const auto sum = explained("graph g(x: f32[4294967296]) { return sum(x) }");
  REQUIRE(sum.kernels.size() == 2);
  CHECK(sum.kernels[1].bytes() < 10000);
  CHECK(sum.kernels[1].predicted.memory < 1e-6);
  CHECK(sum.kernels[1].predicted.seconds < 5e-6);
}

TEST_CASE("explain: the heading of a kernel names the product that computes its operand") {
  const auto nested = explained("graph g(q: f16[8, 256, 64], k: f16[8, 512, 64], "
                                "v: f16[8, 512, 32]) {\n"
                                "  return matmul(softmax(matmul(q, k, transpose_b=true)), v) }");
  REQUIRE(nested.kernels.size() == 1);
  CHECK(nested.kernels[0].source ==
        "matmul 8 x [256, 32] over K = 512, A from a matmul over K = 64");
}

TEST_CASE("explain: a kernel of no points has no terms to show") {
  const auto none = explained("graph g(x: f32[m, 8]) { return exp(x) }", {{"m", 0}});
  CHECK_FALSE(llvm::StringRef(text_of(none)).contains("ms: \n"));
}

TEST_CASE("explain: a product with too many columns to compute its operand says so") {
  const auto wide = explained("graph g(x: f16[4096, 64], v: f16[64, 128], w: f16[128, 300]) {\n"
                              "  return matmul(relu(matmul(x, v)), w) }");
  REQUIRE(wide.boundaries.size() == 1);
  CHECK(llvm::StringRef(wide.boundaries.front().rule)
            .contains("has 300 columns: a kernel that computes an operand has a tile of all"));
  CHECK(wide.boundaries.front().change == "multiply by at most 256 columns");
}

TEST_CASE("explain: each reason against a prologue of a matmul has its own rule") {
  const auto rule = [](const std::string& body) {
    const auto explanation =
        explained("graph g(x: f32[256, 512], param w: f32[512, 512], param v: f32[512, 512]) {\n" +
                  body + "\n}\n");
    std::string rules;
    for (const BoundaryFacts& boundary : explanation.boundaries) rules += boundary.rule + "\n";
    return rules;
  };
  CHECK(llvm::StringRef(rule("return matmul(tanh(matmul(x, w)), v)"))
            .contains("a product that computes an operand has at most 256 columns"));
  // Merged results, and an op of the kernel that merges them.
  CHECK(
      llvm::StringRef(rule("return matmul(x, expand(reshape(exp(sum(tanh(matmul(x, w)), axis=0)), "
                           "[512, 1]), [512, 64])), matmul(x, w)"))
          .contains("the partial results of sum are merged by a kernel before this one"));
  CHECK(llvm::StringRef(rule("return matmul(concat([x, softmax(x, axis=1)], axis=0), w)"))
            .contains("the parts of concat are written to memory"));
  CHECK(llvm::StringRef(rule("return matmul(x, reshape(exp(sum(w * v, axis=0)), [512, 1]))"))
            .contains("depends on params alone"));
}

TEST_CASE("explain: results that are merged come from the kernel that merges them") {
  const auto explanation =
      explained("graph g(x: f32[4096, 512], z: f32[256, 512]) {\n"
                "  s = exp(sum(x, axis=0))\n"
                "  return matmul(z, expand(reshape(s, [512, 1]), [512, 64])) }");
  REQUIRE(explanation.kernels.size() == 3);
  REQUIRE(explanation.boundaries.size() == 2);
  const BoundaryFacts &stored = explanation.boundaries[0], &merged = explanation.boundaries[1];
  CHECK(stored.producer == 0);
  CHECK(stored.consumer == 1);
  CHECK(llvm::StringRef(stored.rule).contains("spans several blocks"));
  CHECK(merged.producer == 1);
  CHECK(merged.consumer == 2);
  CHECK(llvm::StringRef(merged.rule).contains("are merged by a kernel before this one"));
}

TEST_CASE("explain: no transpose makes reduced elements that lie apart lie side by side") {
  const std::string spec = "graph g(x: f32[64, 96], param w: f32[512, 96]) {\n"
                           "  h = linear(x, w)\n  return ";
  auto change = [&](const std::string& result) {
    const auto explanation = explained(spec + result + " }");
    return explanation.boundaries.empty() ? "" : explanation.boundaries[0].change;
  };
  CHECK(change("softmax(reshape(h, [64, 4, 128]), axis=1)") ==
        "order the columns of the second operand so that the reduced ones lie side by side");
  // That does help.
  CHECK(change("softmax(reshape(h, [64, 128, 4]), axis=2)") == "");
  CHECK(change("reduce_max(reshape(h, [8, 8, 512]), axis=1)") == "none");
  CHECK(change("argmax(reshape(h, [8, 4096]), axis=1)") ==
        "reduce segments of rows or of columns, or all of both");
}

TEST_CASE("explain: rows of a product are reduced in its kernel where that is not slower") {
  const auto of = [](int64_t rows, int64_t columns, int64_t depth) {
    return explained(fmt::format("graph g(x: f32[{0}, {2}], param w: f32[{1}, {2}]) {{\n"
                                 "  return layer_norm(linear(x, w)) }}",
                                 rows, columns, depth));
  };
  CHECK(of(16384, 128, 1024).boundaries.empty());
  const auto few = of(64, 128, 256);
  REQUIRE(few.boundaries.size() == 1);
  CHECK(llvm::StringRef(few.boundaries[0].rule).starts_with("to reduce the rows of"));
  CHECK(few.predicted_seconds <= few.unfused.seconds);
}

TEST_CASE("explain: a reduction inside a tile is no reason that one crosses tiles") {
  const auto norm = explained("graph g(x: f16[1024, 8192], w: f16[1200, 8192], a: f16[1200],\n"
                              "        b: f16[1200]) {\n"
                              "  return group_norm(linear(x, w), a, b, groups=4) }");
  REQUIRE(norm.boundaries.size() == 1);
  const std::string& rule = norm.boundaries[0].rule;
  CHECK(rule.find("spans several blocks") == std::string::npos);
  CHECK(rule.find("segments of 300 elements would leave") == 0);
}

TEST_CASE("explain: an op that only moves elements takes a kernel if it must copy") {
  const auto concat = explained("graph g(a: f32[4, 8], b: f32[4, 8]) { return concat([a, b]) }");
  CHECK(concat.unfused.kernels == 1);
  CHECK(concat.unfused.bytes == 4 * 64 * 4 / 2);
  CHECK(text_of(concat).find("unfused   1 kernel, ") != std::string::npos);
  const auto behind = explained("graph g(a: f32[4, 8]) { return relu(concat([a, a * 2])) }");
  CHECK(behind.unfused.kernels == 3);
  CHECK(behind.unfused.bytes == (2 + 4 + 4) * 32 * 4);
  const auto sliced = explained("graph g(a: f32[4, 8]) { return narrow(a, 0, 1, 2) }");
  CHECK(sliced.unfused.kernels == 1);
  CHECK(sliced.unfused.bytes == 2 * 16 * 4);
  const auto turned = explained("graph g(a: f32[4, 8]) { return transpose(a * 2) }");
  CHECK(turned.unfused.kernels == 2);
  CHECK(turned.unfused.bytes == 4 * 32 * 4);
  const auto flat = explained("graph g(a: f32[4, 8]) { return flatten(a * 2) }");
  CHECK(flat.unfused.kernels == 1);
}

TEST_CASE("explain: kernels that read one tensor say why they are two") {
  const auto beside = [](const std::string& inputs, const std::string& results) {
    const auto explanation = explained("graph g(" + inputs + ") { return " + results + " }");
    std::string text;
    for (const BoundaryFacts& boundary : explanation.boundaries)
      if (boundary.values.empty()) text += boundary.rule + "; " + boundary.change + "\n";
    return text;
  };
  const std::string x = "x: f32[128, 96]";
  CHECK(beside(x, "a=sum(x, axis=1), b=sum(x, axis=0)") ==
        "both read 'x', but sum reduces axes [1] of f32[128, 96], and sum reduces axes [0] of "
        "f32[128, 96]: a kernel reduces rows, or equal segments of them; reduce the same axes\n");
  CHECK(beside(x, "a=sum(x, axis=1), b=prod(x, axis=1)") == "");
  CHECK(beside("x: f32[128, n]", "a=softmax(x, axis=1), b=sum(x)") ==
        "max_sumexp reduces segments of rows of 128*n columns, which one block holds; their length "
        "is known only at launch; give 128*n a size of at most 32768\n");
  CHECK(beside("x: f32[128, 256]", "a=softmax(x, axis=1), b=sum(x)") == "");
  CHECK(beside("x: f32[96, 96]", "a=matmul(x, x), b=sum(x, axis=1)") ==
        "sum also reads 'x': a product's kernel computes the product and ops on its result; "
        "none\n");
  CHECK(beside(x + ", w: f32[96, 8], v: f32[96, 16]", "a=matmul(x, w), b=matmul(x, v)") ==
        "matmul and matmul are two products that no op joins point by point; join them by an op; "
        "or, of one left operand, multiply it by both right ones side by side, and use the product "
        "as a whole\n");
  CHECK(beside(x + ", y: f32[4, 128, 96]", "a=cos(x), b=y + x") ==
        "one kernel would have 49152 points, where cos has 12288 and add has 49152: it would "
        "compute some again; none\n");
  CHECK(beside(x + ", y: f32[8]", "a=cos(x), b=cos(y)") ==
        "they share no tensor: one kernel would move no byte less; none\n");
  CHECK(beside(x, "a=cumsum(x, axis=1), b=sum(x, axis=1)") ==
        "cumsum is a scan: no product and no reduction shares its kernel; none\n");
  CHECK(beside(x, "a=cumsum(x, axis=1), b=cumprod(x, axis=1)") ==
        "cumprod is the second scan: a kernel runs one; none\n");
  CHECK(beside(x + ", i: i32[4, 96]", "a=gather(x, i, axis=0), b=sum(x, axis=1)") ==
        "gather and sum, which read 'x', have other rows and columns; none\n");
  CHECK(beside(x, "a=transpose(x), b=sum(x, axis=1)") ==
        "one of them computes nothing: it copies 'x', or a part of it; none\n");
  CHECK(beside(x + ", y: f32[4, 96], w: f32[96, 96]", "concat([x, y, matmul(x, w)])")
            .find("each writes another part of one concat") != std::string::npos);
  // Also where kernels in between read other tensors.
  const std::string apart =
      beside(x + ", y: f32[8]", "a=sum(x, axis=1), b=cos(y), c=sum(x, axis=0)");
  CHECK(llvm::StringRef(apart).contains("both read 'x'"));
}

TEST_CASE("explain: a boundary names the limit that holds") {
  std::string many;
  for (int output = 0; output < 130; ++output)
    many += fmt::format("{}y{}=x * {}.5", output > 0 ? ", " : "", output, output);
  const auto outputs = explained("graph g(x: f32[64]) { return " + many + " }");
  REQUIRE(outputs.kernels.size() > 1);
  CHECK(llvm::StringRef(outputs.boundaries.front().rule).contains("a kernel keeps at most 64"));
  const auto merged = explained("graph g(x: f32[100, 64], w: f32[3000, 64], t: i32[100]) {\n"
                                "  return cross_entropy(linear(x, w), t, reduction=\"sum\") }");
  REQUIRE(merged.kernels.size() == 3);
  CHECK(llvm::StringRef(merged.boundaries.back().rule)
            .contains("of more than 2048 a kernel of its own"));
}

TEST_CASE("explain: drawings hold every boundary, its rule and its remedy") {
  const auto explanation = explained("graph g(x: f32[128, 40000]) {\n"
                                     "  return a=sum(x), b=sum(x, axis=0) }");
  REQUIRE(explanation.boundaries.size() > 1);
  const std::string dot = dot_of(explanation);
  for (const BoundaryFacts& boundary : explanation.boundaries) {
    CHECK(llvm::StringRef(dot).contains(
        fmt::format("\"{}\" -> \"{}\" [label=", explanation.kernels[boundary.producer].name,
                    explanation.kernels[boundary.consumer].name)));
    CHECK(llvm::StringRef(dot).contains(boundary.rule));
    CHECK(llvm::StringRef(dot).contains(change_text(boundary.change)));
  }
  CHECK(llvm::StringRef(dot).contains("style=dashed"));
}

TEST_CASE("explain: a picture holds every kernel, tensor and rule of a value") {
  const auto explanation = explained("graph g(x: f32[4096, 2048], param w: f32[4096, 2048]) {\n"
                                     "  h = relu(linear(x, w))\n"
                                     "  return y=h, s=softmax(h, axis=0) }");
  const std::string svg = svg_of(explanation);
  for (size_t k = 0; k < explanation.kernels.size(); ++k)
    CHECK(llvm::StringRef(svg).contains(fmt::format(">kernel {}", k + 1)));
  for (const KernelFacts& kernel : explanation.kernels)
    for (const Transfer& transfer : kernel.transfers)
      CHECK_MESSAGE(llvm::StringRef(svg).contains(">" + transfer.memory.value + "<"),
                    transfer.name());
  for (const BoundaryFacts& boundary : explanation.boundaries) {
    if (boundary.values.empty()) continue;
    std::string escaped;
    llvm::raw_string_ostream os(escaped);
    llvm::printHTMLEscaped(boundary.rule, os);
    CHECK(llvm::StringRef(svg).contains(os.str()));
  }
}

TEST_CASE("explain: the rule that a boundary names is the one that holds") {
  const auto rules = [](const std::string& inputs, const std::string& body) {
    std::string text;
    for (const BoundaryFacts& boundary :
         explained("graph g(" + inputs + ") { " + body + " }").boundaries)
      text += boundary.rule + "\n";
    return text;
  };
  const auto has = [](const std::string& text, const char* part) {
    return llvm::StringRef(text).contains(part);
  };
  const std::string x = "x: f32[64, 128], w: f32[128, 128]";
  CHECK(has(rules(x, "t = exp(x)\n return q=tanh(t), z=matmul(t, w)"),
            "'t' is made together with tanh, which is stored for other readers"));
  CHECK(has(rules(x, "t = layer_norm(x)\n return t, y=linear(t, w)"),
            "matmul reads the result of moments"));
  CHECK(has(rules("x: f32[m, 128, 128], y: f32[m, 128, 128]",
                  "t = matmul(x, y, transpose_b=true)\n return cumsum(y + t, axis=0)"),
            "cumsum is a scan: no product"));
  CHECK(has(rules("x: f32[m, 1024]", "return cumsum(batch_norm(x, training=true), axis=0)"),
            "cumsum is a scan and needs the result of moments"));
  CHECK(has(rules("param p: f32[64], x: f32[64]", "return concat([cumsum(p, axis=0), x])"),
            "a kernel that copies a value to its place in memory does nothing else"));
}

TEST_CASE("explain: kernels that make halves have boundaries on both sides") {
  const auto explanation =
      explained("graph g(x: f32[4096, 512], s: f32[512], w: f32[1024, 512]) {\n"
                "  return linear(silu(x) * s, w) }");
  auto apart = [&](const char* producer, const char* consumer) {
    return llvm::any_of(explanation.boundaries, [&](const BoundaryFacts& boundary) {
      return explanation.kernels[boundary.producer].name == producer &&
             explanation.kernels[boundary.consumer].name == consumer &&
             llvm::StringRef(boundary.rule).contains("halves");
    });
  };
  CHECK(apart("g_0", "g_1_packed_a"));
  CHECK(apart("g_1_packed_a", "g_1"));
  CHECK(apart("g_1_packed_b", "g_1"));
  CHECK_FALSE(apart("g_0", "g_1_packed_b"));
}

TEST_CASE("explain: kernels come in the order in which they run") {
  const auto explanation = explained("graph g(x: f32[4096, 512], param w: f32[1024, 512]) {\n"
                                     "  return sum(linear(x, w), axis=1) }");
  std::vector<std::string> names;
  for (const KernelFacts& kernel : explanation.kernels) names.push_back(kernel.name);
  // The sum reads neither operand: it is pushed into w, once.
  CHECK(explanation.kernels.front().program == ProgramKind::prepare);
  const auto halves = explained("graph g(x: f32[4096, 512], param w: f32[1024, 512]) {\n"
                                "  return linear(x, w) }");
  REQUIRE(halves.kernels.size() == 3);
  CHECK(halves.kernels[0].name == "g_0_packed_b");
  CHECK(halves.kernels[1].name == "g_0_packed_a");
  CHECK(halves.kernels[2].name == "g_0");
  CHECK(halves.launches() == 2);
}

TEST_CASE("explain: other schedules of a kernel come in predicted order") {
  const auto compilation = llvm::cantFail(compile_graph(
      llvm::cantFail(parse_graph("graph g(x: f32[512, 1024], param w: f32[1024, 256]) {\n"
                                 "  return softmax(matmul(x, exp(w))) }",
                                 "case")),
      {}));
  CHECK(text_of(llvm::cantFail(explain(compilation))).find("  other ") == std::string::npos);
  const Explanation e = llvm::cantFail(explain(compilation, {}, 3));
  REQUIRE(e.kernels.size() == e.launches() + 1);
  CHECK(text_of(e).find("  other ") != std::string::npos);
  for (const KernelFacts& kernel : e.kernels) {
    const bool has_schedules = kernel.program == ProgramKind::launch && !kernel.packs;
    REQUIRE(kernel.others.size() == (has_schedules ? 3 : 0));
    CHECK(llvm::is_sorted(kernel.others, [](const OtherSchedule& a, const OtherSchedule& b) {
      return a.seconds < b.seconds;
    }));
    for (const OtherSchedule& other : kernel.others) CHECK(other.text != kernel.schedules.front());
  }
}

TEST_CASE("explain: unfused is each operator alone, by the same planner") {
  // One operator: the same.
  const auto softmax = explained("graph g(x: f32[64, 40000]) { return softmax(x, axis=1) }");
  CHECK(softmax.unfused.kernels == softmax.launches());
  CHECK(softmax.unfused.bytes == softmax.bytes);
  CHECK(softmax.unfused.seconds == doctest::Approx(softmax.predicted_seconds));
  CHECK(text_of(softmax).find("nothing to fuse") != std::string::npos);
  // Two: the value between them is written and read.
  const auto two = explained("graph g(x: f32[4096, 4096]) { return relu(exp(x)) }");
  CHECK(two.unfused.kernels == 2);
  CHECK(two.unfused.bytes == 2 * two.bytes);
  CHECK(two.unfused.seconds == doctest::Approx(2 * two.predicted_seconds).epsilon(0.05));
  const std::string verdict =
      fmt::format("{:.3g} times as fast as one Ingot kernel per operator, and moves 134 MB less",
                  two.unfused.seconds / two.predicted_seconds);
  CHECK_MESSAGE(text_of(two).find(verdict) != std::string::npos, text_of(two));
  // Names of sizes that no operand has alone, and a value that depends on params alone.
  const auto named =
      explained("graph g(x: f32[m], y: f32[8*m], param p: f32[64, 64]) {\n"
                "  return a=mean(y) * extent(f32, [m]), b=relu(matmul(p, p)), c=exp(x) }");
  CHECK(named.unfused.seconds > 0);
  // The same product with halves and without.
  const auto product = explained("graph g(x: f32[2048, 2048], y: f32[2048, 2048]) {\n"
                                 "  return matmul(x, y) }");
  REQUIRE(product.pedantic);
  CHECK(product.pedantic->kernels == 1);
  CHECK(product.pedantic->bytes == 3 * 2048 * 2048 * 4);
  CHECK(product.pedantic->seconds > product.predicted_seconds);
  CHECK(!two.pedantic);
}

TEST_CASE("explain: a plan that is predicted to be slower says so") {
  auto explanation = explained("graph g(x: f32[4096, 4096]) { return relu(exp(x)) }");
  explanation.unfused.seconds = explanation.predicted_seconds / 2;
  explanation.unfused.bytes = explanation.bytes - 1000;
  CHECK(text_of(explanation)
            .find("fusing is WORSE here than one Ingot kernel per operator: it takes 2 times as "
                  "long and "
                  "moves 1 kB more\n") != std::string::npos);
}

TEST_CASE("explain: any chain and any of its operators alone can be told") {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const auto chain = testing::random_chain(seed, testing::ChainScale::large());
    auto compilation = compile_graph(chain.graph, {});
    REQUIRE(bool(compilation));
    auto explanation = explain(*compilation, chain.sizes);
    if (!explanation) FAIL(take_error(explanation.takeError()).second);
    CHECK(explanation->unfused.kernels > 0);
    CHECK(explanation->unfused.seconds > 0);
    const std::string svg = svg_of(*explanation);
    CHECK(svg.find("=\"nan") == std::string::npos);
    CHECK(svg.find(",nan") == std::string::npos);
    // Contents of memories have names.
    for (const KernelFacts& kernel : explanation->kernels)
      for (const Transfer& transfer : kernel.transfers)
        CHECK_MESSAGE(!transfer.memory.value.empty(), transfer.name());
  }
}

TEST_CASE("explain: colour is asked for") {
  const auto explanation = explained("graph g(x: f32[64]) { return relu(x) }");
  const std::string plain = text_of(explanation), coloured = text_of(explanation, true);
  CHECK(plain.find('\033') == std::string::npos);
  CHECK(coloured.find("\033[") != std::string::npos);
}
