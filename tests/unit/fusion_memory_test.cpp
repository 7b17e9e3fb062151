// SPDX-License-Identifier: Apache-2.0
// The values that kernels leave in memory for others: which ones, computed by which kernel, and in
// which order.
#include "ir/fusion/storage.h"
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "tests/support/planned.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

/// The tensors that each kernel writes, without partials: "bf16[4, 8] | bf16[4, 8], f32[4]".
std::string writes(const Planned& planned) {
  std::vector<std::string> kernels;
  for (const Group& group : planned.plan.groups) {
    std::vector<std::string> tensors;
    for (const Write& write : group.writes)
      tensors.push_back(planned.graph.type(write.value).text());
    llvm::sort(tensors);
    kernels.push_back(fmt::format("{}", fmt::join(tensors, ", ")));
  }
  return fmt::format("{}", fmt::join(kernels, " | "));
}

/// Attention of two layers that share `m`, a mask or a bias of each head.
std::string two_layers(const std::string& mask, const std::string& tail) {
  std::string inputs;
  for (const char* name : {"q", "k", "v", "r", "l", "w"})
    inputs += fmt::format("{}: f16[2, 4, 512, 64], ", name);
  return inputs + "b: f16[4, 512, 512], c: bool[512, 512]) {\n  m = " + mask +
         "\n  h = matmul(softmax(matmul(q, k, transpose_b=true) + m), v)\n"
         "  i = matmul(softmax(matmul(r, l, transpose_b=true) + m), w)\n" +
         tail;
}

/// The number of kernels for an H200.
size_t kernels(const std::string& spec) {
  CompileOptions options;
  options.target = "sm_90a";
  options.device = "h200";
  auto parsed = parse_graph("graph g(" + spec + "\n}\n", "test");
  if (!parsed) FAIL(take_error(parsed.takeError()).second);
  return llvm::cantFail(compile_graph(*parsed, options)).schedules.size();
}

} // namespace

TEST_CASE("memory: a kernel of its own computes a mask that two layers read") {
  const std::string layers = "f16[2, 4, 512, 64] | f16[2, 4, 512, 64]";
  for (const char* mask : {"exp(b) * 2", "where(c, 0.0, b)", "where(c, b, exp(b))"}) {
    CAPTURE(std::string(mask));
    CHECK(writes(planned(two_layers(mask, "  return h, i"))) == "f16[4, 512, 512] | " + layers);
  }
  // It may be returned too, or reduced.
  CHECK(writes(planned(two_layers("exp(b) * 2", "  return h, i, m"))) ==
        "f16[4, 512, 512] | " + layers);
  CHECK(writes(planned(two_layers("exp(b) * 2", "  return h, i, sum(m, axis=2)"))) ==
        "f16[4, 512, 512] | f16[4, 512] | " + layers);
}

TEST_CASE("memory: masks that have no op in common are kernels of their own") {
  CHECK(kernels("q: f16[2, 4, 512, 64], k: f16[2, 4, 512, 64], v: f16[2, 4, 512, 64], "
                "r: f16[2, 4, 512, 64], l: f16[2, 4, 512, 64], w: f16[2, 4, 512, 64], "
                "c: f16[2, 512], d: f16[512, 512]) {\n"
                "  n = reshape(exp(c), [2, 1, 1, 512])\n  o = transpose(exp(d), [1, 0])\n"
                "  h = matmul(softmax(matmul(q, k, transpose_b=true) + n + o), v)\n"
                "  i = matmul(softmax(matmul(r, l, transpose_b=true) + n + o), w)\n"
                "  return h, i, n, o") == 4);
}

TEST_CASE("memory: each attention computes a cheap mask of small inputs") {
  CHECK(kernels(two_layers("cast(where(c, 0.0, -1000.0), f16)", "  return h, i")) == 2);
  CHECK(kernels(two_layers("cast(where(iota(i32, shape=[512, 512], axis=0) < 100, 0.0, 1.0), f16)",
                           "  return h, i")) == 2);
  // The result has no more bytes than the input, and takes long to compute.
  CHECK(kernels(two_layers("exp(exp(b))", "  return h, i")) == 3);
}

