// SPDX-License-Identifier: Apache-2.0
// Chains without a matmul: held and streamed rows, along columns and along rows, in every type.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot::emulation;

TEST_CASE("emulation: elementwise chains") {
  CHECK(check_cases({
            {"graph g(x: f32[7, 33]) { return mish(gelu(x * 1.5 + 0.25)) }"},
            {"graph g(x: f32[3, 1028], y: f32[1028], z: f32[3, 1]) { return x * y - z }"},
            {"graph g(x: f16[5, 40], y: bf16[5, 40]) {\n"
             "  return cast(x, bf16) + y, cast(y, f16) * x }"},
            {"graph g(x: i32[6, 10], y: i64[10], b: bool[6, 10]) {\n"
             "  return x * 3 - 1, where(b, cast(y, i32), x), x > 4 }"},
            {"graph g(x: f32[6, 10], y: f32[6, 10]) {\n"
             "  return cast(x * 10.0, i32), where(x > y, x, y), minimum(x, y) }"},
            {"graph g(x: f32[20, 12], y: f32[12, 20]) { return x + transpose(y) }"},
            {"graph g(x: f32[9, 20]) { return slice(x, [1, 2], [8, 18], [2, 3]) * 2.0 }"},
            {"graph g(x: f32[4, 6, 10]) {\n"
             "  return reshape(x, [24, 10]) + 1.0, transpose(x, [2, 0, 1]) * 2.0 }"},
            {"graph g(x: f32[9]) { return exp(x), x + cast(iota(i32, [9]), f32) }"},
            {"graph g(x: f32[1]) { return x * x }"},
            {"graph g(x: f32[37, 1], y: f32[70, 1]) {\n"
             "  return matmul(x, y, transpose_b=true), expand(x, [37, 9]) * 2.0 }"},
            {"graph g(x: bf16[3, 37, 1], y: bf16[3, 1, 64]) { return exp(x @ y) }"},
        }) == "");
}

TEST_CASE("emulation: reductions along rows that are held") {
  std::vector<Case> cases;
  for (int columns : {1, 5, 31, 64, 100, 1000, 1024})
    cases.push_back(
        {fmt::format("graph g(x: f32[6, {}]) {{ return softmax(x, axis=1) }}", columns)});
  cases.push_back({"graph g(x: f32[37, 48], gamma: f32[48], beta: f32[48]) {\n"
                   "  return layer_norm(x, gamma, beta) }"});
  cases.push_back({"graph g(x: f32[7, 96], gamma: f32[96], beta: f32[96]) {\n"
                   "  return group_norm(x, gamma, beta, groups=2) }"});
  cases.push_back({"graph g(x: f32[3, 6, 20], gamma: f32[6], beta: f32[6]) {\n"
                   "  return group_norm(x, gamma, beta, groups=3) }"});
  cases.push_back({"graph g(x: f32[9, 77]) { return argmax(x, axis=1), argmin(x, axis=1) }"});
  cases.push_back({"graph g(x: f32[9, 77], w: f32[77]) { return rms_norm(x, w) }"});
  cases.push_back({"graph g(x: f32[9, 77], y: f32[9, 77]) {\n"
                   "  return sum(x, axis=1) * amax(y, axis=1) }"});
  cases.push_back({"graph g(x: f32[9, 6, 7], y: f32[9, 6, 7], z: f32[9, 6, 7]) {\n"
                   "  return z * sum(x, axis=[1, 2], keepdim=true) + amax(y, axis=[1, 2], "
                   "keepdim=true) }"});
  cases.push_back({"graph g(x: f16[9, 72], y: f16[9, 72]) {\n"
                   "  return layer_norm(x) * sigmoid(mean(y, axis=1, keepdim=true)) }"});
  cases.push_back({"graph g(x: f32[n, m], y: f32[n, m]) {\n"
                   "  return sum(x * y, 1) / (norm(x, dim=1) * norm(y, dim=1)) }",
                   {{{"n", 5}, {"m", 9000}}, {{"n", 3}, {"m", 17}}}});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: moments are finite where squares of the values are not") {
  // Held, streamed, and merged from the partials of tiles.
  for (const Case& one : {Case{"graph g(x: f32[3, 700]) { return layer_norm(x * 1e-30 + 1e20) }"},
                          Case{"graph g(x: f32[m, n]) { return layer_norm(x * 1e-30 + 1e20) }",
                               {{{"m", 2}, {"n", 9000}}}},
                          Case{"graph g(a: f32[3, 8], b: f32[8, 400]) {\n"
                               "  return layer_norm(matmul(a, b) * 1e-30 + 1e20) }"}}) {
    CAPTURE(one.spec);
    const Outcome outcome = BuiltCase::make(one).run({});
    REQUIRE(outcome.problem == "");
    for (int64_t i = 0; i < outcome.outputs[0].count(); ++i)
      REQUIRE(outcome.outputs[0].real(i) == 0);
  }
}

