// SPDX-License-Identifier: Apache-2.0
#include "codegen/program/program.h"

#include <doctest/doctest.h>

namespace {

/// A kernel whose code is that of every other kernel of the same `space`.
ingot::KernelCode kernel_in(const std::string& space, const std::string& name) {
  ingot::KernelVariant variant;
  variant.includes = {"math/functors.cuh", "kernels/held.cuh"};
  variant.body = "// of " + name + "\nextern \"C\" __global__ void k() {}\n";
  return {name, {"y = exp(x)"}, space, "struct Stage {};\n", {variant}};
}

} // namespace

TEST_CASE("program: a variant is its includes, then code without comments") {
  const ingot::KernelCode kernel = kernel_in("space", "name");
  CHECK(ingot::variant_source(kernel, kernel.variants[0]) ==
        "#include \"math/functors.cuh\"\n"
        "#include \"kernels/held.cuh\"\n\n"
        "namespace space {\nusing namespace ingot;\n\n"
        "struct Stage {};\nextern \"C\" __global__ void k() {}\n\n}\n");
}

TEST_CASE("program: names do not reach the translation unit of a variant") {
  const ingot::KernelCode one = kernel_in("space", "one"), other = kernel_in("space", "other");
  CHECK(variant_source(one, one.variants[0]) == variant_source(other, other.variants[0]));
}

TEST_CASE("program: a module holds each include once, and kernels of equal code once") {
  ingot::Module module;
  module.kernels = {kernel_in("a", "first"), kernel_in("a", "second"), kernel_in("b", "third")};
  const std::string source = ingot::module_source(module);
  const auto count = [&](const char* text) { return llvm::StringRef(source).count(text); };
  CHECK(count("#include") == 2);
  CHECK(count("void k()") == 2);
  CHECK(count("// first") == 1);
  CHECK(count("// second") == 0);
  CHECK(count("namespace b {") == 1);
}
