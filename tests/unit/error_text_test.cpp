// SPDX-License-Identifier: Apache-2.0
// Messages are UTF-8 that a terminal shows as it is.
#include "src/support/error.h"

#include "llvm/Support/JSON.h"

#include <doctest/doctest.h>

using namespace ingot;

TEST_CASE("error: quoted text is escaped where a terminal would not show it") {
  CHECK(printable("plain: 'x' [1, 2]\n\tcaret ^") == "plain: 'x' [1, 2]\n\tcaret ^");
  CHECK(printable("caf\u00e9 \u4e2d \U0001f642") == "caf\u00e9 \u4e2d \U0001f642");
  CHECK(printable(std::string("\0\x01\x1b\x7f\r", 5)) == "\\x00\\x01\\x1b\\x7f\\x0d");
  CHECK(printable("\u0085\u009b\u2028\u202e\u2066") == "\\u0085\\u009b\\u2028\\u202e\\u2066");
  CHECK(printable("\xff\xc3(\xe2\x82 \xed\xa0\x80") == "\\xff\\xc3(\\xe2\\x82 \\xed\\xa0\\x80");
  CHECK(printable_line("a\nb\tc\u2029") == "a\\nb\\tc\\u2029");
}

TEST_CASE("error: every byte string becomes printable, once") {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first), static_cast<char>(second), 'x'};
      const std::string text = printable_line(bytes);
      REQUIRE(llvm::json::isUTF8(text));
      REQUIRE(printable_line(text) == text);
      for (char c : text) REQUIRE(static_cast<unsigned char>(c) >= 0x20);
    }
}

TEST_CASE("error: errors of every kind pass through it") {
  CHECK(take_error(make_error(ErrorCode::parse_error, "got '{}'", "\x1b[2J")).second ==
        "got '\\x1b[2J'");
  CHECK(take_error(llvm::createStringError("got \x07")).second == "got \\x07");
}
