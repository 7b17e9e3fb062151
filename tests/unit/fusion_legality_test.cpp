// SPDX-License-Identifier: Apache-2.0
// The rules that keep ops out of one kernel, each by its text, and where reductions lie.
#include "ir/fusion/legality.h"
#include "ir/text/parser.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

struct Request {
  std::string body; ///< of `graph g(BODY`
  bool outputs = false;
  FusionLimits limits = {};
  std::set<std::string> combined = {}; ///< names of reductions that other kernels computed
};

struct Answer {
  Graph graph;
  std::variant<Group, Refusal> result;
};

/// Analyses all ops of a graph as one kernel, but for those whose partials it combines.
Answer analyze(const Request& request) {
  auto parsed = parse_graph("graph g(" + request.body, "test");
  if (!parsed) FAIL(take_error(parsed.takeError()).second);
  Graph graph = std::move(*parsed);
  GroupContext context{graph, request.limits, {}};
  std::vector<OpId> ops;
  for (uint32_t index = 0; index < graph.ops().size(); ++index) {
    const Op& op = graph.op(OpId{index});
    if (!is_compute(op)) continue;
    if (request.combined.count(graph.value(op.results[0]).name))
      context.global_reductions.insert(OpId{index});
    else
      ops.push_back(OpId{index});
  }
  std::vector<StoreTarget> outputs;
  if (request.outputs)
    for (const GraphOutput& output : graph.outputs())
      outputs.push_back(StoreTarget::whole(output.value));
  auto result = analyze_group(context, ops, outputs);
  return {std::move(graph), std::move(result)};
}

std::string refusal(const Request& request) {
  const Answer answer = analyze(request);
  const auto* refused = std::get_if<Refusal>(&answer.result);
  if (!refused) return "";
  CHECK_FALSE(refused->change.empty());
  return refused->rule;
}

std::vector<Reduction> reductions(const std::string& body) {
  Answer answer = analyze({body});
  if (const auto* refused = std::get_if<Refusal>(&answer.result)) FAIL(refused->rule);
  return std::get<Group>(answer.result).reductions;
}

FusionLimits with_ops(int64_t most) {
  FusionLimits limits;
  limits.most_ops = most;
  return limits;
}

} // namespace

TEST_CASE("legality: loaded rows that are too few are shared by blocks") {
  auto global = [](const std::string& body, int64_t blocks) {
    FusionLimits limits;
    limits.blocks_to_fill = blocks;
    Answer answer = analyze({body, false, limits});
    if (const auto* refused = std::get_if<Refusal>(&answer.result)) FAIL(refused->rule);
    return std::get<Group>(answer.result).reductions.front().global;
  };
  CHECK(global("x: f32[2, 40000]) { return sum(x, axis=1) }", 4));
  CHECK_FALSE(global("x: f32[2, 40000]) { return sum(x, axis=1) }", 3));
  CHECK_FALSE(global("x: f32[2, 32768]) { return sum(x, axis=1) }", 4));
  // 33 neighbouring rows are two blocks'.
  CHECK(global("x: f32[40000, 33]) { return sum(x, axis=0) }", 4));
  CHECK_FALSE(global("x: f32[40000, 33]) { return sum(x, axis=0) }", 3));
  CHECK(global("x: f32[1025, 33]) { return sum(x, axis=0) }", 4));
  CHECK_FALSE(global("x: f32[1024, 33]) { return sum(x, axis=0) }", 4));
  CHECK(global("x: f32[4097, 8]) { return sum(x, axis=0) }", 4));
  CHECK_FALSE(global("x: f32[4096, 8]) { return sum(x, axis=0) }", 4));
  // Named extents count as many.
  CHECK(global("x: f32[2, n]) { return sum(x, axis=1) }", 4));
  CHECK_FALSE(global("x: f32[m, n]) { return sum(x, axis=1) }", 4));
  CHECK(global("x: f32[m, n]) { return sum(x) }", 4));
  CHECK(refusal({"x: f32[2, 40000]) { h = exp(x)\n return h / sum(h, axis=1, keepdim=true) }"}) ==
        "sum of 40000 elements spans several blocks: its result exists when all of them are done");
}

