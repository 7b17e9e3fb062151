// SPDX-License-Identifier: Apache-2.0
// The warnings of the parser: names that no result needs, and comments that read as the divisor
// of a floor division.
#include "ir/library.h"
#include "ir/library/meanings.h"
#include "ir/text/parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// `line:column` of each warning, then its text up to the first `;`; or the error.
std::string warned(llvm::StringRef text) {
  std::vector<std::string> warnings, lines;
  auto graph = parse_graph(text, "t", &warnings);
  if (!graph) {
    CHECK(warnings.empty());
    lines.push_back(take_error(graph.takeError()).second);
  }
  lines.insert(lines.end(), warnings.begin(), warnings.end());
  for (std::string& line : lines)
    line = llvm::StringRef(line).drop_front(2).split('\n').first.split(';').first.str();
  return llvm::join(lines, "\n");
}

/// The warnings about a line of a graph in which a, b and x are defined before, and h is returned.
std::string said_of(const std::string& line) {
  return warned("graph g(x: f32[m, 8], a: f32[m, 8], b: f32[m, 8]) {\n" + line +
                "\nreturn _all = h + x + a + b }");
}

} // namespace

TEST_CASE("inputs, params and values that no result needs are warned of") {
  CHECK(warned("graph g(x: f32[4], y: f32[4], param w: f32[4]) {\n"
               "  a = exp(y)\n  b = a + y\n  n = 2\n  m = x\n"
               "  s, t = moments(x, axis=0)\n  return s }") ==
        "1:20: warning: no result needs the input 'y'\n"
        "1:37: warning: no result needs the param 'w'\n"
        "2:3: warning: no result needs the value 'a'\n"
        "3:3: warning: no result needs the value 'b'\n"
        "4:3: warning: no result needs the value 'n'\n"
        "5:3: warning: no result needs the value 'm'\n"
        "6:6: warning: no result needs the value 't'");
}

TEST_CASE("needed names, and names that begin with an underscore, cause no warning") {
  CHECK(warned("graph g(x: f32[4], _y: f32[4], param _w: f32[4]) {\n"
               "  n = 2\n  m = x\n  _t = exp(_y)\n  s, _ = moments(m, axis=0)\n"
               "  return s * n }") == "");
}

TEST_CASE("each meaning of a name is warned of where no result needs it") {
  CHECK(warned("graph g(x: f32[4], y: f32[4]) {\n"
               "  h = exp(x)\n  h = tanh(x)\n  h = h + 1\n  y = h\n  h = y\n  h = 2\n"
               "  return y }") == "1:20: warning: no result needs the input 'y'\n"
                                  "2:3: warning: no result needs the value 'h'\n"
                                  "6:3: warning: no result needs the value 'h'\n"
                                  "7:3: warning: no result needs the value 'h'");
  CHECK(warned("graph g(x: f32[4]) {\n  x = relu(x)\n  x = x.tanh()\n  return x }") == "");
  // A name that the statement itself gives anew is known to it.
  CHECK(warned("graph g(x: f32[4]) {\n  x = x // x\n  return x }") ==
        "2:9: warning: '//' begins a comment, so 'x' is not read");
}

TEST_CASE("an input that alone gives a needed dimension its size is needed") {
  const char* text = "graph g(x: f32[m, 4], y: f32[2*k], z: f32[k], u: f32[n]) {\n return {} }";
  auto warned_of = [&](llvm::StringRef result) {
    return warned(llvm::StringRef(text).split("{}").first.str() + result.str() + "}");
  };
  CHECK(warned_of("iota(f32, [m, k])") == "1:23: warning: no result needs the input 'y'\n"
                                          "1:47: warning: no result needs the input 'u'");
  CHECK(warned_of("x * extent(f32, [n])") == "1:23: warning: no result needs the input 'y'\n"
                                             "1:36: warning: no result needs the input 'z'");
  CHECK(warned_of("x, y") == "1:47: warning: no result needs the input 'u'");
}

