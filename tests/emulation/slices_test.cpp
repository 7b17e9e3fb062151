// SPDX-License-Identifier: Apache-2.0
// Slices of computed values: those that the kernel of the whole stores in part, and those that are
// pushed down to the tensors read.
#include "tests/emulation/cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

TEST_CASE("emulation: parts of loaded rows are stored by the kernel that has the whole") {
  CHECK(check_cases({
            // Aligned parts, parts at odd columns, of one column, and of several dims.
            {"graph g(x: f32[5, 96]) { return narrow(softmax(x), 1, 16, 64) }"},
            {"graph g(x: f32[5, 97]) { y = softmax(x)\n"
             "  return narrow(y, 1, 3, 30), narrow(y, 1, 96, 1), narrow(narrow(y, 0, 1, 3), 1, 0, "
             "9) }"},
            {"graph g(x: bf16[m, 96], b: bf16[96]) { y = layer_norm(x) * b\n"
             "  return narrow(y, 1, 8, 24), narrow(y, 1, 40, 56) }",
             {{{"m", 7}}, {{"m", 0}}}},
            // Beside the whole, and in another shape and order.
            {"graph g(x: f32[6, 40]) { y = exp(x)\n"
             "  return y, narrow(y, 1, 8, 10), transpose(narrow(y, 0, 2, 3), [1, 0]) }"},
            {"graph g(x: f32[4, 3, 32]) { y = rms_norm(x)\n"
             "  return transpose(reshape(narrow(y, 2, 8, 16), [4, 3, 4, 4]), [0, 2, 1, 3]),\n"
             "    reshape(narrow(y, 2, 0, 8), [12, 8]) }"},
            // Of a dim that is merged with inner ones, or split, behind the slice.
            {"graph g(x: f32[3, 10, 4]) { y = softmax(x, axis=1)\n"
             "  return transpose(reshape(narrow(y, 1, 2, 6), [3, 24]), [1, 0]),\n"
             "    transpose(reshape(narrow(y, 1, 4, 6), [3, 3, 2, 4]), [1, 0, 2, 3]) }"},
            // One of a dim, which is dropped then.
            {"graph g(x: f32[4, 6, 3, 8]) { h = softmax(x, axis=2)\n"
             "  return transpose(reshape(narrow(h, 2, 1, 1), [4, 6, 8]), [1, 0, 2]),\n"
             "    concat([reshape(narrow(h, 2, 2, 1), [4, 6, 8]), reshape(narrow(h, 2, 0, 1), "
             "[4, 6, 8])], axis=1) }"},
            // Into a concat, in the other order.
            {"graph g(x: f16[3, 70]) { y = x - mean(x, axes=[1], keepdim=true)\n"
             "  return concat([narrow(y, 1, 20, 50), narrow(y, 1, 0, 20)], axis=1) }"},
            // Of scans, of rows that are streamed, and of those that blocks share.
            {"graph g(x: f32[4, 300]) { y = cumsum(x, axis=1)\n"
             "  return narrow(y, 1, 299, 1), narrow(y, 1, 100, 70) }"},
            {"graph g(x: f32[2, 40000]) { return narrow(softmax(x), 1, 1000, 30001) }"},
            {"graph g(x: f32[300, 33000]) { return narrow(narrow(log_softmax(x), 0, 7, 3), 1, 8, "
             "500) }"},
            // Every other element is no run of them.
            {"graph g(x: f32[4, 64]) { return slice(softmax(x), [0, 1], [4, 64], [1, 2]) }"},
        }) == "");
}

