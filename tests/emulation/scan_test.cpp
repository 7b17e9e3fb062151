// SPDX-License-Identifier: Apache-2.0
// Running sums and products: lengths around lanes, warps and chunks, along any axis, in every type.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot::emulation;

TEST_CASE("emulation: scans along rows of any length") {
  std::vector<Case> cases;
  for (int length : {2, 3, 5, 31, 33, 64, 127, 128, 129, 500, 513, 1000, 1028, 2049})
    cases.push_back({fmt::format("graph g(x: f32[5, {}]) {{ return cumsum(x, axis=1) }}", length)});
  for (int length : {4095, 4097, 9000}) // one chunk, and several
    cases.push_back({fmt::format("graph g(x: f32[2, {}]) {{ return cumsum(x, axis=1) }}", length)});
  cases.push_back({"graph g(x: f32[3, 700]) { return cumprod(x * 0.01 + 1.0, axis=1) }"});
  cases.push_back({"graph g(x: f32[65]) { return cumsum(x, axis=0) }"});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: scans along other axes") {
  std::vector<Case> cases;
  for (int length : {2, 7, 8, 9, 100, 128, 129, 300, 1100})
    cases.push_back(
        {fmt::format("graph g(x: f32[{}, 37]) {{ return cumsum(x, axis=0) }}", length)});
  cases.push_back({"graph g(x: f32[3, 21, 34]) { return cumsum(x, axis=1) }"});
  cases.push_back({"graph g(x: f32[6, 5, 34]) { return cumsum(x, axis=0) }"});
  cases.push_back({"graph g(x: f16[3, 21, 34]) { return cumprod(x, axis=1) }"});
  cases.push_back({"graph g(x: f32[40, 50]) { return transpose(cumsum(transpose(x), axis=1)) }"});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: scans that leave out their own element, and scans from the end") {
  std::vector<Case> cases;
  for (const char* mode : {"exclusive=true", "reverse=true", "exclusive=true, reverse=true"})
    for (const char* scan : {"cumsum", "cumprod"})
      for (int axis : {0, 1})
        cases.push_back({fmt::format("graph g(x: f32[7, 131]) {{ return {}(x, axis={}, {}) }}",
                                     scan, axis, mode)});
  for (const char* mode : {"exclusive=true", "reverse=true", "exclusive=true, reverse=true"}) {
    for (int length : {1, 2, 33, 1000, 4095, 4097, 9000})
      cases.push_back(
          {fmt::format("graph g(x: f32[2, {}]) {{ return cumsum(x, axis=1, {}) }}", length, mode)});
    cases.push_back({fmt::format(
        "graph g(x: i32[3, 700]) {{ return cumsum(x * 10000003, axis=1, {}) }}", mode)});
    cases.push_back({fmt::format("graph g(x: bf16[3, 9, 72], y: bf16[3, 9, 72]) {{\n"
                                 "  return exp(cumsum(x * y, axis=1, {})) + y }}",
                                 mode)});
  }
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: flips, and such scans, along named dims") {
  std::vector<Case> cases;
  for (const char* value : {"cumsum(x, axis=1, exclusive=true)", "cumsum(x, axis=0, reverse=true)",
                            "cumprod(x * 0.5, axis=1, exclusive=true, reverse=true)",
                            "flip(x, 1) + x", "flip(exp(x), 0)"})
    cases.push_back({fmt::format("graph g(x: f32[m, n]) {{ return {} }}", value),
                     {{{"m", 3}, {"n", 20}},
                      {{"m", 1}, {"n", 1}},
                      {{"m", 7}, {"n", 65}},
                      {{"m", 0}, {"n", 4}},
                      {{"m", 3}, {"n", 0}}},
                     ingot::MatmulPrecision::pedantic,
                     Case::Depth::results});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: rolls, pads and copies, along numbers and names") {
  std::vector<Case> cases = {
      {"graph g(x: f32[5, 33]) { return roll(exp(x), [1, -2], [0, 1]), roll(x, 7) }"},
      {"graph g(x: f32[5, 33]) { return pad(exp(x), [1, 2, 3, 0], value=1.5), pad(x, [-2, 1]) }"},
      {"graph g(x: f16[3, 1, 33]) { return x.repeat(2, 4, 3) * 2, lerp(x, exp(x), 0.3) }"},
  };
  for (const char* value :
       {"roll(exp(x), 2, 0) + x", "roll(x, -9, 1)", "pad(exp(x), [1, 2], value=7)",
        "pad(x, [0, 0, 2, 0])", "repeat(exp(x), 2, 3)", "tile(x, [n, 1])"})
    cases.push_back({fmt::format("graph g(x: f32[m, n]) {{ return {} }}", value),
                     {{{"m", 3}, {"n", 20}}, {{"m", 1}, {"n", 1}}, {{"m", 7}, {"n", 65}}},
                     ingot::MatmulPrecision::pedantic,
                     Case::Depth::results});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: scans of halves and integers") {
  CHECK(check_cases({
            {"graph g(x: f16[3, 1000]) { return cumsum(x, axis=1) }"},
            {"graph g(x: bf16[3, 72], y: f32[3, 72]) { return cumsum(cast(x, f32) * y, axis=1) }"},
            {"graph g(x: i32[3, 700]) { return cumsum(x * 10000003, axis=1) }"},
            {"graph g(x: i32[300, 9]) { return cumprod(x, axis=0) }"},
            {"graph g(x: i64[3, 700]) { return cumsum(x * 10000003, axis=1) }"},
            {"graph g(x: i64[3, 300, 9]) { return cumsum(x * 10000003, axis=1) }"},
        }) == "");
}

