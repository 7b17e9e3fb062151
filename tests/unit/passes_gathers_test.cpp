// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/passes_support.h"

using namespace ingot;
using namespace ingot::test;

namespace {

Graph parsed(llvm::StringRef body) {
  return llvm::cantFail(
      parse_graph("graph g(x: f32[4, 6], y: f32[m, n], r: f32[6], w: f32[6, 6], p: i64[]) {\n" +
                      body.str() + "\n}",
                  "test"));
}

void check_same(const std::string& written, const std::string& simple) {
  CAPTURE(written);
  const Graph a = run_all(parsed(written)), b = run_all(parsed(simple));
  CAPTURE(print_graph(a));
  CAPTURE(print_graph(b));
  CHECK(equivalent(a, b));
}

} // namespace

TEST_CASE("push_down_gathers: a flip of a scan of a flip runs from the other end") {
  check_same("return o=flip(cumsum(flip(x, 1), axis=1), 1)",
             "return o=cumsum(x, axis=1, reverse=true)");
  check_same("return o=flip(cumprod(flip(y, 0), axis=0, exclusive=true, reverse=true), 0)",
             "return o=cumprod(y, axis=0, exclusive=true)");
  check_same("return o=flip(cumsum(exp(flip(y, 1) * 2), axis=1), 1)",
             "return o=cumsum(exp(y * 2), axis=1, reverse=true)");
  check_same("return o=flip(cumsum(x, axis=1), 1)",
             "return o=cumsum(flip(x, 1), axis=1, reverse=true)");
  check_same("return o=flip(cumsum(x, axis=1), 0)", "return o=cumsum(flip(x, 0), axis=1)");
}

TEST_CASE("push_down_gathers: through elementwise ops, to tensors in memory") {
  check_same("return o=flip(flip(x, 0), 0) + 1", "return o=x + 1");
  check_same("return o=flip(exp(x) * 2, 1)", "return o=exp(flip(x, 1)) * 2");
  check_same("return o=flip(exp(x) * r, 0)", "return o=exp(flip(x, 0)) * r");
  check_same("return o=flip(y * tanh(y + 1), 0)", "f = flip(y, 0)\nreturn o=f * tanh(f + 1)");
  // A row's statistics are those of the row that is flipped.
  check_same("s = sum(x, axis=1, keepdim=true)\nreturn o=flip(x / s, 1)",
             "s = sum(x, axis=1, keepdim=true)\nreturn o=flip(x, 1) / s");
}

TEST_CASE("push_down_gathers: gathers of results that a kernel stores or uses twice stay") {
  for (const char* kept :
       {"return o=flip(relu(matmul(x, w)), 1)", "e = exp(x)\nreturn o=flip(e, 1), e",
        "s = cumsum(flip(x, 1), 1)\nreturn o=flip(s, 1), s"}) {
    CAPTURE(kept);
    auto graph = llvm::cantFail(
        parse_graph(std::string("graph g(x: f32[4, 6], w: f32[6, 6]) {\n") + kept + "\n}", "test"));
    CHECK(identical(run(push_down_gathers, graph), graph));
  }
}

TEST_CASE("push_down_gathers: only the elements that an index in range picks are computed") {
  auto gathered = [](const std::string& of, const std::string& made) {
    const std::string index = "i = iota(i64, [4, 2], axis=1) * 7 - p\n";
    check_same(index + "return o=gather(" + of + ", i, axis=1)",
               index + "ok = and(less_equal(0, i), less(i, 6))\ne = gather(x, i, axis=1)\n" +
                   "return o=select(ok, " + made + ", log(-1.0))");
  };
  gathered("exp(x) * 3", "exp(e) * 3");
  // A value that is equal along the axis is the same at every index.
  gathered("x - sum(x, axis=1, keepdim=true)", "e - sum(x, axis=1, keepdim=true)");
  gathered("x + iota(f32, [4, 6], axis=0)", "e + iota(f32, [4, 2], axis=0)");
  gathered("x + iota(f32, [4, 6], axis=1)", "e + cast(i, f32)");
}

TEST_CASE("push_down_gathers: tables that are stored all the same, or are smaller, stay") {
  for (const char* kept :
       {"return o=gather(cumsum(x, axis=1) * 2, i, axis=1)",
        "return o=gather(relu(matmul(x, w)), i, axis=1)", "return o=gather(exp(w), j, axis=0)",
        "return o=gather(exp(c), i, axis=1)"}) {
    CAPTURE(kept);
    auto graph = llvm::cantFail(parse_graph(
        std::string("graph g(x: f32[4, 6], w: f32[6, 6], i: i64[4, 2], j: i64[9, 6], ") +
            "param c: f32[4, 6]) {\n" + kept + "\n}",
        "test"));
    CHECK(identical(run(push_down_gathers, graph), graph));
  }
}
