// SPDX-License-Identifier: Apache-2.0
// Rows of products in one kernel, each of which computes the operand of the next: which graphs have
// one, which do not, and why.
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "src/reports/check.h"
#include "tests/support/planned.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

/// A row of `products` of one width, with `bias` and relu between them. `first` and `middle` are
/// sizes: K of the first product, and of the others.
std::string layers(int products, const std::string& first, const std::string& middle,
                   const std::string& tail = "  return h") {
  std::string inputs = "x: f16[4096, " + first + "], b: f16[" + middle + "]", body;
  for (int i = 1; i <= products; ++i) {
    const std::string n = std::to_string(i);
    inputs += ", w" + n + ": f16[" + (i == 1 ? first : middle) + ", " + middle + "]";
    const std::string operand = i == 1 ? "x" : "h";
    body += "  h = relu(matmul(" + operand + ", w" + n + ") + b)\n";
  }
  return inputs + ") {\n" + body + tail;
}

/// The numbers of products of each kernel.
std::vector<size_t> products(const FusionPlan& plan) {
  std::vector<size_t> result;
  for (const Group& group : plan.groups) {
    size_t sum = 0;
    for (const Group* part : parts_of(group)) sum += part->matmuls.size();
    result.push_back(sum);
  }
  return result;
}

bool holds(const std::vector<OpId>& ops, const std::vector<OpId>& some) {
  return llvm::all_of(some, [&](OpId op) { return llvm::is_contained(ops, op); });
}

bool gives(const FusionPlan& plan, const std::string& rule) {
  return llvm::any_of(plan.boundaries, [&](const Boundary& boundary) {
    return boundary.reason.rule.find(rule) != std::string::npos;
  });
}

} // namespace

TEST_CASE("nests: products of at most 256 columns in a row are one kernel") {
  for (const int depth : {2, 3, 5, 12}) {
    CAPTURE(depth);
    const Planned one = planned(layers(depth, "64", "128"));
    REQUIRE(one.plan.groups.size() == 1);
    const Group& group = one.plan.groups.front();
    const auto parts = parts_of(group);
    CHECK(parts.size() == static_cast<size_t>(depth));
    for (const Group* part : parts) {
      CHECK(part->matmuls.size() == 1);
      CHECK(part->writes.size() == 1);
      CHECK(part->reductions.empty());
      if (!part->computed) continue;
      CHECK(part->computed->resident);
      CHECK(part->computed->factors.empty());
      CHECK(part->computed->value == part->computed->element);
      CHECK(holds(part->ops, part->computed->tile->ops));
    }
    CHECK(memory_reads(group).size() == static_cast<size_t>(2 * depth + 1)); // x, weights and b
    CHECK(group.ops.size() == static_cast<size_t>(3 * depth));
  }
}

TEST_CASE("nests: a kernel has at most 16 products in a row") {
  const Planned one = planned(layers(40, "64", "64"));
  CHECK(products(one.plan) == std::vector<size_t>{16, 16, 8});
  CHECK(gives(one.plan, "at most 16 products one after another"));
}

TEST_CASE("nests: the widths of the products may differ") {
  const Planned one = planned("x: f16[4096, 2000], u: f16[2000, 256], v: f16[256, 32],\n"
                              "        w: f16[32, 1000]) {\n"
                              "  return matmul(gelu(matmul(gelu(matmul(x, u)), v)), w)");
  REQUIRE(products(one.plan) == std::vector<size_t>{3});
  const Group& group = one.plan.groups.front();
  CHECK(group.computed->resident);
  CHECK(group.computed->tile->computed->resident);
}