TEST_CASE("emulation: scans along named dims, of nothing too") {
  CHECK(check_cases({
            {"graph g(x: f32[m, n]) { return cumsum(x, axis=1) }",
             {{{"m", 3}, {"n", 8}},
              {{"m", 2}, {"n", 9001}},
              {{"m", 0}, {"n", 4}},
              {{"m", 3}, {"n", 0}}}},
            {"graph g(x: f32[m, n]) { return cumprod(x, axis=0) }",
             {{{"m", 3}, {"n", 8}},
              {{"m", 700}, {"n", 33}},
              {{"m", 0}, {"n", 4}},
              {{"m", 3}, {"n", 0}}}},
            {"graph g(x: f32[m, n], s: f32[m, 1]) {\n  t = tanh(s)\n"
             "  return cumsum(x * t, axis=1), t }",
             {{{"m", 3}, {"n", 8}}, {{"m", 9}, {"n", 601}}, {{"m", 5}, {"n", 0}}}},
        }) == "");
}

TEST_CASE("emulation: ops before and behind a scan") {
  CHECK(check_cases({
            {"graph g(x: f32[5, 300], y: f32[300]) {\n"
             "  return tanh(cumsum(x * y, axis=1)) + x }"},
            {"graph g(x: f32[5, 300]) {\n"
             "  c = cumsum(x, axis=1)\n  return c / sum(x, axis=1, keepdim=true), c }"},
            {"graph g(x: f32[5, 300]) { return cumsum(softmax(x, axis=1), axis=1) }"},
            {"graph g(x: f32[5, 300]) { return sum(cumsum(x, axis=1), axis=1) }"},
            {"graph g(x: f32[5, 300]) { return cumsum(cumsum(x, axis=1), axis=1) }"},
            {"graph g(x: f32[30, 20]) { return cumsum(cumsum(x, axis=1), axis=0) }"},
            {"graph g(x: f32[30, 20], w: f32[40, 20]) {\n"
             "  return cumsum(matmul(x, w, transpose_b=true), axis=1) }"},
            {"graph g(x: f32[30, 20], w: f32[40, 30]) {\n"
             "  return matmul(w, cumsum(x, axis=0)) }"},
            {"graph g(x: f32[300, 40]) { return cumsum(sum(x, axis=0), axis=0) }"},
            {"graph g(x: f32[40], y: f32[9, 40]) { return cumsum(x, axis=0) * y }"},
            {"graph g(x: f32[4, 30]) { return reshape(cumsum(x, axis=1), [40, 3]) * 2.0 }"},
        }) == "");
}

TEST_CASE("emulation: scans pass NaN and infinities on") {
  std::vector<Case> cases = {
      {"graph g(x: f32[3, 700]) { return cumsum(x, axis=1), cumprod(x, axis=1) }"},
      {"graph g(x: f32[300, 9]) { return cumsum(x, axis=0) }"}};
  for (Case& one : cases) one.non_finite = true;
  CHECK(check_cases(cases) == "");
}
