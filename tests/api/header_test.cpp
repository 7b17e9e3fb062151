// SPDX-License-Identifier: Apache-2.0
// The public header alone: it compiles under any common setting, and brings no dependency of the
// library into its user's program.
#include "tests/support/temporary_folder.h"

#include <doctest/doctest.h>

#include "src/support/files.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>

using ingot::testing::TemporaryFolder;

namespace {

/// Whether the host compiler accepts a program that includes the header.
bool compiles(const std::string& flags, const std::string& body, const std::string& more = "") {
  TemporaryFolder folder;
  const std::string source = folder / "user.cpp";
  auto error = ingot::write_file_atomically(source, "#include \"ingot/ingot.h\"\n" + body);
  REQUIRE(!error);
  const std::string command = std::string(INGOT_HOST_CXX) +
                              " -std=c++20 -I " INGOT_SOURCE_DIR "/include " + flags + " -c " +
                              source + " -o " + (folder / "user.o") + more;
  return std::system(command.c_str()) == 0;
}

} // namespace

TEST_CASE("api: the header compiles alone with and without exceptions and RTTI") {
  for (const char* flags : {"-Wall -Wextra -Werror", "-fno-exceptions -fno-rtti -Werror",
                            "-fexceptions -Wpedantic -Werror"})
    CHECK_MESSAGE(compiles(flags, "int main() { return ingot::Status().ok() ? 0 : 1; }"), flags);
  CHECK_FALSE(compiles("", "this is no program", " 2> /dev/null"));
}

TEST_CASE("api: the header includes nothing but the standard library") {
  TemporaryFolder folder;
  const std::string list = folder / "includes";
  REQUIRE(compiles("-M -MF " + list, "int main() {}"));
  auto text = ingot::read_file(list);
  REQUIRE(bool(text));
  // Where the sources and the folder lie says nothing.
  for (const std::string& place : {std::string(INGOT_SOURCE_DIR), folder.path()})
    for (size_t at; (at = text->find(place)) != std::string::npos;) text->erase(at, place.size());
  for (const char* foreign : {"llvm", "fmt/", "cuda", "nvrtc", "/ir/", "/codegen/", "/runtime/"})
    CHECK_MESSAGE(text->find(foreign) == std::string::npos, foreign);
  for (const char* part : {"ingot/ops.h", "ingot/movement.h", "ingot/losses.h"})
    CHECK_MESSAGE(text->find(part) != std::string::npos, part);
}
