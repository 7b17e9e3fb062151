// SPDX-License-Identifier: Apache-2.0
// Extents near the limits of 64 bits: products of several values' extents, choices by doubling.
#include "ir/text/parser.h"
#include "src/reports/explain.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// The diagnostic of `explain`; empty: it has none.
std::string complaint(const std::string& spec, const DimBindings& dims = {}) {
  auto compilation = compile_graph(llvm::cantFail(parse_graph("graph g(" + spec, "case")), {});
  if (!compilation) return take_error(compilation.takeError()).second;
  auto explanation = explain(*compilation, dims);
  return explanation ? "" : take_error(explanation.takeError()).second;
}

} // namespace

TEST_CASE("large extents: one kernel would span more points than 64 bits count") {
  CHECK(complaint("x: f32[70000, 70000]) { return c=argmax(x, axis=0), e=softmax(x, axis=0), "
                  "f=argmax(x) }") == "");
  CHECK(complaint("x: f32[2000000000], y: f32[1000000000], z: f32[1000000000]) {\n"
                  "  a = reshape(x, [2000000000, 1])\n"
                  "  return b=reshape(y, [1, 1000000000]) + a, c=a - reshape(z, [1, 1000000000]) "
                  "}") ==
        "the bytes or operations of 'g' together are 2^63 or more; write smaller extents");
  CHECK(complaint("x: f32[m], y: f32[1000000000*m]) {\n"
                  "  z = reshape(y, [m, 1000000000])\n"
                  "  return a=softmax(z, axis=0), b=argmax(z, axis=0), c=sum(z), d=sum(z, axis=1) "
                  "}") == "");
}

TEST_CASE("large extents: choices by doubling end") {
  CHECK(complaint("x: bool[4000000000000000000]) { return not x }") == "");
  for (const char* shape : {"6000000000000000000", "3000000000, 3000000000"})
    CHECK(complaint(std::string("x: bool[") + shape + "]) { return not x }") ==
          "the bytes or operations of 'g' together are 2^63 or more; write smaller extents");
}

TEST_CASE("large extents: only sizes of names are changed with --dim") {
  CHECK(complaint("x: f32[2305843009213693951]) { return x * 2 }") ==
        "the bytes or operations of 'g' together are 2^63 or more; write smaller extents");
  CHECK(complaint("x: f32[1000000000, m], y: f32[m, 1000000000]) { return matmul(x, y) }",
                  {{"m", 1024}}) ==
        "the bytes or operations of 'g' at these sizes are 2^63 or more; give smaller sizes with "
        "--dim, or write smaller extents");
}
