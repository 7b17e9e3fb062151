// SPDX-License-Identifier: Apache-2.0
// Specs that are hostile rather than wrong: each ends quickly in one short message.
#include "ir/text/parser.h"

#include <doctest/doctest.h>

#include <chrono>

using namespace ingot;

namespace {

/// The diagnostic of a spec that must be refused, within seconds and a few hundred characters.
std::string refusal(llvm::StringRef text) {
  auto start = std::chrono::steady_clock::now();
  auto graph = parse_graph(text, "spec.ingot");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
  if (graph) return "accepted";
  std::string message = take_error(graph.takeError()).second;
  CHECK(message.size() < 1000);
  return message;
}

std::string repeated(llvm::StringRef part, size_t count) {
  std::string result;
  result.reserve(part.size() * count);
  for (size_t i = 0; i < count; ++i) result += part;
  return result;
}

std::string in_graph(const std::string& body) {
  return "graph g(x: f32[4, 8]) {\n" + body + "\n}\n";
}

} // namespace

TEST_CASE("an empty file") {
  CHECK(refusal("") == "spec.ingot:1:1: error: expected 'graph', got the end of the file\n\n^");
  CHECK(refusal("  // only a comment") ==
        "spec.ingot:1:20: error: expected 'graph', got the end of the file\n"
        "  // only a comment\n"
        "                   ^");
}

TEST_CASE("bytes that are not UTF-8") {
  CHECK(refusal("graph g(x: f32[4]) {\n  \xff\xfe return x\n}") ==
        "spec.ingot:2:3: error: byte 0xff is not UTF-8\n"
        "  ?? return x\n"
        "  ^");
  CHECK(refusal("\xc3") == "spec.ingot:1:1: error: byte 0xc3 is not UTF-8\n?\n^");
}

TEST_CASE("characters that are no part of the language") {
  CHECK(refusal(llvm::StringRef("graph g\0(x)", 11)) ==
        "spec.ingot:1:8: error: unexpected character 0x00\ngraph g?(x)\n       ^");
  CHECK(refusal("graph größe(x)") ==
        "spec.ingot:1:7: error: names are of ASCII letters, digits and _, not U+00F6\n"
        "graph gr??e(x)\n"
        "      ^");
}

TEST_CASE("a 50 MB file") {
  CHECK(refusal(repeated(" ", 50'000'000)) ==
        "spec.ingot: error: the file has 50000000 bytes; a graph spec has at most 16777216 "
        "(16 MiB)");
}

