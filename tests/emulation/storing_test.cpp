// SPDX-License-Identifier: Apache-2.0
// Values that lie in memory before a kernel reads them: numbers, parts of concats, rearranged
// tensors, and tables that are read at computed indices.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ingot;
using namespace ingot::emulation;

TEST_CASE("emulation: numbers as outputs and operands") {
  CHECK(check_cases({
            {"graph g(x: f32[4, 4]) { return 5 }"},
            {"graph g(x: f32[m]) { return x + 1, y = 0 }", {{{"m", 5}}, {{"m", 0}}}},
            {"graph g(x: f32[4, 4]) { return abs(5), sum(5), where(true, 1, x) }"},
            {"graph g(x: f32[4, 4]) { return broadcast(constant(1, i32), [5, 12]) }"},
            // 257 is no bf16, 2049 no f16.
            {"graph g(x: bf16[600]) { return x * (iota(bf16, [600]) * 0.125) }"},
            {"graph g(x: f16[2100]) { return x * (iota(f16, [2100]) * 0.125) }"},
            {"graph g(x: f32[m, 4]) { return x + iota(f32, [1]), iota(i64, [3, 5], axis=1) }",
             {{{"m", 3}}}},
            {"graph g(x: f32[6, 4]) {\n"
             "  return x + reshape(iota(f32, [2, 3, 4], axis=1), [6, 4]) * 2.0 }"},
            {"graph g(x: f32[m, 4]) { return matmul(x, iota(f32, [4, 5])) }", {{{"m", 7}}}},
            {"graph g(x: f32[m, 4]) {\n"
             "  return matmul(x, broadcast(constant(1, f32), [4, 5])), constant(1, f32) }",
             {{{"m", 7}}}},
            {"graph g(x: f32[m, 4], param w: f32[6, 4]) {\n"
             "  return matmul(x, matmul(iota(f32, [4, 6], axis=1), w) * 0.1) }",
             {{{"m", 7}}}},
        }) == "");
}

TEST_CASE("emulation: numbers of elements that launch knows") {
  CHECK(check_cases({
            {"graph g(x: f32[m, 4]) {\n"
             "  return x * extent(f32, [m]), extent(i64, [m, 4]), extent(bf16, [m]),\n"
             "    matmul(x, broadcast(extent(f32, [m]), [4, 5])) }",
             {{{"m", 7}}, {{"m", 300}}}},
            {"graph g(x: f16[m]) { return cast(var(x), f32), std(x) }", {{{"m", 4}}, {{"m", 96}}}},
            {"graph g(q: f32[2, 9, d], k: f32[2, 11, d], v: f32[2, 11, 8]) {\n"
             "  return scaled_dot_product_attention(q, k, v) }",
             {{{"d", 5}}, {{"d", 64}}}},
            // f32 does not hold it.
            {"graph g(x: bool[m]) { return extent(f32, [m]), extent(i64, [m]) }",
             {{{"m", 16777219}}}},
        }) == "");
}

TEST_CASE("emulation: attention behind masks, and quotients rounded down") {
  const std::string inputs = "graph g(q: f32[2, n, 8], k: f32[2, 11, 8], v: f32[2, 11, 4], "
                             "a: f32[n, 11], b: f32[2, 1, 11], c: bool[n, 11]) {\n  return ";
  const std::vector<DimBindings> sizes = {{{"n", 9}}, {{"n", 20}}};
  const auto attention = [&](const std::string& options) {
    return inputs + "scaled_dot_product_attention(q, k, v, " + options + ") }";
  };
  CHECK(
      check_cases({
          {attention("is_causal=true"), sizes},
          {attention("a"), sizes},
          {attention("b > 0"), sizes},
          {attention("tril(c)"), sizes},
          {inputs + "where(c == 0, div(a, b, rounding_mode='floor'), remainder(a, 0.3)) }", sizes},
      }) == "");
}

TEST_CASE("emulation: an index that an empty extent divides") {
  const std::vector<DimBindings> sizes = {{{"m", 5}}, {{"m", 0}}};
  CHECK(check_cases({
            {"graph g(x: f32[33, m]) { return x * iota(f32, [33, m], axis=0) }", sizes},
            {"graph g(x: f32[33, m]) { return x * iota(f32, [33, m], axis=1) }", sizes},
            {"graph g(x: f32[3, m, 4]) { return x + iota(f32, [3, m, 4], axis=0),\n"
             "  y=x * iota(f32, [3, m, 4], axis=1) }",
             sizes},
            {"graph g(x: f32[7, m], b: f32[m]) { return sum(exp(x) * b, axis=1) }", sizes},
        }) == "");
}