TEST_CASE("a graph with many unused names is warned of a few times") {
  std::string text = "graph g(x: f32[4]) {\n";
  for (int i = 0; i < 50'000; ++i) text += fmt::format("y{} = exp(x) // 2\n", i);
  std::vector<std::string> warnings;
  REQUIRE(bool(parse_graph(text + "return x }", "t", &warnings)));
  REQUIRE(warnings.size() == 21);
  CHECK(llvm::StringRef(warnings[20]).contains("note: 20 warnings are shown, and no more\n"));
}

TEST_CASE("a comment that reads as a divisor is warned of") {
  for (const char* line :
       {"h = x // 2", "h = x //2", "h = (x) // 0.5 ", "h = exp(x) // a", "h = x[0] // -a",
        "h = x // 2 + 1", "h = x // 2 # halves", "h = x // 2 // halves", "h = x // m"}) {
    CAPTURE(line);
    CHECK(said_of(line).find("warning: '//' begins a comment, so '") != std::string::npos);
  }
  CHECK(said_of("h = x // 2\r") == "2:7: warning: '//' begins a comment, so '2' is not read");
}

TEST_CASE("a comment that reads as the rest of a statement is an error") {
  for (const char* line :
       {"h = (x // 2)", "h = exp(x // 2)", "h = exp(x // 2) * a", "h = (x // exp(a)[0, 1:])",
        "h = gelu(x // 2, approximate='tanh')", "h = concat([x // 2, a], axis=0)",
        "h = reshape(x, [m // 2, 16])", "h = (x // (a + b) * 2)", "h = reshape(x, [m // 2, 16]).T",
        "h = exp(x // a.T).sum(0)[0]"}) {
    CAPTURE(line);
    const std::string said = said_of(line);
    CHECK(llvm::StringRef(said).contains("error: '//' begins a comment, so '"));
  }
  CHECK(warned("graph g(x: f32[4], y: f32[4]) { \nreturn a = x // 2, b = y\n}") ==
        "2:14: error: '//' begins a comment, so '2, b = y' is not read");
  CHECK(warned("graph g(x: f32[4], y: f32[4]) { \nreturn x // 2, y\n}") ==
        "2:10: error: '//' begins a comment, so '2, y' is not read");
}

TEST_CASE("a comment that holds the brace of a graph is an error that says so") {
  for (const char* line : {"return x // 2 }", "return relu(x // 2) }", "return x // m}",
                           "return x // 2, b }", "return x // 2 } \r\n# the end"}) {
    CAPTURE(line);
    const std::string said = warned(std::string("graph g(x: f32[m], b: f32[m]) {\n") + line);
    CHECK(llvm::StringRef(said).contains("error: '//' begins a comment, so '"));
    CHECK(!llvm::StringRef(said).contains('\n'));
  }
  auto message = [](llvm::StringRef text) {
    return take_error(parse_graph(text, "t").takeError()).second;
  };
  CHECK(llvm::StringRef(message("graph g(x: f32[4]) { return x // 2 }"))
            .contains("to divide and round down, and '}' on a line of its own\n"));
  CHECK(message("graph g(x: f32[4]) { return x # halves }") ==
        "t:1:41: error: expected '}', got the end of the file\n"
        "graph g(x: f32[4]) { return x # halves }\n"
        "                                        ^\n"
        "t:1:20: note: opened here by '{'\n"
        "graph g(x: f32[4]) { return x # halves }\n"
        "                   ^\n"
        "t:1:40: note: this '}' is part of a comment; # and // begin one, up to the end of the "
        "line\n"
        "graph g(x: f32[4]) { return x # halves }\n"
        "                                       ^");
  CHECK(
      !llvm::StringRef(message("graph g(x: f32[4]) {\n return x # of {a}\n")).contains("part of"));
  CHECK(!llvm::StringRef(message("graph g(x: f32[4]) {\n y = x # }\n return y\n"))
             .contains("part of"));
}

TEST_CASE("a remark is none of these") {
  for (const char* remark : {"the shifted rows",
                             "logits",
                             "h",
                             "2 heads",
                             "[m, 8]",
                             "(m, 8)",
                             "1 / (1 + exp(-x))",
                             "x * a",
                             "64 * 64",
                             "x, a",
                             "a and b",
                             "see a",
                             "a.",
                             "a: rows",
                             "3x3",
                             "-> b",
                             "== x",
                             "",
                             "TODO(a): scale",
                             "exp(x)",
                             "a = b",
                             "x)",
                             "a's",
                             "\xc3\xa9t\xc3\xa9",
                             "2)",
                             "\"a\"",
                             "a b",
                             "---",
                             "/ 2",
                             "((((",
                             "50% of x",
                             "of exp(x), that is"}) {
    CAPTURE(remark);
    CHECK(said_of(std::string("h = x * a // ") + remark) == "");
  }
  for (const char* remark : {"the rows", "logits (n, k)", "exp(a)", "x * a", "2 heads)", "y, a"}) {
    CAPTURE(remark);
    CHECK(said_of(std::string("h = exp(x // ") + remark + "\n)") == "");
  }
  // Only behind an operand may an operator stand.
  CHECK(said_of("h = // 2\nx * // a\nsum((a), // 2\n1)[:, None] + exp( // 2)\nx)") == "");
  CHECK(said_of("h = x * a\n// 2\n") == "");
  CHECK(said_of("h = x * a # 2") == "");
}

TEST_CASE("the meanings of unknown names speak of names that are known") {
  for (const Meaning& meaning : meanings()) {
    CAPTURE(meaning.name.str());
    CHECK_MESSAGE(!is_function(meaning.name), "a function has this name: remove the row");
    for (llvm::StringRef rest = meaning.text; rest.contains('(');) {
      auto [before, after] = rest.split('(');
      const llvm::StringRef function = before.take_back(
          before.size() - (before.find_last_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") + 1));
      CAPTURE(function.str());
      CHECK((function.empty() || is_function(function)));
      rest = after;
    }
  }
  CHECK(hint_by_meaning("Conv2d") == hint_by_meaning("conv2d"));
  CHECK(hint_by_meaning("max_pool2d") == hint_by_meaning("MaxPool2d"));
  CHECK(hint_by_meaning("concatenate") == "; write concat([a, b], axis)");
  CHECK(hint_by_meaning("relux").empty());
  CHECK(hint_by_meaning("clamp_min") == "; write clamp(x, min=0)");
  CHECK(hint_by_meaning("clamp_min", {"", "1e-08"}) == "; write clamp(x, min=1e-08)");
  CHECK(hint_by_meaning("clamp_min", {"3", ""}) == "; write clamp(x, min=0)");
  CHECK(hint_by_meaning("Linear", {"8", "4"}).starts_with("; declare param w: f32[4, 8] and"));
  CHECK(hint_by_meaning("linear").empty()); // the function
}

TEST_CASE("element types of other systems are known, and misspelt ones are guessed") {
  CHECK(hint_by_type("Float32") == "; write f32");
  CHECK(hint_by_type("float8_e4m3fn") == "; the narrowest floats are f16 and bf16");
  CHECK(hint_by_type("bff16") == "; did you mean bf16?");
  CHECK(hint_by_type("quaternion").empty());
}