TEST_CASE("nesting 200000 deep") {
  std::string message = refusal(in_graph("  return " + repeated("(", 200'000) + "x"));
  CHECK(message == "spec.ingot:2:266: error: expressions nest deeper than 256 levels\n..." +
                       repeated("(", 160) + "...\n" + repeated(" ", 83) + "^");
  for (llvm::StringRef part : {"-", "not ", "relu(", "[", "x ** ", "2 ** -", "1 + (", "f(a="})
    CHECK(llvm::StringRef(refusal(in_graph("return " + repeated(part, 200'000) + "x")))
              .contains("error: expressions nest deeper than 256 levels\n"));
}

TEST_CASE("nesting within the limit") {
  auto graph = parse_graph(in_graph("return " + repeated("relu(", 250) + "x" + repeated(")", 250)),
                           "spec.ingot");
  REQUIRE(graph);
  CHECK(graph->ops().size() == 252);
}

TEST_CASE("a million operations") {
  CHECK(refusal(in_graph("  y = x" + repeated(" + x", 1'000'000) + "\n  return y")) ==
        "spec.ingot:2:400005: error: more than 100000 inputs and operations in one graph\n..." +
            repeated("+ x ", 40) + "...\n" + repeated(" ", 83) + "^");
  std::string lines;
  for (int i = 0; i < 400'000; ++i) lines += fmt::format("  y{} = relu(x)\n", i);
  CHECK(refusal(in_graph(lines)) ==
        "spec.ingot:100000:12: error: more than 100000 inputs and operations in one graph\n"
        "  y99998 = relu(x)\n"
        "           ^");
}

TEST_CASE("hundreds of thousands of inputs") {
  std::string inputs;
  for (int i = 0; i < 400'000; ++i) inputs += fmt::format("x{}: f32[4],\n", i);
  CHECK(refusal("graph g(" + inputs + ") { return x0 }") ==
        "spec.ingot:100001:1: error: more than 100000 inputs and operations in one graph\n"
        "x100000: f32[4],\n"
        "^");
}

TEST_CASE("more named dimensions than a graph may have") {
  std::string inputs;
  for (int i = 0; i < 1000; ++i) inputs += fmt::format("x{}: f32[m{}],\n", i, i);
  CHECK(refusal("graph g(" + inputs + ") { return x0 }") ==
        "spec.ingot:65:6: error: input 'x64': more than 64 named dimensions in one graph\n"
        "x64: f32[m64],\n"
        "     ^");
}

TEST_CASE("huge lists and calls") {
  CHECK(llvm::StringRef(refusal(in_graph("return reshape(x, [" + repeated("1,", 2'000'000))))
            .contains("error: more than 4096 elements in a list\n"));
  CHECK(llvm::StringRef(refusal(in_graph("return relu(" + repeated("1,", 2'000'000))))
            .contains("error: more than 4096 arguments\n"));
  CHECK(llvm::StringRef(refusal(in_graph("return " + repeated("x,", 2'000'000))))
            .contains("error: more than 4096 outputs\n"));
  CHECK(llvm::StringRef(refusal(in_graph(repeated("a,", 2'000'000))))
            .contains("error: more than 4096 names\n"));
  CHECK(refusal("graph g(x: f32[" + repeated("1,", 100) + "]) {}") ==
        "spec.ingot:1:15: error: more than 8 dimensions\ngraph g(x: f32[" + repeated("1,", 72) +
            "1...\n              ^");
}

TEST_CASE("words of megabytes") {
  CHECK(llvm::StringRef(refusal(in_graph("return " + repeated("a", 10'000'000))))
            .starts_with("spec.ingot:2:8: error: name longer than 255 characters\n"));
  CHECK(llvm::StringRef(refusal(in_graph("return x * " + repeated("9", 10'000'000))))
            .starts_with("spec.ingot:2:12: error: number longer than 255 characters\n"));
  CHECK(llvm::StringRef(refusal(in_graph("return gelu(x, \"" + repeated("a", 10'000'000) + "\")")))
            .starts_with("spec.ingot:2:16: error: text longer than 255 characters\n"));
}

TEST_CASE("a dimension list that grows without end") {
  CHECK(llvm::StringRef(refusal("graph g(x: f32[m]) { return reshape(x, [m" +
                                repeated("*m", 1'000'000) + "]) }"))
            .contains("error: more than 8 names in a product of an extent"));
}

TEST_CASE("a missing brace says where it was opened") {
  CHECK(refusal("graph g(x: f32[4])\n{\n  return relu(x)\n") ==
        "spec.ingot:4:1: error: expected '}', got the end of the file\n"
        "\n"
        "^\n"
        "spec.ingot:2:1: note: opened here by '{'\n"
        "{\n"
        "^");
}

TEST_CASE("tabs and CRLF in the line shown") {
  CHECK(refusal("graph g(x: f32[4]) {\r\n\ty\t= relu(x) + z\r\n\treturn y\r\n}\r\n") ==
        "spec.ingot:2:16: error: 'z' is not defined\n"
        "        y       = relu(x) + z\n"
        "                            ^");
}

TEST_CASE("a carriage return inside a line") {
  CHECK(refusal("graph g(x: f32[4]) {\n  return\rrelu(y=x)\n}") ==
        "spec.ingot:2:6: error: relu: no argument is named 'y'; expected relu(x)\n"
        "relu(y=x)\n"
        "     ^");
}
