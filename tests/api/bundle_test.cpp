// SPDX-License-Identifier: Apache-2.0
// Bundles through the public interfaces, as far as they go without a GPU.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" // C leaves fields out

#include "codegen/program/bundle.h"
#include "ingot/ingot.h"
#include "ingot/ingot_c.h"
#include "src/support/files.h"
#include "tests/support/environment.h"
#include "tests/support/sample_module.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_folder.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace ingot;

namespace {

/// A bundle of the sample module for two cards; code that nothing looks at.
std::string sample_bytes() {
  BundleSection a100 = testing::sample_section("a100", "sm_80", "a cubin", "some PTX");
  BundleSection h100 = testing::sample_section("h100", "sm_90", "a cubin", "");
  testing::own_manifest(h100).module.workspace.bytes = Expr::symbol("m") * 32;
  h100.ptx = nullptr;
  return llvm::cantFail(write_bundle({"0.1.0", {a100, h100}}));
}

/// Whatever asks for NVRTC meanwhile finds none.
struct HiddenNvrtc : ingot::testing::ScopedVariable {
  HiddenNvrtc() : ScopedVariable("INGOT_NVRTC_PATH", "/nowhere") {}
};

} // namespace

TEST_CASE("api: a program from a bundle answers questions without NVRTC") {
  const HiddenNvrtc hidden;
  auto program = load_bundle(sample_bytes());
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  REQUIRE(program->inputs().size() == 1);
  CHECK(program->inputs()[0].name == "x");
  CHECK(program->inputs()[0].shape[0].name() == "m");
  CHECK(program->params()[0].type == ElementType::f16);
  CHECK(program->outputs()[0].name == "y");
  CHECK(program->num_kernels() == 1);
  const DimRange m[] = {{"m", 100, 100}};
  auto shape = program->shape(Role::output, 0, m);
  REQUIRE(shape.ok());
  CHECK(*shape == std::vector<int64_t>{100, 64});
  // Enough on either card.
  auto needs = program->memory(m);
  REQUIRE(needs.ok());
  CHECK(needs->workspace == 3200);
  auto cubin = program->code(CodeFormat::cubin), ptx = program->code(CodeFormat::ptx);
  REQUIRE(cubin.ok());
  CHECK(cubin->bytes == "a cubin");
  CHECK(cubin->manifest.find("\"kind\": \"cubin\"") != std::string::npos);
  REQUIRE(ptx.ok());
  CHECK(ptx->bytes == "some PTX");
  CHECK(ptx->manifest.find("\"file\": \"sample.ptx\"") != std::string::npos);
  CHECK(ptx->manifest.find("\"kind\": \"ptx\"") != std::string::npos);
  CHECK(ptx->manifest.find("registers") == std::string::npos);
  auto cuda = program->code(CodeFormat::cuda);
  CHECK(cuda.status().code() == StatusCode::unsupported);
  CHECK(cuda.status().message() ==
        "code: 'sample' was loaded from a bundle, which holds no cuda; expected cubin or ptx");
}

TEST_CASE("api: a program from a bundle says that no GPU is usable, and nothing of NVRTC") {
  auto gpu = Gpu::open();
  if (gpu.ok()) INGOT_SKIP("a machine without a GPU");
  const HiddenNvrtc hidden;
  auto program = load_bundle(sample_bytes());
  REQUIRE(program.ok());
  const TensorView params[1] = {};
  const Status prepared = program->prepare({.params = params});
  CHECK(prepared.code() == StatusCode::unavailable);
  CHECK(prepared.message() == gpu.status().message());
  const int64_t extents[] = {3, 64};
  const TensorView tensors[] = {{nullptr, extents}};
  const Status launched =
      program->launch({.inputs = tensors, .params = params, .outputs = tensors});
  CHECK(launched.message() == gpu.status().message());
}

TEST_CASE("api: bundles that do not load have a code and a message") {
  auto damaged = load_bundle("ingot-bundle 2 3 00\nabc", "model.ingotb");
  CHECK(damaged.status().code() == StatusCode::parse_error);
  CHECK(damaged.status().message().find("bundle 'model.ingotb' is damaged: ") == 0);
  CHECK(load_bundle("").status().message().find("'<bundle>' is no bundle: ") == 0);
  CHECK(load_bundle("ingot-bundle 3 ?\n").status().code() == StatusCode::unsupported);
  auto absent = load_bundle_file("/nowhere/model.ingotb");
  CHECK(absent.status().code() == StatusCode::io_error);
  CHECK(absent.status().message() ==
        "cannot read '/nowhere/model.ingotb': No such file or directory");
  // Intact, with a manifest that contradicts itself.
  Bundle bundle = llvm::cantFail(read_bundle(sample_bytes(), ""));
  testing::own_manifest(bundle.sections[1]).module.kernels[0].variants.clear();
  auto inconsistent = load_bundle(llvm::cantFail(write_bundle(bundle)), "model.ingotb");
  CHECK(inconsistent.status().code() == StatusCode::parse_error);
  CHECK(inconsistent.status().message() ==
        "bundle 'model.ingotb' is damaged: section 1: manifest: kernel 'main' has no variant; copy "
        "it again, or make it anew with `ingot compile --emit=bundle`");
}

