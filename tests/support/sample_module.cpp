// SPDX-License-Identifier: Apache-2.0
// See sample_module.h.
#include "tests/support/sample_module.h"

#include "tests/support/arguments.h"

namespace ingot::testing {

namespace {

KernelCode main_kernel() {
  Expr m = Expr::symbol("m");
  KernelVariant fast;
  fast.entry = "sample_main_fast";
  fast.when = {{PredicateKind::aligned, 0, 0, 16}, {PredicateKind::divisible, m, 0, 4}};
  fast.launch.grid = {min(ceil_div(m, 128) * 2, 108), 2, 1};
  fast.launch.block = {256, 1, 1};
  fast.launch.shared_bytes = 98304;
  fast.launch.max_threads = 256;
  fast.arguments = {tensor(ArgumentKind::input, "x"),
                    tensor(ArgumentKind::param, "w"),
                    tensor(ArgumentKind::output, "y"),
                    memory(ArgumentKind::prepared, 128),
                    memory(ArgumentKind::workspace, m * 4),
                    memory(ArgumentKind::state, 0),
                    dim("m", m),
                    dim("rows", 64)};
  fast.schedule = "tile 128x64 step 64";
  KernelVariant general = fast;
  general.entry = "sample_main_general";
  general.when.clear();
  general.launch.cluster = {2, 1, 1};
  general.schedule = "element-wise";
  KernelCode kernel;
  kernel.name = "main";
  kernel.ops = {"t = mul(x, w)", "y = tanh(t)"};
  kernel.variants = {fast, general};
  return kernel;
}

KernelCode pack_kernel() {
  KernelVariant variant;
  variant.entry = "sample_pack";
  variant.launch.grid = {1, 1, 1};
  variant.launch.block = {64, 1, 1};
  variant.launch.max_threads = 64;
  Argument map = memory(ArgumentKind::tensormap, 32);
  map.map = {
      0, MapType::f16, {48, Expr::symbol("m"), 1}, {128, Expr::symbol("m") * 128}, {64, 8, 1}};
  variant.arguments = {tensor(ArgumentKind::param, "w"), memory(ArgumentKind::prepared, 0), map};
  KernelCode kernel;
  kernel.name = "pack";
  kernel.variants = {variant};
  return kernel;
}

} // namespace

Module sample_module() {
  Expr m = Expr::symbol("m");
  Module module;
  module.name = "sample";
  module.family = module.arch = "sm_80";
  module.overlaps = true;
  module.dims = {{"m", 1, 1 << 20}};
  module.requirements = {Expr::symbol("m") - 1};
  module.inputs = {{"x", DType::f32, {m, 64}, 4}};
  module.params = {{"w", DType::f16, {64}, 2}};
  module.outputs = {{"y", DType::f32, {m, 64}, 4}};
  module.prepared = {256, 256};
  module.workspace = {m * 8, 16};
  module.state = {4, 4};
  module.kernels = {main_kernel(), pack_kernel()};
  module.prepare.steps = {{1}};
  module.launch.steps = {{0}};
  return module;
}

CodeFacts sample_code() {
  CodeFacts code;
  code.file = "sample.ptx";
  code.kind = "ptx";
  code.ptx_version = "9.0";
  code.least_driver = "580";
  code.compiler = "nvrtc V13.0.88 CL-36424714";
  code.entries["sample_main_fast"] = {128, 1024, 0, 0};
  code.entries["sample_main_general"] = {40, 0, 16, 8};
  code.entries["sample_pack"] = {16, 0, 0, 0};
  return code;
}

BundleSection sample_section(std::string device, const std::string& arch, std::string cubin,
                             std::string ptx) {
  auto code = [](std::string bytes) {
    return std::make_shared<const std::string>(std::move(bytes));
  };
  BundleSection section{std::move(device),
                        std::make_shared<Manifest>(Manifest{sample_module(), sample_code()}),
                        code(std::move(cubin)), code(std::move(ptx))};
  own_manifest(section).module.arch = arch;
  return section;
}

Manifest& own_manifest(BundleSection& section) {
  auto copy = std::make_shared<Manifest>(*section.manifest);
  section.manifest = copy;
  return *copy;
}

} // namespace ingot::testing
