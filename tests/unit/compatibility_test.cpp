// SPDX-License-Identifier: Apache-2.0
// The page of compatibility agrees with the code.
#include "runtime/ptxas_log.h"

#include "llvm/ADT/SmallVector.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace ingot {
namespace {

std::string page() {
  std::ifstream file(INGOT_SOURCE_DIR "/docs/compatibility.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("compatibility: the page pairs PTX and drivers as the library does") {
  const std::string text = page();
  int rows = 0;
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    rest = next;
    llvm::SmallVector<llvm::StringRef, 5> cells;
    line.split(cells, '|');
    // "| 12.4 | 8.4 | 550 |"
    if (cells.size() != 5 || cells[2].trim().find_first_of("0123456789") != 0) continue;
    CAPTURE(line.str());
    CHECK(least_driver_for_ptx(cells[2].trim()) == cells[3].trim());
    ++rows;
  }
  CHECK(rows == 7);
  CHECK(text.find("a driver of at least " + least_driver_for_ptx(kOldestPtx) + ".") !=
        std::string::npos);
  CHECK(least_driver_for_ptx("9.9").empty());
}

} // namespace
} // namespace ingot
