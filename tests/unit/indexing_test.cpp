// SPDX-License-Identifier: Apache-2.0
// Suffixes of an operand, x[...], .T and calls by a dot: shown by the canonical form, by values
// beside PyTorch's, and by messages.
#include "ir/interpreter/evaluate.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

std::string spec(const std::string& result) {
  return "graph g(x: f32[4, 6], v: f32[5], t: f32[2, 3, 4], z: f32[m, 6], s: f32[],\n"
         "i: i64[4], c: bool[4, 6]) {\nreturn " +
         result + "\n}\n";
}

/// The printed body.
std::string body(const std::string& result) {
  auto graph = parse_graph(spec(result), "t");
  if (!graph) return take_error(graph.takeError()).second;
  const std::string printed = print_graph(*graph);
  return printed.substr(printed.find("{\n") + 2);
}

std::string type_of(const std::string& result) {
  auto graph = parse_graph(spec(result), "t");
  if (!graph) return take_error(graph.takeError()).second;
  return graph->type(graph->outputs()[0].value).text();
}

/// The first line of the message, without the file: `3:9: error: ...`.
std::string refusal(const std::string& result) {
  auto graph = parse_graph(spec(result), "t");
  if (graph) return "accepted";
  const std::string text = take_error(graph.takeError()).second;
  return llvm::StringRef(text).split('\n').first.drop_front(2).str();
}

} // namespace

TEST_CASE("indexing gives PyTorch's shapes") {
  const std::pair<const char*, const char*> rows[] = {
      {"x[0]", "f32[6]"},
      {"x[-4]", "f32[6]"},
      {"x[3, -1]", "f32[]"},
      {"x[:, 0]", "f32[4]"},
      {"x[:]", "f32[4, 6]"},
      {"x[...]", "f32[4, 6]"},
      {"x[..., 1:]", "f32[4, 5]"},
      {"x[1:3]", "f32[2, 6]"},
      {"x[1:3,]", "f32[2, 6]"},
      {"x[1:-1, 2:100]", "f32[2, 4]"},
      {"x[-100:2]", "f32[2, 6]"},
      {"x[::3, 1::2]", "f32[2, 3]"},
      {"x[::5]", "f32[1, 6]"},
      {"z[1:]", "f32[m - 1, 6]"},
      {"z[:-2]", "f32[m - 2, 6]"},
      {"z[:4]", "f32[4, 6]"},
      {"z[-3:, 1:]", "f32[3, 5]"},
      {"z[2:-2, 0]", "f32[m - 4]"},
      {"z[m - 1:]", "f32[1, 6]"},
      {"x[:m]", "f32[m, 6]"},
      {"x[m:, :-1]", "f32[4 - m, 5]"},
      {"cat([z, x, z])[m:-m]", "f32[4, 6]"},
      {"x[None:2, :None:2]", "f32[2, 3]"},
      {"x[:, None]", "f32[4, 1, 6]"},
      {"x[none, ..., None]", "f32[1, 4, 6, 1]"},
      {"t[..., 0]", "f32[2, 3]"},
      {"t[1, ..., 0]", "f32[3]"},
      {"t[:, 1]", "f32[2, 4]"},
      {"t[0, 1, ..., 2]", "f32[]"},
      {"v[..., 1 + 1]", "f32[]"},
      {"s[...]", "f32[]"},
      {"s[None]", "f32[1]"},
      {"z[:, 1:]", "f32[m, 5]"},
      {"z[0:m]", "f32[m, 6]"},
      {"z[::1, 0]", "f32[m]"},
      {"z[0]", "f32[6]"},
      {"z[-1, 1:3]", "f32[2]"},
      {"x.T", "f32[6, 4]"},
      {"x.T.T[1:]", "f32[3, 6]"},
      {"t.mT", "f32[2, 4, 3]"},
      {"z.T", "f32[6, m]"},
      {"(x + 1)[0]", "f32[6]"},
      {"exp(x)[0]", "f32[6]"},
      {"x.exp().sum(-1, keepdim=True)", "f32[4, 1]"},
      {"x[0].sum()", "f32[]"},
  };
  for (const auto& [result, type] : rows) {
    CAPTURE(result);
    CHECK(type_of(result) == type);
  }
}