TEST_CASE("emulation: concat of inputs and of computed parts") {
  CHECK(check_cases({
            {"graph g(x: f32[4, 6]) { return concat([x, x]) }"},
            {"graph g(x: f32[4, 6], y: f32[4, 3]) {\n"
             "  return concat([exp(x), y, x * 2], axis=1) }"},
            {"graph g(x: f32[4, 8], y: f32[4, 4]) {\n"
             "  c = concat([exp(x), y, x * 2], axis=1)\n  return softmax(c), c }"},
            {"graph g(x: f32[n, 6], param w: f32[5, 6]) {\n"
             "  return concat([linear(x, w), x, x + 1], axis=1) }",
             {{{"n", 70}}, {{"n", 1}}, {{"n", 0}}}},
            {"graph g(x: f32[3, n, 2], y: f32[5, n, 2]) { return concat([x, tanh(y)]) * 2 }",
             {{{"n", 7}}}},
            {"graph g(x: bf16[4, 6], y: i64[4, 6], b: bool[4, 6]) {\n"
             "  return concat([x, x * 2.0], axis=1), concat([y, y + 1]), concat([b, not b]) }"},
            {"graph g(x: f32[4, 6], y: f32[2, 6]) {\n"
             "  return concat([concat([x, y]), concat([exp(y), x * 3])], axis=1) }"},
            {"graph g(x: f32[4, 6], param a: f32[6], param b: f32[6]) {\n"
             "  return x + sum(concat([exp(a), b])) }"},
            {"graph g(x: f32[4, 6], param a: f32[4, 6]) { return concat([exp(a), x]), a }"},
            {"graph g(x: f32[4, 6], w: f32[12, 5]) {\n"
             "  h = exp(x)\n  c = concat([h, transpose(reshape(x, [6, 4]))], axis=1)\n"
             "  return matmul(c, w), h + slice(c, [0, 3], [4, 9]) }"},
            {"graph g(x: f32[70, 20], param w: f32[300, 20]) {\n"
             "  s = sum(linear(x, w), axis=1)\n  return concat([s, mean(x, axis=1), s]) }"},
        }) == "");
}

TEST_CASE("emulation: a concat that is read where its parts lie") {
  const std::vector<DimBindings> sizes = {{{"m", 70}}, {{"m", 1}}, {{"m", 0}}};
  CHECK(check_cases({
            {"graph g(x: f32[m, 24], y: f32[m, 40], w: f32[64, 48]) {\n"
             "  return matmul(concat([x, tanh(y)], axis=1), w) }",
             sizes},
            {"graph g(x: f16[24, 64], y: f16[40, 64], w: f16[48, 128]) {\n"
             "  c = concat([x, y])\n  return relu(matmul(concat([c, c * 0.5], axis=1), w, "
             "transpose_b=true)) }"},
            {"graph g(x: f16[m, 24], y: f16[m, 41], w: f16[130, 65]) {\n"
             "  return linear(concat([x, y], axis=1), w) }",
             sizes},
            {"graph g(x: f32[m, 24], y: f32[m, 40], p: f32[9], param q: f32[9, 4]) {\n"
             "  return sum(concat([transpose(x), transpose(y)], axis=0), axis=1),\n"
             "    concat([reshape(p, [9, 1]), tanh(q)], axis=1) * 2 }",
             sizes},
            {"graph g(x: f32[m, 24], y: f32[m, 40], z: f32[m, 1], a: f32[65], b: f32[65]) {\n"
             "  return layer_norm(concat([x, z, y], axis=1), a, b) }",
             sizes},
            // Aligned parts, parts that are not, and more than any block takes.
            {"graph g(x: bf16[3, 8, 16], y: bf16[3, 4, 16], z: bf16[3, 5, 16]) {\n"
             "  return concat([x, y], axis=1) * 2.0, concat([x, z], axis=1) * 2.0 }"},
            {"graph g(x: f32[3, 8], y: f32[16, 3]) {\n"
             "  return concat([x, transpose(reshape(y, [16, 3]))], axis=1),\n"
             "    concat([flatten(x), flatten(y)]) + 1, transpose(concat([x, x], axis=1)) }"},
            {"graph g(x: bool[5, 3], y: i64[5, 3], z: i32[5, 3]) {\n"
             "  return concat([x, not x, x], axis=1), concat([y, y * 2]), concat([z, iota(i32, [5, "
             "9], axis=1)], axis=1) }"},
            {"graph g(x: f32[70, 20], y: f32[70, 30], i: i64[9, 50]) {\n"
             "  c = concat([x, y], axis=1)\n"
             "  return gather(c, i, axis=0), sum(c, axis=0), cumsum(c, axis=1), argmax(c) }"},
            {"graph g(x: f32[6, 20]) {\n"
             "  p = concat([broadcast(0, [6, 1]), x, broadcast(0, [6, 1])], axis=1)\n"
             "  return narrow(p, 1, 0, 20) - 2 * x + narrow(p, 1, 2, 20) }"},
        }) == "");
}

