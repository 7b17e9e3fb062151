// SPDX-License-Identifier: Apache-2.0
// An Explanation as a Graphviz graph. See explain.h.
#include "src/reports/explain.h"

#include "src/support/quantities.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ingot {
namespace {

/// The text of a kernel in a drawing, line by line.
std::vector<std::string> lines_of(const KernelFacts& kernel) {
  const char* once = kernel.program == ProgramKind::prepare ? " (prepare)" : "";
  std::vector<std::string> lines = {kernel.name + once, kernel.source};
  llvm::append_range(lines, kernel.op_texts());
  lines.push_back(fmt::format("{}, {} moved, {}", seconds_text(kernel.predicted.seconds),
                              bytes_text(kernel.bytes()), flops_text(kernel.flops)));
  return lines;
}

std::string dot_string(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// \l ends a line and aligns it left.
std::string dot_lines(const std::vector<std::string>& lines) {
  std::string label;
  for (const std::string& line : lines) {
    const std::string quoted = dot_string(line);
    label += quoted.substr(1, quoted.size() - 2) + "\\l";
  }
  return "\"" + label + "\"";
}

} // namespace

std::string dot_of(const Explanation& explanation) {
  std::string text = fmt::format("digraph {} {{\n  node [shape=box, fontname=monospace];\n"
                                 "  edge [fontname=monospace];\n",
                                 dot_string(explanation.graph));
  for (const KernelFacts& kernel : explanation.kernels)
    text += fmt::format("  {} [label={}];\n", dot_string(kernel.name), dot_lines(lines_of(kernel)));
  for (const BoundaryFacts& boundary : explanation.boundaries) {
    const std::string& producer = explanation.kernels[boundary.producer].name;
    const std::string& consumer = explanation.kernels[boundary.consumer].name;
    const bool is_apart = boundary.values.empty();
    const std::string ends =
        fmt::format("{} {} {}{}", producer, is_apart ? "|" : "->", consumer,
                    is_apart ? "" : " at " + llvm::join(boundary.values, ", "));
    text += fmt::format("  {} -> {} [label={}{}];\n", dot_string(producer), dot_string(consumer),
                        dot_lines({ends, boundary.rule, change_text(boundary.change)}),
                        is_apart ? ", dir=none, style=dashed" : "");
  }
  return text + "}\n";
}

} // namespace ingot
