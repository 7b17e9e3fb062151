// SPDX-License-Identifier: Apache-2.0
// The figures of explain: bytes that kernels move, what they hold, and why they are apart.
#include "ir/text/parser.h"
#include "src/explain.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Explanation explained(const std::string& spec, const DimBindings& dims = {}) {
  auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "case")), {});
  if (!compilation) FAIL(take_error(compilation.takeError()).second);
  return llvm::cantFail(explain(*compilation, dims));
}

/// Bytes that kernel `k` reads of a tensor, or of `workspace 0`.
int64_t read_bytes(const Explanation& explanation, size_t k, const std::string& name) {
  for (const Transfer& transfer : explanation.kernels.at(k).transfers)
    if (transfer.name == name && !transfer.is_write) return transfer.bytes;
  return -1;
}

} // namespace

TEST_CASE("explain: a gather moves no more of its table than it chooses") {
  const auto few = explained("graph g(t: f32[50000, 64], i: i32[100, 64]) {\n"
                             "  return gather(t, i, axis=0) }");
  CHECK(read_bytes(few, 0, "t") == 100 * 64 * 4);
  CHECK(few.unfused_bytes == 3 * 100 * 64 * 4);
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
  // What only the stores need is read once.
  const auto residual = explained("graph g(x: f32[200, n], r: f32[200, n]) {\n"
                                  "  return softmax(x, axis=1) + r }",
                                  sizes);
  CHECK(read_bytes(residual, 0, "r") == x);
  // Held rows are read once.
  const auto held = explained("graph g(x: f32[200, 5000]) { return softmax(x, axis=1) }");
  CHECK(read_bytes(held, 0, "x") == x);
}

TEST_CASE("explain: a kernel that merges partials holds their reductions") {
  const auto explanation = explained("graph g(x: f32[4, 1000000], y: f32[4, 1000000]) {\n"
                                     "  return a=sum(x * y, axis=1), b=reduce_max(x, axis=1) }");
  REQUIRE(explanation.kernels.size() == 2);
  const auto& ops = explanation.kernels[1].ops;
  REQUIRE(ops.size() == 2);
  CHECK(llvm::StringRef(ops[0]).ends_with("axes=[1]), merged from its partials"));
  CHECK(llvm::StringRef(ops[1]).contains(" = reduce_max("));
}