TEST_CASE("emulation: a concat of more parts than are chosen at once") {
  // Every part is another one.
  auto parts = [](int count) {
    std::string text = "y";
    for (int part = 1; part < count; ++part)
      text += fmt::format(", narrow(x, 0, {}, {})", part, 1 + part % 3);
    return text;
  };
  std::vector<Case> cases;
  for (int count : {9, 17, 70})
    cases.push_back({fmt::format("graph g(x: f32[80, n], y: f32[2, n], param p: f32[2, n]) {{\n"
                                 "  return tanh(concat([{0}])), concat([p * 2, concat([{0}])]) }}",
                                 parts(count)),
                     {{{"n", 4}}, {{"n", 7}}}});
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: concats of concats, and of slices of a value that is stored anyway") {
  CHECK(check_cases({
            {"graph g(x: f32[5, 6]) {\n  a = concat([x, x * 2], axis=0)\n"
             "  b = concat([a, -a], axis=1)\n  return exp(concat([b, b], axis=0)) }"},
            {"graph g(x: f32[m, 64], w: f32[64, 64], c: f32[m, 64], s: f32[m, 64]) {\n"
             "  h = linear(x, w)\n"
             "  r = concat([-narrow(h, 1, 32, 32), narrow(h, 1, 0, 32)], axis=1)\n"
             "  return h * c + r * s }",
             {{{"m", 5}}, {{"m", 130}}}},
            {"graph g(x: f32[2, 64, 24], w: f32[512, 24]) {\n"
             "  t = linear(x, w)\n  return t, s=softmax(t) }"},
        }) == "");
}

TEST_CASE("emulation: a value that does not vary along rows is stored if there are no rows") {
  const std::vector<DimBindings> sizes = {{{"m", 0}}, {{"m", 3}}};
  CHECK(check_cases({
            {"graph g(x: f32[m, 16], c: f32[1, 1]) {\n  v = c * 0.125\n"
             "  return a=softmax(x + v), b=v }",
             sizes},
            {"graph g(x: f32[m, 24], w: f32[16, 24], c: f32[1, 1], d: f32[16]) {\n"
             "  v = c * 0.125\n  u = exp(d)\n  return a=linear(x, w) + v + u, b=v, e=u }",
             sizes},
            {"graph g(x: f32[m, 24], w: f32[16, 24], c: f32[1, 1]) {\n  v = c * 0.125\n"
             "  return a=maximum(linear(x, w) + v, 0), b=v }",
             sizes},
        }) == "");
}

TEST_CASE("emulation: computed parts of a concat, and ops on the concat") {
  CHECK(check_cases({
            {"graph g(x: f32[m, 20], w: f32[20, 70], y: f32[m, 58], b: f32[128]) {\n"
             "  return gelu(concat([matmul(x, w), y], axis=1) + b) }",
             {{{"m", 70}}, {{"m", 0}}}},
            {"graph g(x: f32[12, 20], w: f32[20, 70], y: f32[12, 58], z: f32[12, 128]) {\n"
             "  c = concat([matmul(x, w), y], axis=1)\n"
             "  return softmax(c * sigmoid(c) - z, axis=1), c }"},
        }) == "");
}

TEST_CASE("emulation: windows that lie outside of their operand") {
  CHECK(
      check_cases({
          {"graph g(x: f32[m, 20]) {\n"
           "  i = iota(i32, [m, 12], axis=1)\n"
           "  return where(i < 4, 0, window(x, 1, -4, 12)) * 2, where(i < 8, window(x, 1, 12, 12), "
           "1),\n    window(x, 1, 4, 8), where(i == 7, 5, where(i < 7, 6, window(x, 1, -8, 12))) }",
           {{{"m", 5}}, {{"m", 0}}}},
          {"graph g(x: f32[8, 20]) {\n"
           "  y = where(iota(i32, [9, 20]) < 1, 3, window(x, 0, -1, 9))\n"
           "  return y, narrow(window(x, 0, -2, 12), 0, 2, 8) + 1,\n"
           "    where(iota(i32, [4, 20]) < 1, 2, slice(window(x, 0, -2, 12), [0, 0], [12, 20], [3, "
           "1])),\n"
           "    where(iota(i32, [22, 8]) < 1, 2, window(transpose(x), 0, -1, 22)) }"},
          {"graph g(x: f32[8, 20]) {\n"
           "  i = iota(i32, [16, 8], axis=1)\n"
           "  return where(i < 6, window(reshape(x, [16, 10]), 1, 4, 8), 1),\n"
           "    where(i < 1, 1, window(window(reshape(x, [16, 10]), 1, -1, 11), 1, 0, 8)),\n"
           "    where(i < 1, 1, window(reshape(exp(x), [16, 10]), 1, -1, 8)) }"},
          {"graph g(x: f16[1, 20], y: f16[7, 20]) {\n"
           "  i = iota(i32, [7, 20])\n"
           "  return where(i == 1, window(x, 0, -1, 7), y), window(y, 0, 3, 1),\n"
           "    where(i < 2, y, window(iota(f16, [7, 20]), 0, -2, 7)) }"},
      }) == "");
}