TEST_CASE("emulation: reductions along rows that are streamed") {
  CHECK(check_cases({
            {"graph g(x: f32[3, 20000]) { return softmax(x, axis=1) }"},
            {"graph g(x: f32[2, 17001], gamma: f32[17001], beta: f32[17001]) {\n"
             "  return layer_norm(x, gamma, beta) }"},
            {"graph g(x: f32[m, n]) { return softmax(x, axis=1) }",
             {{{"m", 3}, {"n", 8}}, {{"m", 2}, {"n", 9001}}, {{"m", 0}, {"n", 4}}}},
            {"graph g(x: f32[m, n]) { return logsumexp(x, axis=1), argmax(x, axis=1) }",
             {{{"m", 3}, {"n", 8}}, {{"m", 2}, {"n", 5001}}}},
            {"graph g(x: f32[m, n]) { return sum(x, axis=1), mean(x, axis=1), reduce_max(x, axis=1)"
             ", prod(x + 0.6, axis=1) }",
             {{{"m", 3}, {"n", 4}}, {{"m", 2}, {"n", 0}}, {{"m", 2}, {"n", 501}}}},
        }) == "");
}

TEST_CASE("emulation: reductions over rows and more behind a reduction of the rows") {
  const char* const divergence = "  p = softmax(y, axis=1)\n  q = log_softmax(x, axis=1)\n"
                                 "  return sum(where(p == 0.0, 0.0, p * log(p)) - p * q) }";
  CHECK(check_cases({
            {fmt::format("graph g(x: f32[301, 120], y: f32[301, 120]) {{\n{}", divergence)},
            {fmt::format("graph g(x: f32[m, n], y: f32[m, n]) {{\n{}", divergence),
             {{{"m", 72}, {"n", 40}}, {{"m", 70}, {"n", 501}}, {{"m", 1}, {"n", 1}}}},
            {"graph g(x: bf16[4, 80, 511]) {\n  h = layer_norm(x)\n"
             "  return reduce_max(h, axis=[1, 2]), var(cast(h, f32), axis=[1, 2]) }"},
            {"graph g(x: f32[90, 400]) {\n  h = x - mean(x, axis=1, keepdim=true)\n"
             "  return mean(h * h), h }"},
        }) == "");
}

TEST_CASE("emulation: reductions along other axes") {
  CHECK(check_cases({
            {"graph g(x: f32[40, 50]) { return sum(x, axis=0) }"},
            {"graph g(x: f32[300, 9]) { return mean(x * 2.0, axis=0), reduce_max(x, axis=0) }"},
            {"graph g(x: f32[5, 21, 34]) { return sum(x, axis=1) }"},
            {"graph g(x: f32[5, 21, 34]) { return softmax(x, axis=1) }"},
            {"graph g(x: f32[400, 3, 34]) { return softmax(x, axis=0) }"},
            {"graph g(x: f32[5, 21, 34]) { return sum(x, axis=[0, 2]) }"},
            {"graph g(x: f32[5, 21, 34]) { return sum(x), reduce_max(x) }"},
            {"graph g(x: f32[5, 21, 34]) { return argmax(x, axis=1) }"},
            {"graph g(x: f32[600, 7], g0: f32[7], b0: f32[7], m0: f32[7], v0: f32[7]) {\n"
             "  y, m, v = batch_norm(x, m0, v0, g0, b0, training=true)\n  return y, m, v }"},
            {"graph g(x: f32[m, 30]) { return sum(x, axis=0) }",
             {{{"m", 1}}, {{"m", 77}}, {{"m", 700}}, {{"m", 0}}}},
        }) == "");
}

