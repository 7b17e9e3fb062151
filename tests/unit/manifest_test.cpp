// SPDX-License-Identifier: Apache-2.0
#include "codegen/program/manifest.h"

#include "codegen/program/manifest_words.h"
#include "src/support/error.h"
#include "tests/support/sample_module.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

std::string sample_text() {
  return write_manifest(ingot::testing::sample_module(), ingot::testing::sample_code());
}

std::string failure(const std::string& text) {
  auto manifest = parse_manifest(text);
  return manifest ? "read" : take_error(manifest.takeError()).second;
}

} // namespace

TEST_CASE("manifest: a manifest that is read back writes the same text") {
  auto manifest = parse_manifest(sample_text());
  REQUIRE_MESSAGE(bool(manifest), take_error(manifest.takeError()).second);
  CHECK(write_manifest(manifest->module, manifest->code) == sample_text());
  const Module& module = manifest->module;
  CHECK(module.dims[0].most == 1 << 20);
  CHECK(module.kernels[0].variants[0].when[0].number == 16);
  CHECK(module.kernels[0].variants[1].launch.cluster[0] == 2);
  CHECK(module.overlaps);
  CHECK(module.prepare.steps[0].kernel == 1);
  CHECK(module.launch.steps[0].kernel == 0);
  CHECK(manifest->code.entries.at("sample_main_general").spill_bytes == 8);
}

TEST_CASE("manifest: launches do not overlap where the text does not say so") {
  Module module = ingot::testing::sample_module();
  module.overlaps = false;
  const std::string text = write_manifest(module, ingot::testing::sample_code());
  CHECK(text.find("overlaps") == std::string::npos);
  auto manifest = parse_manifest(text);
  REQUIRE(bool(manifest));
  CHECK(!manifest->module.overlaps);
}

TEST_CASE("manifest: an unbounded dimension has no upper bound in the text") {
  Module module = ingot::testing::sample_module();
  module.dims[0].most = INT64_MAX;
  std::string text = write_manifest(module, {});
  CHECK(text.find("\"most\"") == std::string::npos);
  auto manifest = parse_manifest(text);
  REQUIRE(bool(manifest));
  CHECK(manifest->module.dims[0].most == INT64_MAX);
}

TEST_CASE("manifest: the text for an unknown word lists all words of its table") {
  const auto lists_all = [](const auto& words, llvm::StringRef text) {
    return llvm::all_of(words, [&](const auto& word) { return text.contains(word.second); });
  };
  CHECK(lists_all(kArgumentWords, kArgumentsExpected));
  CHECK(lists_all(kPredicateWords, kPredicatesExpected));
  CHECK(lists_all(kMapWords, kMapsExpected));
}

TEST_CASE("manifest: reading errors name the place") {
  const std::string text = sample_text();
  CHECK(failure("[]") == "manifest: expected an object whose format is \"ingot-manifest\"");
  CHECK(failure("{").find("manifest: ") == 0);
  CHECK(failure(replaced(text, "\"version\": 4", "\"version\": 3")) ==
        "manifest: expected version 4, got 3; read it with the Ingot that wrote it");
  CHECK(failure(replaced(text, "\"sample_main_fast\"", "7")) ==
        "manifest: expected string at manifest.kernels[0].variants[0].entry");
  CHECK(failure(replaced(text, "\"kind\": \"workspace\"", "\"kind\": \"heap\""))
            .find("expected input, output, param, prepared, workspace, state, dim or tensormap at "
                  "manifest.") != std::string::npos);
  CHECK(failure(replaced(text, "\"kind\": \"aligned\"", "\"kind\": \"even\""))
            .find("expected divisible or aligned at manifest.") != std::string::npos);
  CHECK(failure(replaced(text, "\"argument\": 0,\n              \"dtype\": \"f16\"",
                         "\"argument\": 0,\n              \"dtype\": \"i32\""))
            .find("expected f16, bf16, f32 or tf32 at manifest.") != std::string::npos);
  CHECK(failure(replaced(text, "\"dtype\": \"f32\"", "\"dtype\": \"f31\""))
            .find("expected f32, f16, bf16, i32, i64 or bool at manifest.") != std::string::npos);
  CHECK(failure(replaced(text, "min(ceil_div(m, 128) * 2, 108)", "min(m")) ==
        "manifest: expected a 64-bit number or the text of an expression at "
        "manifest.kernels[0].variants[0].grid[0]");
  CHECK(failure(replaced(text, "\"kernel\": \"pack\"", "\"kernel\": \"peck\"")) ==
        "manifest: expected a kernel's name at manifest.programs.prepare.steps[0].kernel");
  CHECK(failure(replaced(text, "\"argument\": 0", "\"argument\": -1")) ==
        "manifest: expected a number within the range that the schema states at "
        "manifest.kernels[0].variants[0].when[0].argument");
  CHECK(failure("{\"format\":" + std::string(200000, '[')) ==
        "manifest: expected values nested at most 64 deep");
}