TEST_CASE("memory: a mask of one layer is computed in its kernel") {
  CHECK(writes(planned("q: f16[2, 4, 512, 64], k: f16[2, 4, 512, 64], v: f16[2, 4, 512, 64], "
                       "b: f16[4, 512, 512]) {\n"
                       "  return matmul(softmax(matmul(q, k, transpose_b=true) + exp(b) * 2), "
                       "v)")) == "f16[2, 4, 512, 64]");
}

TEST_CASE("memory: a value in 16 bits is converted where it is read") {
  const std::string norm =
      "x: bf16[4096, 768], w: bf16[768, 768], r: bf16[4096, 768], g: bf16[768]) {\n"
      "  h = matmul(x, w) + r\n  f = cast(h, f32)\n"
      "  n = cast(f * rsqrt(mean(f * f, axis=1, keepdim=true) + 0.000001), bf16) * g\n";
  // The residual is stored anyway, or in place of its conversion.
  CHECK(writes(planned(norm + "  return n, h")) == "bf16[4096, 768] | bf16[4096, 768]");
  CHECK(writes(planned(norm + "  return n")) == "bf16[4096, 768] | bf16[4096, 768]");
  // The conversion is a result of the graph.
  CHECK(writes(planned(norm + "  return n, f")) == "f32[4096, 768] | bf16[4096, 768]");
  // Products multiply it in f32.
  CHECK(writes(planned("x: bf16[4096, 768], w: bf16[768, 768], c: f32[768, 512]) {\n"
                       "  f = cast(matmul(x, w), f32)\n"
                       "  return matmul(f, c), matmul(transpose(f, [1, 0]), f)")) ==
        "f32[4096, 768] | f32[4096, 512] | f32[768, 768]");
}

TEST_CASE("memory: a conversion of a tile's value stays one") {
  const std::string layers = "x: bf16[20000, 64], w: bf16[64, 64], u: bf16[64, 64], "
                             "i: i32[100, 64]) {\n"
                             "  h = relu(matmul(x, w))\n  f = cast(h, f32)\n"
                             "  y = matmul(h, u)\n";
  CHECK(writes(planned(layers + "  return y + cast(f * 2, bf16), gather(f, i, axis=0)")) ==
        "bf16[20000, 64], f32[20000, 64] | f32[100, 64]");
}

TEST_CASE("memory: a converted value is the same number in all kernels") {
  const Planned peaks = planned("x: bf16[4096, 768], w: bf16[768, 768]) {\n"
                                "  f = cast(matmul(x, w), f32)\n"
                                "  return where(f == amax(f, axis=1, keepdim=true), f, 0.0)");
  CHECK(writes(peaks) == "bf16[4096, 768] | f32[4096, 768]");
  Graph graph = peaks.graph;
  FusionPlan plan = peaks.plan;
  choose_storage(graph, plan);
  CHECK(plan.groups.front().rounded == std::vector{plan.groups.front().writes.front().value});
  // The reader has the conversion's operand.
  const Read& read = plan.groups.back().reads.front();
  CHECK(read.access.value == plan.groups.front().writes.front().value);
}

