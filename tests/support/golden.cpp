// SPDX-License-Identifier: Apache-2.0
// See golden.h.
#include "tests/support/golden.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace ingot::testing {
namespace {

/// "line 3: expected `a`, got `b`", or "" for equal texts.
std::string first_difference(llvm::StringRef expected, llvm::StringRef got) {
  for (int line = 1; expected != got; ++line) {
    const auto [want, more_expected] = expected.split('\n');
    const auto [have, more_got] = got.split('\n');
    if (want != have)
      return fmt::format("line {}: expected `{}`, got `{}`", line, want.str(), have.str());
    if (more_expected == more_got) return fmt::format("line {}: only one has a line end", line);
    expected = more_expected;
    got = more_got;
  }
  return "";
}

void write_golden(const std::string& path, llvm::StringRef text) {
  REQUIRE(!llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)));
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  REQUIRE_MESSAGE(!error, path, ": ", error.message());
  file << text;
}

} // namespace

void check_golden(llvm::StringRef name, llvm::StringRef text) {
  const std::string path = std::string(INGOT_SOURCE_DIR) + "/tests/golden/" + name.str();
  if (std::getenv("INGOT_RENEW_GOLDEN")) return write_golden(path, text);
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    FAIL_CHECK("no golden file ", path, ": write it with `./dev golden`");
    return;
  }
  const std::string difference = first_difference((*file)->getBuffer(), text);
  CHECK_MESSAGE(difference.empty(), path, ": ", difference, "; renew with `./dev golden`");
}

} // namespace ingot::testing
