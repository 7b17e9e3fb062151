// SPDX-License-Identifier: Apache-2.0
// Products by wgmma of rows with few nonzero elements, of which some are weak. Their residuals are
// multiplied too (tile/residual_products.cuh).
#include "tests/emulation/wgmma_cases.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Rows of A and columns of B for which halves alone are wrong. The large elements of a row, in the
/// first third of k, meet zeros of the columns, and those of a column, in the last third, meet
/// zeros of the rows. Between them, a row has four weak elements. The first 16 columns have large
/// elements there, and the others four weak ones, of which two meet those of the rows.
constexpr const char* kRows = "where({k} < {third}.0, 1.0, where({k} < {third}.0 + 10.0, 0.0,"
                              " where({k} < {third}.0 + 14.0, 1.5e-7, 0.0)))";
constexpr const char* kColumns =
    "where({k} < {third}.0, 0.0, where({k} < 2.0 * {third}.0, where({mn} < 16.0, 1.0,"
    " where({k} < {third}.0 + 12.0, 0.0, where({k} < {third}.0 + 16.0, 1.1e-6, 0.0))), 1.0))";

/// The rows of an operand of this shape, with the indices of its axes.
std::string of(const char* rows, const std::string& name, const std::string& shape, int mn, int k,
               int depth) {
  const auto axis = [&](int number) {
    return fmt::format("iota(f32, [{}], axis={})", shape, number);
  };
  return name + " * " +
         fmt::format(fmt::runtime(rows), fmt::arg("k", axis(k)), fmt::arg("mn", axis(mn)),
                     fmt::arg("third", depth / 3));
}

/// A product of such operands, each [rows, columns]; of a batch of A if `batch` is not 0.
Case sparse(int m, int n, int depth = 300, int batch = 0) {
  const std::string shape_a =
      batch > 0 ? fmt::format("{}, {}, {}", batch, m, depth) : fmt::format("{}, {}", m, depth);
  const std::string shape_b = fmt::format("{}, {}", depth, n);
  return wgmma(fmt::format("graph g(a: f32[{0}], b: f32[{1}]) {{\n  return relu(matmul({2},\n"
                           "    {3})) }}",
                           shape_a, shape_b,
                           of(kRows, "a", shape_a, batch > 0 ? 1 : 0, batch > 0 ? 2 : 1, depth),
                           of(kColumns, "b", shape_b, 1, 0, depth)));
}

} // namespace

TEST_CASE("emulation: the residuals of weak elements are multiplied") {
  const Case cases[] = {sparse(150, 276), sparse(257, 70), sparse(3, 129), sparse(70, 140, 300, 3)};
  for (const Case& one : cases) CHECK(has_wgmma(one));
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: residuals of long rows, of batches, and behind sums that move to totals") {
  // Rows of several warps, of which each holds a part; then longer ones than are held.
  Case long_rows = wgmma("graph g(a: f32[20, 4500], b: f32[70, 4500]) {\n"
                         "  return relu(matmul(" +
                         of(kRows, "a", "20, 4500", 0, 1, 4500) + ",\n    " +
                         of(kColumns, "b", "70, 4500", 0, 1, 4500) + ", transpose_b=true)) }");
  Case batches = wgmma("graph g(a: f32[2, 40, 300], b: f32[2, 300, 70]) {\n  return matmul(" +
                       of(kRows, "a", "2, 40, 300", 1, 2, 300) + ",\n    " +
                       of(kColumns, "b", "2, 300, 70", 2, 1, 300) + ") }");
  for (const Case& one : {long_rows, batches}) CHECK(has_wgmma(one));
  CHECK(check_cases({long_rows, batches}) == "");
}

TEST_CASE("emulation: residuals of rows that the product packs, and of parts of k") {
  Case packs = sparse(140, 140);
  packs.choice.packs_a = 1;
  const Case parts = sparse(40, 60, 900);
  for (const Case& one : {packs, parts}) CHECK(has_wgmma(one));
  CHECK(schedules_of(packs).find("packs-a") != std::string::npos);
  CHECK(is_split(parts));
  CHECK(check_cases({packs, parts}) == "");
}
