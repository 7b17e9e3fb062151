// SPDX-License-Identifier: Apache-2.0
// The line that says how far a command is; tests/golden/command_line/terminal.test shows the rest.
#include "tools/ingot/terminal.h"

#include <doctest/doctest.h>

using ingot::cli::progress_line;

TEST_CASE("progress: a bar where all is known") {
  CHECK(progress_line("fetching", 0, 8, 3) == "[                        ] 0/8 fetching");
  CHECK(progress_line("fetching", 3, 8, 0) == "[=========               ] 3/8 fetching");
  CHECK(progress_line("", 8, 8, 0) == "[========================] 8/8 ");
  CHECK(progress_line("", 9, 8, 0) == "[========================] 9/8 ");
}

TEST_CASE("progress: a mark that moves where it is not") {
  CHECK(progress_line("x", 0, 0, 0) == "[====                    ] x");
  CHECK(progress_line("x", 0, 0, 20) == "[                    ====] x");
  CHECK(progress_line("x", 0, 0, 39) == "[ ====                   ] x");
  CHECK(progress_line("x", 0, 0, 40) == progress_line("x", 0, 0, 0));
}

TEST_CASE("progress: a long text is cut") {
  CHECK(progress_line(std::string(1000, 'x'), 0, 1, 0).size() < 110);
}