TEST_CASE("emulation: only the elements of slices are computed") {
  const std::vector<DimBindings> sizes = {{{"m", 70}}, {{"m", 0}}};
  CHECK(check_cases({
            {"graph g(x: f16[m, 24], param w: f16[128, 24], param b: f16[128]) {\n"
             "  h = linear(x, w, b)\n"
             "  return silu(narrow(h, 1, 0, 64)) * narrow(h, 1, 64, 64) }",
             sizes},
            {"graph g(x: f32[m, 24], w: f32[24, 100]) {\n"
             "  h = tanh(matmul(x, w))\n"
             "  return narrow(h, 1, 0, 40), narrow(h, 1, 40, 8), narrow(h, 1, 48, 52) }",
             sizes},
            {"graph g(x: f32[3, 40, 24], w: f32[3, 50, 24]) {\n"
             "  h = matmul(x, w, transpose_b=true)\n"
             "  return slice(h, [1, 8, 16], [3, 40, 50]) * 2 }"},
            {"graph g(x: f32[8, 20], b: f32[20]) {\n"
             "  h = exp(transpose(x) * 2 + reshape(b, [20, 1]))\n"
             "  return slice(h, [1, 2], [20, 8], [3, 2]), sum(h),\n"
             "    narrow(x - mean(x, axis=1, keepdim=true), 1, 3, 9) }"},
        }) == "");
}

TEST_CASE("emulation: slices of values that are reshaped, repeated or computed") {
  CHECK(check_cases({
            {"graph g(x: f32[6, 4]) {\n"
             "  y = reshape(transpose(x), [3, 8])\n"
             "  return slice(y, [0, 1], [3, 7], [1, 2]) + 1.0, slice(y, [1, 0], [3, 8]) }"},
            {"graph g(x: f32[6, 4]) {\n"
             "  y = exp(x)\n"
             "  return slice(reshape(y, [3, 8]), [0, 1], [3, 7], [1, 2]) + 1.0, sum(y) }"},
            {"graph g(x: f32[4]) { return slice(broadcast(x, [6, 4]), [1, 1], [4, 4]) * 2 }"},
            {"graph g(x: f32[4, 6], y: f32[6, 4]) {\n"
             "  return reshape(transpose(x), [8, 3]) * 2 + reshape(transpose(y), [8, 3]) }"},
            {"graph g(x: f32[4, 6]) { return argmax(broadcast(x, [3, 4, 6]), axis=0) }"},
        }) == "");
}

TEST_CASE("emulation: gather") {
  CHECK(check_cases({
            {"graph g(x: f32[9, 6], i: i64[5, 6]) { return gather(x, i, axis=0) * 2.0 }"},
            {"graph g(x: f32[9, 6], i: i32[9, 3]) {\n"
             "  return gather(exp(x), i + 1, axis=1) + gather(x, i, axis=1) }"},
            {"graph g(x: bf16[9, 6], y: i32[9, 6], b: bool[9, 6], i: i64[9, 4]) {\n"
             "  return gather(x, i, axis=1), gather(y, i, axis=1), gather(b, i, axis=1) }"},
            {"graph g(x: f32[9, 6]) {\n"
             "  i = argmax(x, axis=1, keepdim=true)\n"
             "  return gather(x, i, axis=1), reduce_max(x, axis=1) }"},
            {"graph g(x: f32[9, 6], i: i64[9, 40]) {\n"
             "  return softmax(gather(reshape(x, [9, 6]), i, axis=1)) }"},
            {"graph g(x: f32[9, 6]) {\n"
             "  return gather(transpose(x), iota(i64, [4, 9]), axis=0) + 1,\n"
             "    gather(iota(f32, [9, 6]), iota(i64, [9, 8], axis=1) - 1, axis=1) }"},
            {"graph g(x: f32[n, c], t: i64[n]) { return cross_entropy(x, t) }",
             {{{"n", 7}, {"c", 5}}, {{"n", 8}, {"c", 8}}}},
            {"graph g(x: f32[5, 7, 3], t: i64[5, 3]) {\n"
             "  return cross_entropy(x, minimum(maximum(t, 0), 6)) }"},
            // The index is merged from partials, and the gathered value varies along rows alone.
            {"graph g(x: f32[m, 48], w: f32[96, 48], table: f32[m, 96]) {\n"
             "  i = argmin(matmul(x, w, transpose_b=true), axis=0, keepdim=true)\n"
             "  return reshape(gather(table, i, axis=0), shape=[96]) }",
             {{{"m", 24}}, {{"m", 140}}}},
        }) == "");
}