TEST_CASE("an index is one slice and one reshape, and nothing where it takes all") {
  CHECK(body("x[1:3, 0]") == "  v7 = slice(x, starts=[1, 0], stops=[3, 1], steps=[1, 1])\n"
                             "  v8 = reshape(v7, shape=[2])\n  return output=v8\n}\n");
  CHECK(body("z[:, 1:4:2]") ==
        "  v7 = slice(z, starts=[0, 1], stops=[-1, 4], steps=[1, 2])\n  return output=v7\n}\n");
  CHECK(body("x[:, None, 0:100]") == "  v7 = reshape(x, shape=[4, 1, 6])\n  return output=v7\n}\n");
  CHECK(body("x[:, ...]") == "  return output=x\n}\n");
}

TEST_CASE("an index of a call takes one of its results") {
  CHECK(body("moments(x, 1)[1]") == "  v7, v8 = moments(x, axes=[1])\n  return output=v8\n}\n");
  CHECK(body("moments(x, 1)[-2]") == "  v7, v8 = moments(x, axes=[1])\n  return output=v7\n}\n");
  CHECK(type_of("x.max(dim=-1)[1][1:]") == "i64[3]");
}

TEST_CASE("brackets and dots bind more tightly than operators") {
  CHECK(body("-x[0] ** 2") == body("-((x[0]) ** 2)"));
  CHECK(body("x @ x.T") == body("x @ (x.T)"));
  CHECK(body("x.exp() + 1") == body("exp(x) + 1"));
  CHECK(body("x.gelu(approximate='tanh')") == body("gelu(x, approximate=\"tanh\")"));
}

TEST_CASE("indexing takes the elements that PyTorch takes") {
  // x holds 0, 1, 2, ...; z likewise, with three rows.
  const std::pair<const char*, std::vector<double>> rows[] = {
      {"x[1]", {6, 7, 8, 9, 10, 11}}, {"x[-1, 1:-1:3]", {19, 22}},  {"x[::3, -1]", {5, 23}},
      {"x.T[0]", {0, 6, 12, 18}},     {"z[-1, 3:]", {15, 16, 17}},  {"z[1, ::4]", {6, 10}},
      {"z[-3, 4:]", {4, 5}},          {"x[2:, 2][None]", {14, 20}}, {"x[-2:][0, :2]", {12, 13}},
  };
  for (const auto& [result, expected] : rows) {
    CAPTURE(result);
    auto graph = parse_graph(
        "graph g(x: f32[4, 6], z: f32[m, 6]) {\nreturn " + std::string(result) + "\n}", "t");
    REQUIRE(bool(graph));
    std::vector<Tensor> inputs;
    for (int64_t rows : {4, 3}) {
      Tensor tensor(DType::f32, {rows, 6});
      for (int64_t i = 0; i < tensor.count(); ++i) tensor.set(i, static_cast<double>(i));
      inputs.push_back(std::move(tensor));
    }
    const auto outputs = llvm::cantFail(evaluate(*graph, {&inputs[0], &inputs[1]}));
    const auto reals = outputs.front().reals();
    CHECK(std::vector<double>(reals.begin(), reals.end()) == expected);
  }
}