TEST_CASE("emulation: lanes with several adjacent rows") {
  // Held, streamed and shared by blocks, reduced and stored, with rows that lanes share evenly and
  // not, and an operand of the rows alone.
  const std::vector<Case> cases = {
      {"graph g(x: f16[9, 6400], y: f32[6400]) { return sum(x, axis=0) + cast(y, f16) }"},
      {"graph g(x: bf16[260, 5250]) { return sum(x, axis=0) }"},
      {"graph g(x: bf16[260, 5250]) { return argmax(x, axis=0) }"},
      {"graph g(x: bool[9, 10500]) { return sum(cast(x, i32), axis=0) }"},
      {"graph g(x: bf16[4, 9, 5250]) { return var(x, axis=1) }"},
      {"graph g(x: f16[14336, 192]) { return var(x, axis=0) }"},
      {"graph g(x: f16[8, 9, n]) { return reduce_max(x, axis=1) }", {{{"n", 650}}, {{"n", 651}}}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.spec);
    const std::string first = schedules_of(one);
    CHECK(llvm::StringRef(first).contains("along-rows"));
    CHECK(llvm::StringRef(first).contains("vec 2"));
  }
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: threads and lanes with several short rows") {
  // Rows that threads share evenly and not, two and three operands, and results of the rows.
  const std::vector<std::pair<Case, std::string>> cases = {
      {{"graph g(x: f32[230001, 4]) { return softmax(x, axis=1) }"}, "held 256x4 threads 128"},
      {{"graph g(x: bf16[221300, 10]) { return argmax(x, axis=1) }"}, "held 128x16 threads 128"},
      {{"graph g(x: f32[115000, 8], y: f32[115000, 8], b: f32[8]) {\n"
        "  return sum(x * y + b, axis=1) }"},
       "held 128x8 threads 128"},
      {{"graph g(x: f32[3, 340000]) { return sum(x, axis=0) }"}, "held 128x3 threads 32"},
      {{"graph g(x: bf16[2, 12, 90112]) { return softmax(x, axis=1) }"}, "held 64x12 threads 64"},
      {{"graph g(x: f32[13, 20, 600, 4]) { return mean(x, axis=1) }"}, "along-rows"},
  };
  std::vector<Case> all;
  for (const auto& [one, wanted] : cases) {
    CAPTURE(one.spec);
    CHECK_MESSAGE(llvm::StringRef(schedules_of(one)).contains(wanted), schedules_of(one));
    all.push_back(one);
  }
  CHECK(check_cases(all) == "");
}

TEST_CASE("emulation: lanes that read along the columns and store along the rows") {
  std::vector<Case> cases = {
      {"graph g(x: f32[8, 3472, 64]) { return softmax(transpose(x), axis=1) }"},
      {"graph g(x: f32[8, 64, 3472]) { return transpose(softmax(x, axis=1)) }"},
      {"graph g(x: bf16[1400, 1288], b: bf16[1400]) { return gelu(transpose(x) + b) }"},
      {"graph g(x: f32[1301, 1399]) { return relu(transpose(x)) }"},
      {"graph g(x: f16[8, 3401, 66], s: f16[66, 3401]) {\n"
       "  y = transpose(x) * s\n  return y, sum(y, axis=1) }"},
      {"graph g(x: f32[m, 1024]) { return exp(transpose(x)) }", {{{"m", 1}}, {{"m", 77}}}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.spec);
    CHECK_MESSAGE(llvm::StringRef(schedules_of(one)).contains("along-both"), schedules_of(one));
  }
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: the first of equal elements, where indices do not rise with the columns") {
  std::vector<Case> cases;
  for (const char* op : {"argmax", "argmin"}) {
    cases.push_back({fmt::format("graph g(x: f32[30, 9, 7]) {{\n  y = floor(x * 2.0)\n"
                                 "  return {}(reshape(transpose(y), [30, 63]), axis=1) }}",
                                 op)});
    cases.push_back({fmt::format("graph g(x: f32[64, 33]) {{\n  y = floor(x * 2.0)\n"
                                 "  return {}(reshape(transpose(y), [2112]), axis=0) }}",
                                 op)});
    cases.push_back({fmt::format("graph g(x: f32[70, 64]) {{\n  y = floor(x * 2.0)\n"
                                 "  return {0}(y, axis=0), {0}(y, axis=1) }}",
                                 op)});
    for (const char* type : {"i32", "i64"})
      cases.push_back({fmt::format("graph g(x: {0}[9, 77]) {{\n  y = x * 0\n"
                                   "  low = y - {1}\n  high = y + {2}\n"
                                   "  return {3}(low - 1, axis=1), {3}(high, axis=1) }}",
                                   type, type[1] == '3' ? "2147483647" : "9223372036854775807",
                                   type[1] == '3' ? "2147483647" : "9223372036854775807", op)});
  }
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: rows of half types and integers") {
  CHECK(check_cases({
            {"graph g(x: f16[5, 72], gamma: f16[72], beta: f16[72]) {\n"
             "  return layer_norm(x, gamma, beta) }"},
            {"graph g(x: bf16[5, 1000]) { return softmax(x, axis=1) }"},
            {"graph g(x: bf16[40, 50]) { return sum(x, axis=0) }"},
            {"graph g(x: i32[5, 72]) { return sum(x, axis=1), reduce_max(x, axis=1), "
             "argmin(x, axis=1) }"},
            {"graph g(x: i64[5, 72]) { return sum(x, axis=1), reduce_min(x, axis=0) }"},
        }) == "");
}