TEST_CASE("nests: stages read values of earlier tiles") {
  const char* const inputs = "x: f16[4096, 64], a: f16[64, 64], c: f16[64, 64], d: f16[64, 64]";
  const auto plan_of = [&](const char* body) {
    return planned(std::string(inputs) + ") {\n" + body);
  };
  /// The tile and the part that reads it: `0<-2` for the kernel's own part and its third tile.
  const auto reads = [](const Group& group) {
    std::string text;
    for (const auto& [number, part] : llvm::enumerate(parts_of(group)))
      for (const Read& read : part->reads)
        if (read.tile)
          text += std::to_string(number) + "<-" + std::to_string(number + *read.tile + 1) + " ";
    return text;
  };
  struct Expected {
    const char* body;
    const char* reads;
    size_t kept; ///< values beside the operand, of the first tile
  };
  for (const auto& [body, expected, kept] : std::vector<Expected>{
           {"  h = relu(matmul(x, a))\n  return h + matmul(h, c)", "0<-1 ", 0},
           {"  h = relu(matmul(x, a))\n  return h + matmul(relu(matmul(h, c)), d)", "0<-2 ", 0},
           {"  h = matmul(x, a)\n  h = h + matmul(relu(h), c)\n  return h * matmul(h, d)",
            "0<-1 1<-2 ", 1},
           {"  h = matmul(x, a)\n  return h + matmul(layer_norm(h), d)", "0<-1 ", 1},
           // x is in memory.
           {"  h = x + matmul(relu(matmul(x, a)), c)\n  return h * matmul(h, d)", "0<-1 ", 0}}) {
    CAPTURE(body);
    const Planned one = plan_of(body);
    REQUIRE(one.plan.groups.size() == 1);
    const Group& group = one.plan.groups.front();
    CHECK(reads(group) == expected);
    const Group& last = *parts_of(group).rbegin()[1]; // it has the first tile
    CHECK(last.computed->kept.size() == kept);
    CHECK(last.computed->tile->writes.size() == 1 + kept);
    CHECK(group.writes.size() == 1);
  }
  // Values at other points, of other shapes, or that the graph returns are stored.
  for (const char* body : {"  h = relu(matmul(x, a))\n  return flip(h, axis=0) + matmul(h, c)",
                           "  h = relu(matmul(x, a))\n  return sum(h, axis=0) + matmul(h, c)",
                           "  h = relu(matmul(x, a))\n  return h, h + matmul(h, c)",
                           "  h = matmul(x, a)\n  return exp(h), matmul(relu(h), c)"}) {
    CAPTURE(body);
    CHECK(plan_of(body).plan.groups.size() > 1);
  }
}

TEST_CASE("nests: rows of a batch, and operands that are transposed") {
  const char* const inputs = "x: f16[8, 256, 64], a: f16[64, 64], c: f16[64, 64], d: f16[64, 64]";
  for (const char* body :
       {"matmul(matmul(tanh(matmul(x, a)), c), d)",
        "matmul(matmul(relu(matmul(x, a, transpose_b=true)), c), d, transpose_b=true)",
        "matmul(transpose(matmul(relu(matmul(x, a)), c), 1, 2), d, transpose_a=true)"}) {
    CAPTURE(body);
    CHECK(products(planned(std::string(inputs) + ") {\n  return " + body).plan) ==
          std::vector<size_t>{3});
  }
}

/// The plan of products between views. The rows of x are 8 matrices of 256; m has one for each.
Planned between_views(const std::string& body) {
  return planned("x: f16[8, 256, 64], a: f16[64, 64], c: f16[64, 64], d: f16[64, 64],\n"
                 "        s: f16[64], p: f16[256, 64], q: f16[8, 256, 1], m: f16[8, 64, 64]) {\n" +
                 body);
}

/// The batch and the rows of each part of a kernel.
std::vector<std::pair<int64_t, int64_t>> points(const Group& group) {
  std::vector<std::pair<int64_t, int64_t>> result;
  for (const Group* part : parts_of(group))
    result.emplace_back(part->space.extent(part->domain.batch).fixed(),
                        part->space.extent(part->domain.rows).fixed());
  return result;
}

TEST_CASE("nests: views may stand between the products") {
  for (const char* body : {
           // As torch.nn.Linear of three dims.
           "  h = reshape(matmul(reshape(x, [2048, 64]), a) + s, [8, 256, 64])\n"
           "  h = reshape(matmul(reshape(relu(h), [2048, 64]), c) + s, [8, 256, 64])\n"
           "  return reshape(matmul(reshape(relu(h), [2048, 64]), d) + s, [8, 256, 64])",
           // Flat between batches, and batches between flat ones.
           "  h = reshape(relu(matmul(x, a) + s), [2048, 64])\n"
           "  return matmul(reshape(relu(matmul(h, c)), [8, 256, 64]), d)",
           "  h = reshape(relu(matmul(reshape(x, [2048, 64]), a)), [8, 256, 64])\n"
           "  return matmul(reshape(relu(matmul(h, c) + p), [2048, 64]), d)",
           // Other batches.
           "  h = reshape(relu(matmul(x, a)), [4, 512, 64])\n"
           "  return matmul(reshape(relu(matmul(h, c)), [2, 8, 128, 64]), d)",
           // Columns that are split for a while, values of rows, and rows of x that are added.
           "  h = gelu(reshape(matmul(x, a), [8, 256, 4, 16]))\n"
           "  h = reshape(relu(matmul(reshape(h, [2048, 64]), c)), [8, 256, 64]) * q + x\n"
           "  return transpose(reshape(matmul(h, d), [8, 256, 4, 16]), 1, 2)",
           "  h = layer_norm(reshape(matmul(reshape(x, [2048, 64]), a), [8, 256, 64]))\n"
           "  h = softmax(matmul(reshape(relu(h), [2048, 64]), c)) + s\n"
           "  return matmul(reshape(relu(h), [8, 256, 64]), d)",
       }) {
    CAPTURE(std::string(body));
    const Planned one = between_views(body);
    REQUIRE(products(one.plan) == std::vector<size_t>{3});
    const auto all = points(one.plan.groups.front());
    for (const auto& [batch, rows] : all) CHECK(batch == all.front().first);
  }
}

