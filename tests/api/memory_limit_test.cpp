// SPDX-License-Identifier: Apache-2.0
// The library in a process that may have little memory: too large a request gives a status, and a
// file is read without a multiple of its size. Each in a process of its own, as limits stay.
#include "codegen/program/bundle.h"
#include "ingot/ingot_c.h"
#include "tests/support/sample_module.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasLimits = false; // sanitizers reserve far more addresses than they use
#else
constexpr bool kHasLimits = true;
#endif

/// Bytes of addresses that this process has.
rlim_t addresses() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file || std::fscanf(file, "%ld", &pages) != 1) std::abort();
  std::fclose(file);
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void limit(rlim_t bytes) {
  rlimit now = {};
  getrlimit(RLIMIT_AS, &now);
  now.rlim_cur = bytes;
  if (setrlimit(RLIMIT_AS, &now) != 0) std::abort();
}

/// The result of `action` in a process that gets so many bytes more; -1 if it did not end well.
template <typename Action> int under_limit(rlim_t bytes, Action action) {
  const pid_t child = fork();
  if (child == 0) {
    limit(addresses() + bytes);
    _exit(action());
  }
  int state = 0;
  waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

ingot_code compile(const std::string& spec) {
  ingot_graph* graph = nullptr;
  ingot_program* program = nullptr;
  ingot_error* error = nullptr;
  ingot_options options = {};
  options.struct_size = sizeof(options);
  options.device = "h100";
  ingot_code code = ingot_graph_parse(spec.data(), spec.size(), nullptr, &graph, &error);
  if (code == INGOT_OK) code = ingot_compile(graph, &options, &program, &error);
  const bool is_told = ingot_error_code(error) == code;
  ingot_error_free(error);
  ingot_program_free(program);
  ingot_graph_free(graph);
  return is_told ? code : INGOT_INTERNAL;
}

std::string chain(int length) {
  std::string spec = "graph g(x: f32[64, 64]) {\n  v0 = exp(x)\n";
  for (int i = 1; i < length; ++i)
    spec += fmt::format("  v{} = {}(v{})\n", i, i % 50 == 0 ? "softmax" : "tanh", i - 1);
  return spec + fmt::format("  return y = v{}\n}}\n", length - 1);
}

} // namespace

TEST_CASE("c: a large graph where memory ends is told, and a small one compiles afterwards") {
  if (!kHasLimits) INGOT_SKIP("limits of memory without a sanitizer");
  const std::string large = chain(4000), small = chain(3);
  REQUIRE(compile(small) == INGOT_OK); // makes the tables that are made once
  int told = 0;
  for (int megabytes = 1; megabytes <= 64; megabytes *= 2) {
    const int code = under_limit(static_cast<rlim_t>(megabytes) << 20, [&]() -> int {
      const ingot_code first = compile(large);
      limit(RLIM_INFINITY);
      const ingot_code then = compile(small);
      return then == INGOT_OK ? first : 100 + then;
    });
    CAPTURE(megabytes);
    CHECK((code == INGOT_OUT_OF_MEMORY || code == INGOT_OK));
    if (code == INGOT_OUT_OF_MEMORY) ++told;
  }
  CHECK(told >= 1);
}

TEST_CASE("c: sections that name one manifest take its memory once") {
  if (!kHasLimits) INGOT_SKIP("limits of memory without a sanitizer");
  BundleSection section = testing::sample_section("a100", "sm_80", "a cubin", "some PTX");
  Manifest& manifest = testing::own_manifest(section);
  const KernelVariant variant = manifest.module.kernels[0].variants[1];
  for (int i = 0; i < 3000; ++i) {
    KernelVariant& more = manifest.module.kernels[0].variants.emplace_back(variant);
    more.entry = "more_" + std::to_string(i);
  }
  Bundle bundle{"0.1.0", std::vector<BundleSection>(256, section)};
  for (size_t i = 0; i < bundle.sections.size(); ++i)
    bundle.sections[i].device = "card" + std::to_string(i);
  const std::string bytes = llvm::cantFail(write_bundle(bundle));
  REQUIRE(bytes.size() > 3'000'000);
  const int code = under_limit(rlim_t{256} << 20, [&]() -> int {
    ingot_program* program = nullptr;
    return ingot_program_load(bytes.data(), bytes.size(), nullptr, &program, nullptr);
  });
  CHECK(code == INGOT_OK);
}

TEST_CASE("c: bytes that read as far more than they are end in a status") {
  if (!kHasLimits) INGOT_SKIP("limits of memory without a sanitizer");
  std::string spec = "graph g(x: f32[4]) { return y = concat([";
  for (int i = 0; i < 1'000'000; ++i) spec += "x,";
  spec += "x], axis=0) }";
  const int code = under_limit(rlim_t{16} << 20, [&]() -> int { return compile(spec); });
  CHECK((code == INGOT_OUT_OF_MEMORY || code == INGOT_PARSE_ERROR || code == INGOT_TYPE_ERROR));
}
