// SPDX-License-Identifier: Apache-2.0
// Manifests that are whole JSON of the right schema and contradict themselves: each is refused as a
// manifest that does not read, never as a bug.
#include "codegen/program/manifest_check.h"

#include "src/support/error.h"
#include "tests/support/sample_module.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

struct Contradiction {
  void (*make)(Module&);
  const char* text;
};

KernelVariant& first(Module& m) { return m.kernels[0].variants[0]; }
TensorMap& map(Module& m) { return m.kernels[1].variants[0].arguments.back().map; }

const Contradiction kContradictions[] = {
    {[](Module& m) { m.dims.push_back(m.dims[0]); },
     "dimension 'm' has no name or that of another"},
    {[](Module& m) { m.dims[0].least = -1; },
     "dimension 'm': expected a range of numbers of at least 0, got [-1, 1048576]"},
    {[](Module& m) { m.dims[0].most = 0; },
     "dimension 'm': expected a range of numbers of at least 0, got [1, 0]"},
    {[](Module& m) { m.dims[0].name = "k"; }, "input 'x' uses 'm', which is no named dimension"},
    {[](Module& m) { m.inputs.push_back(m.inputs[0]); },
     "input 'x' has no name or that of another"},
    {[](Module& m) { m.params[0].alignment = 3; },
     "param 'w' has alignment 3, expected a power of two up to 256"},
    {[](Module& m) { m.outputs[0].alignment = 0; },
     "output 'y' has alignment 0, expected a power of two up to 256"},
    {[](Module& m) { m.params[0].shape = {-4}; }, "param 'w' has an extent of -4"},
    {[](Module& m) { m.params[0].shape.resize(9); }, "param 'w' has 9 extents, expected at most 8"},
    {[](Module& m) { m.workspace.alignment = 0; },
     "workspace memory has alignment 0, expected a power of two up to 256"},
    {[](Module& m) { m.workspace.alignment = -1; },
     "workspace memory has alignment -1, expected a power of two up to 256"},
    {[](Module& m) { m.state.bytes = -1; }, "state memory has -1 bytes"},
    {[](Module& m) { m.prepared.bytes = Expr::symbol("z"); },
     "prepared memory uses 'z', which is no named dimension"},
    {[](Module& m) { m.kernels[1].name = "main"; }, "kernel 'main' has no name or that of another"},
    {[](Module& m) { m.kernels[0].variants.clear(); }, "kernel 'main' has no variant"},
    {[](Module& m) { m.kernels[1].variants[0].entry = "sample_main_fast"; },
     "entry 'sample_main_fast' has no name or that of another"},
    {[](Module& m) { first(m).arguments[0].name = "q"; },
     "'sample_main_fast' takes the input 'q', which does not exist"},
    {[](Module& m) { first(m).arguments[1].name = "x"; },
     "'sample_main_fast' takes the param 'x', which does not exist"},
    {[](Module& m) { first(m).launch.grid[1] = Expr::symbol("rows"); },
     "'sample_main_fast' uses 'rows', which is no named dimension"},
    {[](Module& m) { map(m).argument = 2; },
     "'sample_pack' has a tensor map of argument 2, which is no pointer"},
    {[](Module& m) { map(m).argument = 3; }, "'sample_pack' has a tensor map of argument 3 of 3"},
    {[](Module& m) { map(m).strides[0] = 24; },
     "'sample_pack' has a tensor map with a step of 24 bytes, expected a multiple of 16"},
    {[](Module& m) { map(m).strides[1] = Expr::symbol("z"); },
     "'sample_pack' uses 'z', which is no named dimension"},
    {[](Module& m) { map(m).box[1] = 257; },
     "'sample_pack' has a tensor map with a box of 257, expected 1 to 256"},
    {[](Module& m) {
       auto& arguments = m.kernels[1].variants[0].arguments;
       arguments.insert(arguments.end(), kMostTensorMaps, arguments.back());
     },
     "'sample_pack' takes more than 24 tensor maps"},
    {[](Module& m) { first(m).when[0].argument = 8; },
     "'sample_main_fast' has a condition on argument 8 of 8"},
    {[](Module& m) { first(m).when[1].number = 0; },
     "'sample_main_fast' has a condition with divisor 0"},
    {[](Module& m) { first(m).when[0].number = -4; },
     "'sample_main_fast' has a condition with divisor -4"},
    {[](Module& m) { first(m).launch.cluster[1] = 0; }, "'sample_main_fast' has a cluster of 0"},
    {[](Module& m) { first(m).launch.max_threads = -1; },
     "'sample_main_fast' has -1 threads and 1 blocks for each multiprocessor"},
    {[](Module& m) { m.prepare.steps.push_back(m.launch.steps[0]); },
     "'sample_main_fast', which prepare runs, takes input, which is there at launch alone"},
};

std::string verdict(const Module& module) {
  auto manifest = parse_manifest(write_manifest(module, testing::sample_code()));
  if (manifest) return "read";
  auto [code, text] = take_error(manifest.takeError());
  CHECK(code == ErrorCode::parse_error);
  return text;
}

} // namespace

TEST_CASE("manifest: one that contradicts itself does not read") {
  CHECK(verdict(testing::sample_module()) == "read");
  for (const Contradiction& contradiction : kContradictions) {
    Module module = testing::sample_module();
    contradiction.make(module);
    CHECK(verdict(module) == std::string("manifest: ") + contradiction.text);
  }
}

TEST_CASE("manifest: an expression that needs a deep stack does not read") {
  Module module = testing::sample_module();
  Expr deep = Expr::symbol("m");
  for (int i = 0; i < 100; ++i) deep = min(Expr(i + 2), deep);
  module.workspace.bytes = deep;
  CHECK(verdict(module) == "manifest: workspace memory is nested too deep");
}
