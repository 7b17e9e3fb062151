// SPDX-License-Identifier: Apache-2.0
// The manifest's text is a published format: the test of the schema reads its golden file too.
#include "codegen/program/manifest.h"

#include "src/support/files.h"
#include "tests/support/sample_module.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace ingot;

TEST_CASE("manifest: the sample equals its golden file") {
  const std::string path = INGOT_SOURCE_DIR "/tests/golden/manifest/sample.json";
  const std::string text =
      write_manifest(ingot::testing::sample_module(), ingot::testing::sample_code());
  if (std::getenv("INGOT_RENEW_GOLDEN")) llvm::cantFail(write_file_atomically(path, text));
  CHECK(text == llvm::cantFail(read_file(path)));
}
