// SPDX-License-Identifier: Apache-2.0
// An Explanation as a Graphviz graph. See explain.h.
#include "src/reports/explain.h"

#include "src/support/quantities.h"

#include "llvm/ADT/StringExtras.h"

namespace ingot {
namespace {

/// The text of a kernel in a drawing, line by line.
std::vector<std::string> lines_of(const KernelFacts& kernel) {
  std::vector<std::string> lines = {
      kernel.program == ProgramKind::prepare ? kernel.name + " (prepare)" : kernel.name};
  lines.push_back(kernel.source);
  lines.insert(lines.end(), kernel.ops.begin(), kernel.ops.end());
  lines.push_back(fmt::format("{}, {} moved, {}", seconds_text(kernel.predicted.seconds),
                              bytes_text(kernel.bytes()), flops_text(kernel.flops)));
  return lines;
}

/// The text of a boundary in a drawing, line by line.
std::vector<std::string> lines_of(const BoundaryFacts& boundary) {
  const std::string values = llvm::join(boundary.values, ", ");
  return {fmt::format("{} {} {}{}", boundary.producer, values.empty() ? "|" : "->",
                      boundary.consumer, values.empty() ? "" : " at " + values),
          boundary.rule, change_text(boundary.change)};
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
  for (const KernelFacts& kernel : explanation.kernels) {
    text += fmt::format("  {} [label={}];\n", dot_string(kernel.name), dot_lines(lines_of(kernel)));
  }
  for (const BoundaryFacts& boundary : explanation.boundaries)
    text += fmt::format("  {} -> {} [label={}{}];\n", dot_string(boundary.producer),
                        dot_string(boundary.consumer), dot_lines(lines_of(boundary)),
                        boundary.values.empty() ? ", dir=none, style=dashed" : "");
  return text + "}\n";
}

} // namespace ingot