TEST_CASE("legality: a reduction that is settled as global or local stays so") {
  auto refused = [](const std::string& body, bool first_is_global) {
    auto graph = llvm::cantFail(parse_graph("graph g(" + body, "test"));
    const FusionLimits limits;
    GroupContext context{graph, limits, {}};
    std::vector<OpId> ops;
    for (uint32_t index = 0; index < graph.ops().size(); ++index) {
      if (!is_compute(graph.op(OpId{index}))) continue;
      ops.push_back(OpId{index});
      const bool reduces = info(graph.op(OpId{index}).kind).op_class == OpClass::reduce;
      if (reduces && context.settled.empty()) context.settled[OpId{index}] = first_is_global;
    }
    auto result = analyze_group(context, ops, {});
    const auto* refusal = std::get_if<Refusal>(&result);
    if (refusal) return refusal->rule;
    for (const Reduction& r : std::get<Group>(result).reductions)
      CHECK(r.global == first_is_global);
    return std::string();
  };
  // Of short rows, and of long ones.
  for (const char* body : {"x: f32[2, 40]) { return sum(x, axis=1), reduce_max(x, axis=1) }",
                           "x: f32[2, 40000]) { return sum(x, axis=1), reduce_max(x, axis=1) }"}) {
    CHECK(refused(body, true) == "");
    CHECK(refused(body, false) == "");
  }
  CHECK(refused("x: f32[2, 40]) { h = exp(x)\n return sum(h, axis=1), reduce_max(h) }", true) ==
        "several blocks share each row of sum, and the other reductions need whole rows or "
        "segments of them in one block");
}

TEST_CASE("legality: movement that is no index arithmetic is refused") {
  CHECK(refusal({"x: f32[2, 3]) { h = exp(x)\n return exp(reshape(h, [3, 2])) }"}) ==
        "the reshape of f32[2, 3] to [3, 2] mixes the kernel's axes");
  CHECK(refusal({"x: f32[8]) { h = exp(x)\n return exp(slice(h, [0], [4])) }"}) ==
        "slice reads a slice of a computed value; the slice has other points than the whole");
  CHECK(refusal({"x: f32[1, 8]) { return exp(slice(broadcast(x, [4, 8]), [0, 0], [2, 8])) }"}) ==
        "");
  CHECK(refusal({"x: f32[4, 6]) {\n"
                 "  return exp(slice(reshape(transpose(x), [24]), [0], [8])) }"}) ==
        "slice along axis 0 of a reshaped tensor");
  CHECK(refusal({"x: f32[4, 4]) { h = exp(x)\n return h + transpose(h) }"}) ==
        "'h' is needed on its diagonal, or at two points at once");
}

TEST_CASE("legality: operands whose factors differ are refused") {
  CHECK(refusal({"x: f32[2, 3], y: f32[3, 2]) { p = exp(x)\n q = exp(y)\n"
                 " return reshape(p, [6]) + reshape(q, [6]) }"}) ==
        "the operands of add split their axes differently");
  CHECK(refusal({"x: f32[2, 3, 4, 5], y: f32[3, 2, 5, 7]) {\n"
                 "  a = reshape(transpose(x, [1, 0, 2, 3]), [6, 4, 5])\n"
                 "  b = reshape(transpose(y, [1, 0, 2, 3]), [6, 5, 7])\n"
                 "  return matmul(a, b) }"}) ==
        "the operands of matmul split their batch differently");
  CHECK(refusal({"x: f32[4, 2, 3], y: f32[3, 2, 7]) {\n"
                 "  a = reshape(transpose(x, [0, 2, 1]), [4, 6])\n"
                 "  b = reshape(transpose(y, [1, 0, 2]), [6, 7])\n"
                 "  return matmul(a, b) }"}) == "the operands of matmul split K differently");
}

