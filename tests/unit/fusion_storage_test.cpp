// SPDX-License-Identifier: Apache-2.0
// In which types intermediates lie in memory between kernels.
#include "ir/fusion/storage.h"

#include "ir/fusion/grouping.h"
#include "ir/text/parser.h"
#include "src/compiler.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Compilation compiled(const std::string& graph) {
  auto compilation =
      compile_graph(llvm::cantFail(parse_graph("graph g(" + graph + " }", "test")), {});
  REQUIRE(bool(compilation));
  return std::move(*compilation);
}

/// The intermediates that kernels store for each other, `bf16[8] as f32` each.
std::vector<std::string> stored(const Compilation& c) {
  std::vector<std::string> result;
  for (const Group& group : c.plan.groups)
    for (const Write& write : group.writes) {
      const auto& outputs = c.rewritten.outputs();
      if (std::any_of(outputs.begin(), outputs.end(),
                      [&](const GraphOutput& o) { return o.value == write.value; }))
        continue;
      result.push_back(c.rewritten.type(write.value).text() + " as " +
                       spelling(c.rewritten.stored_type(write.value)).str());
    }
  return result;
}

size_t rounded(const Compilation& c) {
  size_t count = 0;
  for (const Group& group : c.plan.groups) count += group.rounded.size();
  return count;
}

} // namespace

TEST_CASE("storage: statistics of 16-bit columns stay f32") {
  const Compilation c =
      compiled("x: bf16[4096, 512], w: bf16[1024, 512], gamma: bf16[1024], beta: bf16[1024]) {\n"
               "  return batch_norm(linear(x, w), gamma=gamma, beta=beta, training=true)");
  size_t vectors = 0;
  for (const std::string& text : stored(c)) {
    CAPTURE(text);
    const bool is_vector = text.find("[1024]") != std::string::npos;
    vectors += is_vector ? 1 : 0;
    CHECK(text.find(is_vector ? " as f32" : " as bf16") != std::string::npos);
  }
  CHECK(vectors > 0);
  CHECK(module_source(c.module).find("bf16[1024], stored as f32") != std::string::npos);
}

TEST_CASE("storage: a vector that a kernel of its own merges stays f32") {
  for (const char* const made : {"softmax(m, 0)", "cumsum(m, axis=0)"}) {
    CAPTURE(made);
    const Compilation c =
        compiled("x: bf16[4096, 512]) {\n  m = mean(x, axis=0)\n  return x * " + std::string(made));
    const auto vectors = stored(c);
    CHECK(!vectors.empty());
    for (const std::string& text : vectors) CHECK(text == "bf16[512] as f32");
    CHECK(text_of(c.plan, c.rewritten).find(" as f32\n") != std::string::npos);
  }
}

TEST_CASE("storage: activations stay in their type beside a wide layer") {
  const Compilation c = compiled("x: f16[64, 512], w: f16[512, 512], v: f16[50000, 512]) {\n"
                                 "  return linear(relu(linear(x, w)), v)");
  CHECK(stored(c) == std::vector<std::string>{"f16[64, 512] as f16"});
}

TEST_CASE("storage: a sum of exponentials is one of the numbers that lie in memory") {
  // Heads too wide for the kernel that computes the softmax where it is multiplied.
  const char* const attention =
      "q: bf16[8, 512, 300], k: bf16[8, 512, 300], v: bf16[8, 512, 300]) {\n"
      "  s = matmul(q, k, transpose_b=true) * 0.125\n"
      "  return matmul(softmax(s, axis=-1), v)";
  const Compilation c = compiled(attention);
  CHECK(rounded(c) == 1);
  CHECK(module_source(c.module).find("math::Cast<bf16, f32>::apply(mul") != std::string::npos);
  // The partial sums may be merged by a kernel of their own.
  CHECK(rounded(compiled("q: bf16[16, 512, 300], k: bf16[16, 512, 300], v: bf16[16, 512, 300]) {\n"
                         "  s = matmul(q, k, transpose_b=true) * 0.125\n"
                         "  return matmul(softmax(s, axis=-1), v)")) == 1);
  std::string f32 = attention;
  for (size_t at; (at = f32.find("bf16")) != std::string::npos;) f32.replace(at, 4, "f32");
  CHECK(rounded(compiled(f32)) == 0);
  // Sums of the same product feed no exponential.
  const Compilation sums = compiled("q: bf16[4096, 64], k: bf16[512, 64]) {\n"
                                    "  s = matmul(q, k, transpose_b=true)\n"
                                    "  r = reshape(s, [4096, 64, 8])\n  a = sum(r, -1)\n"
                                    "  c = reshape(r - reshape(a, [4096, 64, 1]), [4096, 512])\n"
                                    "  return c, softmax(s), softmax(a)");
  for (const Group& group : sums.plan.groups)
    for (ValueId value : group.rounded) CHECK(sums.rewritten.type(value).shape == Shape{4096, 512});
  // A row that one block holds is not stored for its statistics.
  CHECK(rounded(compiled("x: bf16[512, 64], w: bf16[128, 64]) {\n"
                         "  return softmax(linear(x, w), axis=-1)")) == 0);
}

TEST_CASE("storage: a residual sum that is normalised stays f32") {
  const auto wide = [](const std::string& result) {
    const Compilation c =
        compiled("x: bf16[512, 768], w: bf16[768, 768], h: bf16[512, 768], g: bf16[768]) {\n"
                 "  p = linear(x, w)\n  s = h + p\n  n = layer_norm(s, g, g)\n  return " +
                 result);
    return llvm::count(stored(c), std::string("bf16[512, 768] as f32"));
  };
  CHECK(wide("linear(n, w)") == 1);
  CHECK(wide("linear(n, w) + n") == 1);
  CHECK(wide("linear(n, w) + s") == 1); // and added to a later layer
  CHECK(wide("linear(rms_norm(s, g), w)") == 1);
  // Reduced otherwise.
  CHECK(wide("softmax(s)") == 0);
  CHECK(wide("s - mean(s)") == 0);
  CHECK(wide("s - reduce_max(s, axis=1, keepdim=true)") == 0);
  // It is an output, or a product's operand.
  CHECK(wide("linear(n, w), s") == 0);
  CHECK(wide("linear(n, w), linear(s, w)") == 0);
  // A product that is normalised was not added to anything.
  CHECK(wide("linear(layer_norm(p, g, g), w)") == 0);
}

TEST_CASE("storage: a part of a concat that is stored as f32 is not rounded before") {
  // The squares of w are prepared, and copied to the concat of the squares.
  const std::vector<std::string> types =
      stored(compiled("x: f16[1, 33], y: f16[33, 3001], param w: f16[64, 33]) {\n"
                      "  v = concat([reshape(sum(y, axis=1), [1, 33]) + x, w], axis=0)\n"
                      "  return v / sqrt(sum(v * v, axis=1, keepdim=true))"));
  CHECK(llvm::is_contained(types, "f16[65, 33] as f32"));
  CHECK(llvm::is_contained(types, "f16[64, 33] as f32"));
  CHECK_FALSE(llvm::is_contained(types, "f16[64, 33]"));
}