TEST_CASE("nests: rows of named sizes may be viewed between the products") {
  const char* const inputs =
      "x: f16[b, t, 64], a: f16[64, 64], c: f16[64, 64], d: f16[64, 64]) {\n";
  for (const char* body : {"  h = relu(matmul(x, a))\n"
                           "  h = reshape(relu(matmul(reshape(h, [-1, 64]), c)), [b, t, 64])\n"
                           "  return matmul(h, d)",
                           "  h = reshape(relu(matmul(reshape(x, [-1, 64]), a)), [b, t, 64])\n"
                           "  return reshape(matmul(relu(matmul(h, c)), d), [b, t, 4, 16])"}) {
    CAPTURE(std::string(body));
    CHECK(products(planned(std::string(inputs) + body).plan) == std::vector<size_t>{3});
  }
}

TEST_CASE("nests: a product of other matrices for each batch makes a batch of all rows") {
  const std::vector<std::pair<int64_t, int64_t>> flat(3, {1, 2048}), batches(3, {8, 256});
  const std::string first = "  h = reshape(relu(matmul(x, m)), [2048, 64])\n",
                    middle = "  h = relu(matmul(reshape(x, [2048, 64]), a))\n"
                             "  h = relu(matmul(reshape(h, [8, 256, 64]), m))\n"
                             "  return matmul(reshape(h, [2048, 64]), d)",
                    last = "  h = relu(matmul(relu(matmul(reshape(x, [2048, 64]), a)), c))\n"
                           "  return matmul(reshape(h, [8, 256, 64]), m)",
                    none = "  h = relu(matmul(reshape(relu(matmul(x, a)), [2048, 64]), c))\n"
                           "  return matmul(h, d)";
  for (const std::string& body :
       {first + "  return matmul(relu(matmul(h, c)), d)", middle, last, none}) {
    CAPTURE(body);
    const Planned one = between_views(body);
    REQUIRE(products(one.plan) == std::vector<size_t>{3});
    CHECK(points(one.plan.groups.front()) == (body == none ? flat : batches));
  }
  // A sum over all rows is of no batch.
  const Planned summed =
      between_views(first + "  h = matmul(relu(h), c)\n  return h, sum(h, axis=0)");
  CHECK(products(summed.plan).front() == 1);
}

TEST_CASE("nests: views that reorder the rows are stored") {
  for (const char* body :
       {"  h = transpose(relu(matmul(x, a)), 0, 1)\n"
        "  return matmul(relu(matmul(reshape(h, [2048, 64]), c)), d)",
        "  h = reshape(relu(matmul(x, a)), [8, 64, 256])\n"
        "  return matmul(relu(matmul(reshape(transpose(h, 1, 2), [2048, 64]), c)), d)",
        "  h = reshape(relu(matmul(x, a)), [1024, 2, 64])\n"
        "  return matmul(relu(matmul(reshape(transpose(h, 0, 1), [2048, 64]), c)), d)"}) {
    CAPTURE(std::string(body));
    const Planned plan = between_views(body);
    CHECK(products(plan.plan) == std::vector<size_t>{1, 2});
    CHECK(gives(plan.plan, "has other rows than the product that computes its operand"));
  }
  // K is a run of two rows.
  const Planned runs = planned("x: f16[4096, 64], a: f16[64, 64], c: f16[128, 64]) {\n"
                               "  return matmul(reshape(relu(matmul(x, a)), [2048, 128]), c)");
  CHECK(products(runs.plan) == std::vector<size_t>{1, 1});
}