TEST_CASE("legality: a kernel has limits on products, scans and ops") {
  CHECK(refusal({"a: f32[4, 5], b: f32[5, 6], c: f32[6, 6]) {\n"
                 "  p = matmul(a, b)\n  q = matmul(p, c)\n  return p + q }"}) ==
        "two products in a row are two kernels: matmul 'q' reads the result of the first");
  CHECK(refusal({"a: f32[4, 5], b: f32[5, 6], c: f32[5, 6], d: f32[5, 6]) {\n  p = matmul(a, b)\n"
                 "  q = matmul(a, c)\n  r = matmul(a, d)\n  return p + q + r }"}) ==
        "matmul 'r' is the third product: a kernel has room for two, or for more if each "
        "multiplies the result of the one before");
  CHECK(refusal({"x: f32[4, 5]) { return cumsum(cumsum(x, axis=1), axis=1) }"}) ==
        "cumsum is the second scan: a kernel runs one");
  const char* const shared = "cumsum 'c' is a scan: no product and no reduction shares its kernel";
  CHECK(refusal({"a: f32[4, 5], b: f32[5, 6]) {\n"
                 "  c = cumsum(matmul(a, b), axis=1)\n  return c }"}) == shared);
  CHECK(refusal({"x: f32[4, 5]) {\n  c = cumsum(x, axis=1)\n  return sum(c, axis=1) }"}) == shared);
  CHECK(
      refusal({"x: f32[5], y: f32[4, 5]) {\n  c = cumsum(x, axis=0)\n  return c * y }"}) ==
      "cumsum 'c' would be computed again for every row of mul, which costs more than storing it");
  CHECK(refusal({"x: f32[4]) { return exp(exp(x)) }", false, with_ops(1)}) ==
        "a kernel holds at most 1 ops");
}

TEST_CASE("legality: two products that meet point by point are tiles of one kernel") {
  // Their depths and layouts may differ.
  const Answer pair =
      analyze({"a: f32[3, 4, 5], b: f32[3, 5, 6], c: f32[3, 7, 4], d: f32[3, 6, 7]) {\n"
               "  q = matmul(c, d, transpose_a=true, transpose_b=true)\n"
               "  return matmul(a, b) * q }"});
  REQUIRE(std::holds_alternative<Group>(pair.result));
  const Group& group = std::get<Group>(pair.result);
  REQUIRE(group.matmuls.size() == 2);
  CHECK(group.space.extent(group.matmuls[0].contraction[0]).is(7));
  CHECK(group.space.extent(group.matmuls[1].contraction[0]).is(5));
}

TEST_CASE("legality: products that do not meet are apart") {
  CHECK(refusal({"a: f32[4, 5], b: f32[5, 6], c: f32[4, 5], d: f32[5, 1]) {\n  p = matmul(a, b)\n"
                 "  q = matmul(c, d)\n  return p + q }"}) ==
        "matmul 'p' and matmul 'q' are two products that no op joins point by point");
  CHECK(refusal({"a: f32[4, 5], b: f32[5, 6], c: f32[6, 5], d: f32[5, 4]) {\n  p = matmul(a, b)\n"
                 "  q = matmul(c, d)\n  return p + transpose(q) }"}) ==
        "matmul 'p' and matmul 'q' are two products that no op joins point by point");
  CHECK(refusal({"a: f32[4, 5], b: f32[5, 6], c: f16[4, 5], d: f16[5, 6]) {\n  p = matmul(a, b)\n"
                 "  q = matmul(c, d)\n  return p + cast(q, f32) }"}) ==
        "matmul 'p' and matmul 'q' multiply different types");
}

TEST_CASE("legality: a matmul computes its operands of elementwise ops") {
  const Answer answer =
      analyze({"x: f32[4, 5], s: f32[5], w: f16[6, 5]) {\n"
               "  return matmul(tanh(x * s) + s, cast(w, f32), transpose_b=true) }"});
  REQUIRE(std::holds_alternative<Group>(answer.result));
  const Group& group = std::get<Group>(answer.result);
  REQUIRE(group.matmuls.size() == 1);
  const auto& [a, b] = group.matmuls[0].operands;
  auto fetched = [&](const MatmulOperand& operand) {
    return answer.graph.value(group.reads[operand.read].access.value).name;
  };
  CHECK(a.prologue.size() == 3);
  CHECK(fetched(a) == "x");
  CHECK(b.prologue.size() == 1);
  CHECK(fetched(b) == "w");
}