TEST_CASE("emulation: parts of products are stored by the kernel that has the whole") {
  auto specs = [](const std::string& type) {
    const std::string tensors =
        "(x: " + type + "[m, 64], w: " + type + "[64, 384], b: " + type + "[384])";
    return std::vector<Case>{
        {"graph g" + tensors +
             " { h = matmul(x, w) + b\n"
             "  return narrow(h, 1, 0, 128), narrow(h, 1, 128, 128), narrow(h, 1, 256, 128) }",
         {{{"m", 130}}}},
        {"graph g" + tensors +
             " { h = relu(matmul(x, w) + b)\n"
             "  return narrow(h, 1, 5, 200), narrow(h, 1, 205, 171) }",
         {{{"m", 65}}}},
        {"graph g" + tensors +
             " { h = matmul(x, w) + b\n"
             "  q = transpose(reshape(narrow(h, 1, 0, 128), [m, 4, 32]), [1, 0, 2])\n"
             "  k = transpose(reshape(narrow(h, 1, 128, 128), [m, 4, 32]), [1, 2, 0])\n"
             "  return q, k, narrow(h, 1, 256, 128) }",
         {{{"m", 70}}}}};
  };
  std::vector<Case> cases = specs("f32");
  for (const std::string type : {"bf16", "f32"})
    for (Case& one : specs(type)) {
      one.precision = MatmulPrecision::medium;
      cases.push_back(std::move(one));
    }
  cases.push_back(
      {"graph g(x: bf16[5, 20, 64], w: bf16[64, 384]) {\n"
       "  h = reshape(matmul(x, w), [5, 20, 3, 4, 32])\n"
       "  return transpose(reshape(narrow(h, 2, 0, 1), [5, 20, 4, 32]), [0, 2, 1, 3]),\n"
       "    transpose(reshape(narrow(h, 2, 2, 1), [5, 20, 4, 32]), [0, 2, 1, 3]) }",
       {{}},
       MatmulPrecision::medium});
  cases.push_back({"graph g(x: bf16[100, 64], w: bf16[64, 128]) {\n"
                   "  y = softmax(matmul(x, w))\n"
                   "  return narrow(y, 1, 32, 64), sum(y, axes=[0]) }",
                   {{}},
                   MatmulPrecision::medium});
  // Parts whose ends do not allow vectors leave through shared memory too.
  for (const char* target : {"sm_80", "sm_90a"}) {
    cases.push_back({"graph g(x: bf16[2, 70, 64], w: bf16[2, 64, 128]) {\n"
                     "  return narrow(reshape(matmul(x, w), [2, 70, 8, 16]), 3, 0, 7) }",
                     {{}},
                     MatmulPrecision::highest});
    cases.back().target = target;
  }
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: rows of norms, scans, sums and gathers are computed of rows") {
  CHECK(check_cases({
            {"graph g(x: f32[20, 96]) { return narrow(softmax(x), 0, 5, 7) }"},
            {"graph g(x: f32[20, 50]) { return narrow(narrow(softmax(x), 0, 5, 7), 1, 3, 30) }"},
            {"graph g(x: f32[20, 50]) { return narrow(cumsum(x, axis=1), 0, 19, 1) }"},
            {"graph g(x: f32[20, 50]) { return narrow(sum(exp(x), axes=[1]), 0, 4, 3) }"},
            {"graph g(x: f32[6, 20, 8]) { return narrow(amax(x, axes=[0, 2]), 0, 4, 3) }"},
            {"graph g(x: f32[50, 8], i: i64[30, 8]) {\n"
             "  return narrow(gather(x, i, axis=0), 0, 4, 3),\n"
             "    narrow(gather(x * 2.0, i, axis=0), 1, 2, 3) }"},
            // Used as a whole as well.
            {"graph g(x: f32[20, 50]) { y = softmax(x)\n"
             "  return narrow(y, 0, 5, 7) * 2.0, sum(y, axes=[0]) }"},
        }) == "");
}

TEST_CASE("emulation: one position along a named extent is a gather") {
  const std::vector<DimBindings> sizes = {{{"m", 3}}, {{"m", 40}}};
  CHECK(
      check_cases({
          {"graph g(x: f32[m, 96]) { return exp(x[-1]), x[2] + x[-3] }", sizes},
          {"graph g(x: f32[6, m, 40]) { return x[:, -1] * 2, x[1:3, 0, None], x[..., -2, 1:9:2] }",
           sizes},
          // Beyond the size there is no element.
          {"graph g(x: f32[m, 8], i: i32[m, 8]) { return x[3], is_nan(x[3]), i[-4] }",
           {{{"m", 3}}}},
      }) == "");
}

TEST_CASE("emulation: parts along named extents are joined and taken") {
  const std::vector<DimBindings> sizes = {
      {{"n", 5}, {"t", 3}}, {{"n", 0}, {"t", 4}}, {{"n", 33}, {"t", 1}}, {{"n", 8}, {"t", 0}}};
  auto at = [&](const std::string& spec) {
    return Case{spec, sizes, MatmulPrecision::pedantic, Case::Depth::results};
  };
  CHECK(check_cases({
            at("graph g(cache: f32[2, n, 8], new: f32[2, t, 8]) { return cat([cache, new], 1) }"),
            at("graph g(cache: bf16[n, 7], new: bf16[t, 7], w: bf16[7, 16]) {\n"
               "  keys = cat([cache, relu(new)], 0)\n  return keys, keys @ w, keys.sum(0) }"),
            at("graph g(x: f32[3, n], y: f32[3, t]) {\n"
               "  z = cat([x, y, x], 1)\n  return softmax(z, 1), z[:, n:n + t], z[:, -n:] }"),
            at("graph g(x: i32[n], y: i32[t]) { return cat([y, x])[t:], y * 2 }"),
            at("graph g(x: f32[n, 6], y: f32[t, 6]) {\n"
               "  a, b = split(exp(cat([x, y])), [n, t])\n"
               "  c, d = chunk(cat([y, relu(y)], 1), 2, 1)\n  return a, b * 2, softmax(c, 0), d }"),
            at("graph g(x: f32[n, 4], y: f32[t, 4], i: i32[3, 4]) {\n"
               "  z = cat([x, y])\n  return z[-1] * 2, z[0] + 1, gather(z, i, axis=0) }"),
            {"graph g(x: f32[b, n, 4], y: f32[b, n, 4]) {\n"
             "  return mean(square(x[:, 1:] - y[:, :-1])), x[:, :4].sum(dim=1), relu(x)[:, -2:] }",
             {{{"b", 3}, {"n", 7}}, {{"b", 0}, {"n", 4}}, {{"b", 1}, {"n", 40}}},
             MatmulPrecision::pedantic,
             Case::Depth::results},
            {"graph g(q: f32[t, 16], k: f32[n, 16], new: f32[t, 16], v: f32[n + t, 8]) {\n"
             "  return scaled_dot_product_attention(q, cat([k, new], 0), v) }",
             {{{"n", 40}, {"t", 3}}, {{"n", 0}, {"t", 9}}},
             MatmulPrecision::pedantic,
             Case::Depth::results},
        }) == "");
}
