// SPDX-License-Identifier: Apache-2.0
// Plans of whole chains: their spelling does not matter, and why kernels are apart.
#include "ir/fusion/grouping.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"

#include "llvm/Support/Regex.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;

namespace {

/// The plan of a spec after the passes, without the names of values.
std::string plan(const std::string& spec) {
  auto parsed = parse_graph(spec, "test");
  if (!parsed) FAIL(take_error(parsed.takeError()).second);
  const Graph graph = llvm::cantFail(run_passes(*parsed, {MathMode::relaxed}));
  const FusionPlan result = llvm::cantFail(plan_fusion(graph, {}));
  llvm::cantFail(verify(result, graph));
  std::string text = text_of(result, graph);
  const llvm::Regex name("(  reads|  writes|  combines| at) [a-z][a-z0-9_]*");
  std::string rest, before;
  llvm::StringRef left = text;
  llvm::SmallVector<llvm::StringRef, 2> found;
  while (name.match(left, &found)) {
    const size_t at = found[0].data() - left.data();
    rest += left.take_front(at).str() + found[1].str();
    left = left.drop_front(at + found[0].size());
  }
  return rest + left.str();
}

void check_one_plan(const std::string& inputs, llvm::ArrayRef<const char*> bodies) {
  const std::string first = plan("graph g(" + inputs + ") {\n" + bodies.front() + "\n}\n");
  for (const char* body : bodies) {
    CAPTURE(body);
    CHECK(plan("graph g(" + inputs + ") {\n" + body + "\n}\n") == first);
  }
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const char* const kLinear = "x: f32[1024, 64], param w: f32[8192, 64], param b: f32[8192], "
                            "param c: f32[8192], param gamma: f32[8192], param beta: f32[8192]";

} // namespace

TEST_CASE("plans: chain 94 is one kernel, whatever the spelling") {
  check_one_plan(
      kLinear,
      {"return group_norm(mish(hardtanh(linear(x, w, b) + c)), gamma, beta, groups=256)",
       "other = c + linear(x, w, b)\n"
       "return group_norm(mish(clamp(other, -1, 1)), gamma, beta, groups=256)",
       "return group_norm(mish(hardtanh(linear(x, w) + (c + b))), gamma, beta, groups=256)",
       "h = matmul(x, transpose(w, [1, 0])) + broadcast(reshape(b, [1, 8192]), [1024, 8192]) + c\n"
       "y = mish(clamp(reshape(h, [1024, 256, 32]), -1, 1))\n"
       "return group_norm(reshape(y, [1024, 8192]), gamma, beta, groups=256)"});
}

TEST_CASE("plans: chain 37 is one kernel, whatever the spelling") {
  check_one_plan(
      kLinear,
      {"return group_norm(swish(linear(x, w, b)) + c, gamma, beta, groups=128)",
       "h = linear(x, w, b)\n return group_norm(c + h * sigmoid(h), gamma, beta, groups=128)",
       "h = reshape(linear(x, w, b), [1024, 128, 64])\n"
       "s = swish(h) + reshape(c, [128, 64])\n"
       "return group_norm(reshape(s, [1024, 8192]), gamma, beta, groups=128)"});
}

TEST_CASE("plans: chain 22 is cut at its row, whatever the spelling") {
  check_one_plan(kLinear,
                 {"h = linear(x, w, b) * 2\n h2 = clamp(h + h, -10, 10)\n"
                  "z = logsumexp(h2, axis=1, keepdim=true)\n return z * mish(z)",
                  "h = linear(x, w, b) + linear(x, w, b)\n h2 = clamp(2 * h, -10, 10)\n"
                  "z = logsumexp(h2, axis=1, keepdim=true)\n return z * mish(z)",
                  "h = 4 * linear(x, w, b)\n h2 = reshape(clamp(h, -10, 10), [1024, 32, 256])\n"
                  "z = reshape(logsumexp(h2, axis=[1, 2]), [1024, 1])\n return mish(z) * z"});
}

TEST_CASE("plans: chain 99 is cut at its row, whatever the spelling") {
  check_one_plan(kLinear, {"return softmax(gelu(linear(x, w, b)), axis=1)",
                           "return softmax(gelu(matmul(x, w, transpose_b=true) + b), axis=-1)",
                           "h = reshape(gelu(linear(x, w, b)), [1024, 64, 128])\n"
                           "return softmax(reshape(h, [1024, 8192]), axis=1)",
                           "h = gelu(linear(x, w) + broadcast(b, [1024, 8192]))\n"
                           "return softmax(h, axis=1)"});
}

TEST_CASE("plans: segments that are wider than a tile are reduced tile by tile") {
  const std::string text = plan(fmt::format("graph g({}) {{\n  h = linear(x, w, b)\n"
                                            "  return reduce_max(reshape(h, [1024, 16, 512]), "
                                            "axis=2) }}",
                                            kLinear));
  CHECK(mentions(text, "reduce_max over segment 512 elements: global"));
  CHECK(mentions(text, "kernel 1: loaded, domain batch 1 rows 1024x16 columns 1\n  ops:\n"));
  CHECK_FALSE(mentions(text, "kernel 2"));
  CHECK_FALSE(mentions(text.substr(0, text.find("kernel 1")), "writes"));
  // The op that uses the statistics reads the product, which is stored once.
  check_one_plan(kLinear,
                 {"return group_norm(linear(x, w, b), gamma, beta, groups=16)",
                  "h = reshape(matmul(x, transpose(w, [1, 0])), [1024, 16, 512])\n"
                  "y = group_norm(reshape(h + reshape(b, [16, 512]), [1024, 8192]), groups=16)\n"
                  "return y * gamma + beta"});
  const std::string norm = plan(fmt::format(
      "graph g({}) {{ return group_norm(linear(x, w, b), gamma, beta, groups=16) }}", kLinear));
  CHECK(mentions(norm, "moments over segment 512 elements: global"));
  CHECK(mentions(norm, "kernel 1: loaded, domain batch 1 rows 1024x16 columns 512\n"));
  CHECK_FALSE(mentions(norm, "kernel 2"));
}

TEST_CASE("plans: segments are reduced where the product is read, if that takes fewer "
          "kernels") {
  auto kernels = [](const char* body) {
    const std::string text = plan(fmt::format("graph g({}) {{\n {} }}", kLinear, body));
    CAPTURE(text);
    CHECK_FALSE(mentions(text, "segment 512 elements: global"));
    CHECK(mentions(text, "moments of 512 elements would span several blocks; its operand is stored "
                         "anyway, and reducing it where it is read costs less"));
    return mentions(text, "kernel 2") ? 3 : 2;
  };
  CHECK(kernels("return softmax(group_norm(linear(x, w, b), groups=16), axis=1)") == 2);
  CHECK(kernels("return sum(group_norm(linear(x, w, b), groups=16), axis=1)") == 2);
}

TEST_CASE("plans: columns that tiles drop to hold segments cost less than storing the product") {
  // Tiles of 125 columns drop 3 of 128, for 8 bytes of each element of the product.
  auto pool = [](int64_t depth) {
    return plan(fmt::format("graph g(x: f32[1024, {0}], param w: f32[8000, {0}]) {{\n"
                            "  h = linear(x, w)\n"
                            "  return reduce_max(reshape(h, [1024, 8, 1000]), axis=2) }}",
                            depth));
  };
  CHECK(mentions(pool(1600), "reduce_max over segment 1000 elements: global"));
  CHECK(mentions(pool(1640),
                 "segments of 1000 elements would leave 3 of the 128 columns of a tile "
                 "unused: that takes 33 us, and storing the product and reading it back 33 us"));
  // Stored all the same, it is no gain at all.
  const std::string norm = plan("graph g(x: f32[1024, 64], param w: f32[8000, 64]) {\n"
                                "  return group_norm(linear(x, w), groups=8) }");
  CHECK(mentions(norm, "moments over row 1000 elements: local"));
  CHECK_FALSE(mentions(norm, "kernel 2"));
}

TEST_CASE("plans: boundaries name their rule") {
  const std::string row = plan("graph g(x: f32[70, 20], param w: f32[512, 20]) {\n"
                               "  return softmax(linear(x, w), axis=1) }");
  CHECK(mentions(row, "max_sumexp of 512 elements spans several blocks: its result exists when all "
                      "of them are done"));
  const std::string prepared =
      plan("graph g(x: f32[70, 20], param b: f32[20]) { return x * exp(b) }");
  CHECK(mentions(prepared, "kernel 0 (prepare)"));
  CHECK(mentions(prepared,
                 "the first depends on params alone: it runs once, in prepare, and in no launch"));
  const std::string between = plan("graph g(x: f32[9, 20], w: f32[20, 20]) {\n"
                                   "  h = exp(x)\n  return h + matmul(h, w) }");
  CHECK(mentions(between, "matmul sums along an axis that the kernel also keeps"));
}

TEST_CASE("plans: partial results along columns are merged by a kernel of their own") {
  const std::string text = plan("graph g(x: f32[300, 20], param w: f32[70, 20]) {\n"
                                "  h = relu(linear(x, w))\n"
                                "  return h - mean(h, axis=0, keepdim=true) }");
  CHECK(mentions(text, "mean over column 300 elements: global"));
  CHECK(mentions(text, "kernel 1: loaded, domain batch 1 rows 70 columns 1\n  ops:\n  combines"));
  CHECK(mentions(text, "kernel 2: "));
}

TEST_CASE("plans: ops that need only merged results are computed by the kernel that merges") {
  const std::string text = plan("graph g(x: f32[300, 20], param w: f32[70, 20], v: f32[70]) {\n"
                                "  h = relu(linear(x, w))\n"
                                "  a = sum(h, axis=0)\n  b = reduce_max(h, axis=0)\n"
                                "  c = a * 2 + v\n"
                                "  return a, b, transpose(reshape(c, [7, 10])), h * b }");
  CHECK(mentions(text, "kernel 1: loaded, domain batch 1 rows 7x10 columns 1\n  ops: mul add\n"));
  CHECK(mentions(text, "kernel 2: loaded, domain batch 1 rows 300 columns 70\n  ops: mul\n"));
  CHECK_FALSE(mentions(text, "kernel 3"));
}

TEST_CASE("plans: partial results of one kernel that are returned are merged together") {
  const char* inputs = "x: f32[4, 1000000], y: f32[4, 1000000]";
  auto kernels = [&](const char* body) {
    const std::string text = plan(fmt::format("graph g({}) {{\n{}\n}}\n", inputs, body));
    size_t count = 0;
    for (size_t at = 0; (at = text.find("\nkernel ", at)) != std::string::npos; ++at) ++count;
    return count + llvm::StringRef(text).starts_with("kernel ");
  };
  CHECK(kernels("return sum(x * y, axis=1), reduce_max(x, axis=1)") == 2);
  CHECK(kernels("return sum(x * y, axis=1), reshape(reduce_max(x, axis=1), [2, 2])") == 2);
  CHECK(kernels("m, v = moments(x, axis=1)\n return m, v, sum(x * y, axis=1)") == 2);
  CHECK(kernels("return sum(x * y, axis=1)") == 2);
  // Results of other sizes are no points of one kernel.
  CHECK(kernels("return sum(x, axis=1), sum(x, axes=[0, 1])") > 2);
}

TEST_CASE("plans: a part of merged results is returned where another kernel reads all of them") {
  const std::string text =
      plan("graph g(x: f32[2, 100], param w: f32[300, 100], y: f32[9, 300]) {\n"
           "  m = reshape(reduce_min(linear(x, w), axis=0), [1, 300])\n"
           "  return slice(m, [0, 100], [1, 139]), y * m }");
  CHECK(mentions(text, "kernel 1: loaded, domain batch 1 rows 300 columns 1\n"));
  CHECK(mentions(text, "kernel 2: loaded, domain batch 1 rows 9 columns 300\n"));
  CHECK(mentions(text, "kernel 3: loaded, domain batch 1 rows 1 columns 39\n"));
}

TEST_CASE("plans: a batch that an operand does not vary along does not make it cheaper") {
  for (const char* x : {"f32[64, 128, 512]", "f32[8192, 512]"}) {
    CAPTURE(x);
    CHECK(mentions(plan(fmt::format("graph g(x: {}, w: f32[512, 4096]) {{\n"
                                    "  return matmul(x, gelu(w)) }}",
                                    x)),
                   "tiles that read an element"));
  }
}

TEST_CASE("plans: a returned input is no value that kernels exchange") {
  CHECK_FALSE(mentions(plan("graph g(x: f32[70, 20]) { return y = exp(x), w = x }"), " at "));
}

TEST_CASE("plans: kernels that follow each other and exchange nothing say why") {
  CHECK(mentions(plan("graph g(x: f32[70, 20], y: f32[9]) { return exp(x), exp(y) }"),
                 "kernels 0 | 1: they share no tensor: one kernel would move no byte less"));
}

TEST_CASE("plans: an obstacle of the machine keeps ops apart") {
  const std::string spec = "graph g(x: f32[6, 64]) {\n  h = exp(x)\n"
                           "  return sum(h, axis=1), reduce_max(h, axis=1) }";
  const Graph graph = llvm::cantFail(parse_graph(spec, "test"));
  FusionLimits limits;
  CHECK(llvm::cantFail(plan_fusion(graph, limits)).groups.size() == 1);
  limits.obstacle = [](const Group& group) -> std::optional<Reason> {
    if (group.reductions.size() < 2) return std::nullopt;
    return Reason{"two reductions are one too many", "reduce once"};
  };
  const FusionPlan apart = llvm::cantFail(plan_fusion(graph, limits));
  CHECK(apart.groups.size() == 2);
  REQUIRE(apart.boundaries.size() == 1);
  CHECK(apart.boundaries[0].reason.rule == "two reductions are one too many");
  CHECK(apart.boundaries[0].reason.change == "reduce once");
}

TEST_CASE("plans: a graph that exceeds registers or parameters is split, and says why") {
  const Graph graph = llvm::cantFail(parse_graph("graph g(x: f32[8], y: f32[8], z: f32[8]) {\n"
                                                 "  a = x * y\n  b = a + z\n  c = exp(x)\n"
                                                 "  return b * c }",
                                                 "test"));
  auto split_by = [&](const FusionLimits& limits) {
    const FusionPlan plan = llvm::cantFail(plan_fusion(graph, limits));
    llvm::cantFail(verify(plan, graph));
    return plan.boundaries.empty() ? "" : plan.boundaries.front().reason.rule;
  };
  FusionLimits few_tensors, few_live, few_evaluations;
  few_tensors.most_tensors = 3;
  few_live.most_live = 0;
  few_evaluations.most_evaluations = 1;
  CHECK(split_by({}) == "");
  CHECK(split_by(few_tensors) == "one kernel would have 4 tensors as arguments, and can have 3");
  CHECK(split_by(few_live) == "1 results of 2 ops are returned or needed later: a kernel keeps at "
                              "most 0 in registers, and computes at most 4096 ops for all of them");
  CHECK(split_by(few_evaluations) ==
        "1 results of 2 ops are returned or needed later: a kernel keeps at most "
        "64 in registers, and computes at most 1 ops for all of them");
}

TEST_CASE("plans: ops that read one tensor alike are one kernel") {
  CHECK(!mentions(plan("graph g(x: f32[64, 48]) { return sum(x), reduce_max(x) }"), "kernel 1"));
  CHECK(!mentions(plan("graph g(x: f32[64, 48]) { return exp(x), x * 2 }"), "kernel 1"));
  // One domain for both would be wider than either.
  CHECK(mentions(plan("graph g(x: f32[64, 48], y: f32[32, 48], b: f32[48]) {\n"
                      "  return x + b, y * b }"),
                 "kernel 1"));
  // The second depends on the first.
  CHECK(mentions(plan("graph g(x: f32[64, 48], w: f32[48, 48]) {\n"
                      "  return exp(x), tanh(x) * matmul(exp(x), w) }"),
                 "kernel 1"));
}

TEST_CASE("plans: a matmul computes its operand where nothing else reads it") {
  const std::string inputs = "graph g(x: f32[64, 48], w: f32[48, 32], v: f32[48, 32]) {\n";
  const std::string fused = plan(inputs + "  return matmul(exp(x), w) }");
  CHECK(mentions(fused, "A computed by: exp"));
  CHECK(!mentions(fused, "kernel 1"));
  const std::string stored = plan(inputs + "  h = exp(x)\n  return h, matmul(h, w) }");
  CHECK(mentions(stored,
                 "exp 'h' is stored for other readers, and the product reads the stored tensor"));
  const std::string twice =
      plan(inputs + "  h = exp(x)\n  return sum(matmul(h, w), axis=1), matmul(h, v) }");
  CHECK(mentions(twice,
                 "exp 'h' is stored for other readers, and the product reads the stored tensor"));
}

TEST_CASE("plans: a normalised operand is computed where its statistics are merged first") {
  const std::string text = plan("graph g(x: f32[64, 48], w: f32[512, 48], v: f32[32, 512]) {\n"
                                "  h = linear(x, w)\n  m = mean(h * h, axis=1, keepdim=true)\n"
                                "  return linear(h * rsqrt(m + 0.1), v) }");
  CHECK(mentions(text, "A computed by: add rsqrt mul"));
  CHECK(mentions(text, "kernel 2"));
  CHECK(!mentions(text, "kernel 3"));
}

TEST_CASE("plans: an operand that costs more to compute for each tile is stored") {
  const std::string text = plan("graph g(x: f32[4096, 4096], w: f32[4096, 4096]) {\n"
                                "  return matmul(gelu(x), w) }");
  CHECK(mentions(text, "would be computed again for each of the 32 tiles that read an element"));
  CHECK(!mentions(plan("graph g(x: f32[4096, 4096], s: f32[4096], w: f32[4096, 256]) {\n"
                       "  return matmul(x * s, w) }"),
                  "kernel 1"));
}

TEST_CASE("plans: a product that is only reduced over rows and columns is not stored") {
  const std::string inputs = "graph g(x: f32[1024, 64], w: f32[8192, 64], t: f32[1024, 8192]) {\n"
                             "  h = relu(linear(x, w))\n";
  for (const char* body :
       {"return sum(h)", "return sum(sum(h, axis=1))", "return mse_loss(linear(x, w), t)",
        "return reduce_max(h)", "return reduce_max(reduce_max(h, axis=0))",
        "m, v = moments(h, axis=[0, 1])\n  return m, v",
        "return sum(reshape(h, [64, 131072]), axis=[0, 1])"}) {
    CAPTURE(body);
    const std::string text = plan(inputs + body + " }");
    CHECK(mentions(text, "over matrix 8388608 elements: global"));
    CHECK(!mentions(text, "f32[1024, 8192] at"));
    CHECK(!mentions(text, "kernel 2"));
  }
  // Of a batch, and of named sizes.
  CHECK(mentions(plan("graph g(x: f32[8, m, 64], w: f32[8, 64, 512]) {\n"
                      "  return reduce_max(tanh(matmul(x, w)), axis=[1, 2]) }"),
                 "reduce_max over matrix 512*m elements: global"));
  // Parts of its rows are reduced row by row first.
  const std::string parts = plan(inputs + "return sum(reshape(h, [8, 128, 8192]), axis=[1, 2]) }");
  CHECK(mentions(parts, "sum over row 8192 elements: global"));
  // One block reduces a small one as quickly.
  CHECK(mentions(plan("graph g(x: f32[8, 64], w: f32[4096, 64]) {\n"
                      "  return sum(reshape(relu(linear(x, w)), [2, 4, 4096]), axis=[1, 2]) }"),
                 "ops: matmul maximum\n"));
}

TEST_CASE("plans: ops that with their stores are no legal kernel are kept apart") {
  const std::string text = plan("graph g(a: f32[16, 48], c: f32[16], d: f32[16, 1, 1]) {\n"
                                "  v7 = a * d\n  m = mean(v7, axis=[0, 2])\n"
                                "  v12 = v7 - reshape(m, [16, 1])\n"
                                "  v22 = reduce_max(v12, axis=[0, 1, 2])\n"
                                "  return maximum(v12, reshape(v22, [1, 1, 1])) }");
  CHECK(mentions(text, "reduce_max"));
  CHECK(mentions(text, "kernel 1"));
}

TEST_CASE("plans: a number of elements takes no kernel") {
  const std::string norm = plan(
      "graph g(x: f32[m, 64], param w: f32[512, 64], mean: f32[512], var: f32[512]) {\n"
      "  y, a, b = batch_norm(linear(x, w), running_mean=mean, running_var=var, training=true)\n"
      "  return y, a, b }");
  CHECK(mentions(norm, "kernel 2:"));
  CHECK_FALSE(mentions(norm, "kernel 3:"));
  const std::string variance = plan("graph g(x: f32[4096, m]) { return var(x, axis=1) }");
  CHECK_FALSE(mentions(variance, "kernel 1:"));
}

TEST_CASE("plans: a kernel that merges partials also reads values from before their kernel") {
  for (const char* spec :
       {"graph g(z: f32[512], b: f32[64, 512]) {\n"
        "  r = mean(matmul(reshape(softmax(z, axis=0), [8, 64]), b) ** 2.0, axis=0)\n"
        "  return r + z }",
        "graph g(z: f32[512], b: f32[64, 512]) {\n  v = cos(z)\n"
        "  r = reduce_max(matmul(reshape(v, [8, 64]), b) + 1.0, axis=0)\n"
        "  return y=tanh(r) + z, v=v }",
        "graph g(a: f32[1024, 64], b: f32[64, 512], z: f32[512]) {\n  v = softmax(z, axis=0)\n"
        "  h = matmul(a, b) * v\n  r = reduce_max(h, axis=0)\n  return y=r + z, v=v, h=h }"})
    CHECK(mentions(plan(spec), "kernel 1:"));
}

TEST_CASE("plans: a value that is returned in another shape is stored once") {
  const std::string text = plan("graph g(x: f32[8, 1024, 256], w: f32[512, 256]) {\n"
                                "  t = linear(x, w)\n  return t, s=softmax(t) }");
  size_t stores = 0;
  for (size_t at = text.find("  writes"); at != std::string::npos;
       at = text.find("  writes", at + 1))
    ++stores;
  CHECK(stores == 2);
}

TEST_CASE("plans: elements of several slices are computed once, and elements of no slice never") {
  auto domains = [](const std::string& inputs, const std::string& body) {
    const std::string text = plan("graph g(" + inputs + ") {\n" + body + " }");
    std::string found;
    for (size_t at = text.find(", domain "); at != std::string::npos;
         at = text.find(", domain ", at + 1))
      found += text.substr(at + 9, text.find('\n', at) - at - 9) + "; ";
    return found;
  };
  const std::string x = "x: f32[64, 256]";
  // Along a row that is reduced the kernel has all; other rows it never computes.
  CHECK(domains(x, "return narrow(softmax(x), 1, 8, 64)") == "batch 1 rows 64 columns 256; ");
  CHECK(domains(x, "return narrow(softmax(x), 0, 8, 16)") == "batch 1 rows 16 columns 256; ");
  CHECK(domains(x, "y = softmax(x)\n return narrow(narrow(y, 0, 8, 16), 1, 3, 5)") ==
        "batch 1 rows 16 columns 256; ");
  CHECK(domains(x, "return narrow(cumsum(x, axis=1), 0, 1, 9)") == "batch 1 rows 9 columns 256; ");
  // Two parts are one kernel where they are most of it, or others need it all.
  CHECK(domains(x, "y = exp(x)\n return narrow(y, 1, 0, 100), narrow(y, 1, 100, 156)") ==
        "batch 1 rows 64 columns 256; ");
  CHECK(domains(x, "y = exp(x)\n return narrow(y, 1, 0, 8), narrow(y, 1, 16, 8)") ==
        "batch 1 rows 64 columns 8; batch 1 rows 64 columns 8; ");
  CHECK(domains(x, "y = exp(x)\n return y, narrow(y, 1, 0, 8)") == "batch 1 rows 64 columns 256; ");
  // Every other element is no run that a kernel stores, and no row that is streamed is read again.
  CHECK(domains(x, "return slice(softmax(x), [0, 0], [64, 256], [1, 2])") ==
        "batch 1 rows 64 columns 256; batch 1 rows 64 columns 128; ");
  CHECK(domains("x: f32[512, 65536]", "return narrow(softmax(x), 1, 0, 1)") ==
        "batch 1 rows 512 columns 65536; ");
  CHECK(domains("x: f32[512, 65536]", "return narrow(softmax(x), 1, 0, 8)") ==
        "batch 1 rows 512 columns 65536; batch 1 rows 512 columns 8; ");
  // Of a concat no more is read than the part, and of a product no more computed.
  CHECK(domains(x + ", y: f32[64, 256]", "return exp(narrow(concat([x, y], axis=0), 0, 0, 64))") ==
        "batch 1 rows 1 columns 64x256; ");
  CHECK(domains("x: f16[512, 1024], w: f16[4096, 1024]",
                "return narrow(linear(x, w), 0, 385, 127)") ==
        "batch 1 rows 127 columns 4096 K 1024; ");
  // Gates of a cell are parts of one product.
  CHECK(domains("x: f32[64, 512], w: f32[2048, 512]",
                "h = linear(x, w)\n return sigmoid(narrow(h, 1, 0, 512)) * tanh(narrow(h, 1, 512, "
                "512)),\n sigmoid(narrow(h, 1, 1024, 512)), narrow(h, 1, 1536, 512)") ==
        "batch 1 rows 64 columns 2048 K 512; batch 1 rows 64 columns 512; batch 1 rows 64 columns "
        "512; ");
  // Every other row, and of these every other column: no kernel has the axes of several such parts.
  const auto patch = [](int row, int column) {
    return fmt::format("slice(slice(y, [0, {}, 0, 0], [4, 32, 32, 64], [1, 2, 1, 1]), "
                       "[0, 0, {}, 0], [4, 16, 32, 64], [1, 1, 2, 1])",
                       row, column);
  };
  CHECK(domains("x: f32[4, 1024, 64], z: f32[4, 1024, 64]",
                "a = x + z\n y = reshape(a, [4, 32, 32, 64])\n return concat([" + patch(0, 0) +
                    ", " + patch(1, 0) + ", " + patch(0, 1) + ", " + patch(1, 1) +
                    "], axis=3), a") ==
        "batch 1 rows 1 columns 4x1024x64; batch 1 rows 4x16x16 columns 64; "
        "batch 1 rows 4x16x16 columns 64; batch 1 rows 4x16x16 columns 64; "
        "batch 1 rows 4x16x16 columns 64; ");
  const std::string product = "x: f32[4, 16, 64], w: f32[64, 384]";
  const std::string heads =
      "h = matmul(x, w)\n"
      "q = transpose(reshape(narrow(h, 2, 0, 128), [4, 16, 4, 32]), [0, 2, 1, 3])\n"
      "k = transpose(reshape(narrow(h, 2, 128, 128), [4, 16, 4, 32]), [0, 2, 3, 1])\n";
  CHECK(domains(product, heads + "return q, k, narrow(h, 2, 256, 128)") ==
        "batch 1 rows 4x16 columns 12x32 K 64; ");
  const std::string five = "h = reshape(matmul(x, w), [4, 16, 3, 4, 32])\n";
  auto part = [](int at) {
    return fmt::format("transpose(reshape(narrow(h, 2, {}, 1), [4, 16, 4, 32]), [0, 2, 1, 3])", at);
  };
  CHECK(domains(product, five + "return " + part(0) + ", " + part(1) + ", " + part(2)) ==
        "batch 1 rows 4x16 columns 3x4x32 K 64; ");
  CHECK(domains(product, heads + "return matmul(q, k), narrow(h, 2, 256, 128)") ==
        "batch 1 rows 4x16 columns 384 K 64; batch 4x4 rows 16 columns 16 K 32; ");
}

TEST_CASE("plans: one matrix takes the rows of a batch of others together") {
  const std::string inputs = "x: f32[b, 20, 64], v: f32[b, 64, 1], w: f32[64, 96], u: f32[96, 64]";
  auto is_plan = [&](const std::string& body, const std::string& domain) {
    const std::string text = plan("graph g(" + inputs + ") {\n return " + body + " }");
    CAPTURE(text);
    CHECK(mentions(text, "domain " + domain));
  };
  is_plan("relu(matmul(x, w))", "batch 1 rows bx20 columns 96 K 64\n");
  is_plan("softmax(matmul(x, w))", "batch 1 rows bx20 columns 96 K 64\n");
  is_plan("matmul(u, v)", "batch 1 rows b columns 96 K 64\n");
  is_plan("sum(matmul(x, w), axes=[0, 1])", "batch 1 rows 64 columns bx20\n");
  // Sums of each matrix are begun where it is made.
  is_plan("amax(matmul(x, w), axis=[1, 2])", "batch b rows 20 columns 96 K 64\n");
  // An op that joins a product of its own batch has that batch.
  CHECK(mentions(plan("graph g(x: f32[8, 100, 64], w: f32[64, 96], z: f32[8, 64, 96]) {\n"
                      "  return relu(matmul(x, w) + matmul(x, z)) }"),
                 "domain batch 8 rows 100 columns 96 K 64"));
  // Rows that fill tiles are as well where they are.
  CHECK(mentions(plan("graph g(x: f32[4, 256, 64], w: f32[64, 96]) { return matmul(x, w) }"),
                 "domain batch 4 rows 256 columns 96 K 64\n"));
}

TEST_CASE("plans: concats of concats, and of slices of a value that is stored anyway") {
  const std::string nested = plan("graph g(x: f32[256, 256]) {\n  a = concat([x, x], axis=0)\n"
                                  "  b = concat([a, a], axis=1)\n"
                                  "  return exp(concat([b, b], axis=0)) }");
  CHECK_FALSE(mentions(nested, "kernel 1:"));
  const std::string rotary =
      plan("graph g(x: f32[m, 64], w: f32[64, 64], c: f32[m, 64], s: f32[m, 64]) {\n"
           "  h = linear(x, w)\n"
           "  r = concat([-narrow(h, 1, 32, 32), narrow(h, 1, 0, 32)], axis=1)\n"
           "  return h * c + r * s }");
  CHECK(mentions(rotary, "kernel 1:"));
  CHECK_FALSE(mentions(rotary, "kernel 2:"));
  // A part that is a product itself is not selected.
  const std::string beside = plan("graph g(x: f32[m, 64], w: f32[64, 64]) {\n"
                                  "  return concat([linear(x, w), x], axis=1) }");
  CHECK_FALSE(mentions(beside, "select"));
  // A table of a launch's positions is computed where it is read, though a param is in it.
  CHECK_FALSE(mentions(plan("graph g(param p: f32[64], x: f32[m, 64]) {\n"
                            "  t = exp(iota(f32, [m, 64], axis=0) * p)\n"
                            "  return concat([t, x], axis=1) }"),
                       "kernel 1:"));
}

TEST_CASE(
    "plans: params that are chosen from are prepared where they are computed, and there once") {
  const auto prepared = [](const std::string& spec) {
    const std::string text = plan(spec);
    size_t count = 0;
    for (size_t at = text.find("(prepare)"); at != std::string::npos;
         at = text.find("(prepare)", at + 1))
      ++count;
    return count;
  };
  CHECK(prepared("graph g(x: f32[4, 16], param p: f32[4, 8]) {\n"
                 "  return x * concat([exp(p), cast(iota(i32, [4, 8], axis=0), f32)], axis=1) }") ==
        1);
  std::string inputs = "x0: f32[4]", parts = "p0";
  for (int n = 0; n < 8; ++n) inputs += fmt::format(", param p{}: f32[4]", n);
  for (int n = 1; n < 8; ++n) inputs += fmt::format(", x{}: f32[4]", n);
  for (int n = 1; n < 8; ++n) parts += fmt::format(", p{}", n);
  for (int n = 0; n < 8; ++n) parts += fmt::format(", x{}", n);
  CHECK(prepared("graph g(" + inputs + ") { return concat([" + parts + "]) }") <= 2);
}

TEST_CASE("plans: a value without rows is stored by a kernel of its own if rows may be none") {
  auto kernels = [](const std::string& text) {
    llvm::SmallVector<llvm::StringRef, 16> parts;
    llvm::StringRef("\n" + text).split(parts, "\nkernel ");
    return parts.size() - 1;
  };
  // A scalar that parts of a concat share: it, each part, and the scan.
  CHECK(kernels(plan("graph g(x: f32[m, 64], y: f32[m, 72], s: f32[], p: f32[m, 8]) {\n"
                     "  a = x / sqrt(sum(x * x, axis=1, keepdim=true))\n"
                     "  z = reshape(y * concat([a, p], axis=1), [72*m])\n"
                     "  return cumprod(z / sqrt(s + 1.0), axis=0)\n}\n")) == 4);
  // One that is returned beside a transposed value.
  CHECK(kernels(plan("graph g(x: f32[m, 1024], i: i32[1], w: f32[]) {\n"
                     "  v = cast(i, f32)\n"
                     "  return transpose(x) * broadcast(v * 0.125, [1024, m]) - w, v\n}\n")) == 2);
  // One that is returned beside a product and the sums of its rows, moved or not.
  for (const char* keepdim : {"", ", keepdim=true"}) {
    const std::string text =
        plan(std::string("graph g(x: f16[m, 64], param w: f16[64, 8192], i: i32[1], "
                         "y: f32[m, 8192]) {\n  v = cast(i, f32)\n"
                         "  h = cast(matmul(x, w), f32) * broadcast(v * 0.125, [m, 8192])\n"
                         "  return h + y, sum(h, axis=1") +
             keepdim + "), v\n}\n");
    CAPTURE(text);
    CHECK(kernels(text) == 3); // the scalar, the product, and the merge of the sums
    CHECK(mentions(text, "ops: matmul cast mul add sum\n"));
  }
}

TEST_CASE("plans: a stored value has the same memory in every shape") {
  CHECK(!mentions(plan("graph g(x: f32[m, 64]) {\n  y = relu(x)\n"
                       "  return y, reshape(y, [64, m])\n}\n"),
                  "kernel 1"));
  CHECK(!mentions(plan("graph g(x: f32[m, 64], w: f32[64, 96]) {\n"
                       "  return reshape(relu(matmul(x, w)), [48, 2*m])\n}\n"),
                  "kernel 1"));
}

TEST_CASE("plans: an input that is returned is copied by a kernel that reads it anyway") {
  auto is_one = [](const char* results) {
    return !mentions(plan(std::string("graph g(x: f32[m, 512]) {\n  return ") + results + "\n}\n"),
                     "kernel 1");
  };
  CHECK(is_one("y=x, z=relu(x), q=reshape(x, [m, 8, 64])"));
  CHECK(is_one("y=x, q=reshape(x, [m, 8, 64])"));
  CHECK(is_one("s=softmax(x), y=x"));
  // Transposed, it would be stored element by element.
  CHECK(!is_one("z=relu(x), t=transpose(x)"));
}
