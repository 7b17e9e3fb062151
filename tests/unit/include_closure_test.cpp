// SPDX-License-Identifier: Apache-2.0
#include "codegen/program/include_closure.h"

#include "src/support/error.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

const DeviceHeader kHeaders[] = {
    {"a.cuh", "#pragma once\n#include \"b.cuh\"\n#include \"c.cuh\"\nint a;\n", ""},
    {"b.cuh", "#pragma once\n  #  include <c.cuh> // angles\nint b;\n", ""},
    {"c.cuh", "#pragma once\n/* #include \"no.cuh\"\n#include \"no.cuh\" */\nint c;\n", ""},
    {"d.cuh", "// #include \"no.cuh\"\nint d; // /* not open\n#include \"a.cuh\"\n", ""},
    {"x.cuh", "#include \"y.cuh\"\n", ""},
    {"y.cuh", "#include \"x.cuh\"\n", ""},
    {"z.cuh", "int z;\n#include NAME\n", ""}};

std::string names(llvm::StringRef source) {
  auto used = included_headers("k.cu", source, kHeaders);
  if (!used) return take_error(used.takeError()).second;
  std::string text;
  for (const DeviceHeader& header : *used) text += header.name.str() + " ";
  return text;
}

} // namespace

TEST_CASE("include closure: each header once, after those it includes") {
  CHECK(names("#include \"a.cuh\"\n#include \"b.cuh\"\n") == "c.cuh b.cuh a.cuh ");
  CHECK(names("#include \"d.cuh\"") == "c.cuh b.cuh a.cuh d.cuh ");
  CHECK(names("int k; /* #include \"a.cuh\"\n*/") == "");
}

TEST_CASE("include closure: an include that cannot be embedded is refused with its place") {
  CHECK(names("\n#include \"no.cuh\"\n").find("k.cu:2: 'no.cuh' is not part of the embedded") == 0);
  CHECK(names("#include \"./a.cuh\"\n").find("k.cu:1: './a.cuh' is not part") == 0);
  CHECK(names("#include \"x.cuh\"\n") == "y.cuh:1: 'x.cuh' includes itself through others");
  CHECK(names("#include \"z.cuh\"\n") ==
        "z.cuh:2: expected #include \"name\", got '#include NAME'");
}

TEST_CASE("include closure: pasting leaves no directive that a compiler would have to resolve") {
  auto text = paste_headers("k.cu", "#include \"b.cuh\"\nint k;\n", kHeaders);
  REQUIRE(bool(text));
  CHECK(*text == "// ---- c.cuh\n/* #include \"no.cuh\"\n#include \"no.cuh\" */\nint c;\n"
                 "// ---- b.cuh\nint b;\n// ---- k.cu\nint k;\n");
}
