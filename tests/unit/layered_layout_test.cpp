// SPDX-License-Identifier: Apache-2.0
// Pictures: boxes do not overlap, and no line runs through one that it does not belong to.
#include "src/reports/layered_layout.h"

#include <doctest/doctest.h>

#include <random>

using namespace ingot;

namespace {

bool is_inside(const LayoutBox& box, double x, double y) {
  constexpr double kTouch = 0.01;
  return x > box.x + kTouch && x < box.x + box.width - kTouch && y > box.y + kTouch &&
         y < box.y + box.height - kTouch;
}

/// Points of a line as the picture draws it: straight, then a curve whose ends are vertical.
std::vector<LayoutPoint> sampled(const LayoutEdge& edge) {
  std::vector<LayoutPoint> points;
  for (size_t i = 1; i < edge.points.size(); ++i) {
    const LayoutPoint &a = edge.points[i - 1], &b = edge.points[i];
    for (int step = 0; step <= 20; ++step) {
      const double t = step / 20.0, smooth = i % 2 == 1 ? t : t * t * (3 - 2 * t);
      points.push_back({a.x + (b.x - a.x) * smooth, a.y + (b.y - a.y) * t});
    }
  }
  return points;
}

} // namespace

TEST_CASE("layout: boxes do not overlap, lines cross none") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    auto draw = [&](size_t below) {
      return std::uniform_int_distribution<size_t>(0, below - 1)(random);
    };
    std::vector<LayoutBox> boxes;
    for (size_t i = 0; i < 12; ++i)
      boxes.push_back(
          {.width = 20.0 + double(draw(300)), .height = 20.0 + double(draw(80)), .row = draw(6)});
    std::vector<LayoutEdge> edges;
    for (size_t i = 0; i < 30; ++i) {
      const size_t a = draw(12), b = draw(12);
      if (boxes[a].row < boxes[b].row) edges.push_back({a, b});
    }
    const auto [width, height] = layered_layout(boxes, edges);
    for (size_t a = 0; a < boxes.size(); ++a) {
      CHECK(boxes[a].x >= 0);
      CHECK(boxes[a].x + boxes[a].width <= width + 0.01);
      CHECK(boxes[a].y + boxes[a].height <= height + 0.01);
      for (size_t b = 0; b < a; ++b)
        CHECK((boxes[a].x >= boxes[b].x + boxes[b].width - 0.01 ||
               boxes[b].x >= boxes[a].x + boxes[a].width - 0.01 ||
               boxes[a].y >= boxes[b].y + boxes[b].height ||
               boxes[b].y >= boxes[a].y + boxes[a].height));
    }
    for (const LayoutEdge& edge : edges) {
      const LayoutBox &from = boxes[edge.from], &to = boxes[edge.to];
      CHECK(edge.points.front().y == doctest::Approx(from.y + from.height));
      CHECK(edge.points.back().y == doctest::Approx(to.y));
      for (const LayoutPoint& point : sampled(edge))
        for (const LayoutBox& box : boxes) CHECK_FALSE(is_inside(box, point.x, point.y));
    }
  }
}

TEST_CASE("layout: nothing, and one box") {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;
  CHECK(layered_layout(boxes, edges) == std::pair(0.0, 0.0));
  boxes.push_back({.width = 100, .height = 30});
  CHECK(layered_layout(boxes, edges) == std::pair(100.0, 30.0));
}