TEST_CASE("emulation: rows in shared memory, of other shapes and types") {
  // Blocks without columns, slices of one tensor, a batch, a gather, reducers of integers, and
  // elements that are not finite.
  std::vector<Case> cases = {
      {"graph g(x: f32[m, 2056]) { return softmax(x, axis=1) }"},
      {"graph g(x: f32[m, 8208]) { return softmax(x[:, :4104] * x[:, 4104:], axis=1) }"},
      {"graph g(x: f32[2, m, 4096], t: f32[2, 1, 4096], i: i64[4096], c: f32[9]) {\n"
       "  return layer_norm(x + t) * gather(c, i % 9, axis=0) }"},
      {"graph g(x: i64[m, 4096], y: i32[m, 4096]) {\n"
       "  return argmax(x, axis=1), reduce_min(y, axis=1), x - sum(x, axis=1, keepdim=true) }"},
      {"graph g(x: f32[m, 4096]) {\n"
       "  return softmax(x, axis=1), argmin(x, axis=1), x - reduce_max(x, axis=1, keepdim=true) }"},
  };
  cases.back().non_finite = true;
  for (Case& one : cases) {
    one.sizes = {{{"m", 5}}};
    one.target = "sm_90a";
    one.choice = {.per_row = 64, .held = 8, .cluster = 8};
    CAPTURE(one.spec);
    CHECK(llvm::StringRef(schedules_of(one)).contains("cluster 8"));
  }
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: rows in shared memory, of a block and of a cluster") {
  // Softmax, moments in two sweeps, two reductions of two operands in 16 bits and f32, a vector of
  // the columns, outputs of one element a row, and an operand that the stores alone read.
  const char* const specs[] = {
      "graph g(x: f32[m, 33024]) { return softmax(x, axis=1) }",
      "graph g(x: f32[m, 33028], gamma: f32[33028], beta: f32[33028]) {\n"
      "  return layer_norm(x, gamma, beta) }",
      "graph g(x: bf16[m, 40000], y: f32[m, 40000], z: f32[m, 40000]) {\n"
      "  h = cast(x, f32) * y\n"
      "  t = h - mean(h, axis=1, keepdim=true)\n"
      "  return cast(t / reduce_max(abs(t) + abs(y), axis=1, keepdim=true) + z, f16),\n"
      "         argmax(y, axis=1), logsumexp(h, axis=1) }",
  };
  std::vector<Case> cases;
  for (const char* spec : specs)
    for (int64_t cluster : {1, 2, 8}) {
      if (cluster == 1 && spec == specs[2]) continue; // a block's memory does not hold it
      Case& one = cases.emplace_back(Case{spec, {{{"m", 3}}, {{"m", 0}}}});
      one.target = "sm_90a";
      one.choice = {.per_row = 512, .held = 16, .cluster = cluster};
      CHECK(llvm::StringRef(schedules_of(one)).contains(fmt::format("cluster {}", cluster)));
    }
  CHECK(check_cases(cases) == "");
}