TEST_CASE("legality: a matmul computes only elementwise ops on its operands") {
  CHECK(refusal({"a: f32[4, 5], b: f32[5, 6]) {\n  m = mean(a, axis=1)\n"
                 "  return matmul(a - reshape(m, [4, 1]), b) }"}) ==
        "matmul reads the result of mean 'm': a reduction is complete before a product begins, so "
        "its result is stored");
  CHECK(
      refusal({"a: f32[4, 5], b: f32[5, 6], t: f32[7, 5], i: i32[4, 5]) {\n"
               "  return matmul(gather(t, i, axis=0), b) }"}) ==
      "matmul reads the result of gather: a product computes elementwise ops on its operands, and "
      "no others");
  // The square is needed at points of the product and at points of the operand.
  CHECK(refusal({"a: f32[4, 4], b: f32[4, 4]) {\n  h = exp(a)\n  return h + matmul(h, b) }"}) ==
        "matmul sums along an axis that the kernel also keeps");
  CHECK(refusal({"a: f32[9, 8], b: f32[8, 4], s: f32[9, 600]) {\n"
                 "  t = reduce_max(s, axis=1)\n"
                 "  return matmul(a - reshape(t, [9, 1]), b) }",
                 false,
                 {},
                 {"t"}}) == "the partial results of reduce_max 't' are merged row by row, and this "
                            "kernel needs them along its columns, or at two points of a row");
  // The stored operand would be spread over K.
  CHECK(refusal({"a: f32[4, 5], b: f32[5, 6]) {\n  h = exp(a)\n  return matmul(h, b), h }",
                 true}) == "'h' is needed along an axis that the kernel's rows and columns lack");
}

TEST_CASE("legality: reductions that cross tiles") {
  const std::string product = "a: f32[4, 8], b: f32[8, 512], v: f32[512]) {\n  h = matmul(a, b)\n";
  CHECK(refusal({product + "  s = reduce_max(h, axis=1, keepdim=true)\n  return h - s }"}) ==
        "reduce_max of 512 elements spans several blocks: its result exists when all of them are "
        "done");
  CHECK(refusal({product + "  u = exp(v)\n  s = sum(u, axis=0)\n  return h * u, s }"}) ==
        "sum 's' reduces a value that is the same in all rows");
  CHECK(refusal({product + "  return sum(h, axis=1) }", true}) ==
        "sum of 512 elements spans several blocks: its result exists when all of them are done");
  CHECK(refusal({product + "  return sum(reshape(h, [4, 2, 256]), axis=1) }"}) ==
        "sum reduces axes [1] of f32[4, 2, 256]: a kernel reduces whole rows of matmul 'h', equal "
        "segments of them, whole columns where it has no batch, or all of it");
  CHECK(
      refusal({product + "  return sum(reshape(h, [2, 2, 512]), axis=[1, 2]) }"}) ==
      "sum reduces axes [1, 2] of f32[2, 2, 512]: a kernel reduces whole rows of matmul 'h', equal "
      "segments of them, whole columns where it has no batch, or all of it");
  CHECK(refusal({"a: f32[9, 8], b: f32[8, 4], s: f32[4, 600]) {\n"
                 "  t = reduce_max(s, axis=1)\n  return matmul(a, b) + t }",
                 false,
                 {},
                 {"t"}}) == "the partial results of reduce_max 't' are merged row by row, and this "
                            "kernel needs them along its columns, or at two points of a row");
}

