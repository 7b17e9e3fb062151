// SPDX-License-Identifier: Apache-2.0
#include "codegen/program.h"

#include <doctest/doctest.h>

TEST_CASE("program: a variant is its includes, then its body") {
  ingot::KernelVariant variant;
  variant.includes = {"math/functors.cuh", "kernels/held.cuh"};
  variant.body = "extern \"C\" __global__ void k() {}\n";
  CHECK(ingot::variant_source(variant) == "#include \"math/functors.cuh\"\n"
                                          "#include \"kernels/held.cuh\"\n\n"
                                          "extern \"C\" __global__ void k() {}\n");
}

TEST_CASE("program: a module holds every variant, and each include once") {
  ingot::Module module;
  module.kernels.resize(2);
  for (int i = 0; i < 2; ++i) {
    ingot::KernelVariant variant;
    variant.entry = i == 0 ? "first" : "second";
    variant.includes = {"kernels/held.cuh"};
    variant.body = "struct Stage {};";
    module.kernels[i].variants.push_back(variant);
  }
  CHECK(ingot::module_source(module) == "#include \"kernels/held.cuh\"\n\n"
                                        "struct Stage {};\n\nstruct Stage {};\n\n");
}
