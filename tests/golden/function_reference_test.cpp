// SPDX-License-Identifier: Apache-2.0
// The page of all functions in docs, from the table that the parser uses to check calls.
#include "ir/library.h"
#include "tests/support/golden.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace ingot;

namespace {

std::string in_code(llvm::StringRef text) { return fmt::format("`{}`", text); }

/// Escapes `|`, which would end the cell of the table.
std::string cell(llvm::StringRef text) {
  std::string result;
  for (char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

/// Whether the parameter `axis`, if there is one, may be a list.
llvm::StringRef axes_of(const LibraryFunction& function) {
  for (const Parameter& parameter : function.parameters) {
    if (parameter.name != "axis") continue;
    return parameter.kind == ParameterKind::axes ? "one or a list" : "one";
  }
  return "";
}

/// A row `axis`: `dim`, `dims`, `axes` for each parameter with other names.
std::string synonyms_text() {
  std::map<llvm::StringRef, std::set<llvm::StringRef>> names_of;
  for (const LibraryFunction& function : library_functions())
    for (const Parameter& parameter : function.parameters)
      for (llvm::StringRef synonym : parameter.synonyms) names_of[parameter.name].insert(synonym);
  std::string result;
  for (const auto& [parameter, names] : names_of) {
    std::string list;
    for (llvm::StringRef name : names) list += (list.empty() ? "" : ", ") + in_code(name);
    result += fmt::format("| {} | {} |\n", in_code(parameter), list);
  }
  return result;
}

/// `gather(x, axis, index)`, for each function that also takes PyTorch's order.
std::string orders_text() {
  std::string result;
#define INGOT_ORDER(name, parameters)                                                              \
  result += (result.empty() ? "" : ", ") + in_code(#name "(" parameters ")");
#include "ir/library.def"
  return result;
}

/// The functions with a list that may be written as several arguments.
std::string spreads_text() {
  std::string result;
  for (const LibraryFunction& function : library_functions())
    if (function.spread) result += (result.empty() ? "" : ", ") + in_code(function.name);
  return result;
}

bool is_elementwise(const LibraryFunction& function) {
  return function.primitive && info(*function.primitive).op_class == OpClass::elementwise &&
         function.summary.empty();
}

/// Every function with its parameters and results.
std::string function_reference() {
  std::string elementwise, table;
  for (const LibraryFunction& function : library_functions()) {
    if (is_elementwise(function)) {
      elementwise += (elementwise.empty() ? "" : ", ") + in_code(function.signature());
    } else {
      table += fmt::format("| {} | {} | {} | {} |\n", in_code(function.signature()),
                           cell(function.summary), axes_of(function).str(),
                           function.primitive ? "yes" : "");
    }
  }
  return fmt::format("# Functions\n\n"
                     "The functions of a graph spec and of `call` in the C++ API. `none` stands "
                     "for an argument that may be left out.\n"
                     "The column `axis` says whether that argument is one axis or also a list, "
                     "`axis=[1, 2]`.\n"
                     "[ir/README.md](../ir/README.md) gives their results for NaN, infinities and "
                     "edge cases.\n\n"
                     "Elementwise primitives: {}.\n\n"
                     "| function | gives | axis | primitive |\n|---|---|---|---|\n{}\n"
                     "## Names and order of arguments\n\n"
                     "An argument may be given by the name that PyTorch or NumPy has for it, in "
                     "every function that has no\nother parameter of that name:\n\n"
                     "| parameter | other names |\n|---|---|\n{}\n"
                     "By position, these take PyTorch's order too, which an integer or a list "
                     "tells from their own:\n{}.\n\n"
                     "The list of extents or axes may be several arguments by position, as in "
                     "`reshape(x, 2, -1)`, of:\n{}.\n",
                     elementwise, table, synonyms_text(), orders_text(), spreads_text());
}

} // namespace

TEST_CASE("the page of functions in docs lists the functions of the library") {
  testing::check_golden("../../docs/functions.md", function_reference());
}