TEST_CASE("legality: segments wider than a tile are whole tiles") {
  // The segments' widths from the widest, which are wholes of the next: the last ones lie in tiles.
  auto refused = [](const std::vector<int64_t>& widths) {
    std::string body =
        fmt::format("a: f32[4, 8], b: f32[8, {0}]) {{\n  h = matmul(a, b)\n", 2 * widths.front());
    std::string results;
    for (const int64_t width : widths) {
      body += fmt::format("  s{0} = sum(reshape(h, [4, {1}, {0}]), axis=2)\n", width,
                          2 * widths.front() / width);
      results += fmt::format("{}s{}", results.empty() ? "" : ", ", width);
    }
    const Answer answer = analyze({body + "  return " + results + " }"});
    const auto* refusal = std::get_if<Refusal>(&answer.result);
    if (refusal) return refusal->rule + "; " + refusal->change;
    for (const Reduction& r : std::get<Group>(answer.result).reductions) {
      CHECK(r.span == ReduceSpan::segment);
      CHECK(r.global == (r.extent.fixed() > 256));
    }
    return std::string();
  };
  for (const int64_t width : {251 * 3, 320, 384, 512, 768, 1000, 2048, 98304}) {
    CAPTURE(width);
    CHECK(refused({width}) == "");
  }
  CHECK(refused({1024, 512, 64}) == "");
  CHECK(refused({432, 36}) == ""); // tiles of 216 or 108
  CHECK(refused({300, 150}) == "");
  const std::string at_most = "; reduce segments of at most 256 elements, or of a multiple of ";
  for (const int64_t width : {257, 262, 514, 10 * 257})
    CHECK(refused({width}) ==
          fmt::format("segments of {} elements are reduced behind a product; no number of "
                      "columns divides them and fits a tile of 256{}128",
                      width, at_most));
  CHECK(refused({396, 36}) ==
        "segments of 396 elements are reduced behind a product; no number of columns, a "
        "multiple of 36, divides them and fits a tile of 256" +
            at_most + "108");
  // Without the wider ones a tile would keep 72 of 128 columns, and does so with them.
  CHECK(refused({720, 72}) == "");
  CHECK(refusal({"a: f32[4, 8], b: f32[8, n]) {\n  h = reshape(matmul(a, b), [2, 2, n])\n"
                 "  return sum(h, axis=2) }"}) == "");
  CHECK(refusal({"a: f32[4, 8], b: f32[2, n, 8]) {\n"
                 "  h = reshape(linear(a, reshape(b, [2 * n, 8])), [4, 2, n])\n"
                 "  return sum(h, axis=2) }"}) ==
        "sum reduces segments of n elements behind a product, and their length is known only "
        "at launch");
}

TEST_CASE("legality: segments fit the rows that a block holds") {
  CHECK(refusal({"a: f32[4, 8], b: f32[8, 2048]) { h = exp(matmul(a, b))\n"
                 "  s = sum(reshape(h, [4, 8, 256]), axis=2)\n"
                 "  t = sum(reshape(h, [4, 64, 32]), axis=2)\n  return s, t }"}) == "");
  CHECK(
      refusal({"x: f32[m, n]) { h = exp(x)\n  s = sum(h, axis=1)\n  return s, reduce_max(h) }"}) ==
      "sum 's' reduces segments of rows of m*n columns, which one block holds; their length is "
      "known only at launch");
  CHECK(refusal({"x: f32[33, 1024]) { h = exp(x)\n  s = sum(h, axis=1)\n"
                 "  return s, reduce_max(h) }"}) ==
        "sum 's' reduces segments of rows of 33792 columns; one block holds rows of at most 32768");
  CHECK(refusal({"x: f32[32, 1024]) { h = exp(x)\n  s = sum(h, axis=1)\n"
                 "  return s, reduce_max(h) }"}) == "");
}

TEST_CASE("legality: nothing is computed again or spread over other axes") {
  CHECK(refusal({"x: f32[4, 64], v: f32[64]) { u = exp(v)\n  s = sum(u, axis=0)\n"
                 "  return sum(x + u, axis=1), s }"}) ==
        "sum 's' would be computed again for every row of sum, which costs more than storing it");
  const std::string product = "a: f32[4, 8], b: f32[8, 16], z: f32[9]) {\n  h = matmul(a, b)\n";
  CHECK(refusal({product + "  return h, exp(z) }"}) ==
        "exp has an axis that the kernel's rows and columns lack");
  CHECK(refusal({product + "  return broadcast(reshape(h, [1, 4, 16]), [3, 4, 16]) }", true}) ==
        "broadcast is needed along an axis that the kernel's rows and columns lack");
}