TEST_CASE("the error of an index without a meaning names the expected one") {
  const std::pair<const char*, const char*> rows[] = {
      {"x[4]", "3:10: error: index 4 on axis 0 of f32[4, 6], expected -4 to 3"},
      {"x[0, -7]", "3:13: error: index -7 on axis 1 of f32[4, 6], expected -6 to 5"},
      {"x[0, 0, 0]", "3:9: error: too many indices for f32[4, 6]: expected at most 2, got 3"},
      {"s[0]", "3:9: error: too many indices for f32[]: expected at most 0, got 1"},
      {"x[..., ...]", "3:15: error: more than one '...' in an index"},
      {"x[3:1]", "3:10: error: the range from 3 to 1 on axis 0 of f32[4, 6] has no elements; a "
                 "tensor has at least one along an extent that is a number"},
      {"x[4:]", "3:10: error: the range from 4 to 4 on axis 0 of f32[4, 6] has no elements; a "
                "tensor has at least one along an extent that is a number"},
      {"x[:, ::-1]", "3:15: error: step -1, expected at least 1; flip(x, axis=1) reverses an axis"},
      {"x[::0]", "3:12: error: step 0, expected at least 1; flip(x, axis=0) reverses an axis"},
      {"z[4:2]", "3:10: error: the range from 4 to 2 on axis 0 of f32[m, 6] has no elements"},
      {"z[m:]", "3:10: error: the range from m to m on axis 0 of f32[m, 6] has no elements"},
      {"z[::2]", "3:12: error: step 2 on axis 0 of f32[m, 6]; a range with a named bound or extent "
                 "has step 1"},
      {"x[1.5]", "3:10: error: index is 1.5, expected an integer"},
      {"x[True]", "3:10: error: index is true, expected an integer"},
      {"x[\"a\"]", "3:10: error: index is \"a\", expected an integer"},
      {"x[[0, 1]]", "3:10: error: index is a list, expected an integer"},
      {"x[0.5:]", "3:10: error: the start of a range is 0.5, expected an integer"},
      {"x[::v]", "3:12: error: a step is the tensor f32[5], expected an integer; to index by a "
                 "tensor, write gather(x, index, axis)"},
      {"x[i]", "3:10: error: index is the tensor i64[4], expected an integer; to index by a "
               "tensor, write gather(x, index, axis)"},
      {"x[c]", "3:10: error: index is the tensor bool[4, 6], expected an integer; to keep elements "
               "where a mask holds, write where(mask, x, 0), which keeps the shape"},
      {"x[]", "3:10: error: expected an expression, got ']'"},
      {"x[0", "4:1: error: expected ',' or ']', got '}'"},
      {"x[1:2:3:4]", "3:15: error: expected ',' or ']', got ':'"},
      {"m[0]", "3:9: error: an index of the dimension m, expected a tensor before '['"},
      {"[x, x][0]", "3:14: error: an index of a list, expected a tensor before '['"},
      {"moments(x, 1)[2]", "3:21: error: one of 2 results is taken by a number, expected -2 to 1"},
      {"moments(x, 1)[:1]", "3:21: error: one of 2 results is taken by a number, expected -2 to 1"},
      {"moments(x, 1).exp()", "3:8: error: a call with 2 results stands where one value is "
                              "expected; assign them first, or take one, as in max(x, 1)[0]"},
      {"t.T", "3:10: error: '.T' swaps the dims of a tensor that has two, got f32[2, 3, 4]; write "
              "transpose(x, dim0, dim1), or .mT for the last two"},
      {"v.T", "3:10: error: '.T' swaps the dims of a tensor that has two, got f32[5]; write "
              "transpose(x, dim0, dim1), or .mT for the last two"},
      {"v.mT", "3:10: error: transpose: f32[5] has no two dims to swap"},
      {"(2).T", "3:12: error: '.T' of 2, expected a tensor"},
      {"x.shape", "3:10: error: nothing is named '.shape'; write an extent as its number or its "
                  "name"},
      {"x.foo", "3:10: error: nothing is named '.foo'; expected .T, .mT or a function, as in "
                "x.exp()"},
      {"x.2", "3:9: error: expected '}', got '.2'"},
      {"x.[0]", "3:10: error: expected T, mT or a function behind '.', got '['"},
      {"x.sum(axis=7)",
       "3:19: error: sum: axis 7 does not exist in a tensor of 2 dimensions; expected -2 to 1"},
  };
  for (const auto& [result, message] : rows) {
    CAPTURE(result);
    CHECK(refusal(result) == message);
  }
}