TEST_CASE("memory: a product's operand is stored in the order in which the product reads it") {
  const std::string attention =
      "q: bf16[2, 12, 512, 64], k: bf16[2, 12, 512, 64], v: bf16[2, 12, 512, 64], "
      "w: bf16[768, 768]) {\n"
      "  h = matmul(softmax(matmul(q, k, transpose_b=true)), v)\n";
  const std::string joined = "matmul(reshape(transpose(h, [0, 2, 1, 3]), [1024, 768]), w)";
  CHECK(writes(planned(attention + "  return " + joined)) ==
        "bf16[2, 512, 12, 64] | bf16[1024, 768]");
  // The graph returns the heads, or another kernel reads them as they are.
  CHECK(writes(planned(attention + "  return h, " + joined)) ==
        "bf16[2, 12, 512, 64] | bf16[1024, 768]");
  // Heads that stay apart are strided as they are.
  CHECK(writes(planned(attention + "  u = reshape(w, [12, 64, 768])\n"
                                   "  return matmul(transpose(h, [1, 0, 2, 3]), "
                                   "reshape(u, [12, 1, 64, 768]))")) ==
        "bf16[2, 12, 512, 64] | bf16[12, 2, 512, 768]");
}

TEST_CASE("memory: named sizes may have strides too") {
  const std::string inputs = "q: bf16[m, 12, n, 64], k: bf16[m, 12, n, 64], v: bf16[m, 12, n, 64], "
                             "w: bf16[768, 768]) {\n"
                             "  h = matmul(softmax(matmul(q, k, transpose_b=true)), v)\n";
  CHECK(writes(planned(inputs + "  return matmul(reshape(transpose(h, [0, 2, 1, 3]), "
                                "[m*n, 768]), w)")) == "bf16[m, n, 12, 64] | bf16[m*n, 768]");
}

TEST_CASE("memory: views without strides, of several kinds") {
  const std::string inputs =
      "x: f16[8, 6, 640, 32], a: f16[32, 40], c: f16[40, 24], d: f16[6, 320, 24]) {\n"
      "  h = relu(matmul(x, a))\n";
  // No stride gives K, the rows of a matrix, and the rows of all matrices.
  CHECK(writes(planned(inputs + "  return matmul(reshape(transpose(h, [1, 2, 0, 3]), "
                                "[6, 640, 320]), d)")) == "f16[6, 640, 8, 40] | f16[6, 640, 24]");
  CHECK(writes(planned(inputs + "  return matmul(reshape(transpose(h, [0, 2, 1, 3]), "
                                "[8, 3840, 40]), c)")) == "f16[8, 640, 6, 40] | f16[8, 3840, 24]");
  // Dims that lie behind each other may be split in any way.
  CHECK(writes(planned(inputs + "  return matmul(reshape(h, [8, 3840, 40]), c), "
                                "matmul(reshape(h, [8, 60, 64, 40]), c)")) ==
        "f16[8, 6, 640, 40] | f16[8, 3840, 24] | f16[8, 60, 64, 24]");
  CHECK(writes(planned(inputs + "  i = reshape(h, [8, 6, 4, 160, 40])\n"
                                "  return matmul(transpose(i, [2, 0, 1, 3, 4]), c)")) ==
        "f16[4, 8, 6, 160, 40] | f16[4, 8, 6, 160, 24]");
}

TEST_CASE("memory: values with unrelated axes share a kernel only if it takes less time") {
  const auto spec = [](int heads, int groups, int rows) {
    return fmt::format("a: f32[{0}, {2}, 128], b: f32[{1}, {2}, 128], c: f32[{2}, 128]) {{\n"
                       "  s = sin(c)\n  return s, s * a, s * b",
                       heads, groups, rows);
  };
  CHECK(kernels(spec(64, 16, 512)) == 2); // one would have 64 x 16 x 512 x 128 points
  CHECK(kernels(spec(4, 3, 2)) == 1);
}

TEST_CASE("memory: a large value that is stored and summed along columns has two kernels") {
  const auto spec = [](int rows, int axis) {
    return fmt::format("x: bf16[{0}, 4096], g: bf16[{0}, 4096]) {{\n  h = tanh(x) * g\n"
                       "  return h, s=sum(h, axis={1})",
                       rows, axis);
  };
  CHECK(kernels(spec(4096, 0)) == 2);
  CHECK(kernels(spec(4096, 1)) == 1);
  CHECK(kernels(spec(4, 0)) == 1);
}