TEST_CASE("emulation: ops that with their stores are no legal kernel") {
  CHECK(check_cases({{"graph g(a: f32[16, 48], c: f32[16], d: f32[16, 1, 1]) {\n"
                      "  v7 = a * d\n  m = mean(v7, axis=[0, 2])\n"
                      "  v12 = v7 - reshape(m, [16, 1])\n"
                      "  v22 = reduce_max(v12, axis=[0, 1, 2])\n"
                      "  return maximum(v12, reshape(v22, [1, 1, 1])) }"}}) == "");
}

TEST_CASE("emulation: inputs that are returned beside values computed from them") {
  CHECK(check_cases({
            {"graph g(x: f32[m, 96]) {\n  return y=x, z=relu(x), q=reshape(x, [m, 8, 12]) }",
             {{{"m", 5}}, {{"m", 1}}, {{"m", 0}}}},
            {"graph g(x: f16[7, 33]) {\n  return y=x, q=reshape(x, [33, 7]) }"},
            {"graph g(x: f32[5, 200]) {\n  return s=softmax(x), y=x, t=transpose(x) }"},
            {"graph g(x: f32[3, 5000]) {\n  return c=cumsum(x, axis=1), y=x }"},
            {"graph g(x: f32[40, 30]) {\n  return s=sum(x, axis=0), y=x }"},
            {"graph g(x: f32[5, 40]) {\n  return concat([softmax(x), x, x * 2], axis=1), x }"},
            // The op that reads the concat comes before the op that reads one part of it.
            {"graph g(x: f32[2, 32, 16], y: f32[2, 17, 16], w: f32[16, 16], i: i64[2, 49, 1]) {\n"
             "  c = concat([matmul(x, w), y], axis=1)\n"
             "  return gather(c * amax(c, axis=1, keepdim=true), i, axis=2) }"},
            {"graph g(x: f32[m, 64]) {\n  y = relu(x)\n  return y, reshape(y, [64, m]) }",
             {{{"m", 5}}, {{"m", 3}}}},
            {"graph g(x: f32[m, 40], w: f32[40, 72]) {\n"
             "  return reshape(relu(matmul(x, w)), [36, 2*m]) }",
             {{{"m", 5}}, {{"m", 70}}}},
        }) == "");
}

TEST_CASE("emulation: parts of a concat that is stored as f32 are not rounded before") {
  CHECK(check_cases({
            {"graph g(x: f16[1, 33], y: f16[33, 3001], param w: f16[64, 33]) {\n"
             "  v = concat([reshape(sum(y, axis=1), [1, 33]) + x, w], axis=0)\n"
             "  return v / sqrt(sum(v * v, axis=1, keepdim=true)) }"},
        }) == "");
}

TEST_CASE("emulation: gathers of computed values, at indices out of range as well") {
  CHECK(check_cases({
            {"graph g(x: f32[5, 70], p: i64[5, 1]) { i = iota(i64, [5, 9], axis=1) * 11 - 7 + p\n"
             "  return gather(exp(x), i, axis=1), gather(relu(x) + 1.0, i, axis=1) }"},
            {"graph g(x: f32[5, 300], t: i64[5, 1]) { y = log_softmax(x)\n"
             "  return y, gather(y, t, axis=1), gather(y, t - 2, axis=1) }"},
            {"graph g(x: bf16[40, 6], b: bf16[6], t: i64[7, 6]) {\n"
             "  i = t * 3 - 5\n"
             "  return gather(x * b, i, axis=0), gather(less(x, 0.0), i, axis=0) }"},
            {"graph g(x: i32[m, 6], t: i64[m, 2]) { return gather(x * 3, t * 2 - 1, axis=1) }",
             {{{"m", 9}}, {{"m", 0}}}},
        }) == "");
}
