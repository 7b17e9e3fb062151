// SPDX-License-Identifier: Apache-2.0
// An Explanation as a drawing: a Graphviz graph, and an SVG that needs no layout program. See
// explain.h.
#include "src/explain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace ingot {
namespace {

/// What a drawing says of a kernel, a line each.
std::vector<std::string> lines_of(const KernelFacts& kernel) {
  std::vector<std::string> lines = {
      kernel.program == ProgramKind::prepare ? kernel.name + " (prepare)" : kernel.name};
  lines.push_back(kernel.source);
  lines.insert(lines.end(), kernel.ops.begin(), kernel.ops.end());
  lines.push_back(fmt::format("{} bytes, {} FLOP", kernel.bytes(), kernel.flops));
  return lines;
}

/// What a drawing says of a boundary, a line each.
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

/// \l ends a line that is set flush left.
std::string dot_lines(const std::vector<std::string>& lines) {
  std::string label;
  for (const std::string& line : lines) {
    const std::string quoted = dot_string(line);
    label += quoted.substr(1, quoted.size() - 2) + "\\l";
  }
  return "\"" + label + "\"";
}

std::string svg_string(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

// All in pixels; a character of the monospaced 12 pixel font is about 7.3 wide.
constexpr size_t kLine = 18, kPad = 10, kGap = 60, kLeft = 20;
constexpr double kCharacter = 7.3;

struct Box {
  size_t top = 0, height = 0;
  size_t middle() const { return top + height / 2; }
};

std::string box_text(const KernelFacts& kernel, const Box& box, size_t width) {
  std::string text = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                                 "fill=\"#f4f4f4\" stroke=\"black\"/>\n",
                                 kLeft, box.top, width, box.height);
  size_t y = box.top + kPad;
  for (const std::string& line : lines_of(kernel)) {
    y += kLine;
    text +=
        fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", kLeft + kPad, y - 5,
                    y == box.top + kPad + kLine ? " font-weight=\"bold\"" : "", svg_string(line));
  }
  return text;
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

std::string svg_of(const Explanation& explanation) {
  std::map<std::string, Box> boxes;
  size_t characters = 0, y = kLeft;
  for (const KernelFacts& kernel : explanation.kernels) {
    const std::vector<std::string> lines = lines_of(kernel);
    for (const std::string& line : lines) characters = std::max(characters, line.size());
    const size_t height = lines.size() * kLine + 2 * kPad;
    boxes[kernel.name] = {y, height};
    y += height + kGap;
  }
  const auto width = static_cast<size_t>(static_cast<double>(characters) * kCharacter) + 2 * kPad;
  const size_t right = kLeft + width;
  size_t label = 0, lane = right + kGap / 2, line_y = 0;
  std::string body, edges;
  for (const KernelFacts& kernel : explanation.kernels)
    body += box_text(kernel, boxes[kernel.name], width);
  for (const BoundaryFacts& boundary : explanation.boundaries) {
    const Box &from = boxes[boundary.producer], &to = boxes[boundary.consumer];
    edges += fmt::format("<polyline points=\"{0},{1} {2},{1} {2},{3} {0},{3}\" fill=\"none\" "
                         "stroke=\"black\" {4}/>\n",
                         right, from.middle(), lane, to.middle(),
                         boundary.values.empty() ? "stroke-dasharray=\"4\"" // nothing flows
                                                 : "marker-end=\"url(#arrow)\"");
    line_y = std::max(line_y + kLine / 2, (from.middle() + to.middle()) / 2);
    for (const std::string& line : lines_of(boundary)) {
      label = std::max(label, lane + 6 + static_cast<size_t>(line.size() * kCharacter));
      edges +=
          fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", lane + 6, line_y, svg_string(line));
      line_y += kLine;
    }
    lane += kGap / 2;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
      "font-family=\"monospace\" font-size=\"12\">\n<defs><marker id=\"arrow\" markerWidth=\"8\" "
      "markerHeight=\"8\" refX=\"8\" refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\"/>"
      "</marker></defs>\n{}{}</svg>\n",
      std::max(right, label) + kLeft, std::max(y, line_y), body, edges);
}

} // namespace ingot