TEST_CASE("nests: on an H200, perceptrons of at most 256 columns are one kernel") {
  CompileOptions options;
  options.target = "sm_90a";
  options.device = "h200";
  const std::vector<std::vector<int>> perceptrons = {
      {784, 128, 128, 10},    {64, 256, 256, 256, 3},   {1024, 256, 64, 16},
      {256, 64, 16, 64, 256}, {256, 128, 64, 128, 256}, {256, 256, 256, 1},
      {3, 64, 64, 64, 64, 1}};
  for (const std::vector<int>& widths : perceptrons)
    for (const char* activation : {"relu", "gelu", "silu", "tanh", "sigmoid"}) {
      CAPTURE(widths.size());
      CAPTURE(widths.front());
      CAPTURE(activation);
      std::string inputs = "x: f16[65536, " + std::to_string(widths.front()) + "]", body;
      for (size_t i = 1; i < widths.size(); ++i) {
        const std::string n = std::to_string(i), columns = std::to_string(widths[i]);
        inputs += ", w" + n + ": f16[" + columns + ", " + std::to_string(widths[i - 1]) + "], b" +
                  n + ": f16[" + columns + "]";
        body += "  x = linear(x, w" + n + ", b" + n + ")\n";
        if (i + 1 < widths.size()) body += std::string("  x = ") + activation + "(x)\n";
      }
      auto graph = parse_graph("graph g(" + inputs + ") {\n" + body + "  return x\n}\n", "test");
      const Compilation one =
          llvm::cantFail(compile_graph(llvm::cantFail(std::move(graph)), options));
      CHECK(products(one.plan) == std::vector<size_t>{widths.size() - 1});
    }
}

TEST_CASE("nests: few rows of a long K are not kept in one kernel, whose slots arrive in turn") {
  CompileOptions options;
  options.target = "sm_90a";
  options.device = "h200";
  const auto kernels = [&](int64_t rows, int64_t depth) {
    const Compilation one = llvm::cantFail(compile_graph(
        llvm::cantFail(parse_graph(
            fmt::format("graph g(x: f16[{0}, {1}], w: f16[64, {1}], v: f16[64, 64]) {{\n"
                        "  return linear(gelu(linear(x, w)), v) }}",
                        rows, depth),
            "test")),
        options));
    return products(one.plan);
  };
  CHECK(kernels(256, 3072) == std::vector<size_t>{1, 1});
  CHECK(kernels(65536, 256) == std::vector<size_t>{2});
}

TEST_CASE("nests: a K that is long or named ends the row") {
  // Two products in a row are streamed.
  for (const char* width : {"257", "n"}) {
    CAPTURE(width);
    const Planned two = planned(layers(2, "64", width));
    REQUIRE(products(two.plan) == std::vector<size_t>{2});
    CHECK_FALSE(two.plan.groups.front().computed->resident);
    const Planned three = planned(layers(3, "64", width));
    CHECK(products(three.plan) == std::vector<size_t>{2, 1});
    CHECK(gives(three.plan, "has no result before the last step"));
  }
  CHECK(planned(layers(2, "64", "256")).plan.groups.front().computed->resident);
  // The first product's K may be long, because its operand is in memory.
  CHECK(products(planned(layers(3, "4096", "128")).plan) == std::vector<size_t>{3});
  // A row of resident operands, and then a long K.
  const Planned last = planned("x: f16[4096, 64], a: f16[64, 64], c: f16[64, 300], d: f16[300, 64])"
                               " {\n  return matmul(relu(matmul(relu(matmul(x, a)), c)), d)");
  CHECK(products(last.plan) == std::vector<size_t>{2, 1});
  CHECK(gives(last.plan, "it can if K is at most 256"));
}

TEST_CASE("nests: a value inside that is returned or read elsewhere is stored") {
  const std::string tail = "  g = relu(matmul(h, w1))\n  return relu(matmul(g, w2)), ";
  const Planned returned = planned(layers(3, "128", "128", tail + "h"));
  CHECK(products(returned.plan) == std::vector<size_t>{3, 2});
  CHECK(gives(returned.plan, "is stored for other readers"));
  const Planned reduced = planned(layers(3, "128", "128", tail + "sum(h, axis=0)"));
  CHECK(products(reduced.plan).front() == 3);
  CHECK(gives(reduced.plan, "is stored for other readers"));
}