TEST_CASE("api: a graph becomes the same bundle each time, and a program") {
  auto spec = parse("graph g(x: f32[m, 64], param w: f32[32, 64]) { return y = linear(x, w) }");
  REQUIRE(spec.ok());
  auto bytes = bundle(*spec, {.device = "a100,h200"});
  if (bytes.status().code() == StatusCode::unavailable) INGOT_SKIP("NVRTC");
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  auto again = bundle(*spec, {.device = "a100,h200"});
  REQUIRE(again.ok());
  CHECK(*bytes == *again);
  const HiddenNvrtc hidden;
  auto program = load_bundle(*bytes);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  CHECK(program->outputs()[0].name == "y");
  CHECK(program->code(CodeFormat::ptx)->bytes.find(".target sm_80") != std::string::npos);
  CHECK(program->code(CodeFormat::cubin)->manifest.find("\"arch\": \"sm_80\"") !=
        std::string::npos);
}

TEST_CASE("api: targets and devices that a bundle cannot have are refused before NVRTC is needed") {
  const HiddenNvrtc hidden;
  auto spec = parse("graph g(x: f32[4]) { return relu(x) }");
  REQUIRE(spec.ok());
  auto message = [&](const Options& options) { return bundle(*spec, options).status().message(); };
  CHECK(message({.device = "a100,toaster"}) ==
        "unknown device 'toaster': expected a100, h100, h200 or native");
  CHECK(message({.device = "a100,a100"}) == "bundle: device 'a100' is listed twice in 'a100,a100'");
  CHECK(message({.device = ","}) ==
        "bundle: expected names of devices separated by commas, got ','");
  CHECK(message({.target = ","}) ==
        "bundle: expected names of targets separated by commas, got ','");
  CHECK(message({.target = "sm_80,sm_100a"}).find("unknown target 'sm_100a': expected sm_80") == 0);
  CHECK(message({.precision = static_cast<Precision>(9)}).find("9 is no Precision") !=
        std::string::npos);
  CHECK(bundle(*spec, {.device = "a100"}).status().code() == StatusCode::unavailable);
}

TEST_CASE("c api: bundles load from memory and from files") {
  ingot::testing::TemporaryFolder folder;
  const std::string bytes = sample_bytes(), path = folder.path() + "/sample.ingotb";
  llvm::cantFail(write_file_atomically(path, bytes));
  ingot_program *program = nullptr, *from_file = nullptr;
  ingot_error* error = nullptr;
  REQUIRE(ingot_program_load(bytes.data(), bytes.size(), nullptr, &program, &error) == INGOT_OK);
  REQUIRE(ingot_program_load_file(path.c_str(), &from_file, &error) == INGOT_OK);
  for (ingot_program* one : {program, from_file}) {
    ingot_tensor_info info = {.struct_size = sizeof(info)};
    CHECK(ingot_program_tensor(one, INGOT_PARAM, 0, &info, &error) == INGOT_OK);
    CHECK(info.name == std::string("w"));
    const ingot_dim m = {"m", 10, 10};
    ingot_memory needs = {.struct_size = sizeof(needs)};
    CHECK(ingot_program_memory(one, &m, 1, &needs, &error) == INGOT_OK);
    CHECK(needs.workspace == 320);
    ingot_program_free(one);
  }
  CHECK(ingot_program_load(bytes.data(), bytes.size() - 1, "s.ingotb", &program, &error) ==
        INGOT_PARSE_ERROR);
  CHECK(std::string(ingot_error_message(error))
            .find("bundle 's.ingotb' is damaged: it was cut off: expected ") == 0);
  ingot_error_free(error);
  CHECK(ingot_program_load_file("/nowhere/s.ingotb", &program, nullptr) == INGOT_IO_ERROR);
  CHECK(ingot_program_load(nullptr, 3, nullptr, &program, nullptr) == INGOT_INVALID_ARGUMENT);
  CHECK(ingot_program_load(bytes.data(), 3, nullptr, nullptr, nullptr) == INGOT_INVALID_ARGUMENT);
  CHECK(ingot_program_load_file(nullptr, &program, nullptr) == INGOT_INVALID_ARGUMENT);
}

TEST_CASE("c api: a graph becomes a bundle") {
  const std::string text = "graph g(x: f32[4]) { return y = relu(x) }";
  ingot_graph* graph = nullptr;
  REQUIRE(ingot_graph_parse(text.data(), text.size(), nullptr, &graph, nullptr) == INGOT_OK);
  const ingot_options options = {.struct_size = sizeof(options), .device = "h100"};
  ingot_bytes* bytes = nullptr;
  ingot_error* error = nullptr;
  CHECK(ingot_bundle(nullptr, nullptr, &bytes, nullptr) == INGOT_INVALID_ARGUMENT);
  CHECK(ingot_bundle(graph, &options, nullptr, nullptr) == INGOT_INVALID_ARGUMENT);
  const ingot_code code = ingot_bundle(graph, &options, &bytes, &error);
  ingot_graph_free(graph);
  if (code == INGOT_UNAVAILABLE) INGOT_SKIP("NVRTC");
  REQUIRE_MESSAGE(code == INGOT_OK, ingot_error_message(error));
  ingot_program* program = nullptr;
  CHECK(ingot_program_load(ingot_bytes_data(bytes), ingot_bytes_size(bytes), nullptr, &program,
                           nullptr) == INGOT_OK);
  ingot_bytes_free(bytes);
  ingot_bytes *cubin = nullptr, *manifest = nullptr;
  CHECK(ingot_program_code(program, INGOT_CUBIN, &cubin, &manifest, nullptr) == INGOT_OK);
  CHECK(std::string(ingot_bytes_data(manifest)).find("\"arch\": \"sm_90\"") != std::string::npos);
  ingot_bytes_free(cubin);
  ingot_bytes_free(manifest);
  ingot_program_free(program);
}
