// SPDX-License-Identifier: Apache-2.0
// See layered_layout.h. Rows are ordered by the mean position of neighbours. An edge over several
// rows has a cell in each row between.
#include "src/reports/layered_layout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdint>

namespace ingot {
namespace {

constexpr double kBetweenBoxes = 24, kBetweenRows = 44, kLane = 14;
constexpr int kSweeps = 12;

/// A box, or the place of an edge in a row that it only crosses.
struct Cell {
  double width = 0, middle = 0;
  std::vector<size_t> above, below; ///< cells at the other ends of edges
};

class Layout {
public:
  Layout(std::vector<LayoutBox>& boxes, std::vector<LayoutEdge>& edges)
      : boxes_(boxes), edges_(edges) {}

  std::pair<double, double> run() {
    make_cells();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t i = 0; i < rows_.size(); ++i) place_row(down ? i : rows_.size() - 1 - i, down);
    }
    return finish();
  }

private:
  void make_cells() {
    size_t rows = 0;
    for (const LayoutBox& box : boxes_) rows = std::max(rows, box.row + 1);
    rows_.resize(rows);
    for (const LayoutBox& box : boxes_) add_cell(box.row, box.width);
    for (const LayoutEdge& edge : edges_) {
      std::vector<size_t> cells = {edge.from};
      for (size_t row = boxes_[edge.from].row + 1; row < boxes_[edge.to].row; ++row)
        cells.push_back(add_cell(row, kLane));
      cells.push_back(edge.to);
      for (size_t i = 1; i < cells.size(); ++i) {
        cells_[cells[i - 1]].below.push_back(cells[i]);
        cells_[cells[i]].above.push_back(cells[i - 1]);
      }
      paths_.push_back(std::move(cells));
    }
    for (std::vector<size_t>& row : rows_) spread(row);
  }

  size_t add_cell(size_t row, double width) {
    cells_.push_back({width, 0, {}, {}});
    rows_[row].push_back(cells_.size() - 1);
    return cells_.size() - 1;
  }

  /// Places cells side by side around 0.
  void spread(llvm::ArrayRef<size_t> row) {
    double x = 0;
    for (size_t cell : row) {
      cells_[cell].middle = x + cells_[cell].width / 2;
      x += cells_[cell].width + kBetweenBoxes;
    }
    for (size_t cell : row) cells_[cell].middle -= (x - kBetweenBoxes) / 2;
  }

  double wanted(size_t cell, bool by_above) const {
    const auto& near = by_above ? cells_[cell].above : cells_[cell].below;
    if (near.empty()) return cells_[cell].middle;
    double sum = 0;
    for (size_t other : near) sum += cells_[other].middle;
    return sum / static_cast<double>(near.size());
  }

  /// Places cells as near to the mean of their neighbours as their widths allow.
  void place_row(size_t index, bool by_above) {
    std::vector<size_t>& row = rows_[index];
    std::vector<double> wish(cells_.size());
    for (size_t cell : row) wish[cell] = wanted(cell, by_above);
    std::stable_sort(row.begin(), row.end(), [&](size_t a, size_t b) { return wish[a] < wish[b]; });
    // One pass pushes to the right, one to the left. Between the two results nothing overlaps
    // either.
    std::vector<double> right(row.size()), left(row.size());
    auto apart = [&](size_t i) {
      return (cells_[row[i - 1]].width + cells_[row[i]].width) / 2 + kBetweenBoxes;
    };
    for (size_t i = 0; i < row.size(); ++i)
      right[i] = i == 0 ? wish[row[i]] : std::max(wish[row[i]], right[i - 1] + apart(i));
    for (size_t i = row.size(); i-- > 0;)
      left[i] =
          i + 1 == row.size() ? wish[row[i]] : std::min(wish[row[i]], left[i + 1] - apart(i + 1));
    for (size_t i = 0; i < row.size(); ++i) cells_[row[i]].middle = (left[i] + right[i]) / 2;
  }

  std::pair<double, double> finish() {
    double least = 0, most = 0;
    for (const Cell& cell : cells_) {
      least = std::min(least, cell.middle - cell.width / 2);
      most = std::max(most, cell.middle + cell.width / 2);
    }
    std::vector<double> tops, bottoms;
    double y = 0;
    for (size_t r = 0; r < rows_.size(); ++r) {
      double height = 0;
      for (const LayoutBox& box : boxes_)
        if (box.row == r) height = std::max(height, box.height);
      tops.push_back(y);
      bottoms.push_back(y + height);
      y += height + kBetweenRows;
    }
    for (size_t i = 0; i < boxes_.size(); ++i) {
      LayoutBox& box = boxes_[i];
      box.x = cells_[i].middle - box.width / 2 - least;
      box.y = tops[box.row] + (bottoms[box.row] - tops[box.row] - box.height) / 2;
    }
    for (Cell& cell : cells_) cell.middle -= least;
    for (size_t e = 0; e < edges_.size(); ++e) draw(edges_[e], paths_[e], tops, bottoms);
    return {most - least, std::max(0.0, y - kBetweenRows)};
  }

  /// The point where an edge meets a box. Edges on one side are in the order of their other ends.
  double port(size_t cell, size_t other, bool at_top) const {
    std::vector<size_t> ends = at_top ? cells_[cell].above : cells_[cell].below;
    std::stable_sort(ends.begin(), ends.end(),
                     [&](size_t a, size_t b) { return cells_[a].middle < cells_[b].middle; });
    const auto at = static_cast<double>(llvm::find(ends, other) - ends.begin());
    const double share = (at + 1) / static_cast<double>(ends.size() + 1);
    return cells_[cell].middle + (share - 0.5) * cells_[cell].width;
  }

  void draw(LayoutEdge& edge, llvm::ArrayRef<size_t> path, llvm::ArrayRef<double> tops,
            llvm::ArrayRef<double> bottoms) const {
    const LayoutBox &from = boxes_[edge.from], &to = boxes_[edge.to];
    const double begin = port(path.front(), path[1], false);
    edge.points = {{begin, from.y + from.height}, {begin, bottoms[from.row]}};
    for (size_t i = 1; i + 1 < path.size(); ++i) {
      const double x = cells_[path[i]].middle;
      edge.points.push_back({x, tops[from.row + i]});
      edge.points.push_back({x, bottoms[from.row + i]});
    }
    const double end = port(path.back(), path[path.size() - 2], true);
    edge.points.push_back({end, tops[to.row]});
    edge.points.push_back({end, to.y});
  }

  std::vector<LayoutBox>& boxes_;
  std::vector<LayoutEdge>& edges_;
  std::vector<Cell> cells_; ///< boxes first
  std::vector<std::vector<size_t>> rows_;
  std::vector<std::vector<size_t>> paths_; ///< the cells of each edge
};

} // namespace

std::pair<double, double> layered_layout(std::vector<LayoutBox>& boxes,
                                         std::vector<LayoutEdge>& edges) {
  return Layout(boxes, edges).run();
}

} // namespace ingot
