// SPDX-License-Identifier: Apache-2.0
// A program of somebody else: builds a graph and prints its CUDA source.
#include <ingot/ingot.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace {

ingot::GraphSpec build() {
  ingot::GraphBuilder graph("chain");
  ingot::Var x = graph.input("x", ingot::ElementType::f32, {"m", 64});
  graph.output("y", ingot::relu(x) * 2.0);
  auto spec = graph.finish();
  if (!spec) throw std::runtime_error(spec.status().message());
  return *spec;
}

} // namespace

int main() {
  try {
    auto program = ingot::compile(build());
    if (!program) throw std::runtime_error(program.status().message());
    auto code = program->code(ingot::CodeFormat::cuda);
    if (!code) throw std::runtime_error(code.status().message());
    std::cout << ingot::version() << "\n" << code->bytes;
    return ingot::parse("graph g(") ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