TEST_CASE("legality: one kernel reduces rows of several tensors that have one shape") {
  CHECK(
      refusal({"x: f32[n, 9], y: f32[n, 9]) { return sum(x, axis=1) * reduce_max(y, axis=1) }"}) ==
      "");
  CHECK(
      refusal({"x: f32[n, 6, 7], y: f32[n, 6, 7], z: f32[n, 6, 7]) {\n"
               "  return z * sum(x, axis=[1, 2], keepdim=true) + sum(y, axis=[1, 2], keepdim=true) "
               "}"}) == "");
  CHECK(
      refusal({"x: f32[n, 9], y: f32[n, 8]) { return sum(x, axis=1) * sum(y, axis=1) }"}) ==
      "sum reduces axes [1] of f32[n, 9], and sum reduces axes [1] of f32[n, 8]: a kernel reduces "
      "rows, or equal segments of them");
  CHECK(refusal({"x: f32[n, 6], y: f32[n, 6]) {\n"
                 "  s = sum(reshape(x, [n, 2, 3]), axis=[1, 2])\n"
                 "  t = sum(reshape(y, [n, 3, 2]), axis=[1, 2])\n  return s * t }"}) ==
        "sum 's' reduces axes [1, 2] of f32[n, 2, 3], and sum 't' reduces axes [1, 2] of f32[n, 3, "
        "2]: a kernel reduces rows, or equal segments of them");
}

TEST_CASE("legality: where reductions lie") {
  auto spans = [](const std::string& body) {
    std::vector<ReduceSpan> result;
    for (const Reduction& r : reductions(body)) result.push_back(r.span);
    return result;
  };
  using Spans = std::vector<ReduceSpan>;
  CHECK(spans("x: f32[5, 6, 7]) { return sum(x, axis=1) }") == Spans{ReduceSpan::row});
  CHECK(spans("x: f32[5, 6, 7]) { return sum(x) }") == Spans{ReduceSpan::row});
  CHECK(spans("x: f32[5, 6, 7]) { h = exp(x)\n  return sum(h, axis=2), sum(h, axis=[1, 2]) }") ==
        Spans{ReduceSpan::segment, ReduceSpan::row});
  CHECK(spans("a: f32[5, 6], b: f32[6, 7]) { h = matmul(a, b)\n"
              "  return sum(h, axis=0), sum(h, axis=1) }") ==
        Spans{ReduceSpan::column, ReduceSpan::row});
  CHECK(spans("a: f32[5, 6], b: f32[6, 7]) { h = matmul(a, b)\n"
              "  return sum(h), argmax(reshape(h, [35]), axis=0) }") ==
        Spans{ReduceSpan::matrix, ReduceSpan::matrix});
  CHECK(spans("a: f32[3, 5, 6], b: f32[3, 6, 7]) { h = matmul(a, b)\n"
              "  return sum(h), sum(h, axis=[1, 2]), sum(h, axis=2) }") ==
        Spans{ReduceSpan::matrix, ReduceSpan::matrix, ReduceSpan::row});
  const std::vector<Reduction> wide =
      reductions("a: f32[5, 6], b: f32[6, 700]) { return sum(matmul(a, b), axis=1) }");
  CHECK(wide[0].global);
  CHECK(wide[0].extent == Dim(700));
}

TEST_CASE("legality: reads of one tensor in two shapes share its factors") {
  const Answer answer = analyze({"x: f32[3, 24]) { y = reshape(x, [3, 4, 6])\n"
                                 "  m = mean(y, axis=2, keepdim=true)\n"
                                 "  return x - reshape(broadcast(m, [3, 4, 6]), [3, 24]) }"});
  REQUIRE(std::holds_alternative<Group>(answer.result));
  const Group& group = std::get<Group>(answer.result);
  int64_t points = 1;
  for (const AtomList* list : {&group.domain.batch, &group.domain.rows, &group.domain.columns})
    for (Atom atom : *list) points *= group.space.extent(atom).fixed();
  CHECK(points == 72);
}

TEST_CASE("legality: a kernel spans fewer points than 2^63") {
  const std::string inputs = "x: f32[4000000000], y: f32[1000000000], z: f32[1000000000]) {\n";
  CHECK(refusal({inputs + "  return a=reshape(y, [1000000000, 1]) * 2, b=z * 2, c=x * 2 }"}) ==
        "the kernel would have 2^63 points or more");
}
