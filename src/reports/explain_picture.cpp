// SPDX-License-Identifier: Apache-2.0
// An Explanation as a picture in SVG. Kernels are boxes and tensors are labels between them, from
// top to bottom in launch order. See explain.h.
#include "src/reports/explain.h"
#include "src/reports/layered_layout.h"
#include "src/support/quantities.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>

namespace ingot {
namespace {

constexpr double kMargin = 24, kPad = 12, kLine = 18, kHead = 76;
// Mean widths of the fonts below, rounded up.
constexpr double kCharacter = 7.7, kBoldCharacter = 8.6;
constexpr size_t kOpsInLine = 44, kOpLines = 3, kNames = 3;

constexpr const char* kStyle = R"(<style>
  text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
  .title { font-size: 17px; font-weight: 600; }
  .bold { font-weight: 600; }
  .quiet { fill: #59636e; }
  .kernel { fill: #ddf4ff; stroke: #0969da; stroke-width: 1.5; }
  .prepare { fill: #f6f8fa; stroke: #59636e; stroke-dasharray: 5 3; }
  .tensor { fill: #ffffff; stroke: #d1d9e0; }
  .end { fill: #dafbe1; stroke: #1a7f37; }
  .share { fill: #0969da; }
  .edge { fill: none; stroke: #59636e; stroke-width: 1.5; }
  .arrow { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .kernel { fill: #0d2b4e; stroke: #4493f8; }
    .prepare { fill: #151b23; stroke: #9198a1; }
    .tensor { fill: #0d1117; stroke: #3d444d; }
    .end { fill: #0f2d19; stroke: #3fb950; }
    .share { fill: #4493f8; }
    .edge { stroke: #9198a1; }
    .arrow { fill: #9198a1; }
  }
</style>
)";

std::string escaped(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

/// A kernel or a tensor.
struct Node {
  std::string shape; ///< its class in the style
  std::vector<std::string> lines;
  std::string hover; ///< text shown under the pointer
  double share = -1; ///< share of a launch's time; below 0: no bar
};

/// `sub, exp, div` as lines of limited width. The last line is cut.
std::vector<std::string> op_lines(const KernelFacts& kernel) {
  std::vector<std::string> lines;
  for (const OpFacts& op : kernel.ops) {
    const std::string name = info(op.kind).name.str() + (op.is_merged ? " (merged)" : "");
    if (lines.empty() || lines.back().size() + name.size() > kOpsInLine) {
      if (lines.size() == kOpLines) {
        lines.back() += " ...";
        return lines;
      }
      if (!lines.empty()) lines.back() += ",";
      lines.push_back(name);
    } else {
      lines.back() += ", " + name;
    }
  }
  return lines;
}

class Picture {
public:
  explicit Picture(const Explanation& explanation) : e_(explanation) {}

  std::string run() {
    for (size_t k = 0; k < e_.kernels.size(); ++k) add_kernel(k);
    add_tensors();
    set_rows();
    const auto [width, height] = layered_layout(boxes_, edges_);
    return text(width, height);
  }

private:
  /// A tensor, with the kernels that read or write it.
  struct Tensor {
    const Transfer* transfer = nullptr; ///< the first one
    std::vector<size_t> writers, readers;
  };

  using Tensors = std::map<std::pair<std::string, MemoryId>, Tensor>; ///< in the order of names

  void add_kernel(size_t index);
  Tensors find_tensors() const;
  void add_tensors();
  void add_tensor(llvm::ArrayRef<const Tensor*> tensors);
  void add_node(Node node, double width, double height);
  std::string hover_of(const std::string& value) const;
  void set_rows();
  std::string box_text(size_t node) const;
  static std::string edge_text(const LayoutEdge& edge);
  std::string text(double width, double height) const;

  const Explanation& e_;
  std::vector<Node> nodes_; ///< kernels in launch order, then tensors
  std::vector<LayoutBox> boxes_;
  std::vector<LayoutEdge> edges_;
};

void Picture::add_node(Node node, double width, double height) {
  nodes_.push_back(std::move(node));
  boxes_.push_back({.width = width, .height = height});
}

/// The width of lines whose first and last may be bold.
double text_width(llvm::ArrayRef<std::string> lines) {
  double width = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool may_be_bold = i == 0 || i + 1 == lines.size();
    width = std::max(width, (may_be_bold ? kBoldCharacter : kCharacter) *
                                static_cast<double>(lines[i].size()));
  }
  return width;
}

void Picture::add_kernel(size_t index) {
  const KernelFacts& kernel = e_.kernels[index];
  const bool is_launch = kernel.program == ProgramKind::launch;
  Node node;
  node.shape = is_launch ? "kernel" : "kernel prepare";
  node.lines.push_back(fmt::format("kernel {}{}", index + 1, is_launch ? "" : ", once"));
  node.lines.push_back(kernel.source);
  llvm::append_range(node.lines, op_lines(kernel));
  node.lines.push_back(fmt::format("{}, {} moved", seconds_text(kernel.predicted.seconds),
                                   bytes_text(kernel.bytes())));
  node.hover = llvm::join(kernel.op_texts(), "\n");
  if (is_launch && e_.predicted_seconds > 0)
    node.share = kernel.predicted.seconds / e_.predicted_seconds;
  const double width = text_width(node.lines) + 2 * kPad;
  const double height = static_cast<double>(node.lines.size()) * kLine + 2 * kPad;
  add_node(std::move(node), width, height);
}

Picture::Tensors Picture::find_tensors() const {
  Tensors tensors;
  for (const auto& [k, kernel] : llvm::enumerate(e_.kernels))
    for (const Transfer& transfer : kernel.transfers) {
      Tensor& tensor = tensors[{transfer.name(), transfer.id()}];
      if (!tensor.transfer) tensor.transfer = &transfer;
      if (transfer.is_write)
        tensor.writers.push_back(k);
      else if (!kernel.find(transfer.id(), true)) // a value that it reads back is its own
        tensor.readers.push_back(k);
    }
  return tensors;
}

/// Small inputs of one kernel, such as biases and scales, share a label.
void Picture::add_tensors() {
  const auto tensors = find_tensors();
  std::map<size_t, std::vector<const Tensor*>> small; // by reader
  for (const auto& [id, tensor] : tensors)
    if (tensor.writers.empty() && tensor.readers.size() == 1 &&
        tensor.transfer->bytes * 50 < e_.kernels[tensor.readers[0]].bytes())
      small[tensor.readers[0]].push_back(&tensor);
  std::set<const Tensor*> shared;
  for (const auto& [reader, list] : small) {
    if (list.size() < 2) continue;
    shared.insert(list.begin(), list.end());
    add_tensor(list);
  }
  for (const auto& [id, tensor] : tensors)
    if (!shared.count(&tensor)) add_tensor(&tensor);
}

void Picture::add_tensor(llvm::ArrayRef<const Tensor*> tensors) {
  const Tensor& first = *tensors.front();
  const Transfer& transfer = *first.transfer;
  int64_t bytes = 0;
  std::vector<std::string> names, all;
  for (const Tensor* tensor : tensors) {
    bytes += tensor->transfer->bytes;
    all.push_back(tensor->transfer->memory.value);
  }
  names.assign(all.begin(), all.begin() + static_cast<int64_t>(std::min(kNames, all.size())));
  if (all.size() > kNames) names.push_back(fmt::format("{} more", all.size() - kNames));
  Node node;
  node.shape = is_callers(transfer.memory.argument.kind) ? "tensor end" : "tensor";
  node.lines.push_back(llvm::join(names, ", "));
  node.lines.push_back(tensors.size() == 1 && !transfer.memory.type.empty()
                           ? fmt::format("{}, {}", transfer.memory.type, bytes_text(bytes))
                           : bytes_text(bytes));
  node.hover = tensors.size() > 1 ? llvm::join(all, "\n") : hover_of(all.front());
  const size_t index = nodes_.size();
  const double width = text_width(node.lines) + 2 * kPad;
  add_node(std::move(node), width, 2 * kLine + kPad);
  for (size_t writer : first.writers) edges_.push_back({writer, index});
  for (size_t reader : first.readers) edges_.push_back({index, reader});
}

/// The reason why the kernels around a value are separate.
std::string Picture::hover_of(const std::string& value) const {
  std::set<std::string> rules;
  for (const BoundaryFacts& boundary : e_.boundaries)
    if (llvm::is_contained(boundary.values, value))
      rules.insert(boundary.rule + "; " + change_text(boundary.change));
  return llvm::join(rules, "\n");
}

/// Puts kernels below the tensors that they read, in launch order, and inputs just above their
/// first reader. An edge that would point up, to a tensor that is written again, is left out.
void Picture::set_rows() {
  const size_t kernels = e_.kernels.size();
  std::vector<std::vector<size_t>> read(kernels), written(kernels);
  std::vector<bool> is_written(nodes_.size());
  for (const LayoutEdge& edge : edges_) {
    if (edge.to < kernels) {
      read[edge.to].push_back(edge.from);
    } else {
      written[edge.from].push_back(edge.to);
      is_written[edge.to] = true;
    }
  }
  for (size_t k = 0; k < kernels; ++k) {
    size_t row = 1; // below the inputs
    for (size_t tensor : read[k])
      if (is_written[tensor]) row = std::max(row, boxes_[tensor].row + 1);
    boxes_[k].row = row;
    for (size_t tensor : written[k]) boxes_[tensor].row = std::max(boxes_[tensor].row, row + 1);
  }
  for (size_t node = kernels; node < nodes_.size(); ++node) {
    if (is_written[node]) continue;
    size_t row = SIZE_MAX;
    for (const LayoutEdge& edge : edges_)
      if (edge.from == node) row = std::min(row, boxes_[edge.to].row);
    boxes_[node].row = row == SIZE_MAX ? 0 : row - 1;
  }
  llvm::erase_if(
      edges_, [&](const LayoutEdge& edge) { return boxes_[edge.from].row >= boxes_[edge.to].row; });
}

std::vector<std::string> head_lines(const Explanation& e) {
  auto row = [](const char* what, int64_t kernels, double seconds, int64_t bytes) {
    return fmt::format("{}: {}, {}, {} moved", what, count_text(kernels, "kernel"),
                       seconds_text(seconds), bytes_text(bytes));
  };
  return {fmt::format("{}, predicted on {}", e.graph, e.device),
          row("fused", e.launches(), e.predicted_seconds, e.bytes),
          row("one kernel per operator", e.unfused.kernels, e.unfused.seconds, e.unfused.bytes)};
}

std::string text_line(double x, double y, const char* style, const std::string& text) {
  return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\"{}>{}</text>\n", x, y, style, escaped(text));
}

std::string Picture::box_text(size_t index) const {
  const Node& node = nodes_[index];
  const LayoutBox& box = boxes_[index];
  const bool is_kernel = index < e_.kernels.size();
  std::string text = "<g>";
  if (!node.hover.empty()) text += fmt::format("<title>{}</title>", escaped(node.hover));
  text += fmt::format("<rect class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" "
                      "height=\"{:.0f}\" rx=\"{}\"/>\n",
                      node.shape, box.x, box.y, box.width, box.height, is_kernel ? 6 : 14);
  double y = box.y + (is_kernel ? kPad : kPad / 2) - 5;
  for (size_t i = 0; i < node.lines.size(); ++i) {
    const bool is_figure = i + 1 == node.lines.size();
    const char* style = i == 0 || (is_kernel && is_figure) ? " class=\"bold\""
                        : is_kernel                        ? ""
                                                           : " class=\"quiet\"";
    text += text_line(box.x + kPad, y += kLine, style, node.lines[i]);
  }
  if (node.share >= 0.005)
    text += fmt::format("<rect class=\"share\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.1f}\" "
                        "height=\"3\" rx=\"1.5\"/>\n",
                        box.x + kPad, box.y + box.height - 8, node.share * (box.width - 2 * kPad));
  return text + "</g>\n";
}

/// The line is straight through rows and curved between them.
std::string Picture::edge_text(const LayoutEdge& edge) {
  std::string path = fmt::format("M{:.1f},{:.1f}", edge.points[0].x, edge.points[0].y);
  for (size_t i = 1; i < edge.points.size(); ++i) {
    const LayoutPoint &a = edge.points[i - 1], &b = edge.points[i];
    const double middle = (a.y + b.y) / 2;
    if (i % 2 == 1)
      path += fmt::format(" L{:.1f},{:.1f}", b.x, b.y);
    else
      path += fmt::format(" C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", a.x, middle, b.x, middle,
                          b.x, b.y);
  }
  return fmt::format("<path class=\"edge\" d=\"{}\" marker-end=\"url(#arrow)\"/>\n", path);
}

std::string Picture::text(double width, double height) const {
  const std::vector<std::string> head = head_lines(e_);
  const double total = std::max(width, text_width(head)) + 2 * kMargin;
  std::string body;
  for (size_t i = 0; i < head.size(); ++i)
    body += text_line(kMargin, kMargin + 4 + (i > 0 ? 4 : 0) + kLine * static_cast<double>(i),
                      i == 0 ? " class=\"title\"" : " class=\"quiet\"", head[i]);
  body += fmt::format("<g transform=\"translate({:.0f},{:.0f})\">\n", (total - width) / 2,
                      kMargin + kHead);
  for (const LayoutEdge& edge : edges_) body += edge_text(edge);
  for (size_t node = 0; node < nodes_.size(); ++node) body += box_text(node);
  const double high = height + 2 * kMargin + kHead;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}"
      "<defs><marker id=\"arrow\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" "
      "refY=\"4\" orient=\"auto\" markerUnits=\"userSpaceOnUse\">"
      "<path class=\"arrow\" d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n{3}</g>\n</svg>\n",
      total, high, kStyle, body);
}

} // namespace

std::string svg_of(const Explanation& explanation) { return Picture(explanation).run(); }

} // namespace ingot