TEST_CASE("nests: values skip products of any views") {
  const char* const inputs = "x: f16[8, 256, 64], a: f16[64, 64], c: f16[64, 64], d: f16[64, 64],\n"
                             "        e: f16[64, 64], f: f16[64, 64]) {\n";
  const std::string flat = "  h = gelu(reshape(matmul(reshape(x, [2048, 64]), a), [8, 256, 64]))\n"
                           "  h1 = gelu(matmul(reshape(h, [2048, 64]), c))\n"
                           "  h = h + reshape(matmul(h1, d), [8, 256, 64])\n",
                    whole = "  h = gelu(matmul(x, a))\n  h = h + matmul(gelu(matmul(h, c)), d)\n";
  for (const std::string& before : {flat, whole}) {
    CAPTURE(before);
    const Planned two =
        planned(inputs + before + "  return matmul(relu(matmul(reshape(h, [2048, 64]), e)), f)");
    CHECK(products(two.plan) == std::vector<size_t>{5});
    const Planned next = planned(inputs + before +
                                 "  h = layer_norm(h)\n  return h + matmul(relu(matmul(h, e)), f)");
    CHECK(products(next.plan) == std::vector<size_t>{5});
    // A value that the graph returns is stored, and so are those behind which its kernel ends.
    const Planned returned =
        planned(inputs + before + "  return h, h + matmul(relu(matmul(h, e)), f)");
    CHECK(products(returned.plan) == std::vector<size_t>{3, 2});
    CHECK(gives(returned.plan, "is stored for other readers"));
  }
}

TEST_CASE("nests: an operand of two products side by side is stored") {
  const Planned gated = planned("x: f16[4096, 64], a: f16[64, 128], c: f16[64, 128],\n"
                                "        d: f16[128, 64]) {\n"
                                "  return matmul(silu(matmul(x, a)) * matmul(x, c), d)");
  CHECK(products(gated.plan) == std::vector<size_t>{2, 1});
  CHECK(gives(gated.plan, "is the third product"));
}

TEST_CASE("nests: products behind attention are a kernel of their own") {
  const Planned plan = planned("q: f16[256, 64], k: f16[2048, 64], v: f16[2048, 64],\n"
                               "        a: f16[64, 64], c: f16[64, 64], d: f16[64, 64]) {\n"
                               "  o = matmul(softmax(matmul(q, k, transpose_b=true)), v)\n"
                               "  return matmul(relu(matmul(relu(matmul(o, a)), c)), d)");
  CHECK(products(plan.plan) == std::vector<size_t>{2, 3});
  CHECK_FALSE(plan.plan.groups.front().computed->resident);
  CHECK(plan.plan.groups.back().computed->resident);
  CHECK(gives(plan.plan, "has no result before the last step"));
}

TEST_CASE("nests: the first product may have a prologue of its rows") {
  const Planned plan = planned("x: f16[4096, 64], s: f16[64], a: f16[64, 64], c: f16[64, 64],\n"
                               "        d: f16[64, 64]) {\n"
                               "  return matmul(relu(matmul(relu(matmul(tanh(x * s), a)), c)), d)");
  REQUIRE(products(plan.plan) == std::vector<size_t>{3});
  const auto parts = parts_of(plan.plan.groups.front());
  CHECK(parts.back()->matmuls.front().operands[0].prologue.size() == 2);
  for (const Group* part : parts) CHECK(holds(part->ops, parts.back()->ops));
}

TEST_CASE("nests: the text of a plan has a line for each operand that is computed") {
  const Planned one = planned(layers(3, "64", "128"));
  CHECK(text_of(one.plan, one.graph) ==
        "kernel 0: matmul, domain batch 1 rows 4096 columns 128 K 128\n"
        "  ops: matmul add maximum matmul add maximum matmul add maximum\n"
        "  A computed with all of K: h_2, K 128, ops: matmul add maximum matmul add maximum\n"
        "  A of A computed with all of K: h, K 64, ops: matmul add maximum\n"
        "  reads w3\n  reads b\n  reads w2\n  reads b\n  reads x\n  reads w1\n  reads b\n"
        "  writes h_3\n");
}

TEST_CASE("nests: each operand is rounded to the type in which it is multiplied") {
  Planned one = planned(layers(4, "64", "128"));
  REQUIRE(products(one.plan) == std::vector<size_t>{4});
  const JudgedGraph judged = judged_graph(
      {one.graph, std::move(one.graph), std::move(one.plan), {}, {}, {}, {}, {}, {}, {}});
  CHECK(judged.stored.size() == 3);
  CHECK(judged.rescaled.empty());
  for (ValueId rounded : judged.stored) {
    CHECK(judged.graph.type(rounded).dtype == DType::f16);
    const Op& rounding = judged.graph.producer(rounded);
    CHECK(judged.graph.producer(rounding.operands[0]).kind == OpKind::maximum);
  }
}

TEST_CASE("nests: whole rows are reduced between the products") {
  for (const char* norm :
       {"layer_norm(h)", "rms_norm(h)", "h / (sum(abs(h), axis=1, keepdim=true) + 1.0)",
        "softmax(h) * h", "softmax(layer_norm(h))",
        "layer_norm(h, weight=g, bias=b) + softmax(h)"}) {
    CAPTURE(std::string(norm));
    const Planned plan =
        planned("x: f16[4096, 64], u: f16[64, 128], v: f16[128, 128], w: f16[128, 32],\n"
                "        g: f16[128], b: f16[128]) {\n"
                "  h = matmul(x, u)\n  h = gelu(" +
                std::string(norm) + ")\n  h = matmul(h, v)\n  return matmul(" + norm + ", w)");
    REQUIRE(products(plan.plan) == std::vector<size_t>{3});
    const auto parts = parts_of(plan.plan.groups.front());
    CHECK(parts[0]->reductions.empty());
    for (const Group* part : llvm::drop_begin(parts)) {
      CHECK_FALSE(part->reductions.empty());
      for (const Reduction& reduction : part->reductions) {
        CHECK(reduction.span == ReduceSpan::row);
        CHECK_FALSE(reduction.global);
      }
    }
    for (const Group* part : llvm::ArrayRef(parts).drop_back()) {
      CHECK(part->computed->resident);
      CHECK(part->computed->factors.empty());
      CHECK(part->computed->value == part->computed->element);
    }
  }
}

TEST_CASE("nests: the rows of the last product may be reduced too") {
  const Planned plan = planned("x: f16[4096, 64], u: f16[64, 128], v: f16[128, 128]) {\n"
                               "  return layer_norm(matmul(rms_norm(matmul(x, u)), v))");
  REQUIRE(products(plan.plan) == std::vector<size_t>{2});
  CHECK(plan.plan.groups.front().reductions.size() == 1);
}

TEST_CASE("nests: a softmax runs along K where the products are two") {
  const std::string inputs = "x: f16[4096, 64], u: f16[64, 128], v: f16[128, 128], w: f16[128, 32]";
  const Planned two = planned(inputs + ") {\n  return matmul(softmax(matmul(x, u)), v)");
  REQUIRE(products(two.plan) == std::vector<size_t>{2});
  CHECK_FALSE(two.plan.groups.front().computed->resident);
  const Planned three =
      planned(inputs + ") {\n  return matmul(softmax(matmul(relu(matmul(x, u)), v)), w)");
  REQUIRE(products(three.plan) == std::vector<size_t>{3});
  CHECK(three.plan.groups.front().computed->resident);
}

TEST_CASE("nests: rows that no tile holds are reduced elsewhere") {
  const auto plan = [](const char* width, const char* norm) {
    const std::string n = width;
    return planned("x: f16[4096, 64], h0: f16[4096, " + n + "], u: f16[64, " + n + "], v: f16[" +
                   n + ", 64]) {\n" + "  h = matmul(x, u)\n  return matmul(" + norm + ", v)");
  };
  CHECK(products(plan("256", "layer_norm(h)").plan) == std::vector<size_t>{2});
  for (const char* width : {"257", "n"}) CHECK(plan(width, "layer_norm(h)").plan.groups.size() > 1);
  // Rows of another tensor, which do not run along K.
  CHECK(products(plan("256", "h + softmax(h0)").plan) == std::vector<size_t>{2});
  CHECK(plan("257", "h + softmax(h0)").plan.groups.size() > 1);
  // Columns, and segments of rows.
  CHECK(plan("128", "softmax(h, axis=0)").plan.groups.size() > 1);
  const Planned segments = plan("128", "group_norm(h, groups=4)");
  CHECK(segments.plan.groups.size() > 1);
  CHECK(gives(segments.plan, "reduces whole rows of at most 256 elements"));
}
