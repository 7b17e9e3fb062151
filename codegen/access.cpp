// SPDX-License-Identifier: Apache-2.0
// See access.h.
#include "codegen/access.h"

#include "src/support/error.h"

#include <algorithm>
#include <map>

namespace ingot {

std::string dim_member(const std::string& name) { return "dim_" + name; }

std::string dim_code(const Dim& dim) {
  std::string text;
  for (const Dim::Product& product : dim.products()) {
    const int64_t size = std::abs(product.coefficient);
    std::string term = size == 1 ? "" : fmt::format("{}", size);
    for (const std::string& name : product.names)
      term += (term.empty() ? "p." : " * p.") + dim_member(name);
    text += product.coefficient < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    text += term;
  }
  if (text.empty()) return fmt::format("{}", dim.constant());
  if (dim.constant() == 0) return text;
  return fmt::format("{} {} {}", text, dim.constant() < 0 ? "-" : "+", std::abs(dim.constant()));
}

std::string divisor_code(const Dim& dim) {
  return fmt::format("{}({})", dim.is_fixed() ? "" : "nonzero", dim_code(dim));
}

Expr dim_expr(const Dim& dim) {
  std::optional<Expr> sum, taken;
  auto add = [](std::optional<Expr>& to, const Expr& term) { to = to ? *to + term : term; };
  for (const Dim::Product& product : dim.products()) {
    Expr term = std::abs(product.coefficient);
    for (const std::string& name : product.names) term = term * Expr::symbol(name);
    add(product.coefficient < 0 ? taken : sum, term);
  }
  if (dim.constant() != 0 || (!sum && !taken))
    add(dim.constant() < 0 ? taken : sum, std::abs(dim.constant()));
  if (!taken) return *sum;
  return sum.value_or(Expr(0)) - *taken;
}

std::vector<Coordinate> stage_coordinates(const Group& group) {
  return {{"batch", group.domain.batch}, {"row", group.domain.rows}, {"col", group.domain.columns}};
}

std::vector<Coordinate> operand_coordinates(const Group& group, const Matmul& matmul,
                                            uint32_t operand) {
  return {{"batch", group.domain.batch},
          {"mn", operand == 0 ? group.domain.rows : group.domain.columns},
          {"k", matmul.contraction}};
}

Access dense_access(const Group& group, const AtomShape& dims) {
  Access access{ValueId(), {}, dims};
  for (const AtomList& list : dims)
    access.shape.push_back(group.space.extent(group.space.leaves(list)));
  return access;
}

namespace {

/// Adjacent factors of one coordinate that the tensor counts through as one index.
struct Run {
  size_t first, last; ///< positions in the coordinate's factors
  Dim stride;         ///< in elements
};

AxisRange range_of(const Access& access, size_t d) {
  return access.ranges.empty() ? AxisRange() : access.ranges[d];
}

/// How far one step along each factor moves in memory.
using Strides = std::map<Atom, Dim>;

/// Adds the strides of dim `d`, one step of which moves by `step`.
void add_strides(const Group& group, const Access& access, size_t d, const Dim& step,
                 Strides& strides) {
  Dim inner = step;
  const AtomList leaves = group.space.leaves(access.dims[d]);
  for (size_t k = leaves.size(); k-- > 0;) {
    strides[leaves[k]] = inner;
    inner = inner * group.space.extent(leaves[k]);
  }
}

std::vector<Run> runs_of(const Group& group, llvm::ArrayRef<Atom> factors, const Strides& strides) {
  std::vector<Run> runs; // innermost first
  for (size_t k = factors.size(); k-- > 0;) {
    auto stride = strides.find(factors[k]);
    if (stride == strides.end()) continue;
    if (!runs.empty() && runs.back().first == k + 1) {
      const Run& inner = runs.back();
      Dim span = inner.stride;
      for (size_t i = inner.first; i <= inner.last; ++i)
        span = span * group.space.extent(factors[i]);
      if (stride->second == span) {
        runs.back().first = k;
        continue;
      }
    }
    runs.push_back({k, k, stride->second});
  }
  return runs;
}

/// `(col / 32) % 256`: the index that a run counts.
std::string run_code(const Group& group, const Coordinate& coordinate, const Run& run) {
  const Dim below = group.space.extent(coordinate.factors.drop_front(run.last + 1));
  std::string text = coordinate.name;
  if (!below.is(1)) text = fmt::format("({} / {})", text, divisor_code(below));
  if (run.first > 0) {
    const Dim extent =
        group.space.extent(coordinate.factors.slice(run.first, run.last - run.first + 1));
    text = fmt::format("({} % {})", text, divisor_code(extent));
  }
  return text;
}

std::string scaled(const std::string& index, const Dim& stride) {
  return stride.is(1) ? index : fmt::format("{} * ({})", index, dim_code(stride));
}

/// `row * (64) + col - 32`.
std::string sum_code(const std::vector<std::string>& terms) {
  std::string text = terms.front();
  for (const std::string& term : llvm::ArrayRef(terms).drop_front())
    text += term.front() == '-' ? " - " + term.substr(1) : " + " + term;
  return text;
}

class FormulaWriter {
public:
  /// `is_inside`: the formula is used only where the ranges hold.
  FormulaWriter(const Group& group, const Access& access, llvm::ArrayRef<Coordinate> coordinates,
                int64_t limit, bool is_inside)
      : group_(group), access_(access), coordinates_(coordinates), is_inside_(is_inside) {
    formula_.widest = limit;
    formula_.contiguous = -1;
    formula_.varies.resize(coordinates.size());
  }
  IndexFormula run();

private:
  std::vector<std::string> terms_of(const Strides& strides, const Dim& scale);
  std::string term_within(size_t d, const Dim& dense);
  void require_multiple(const Dim& dim);

  const Group& group_;
  const Access& access_;
  const llvm::ArrayRef<Coordinate> coordinates_;
  const bool is_inside_;
  IndexFormula formula_;
};

/// Narrows `widest` so that `dim` is a multiple of it, or notes a named size that must be.
void FormulaWriter::require_multiple(const Dim& dim) {
  while (formula_.widest > 1 && dim.factor() % formula_.widest != 0) {
    if (!dim.is_fixed()) {
      formula_.divisible.push_back(dim);
      return;
    }
    formula_.widest /= 2;
  }
}

/// What the coordinates add to an index that moves by `strides`, counted in steps of `scale`.
std::vector<std::string> FormulaWriter::terms_of(const Strides& strides, const Dim& scale) {
  std::vector<std::string> terms;
  for (size_t c = 0; c < coordinates_.size(); ++c) {
    const Coordinate& coordinate = coordinates_[c];
    for (const Run& run : runs_of(group_, coordinate.factors, strides)) {
      formula_.varies[c] = true;
      const std::string index = run_code(group_, coordinate, run);
      formula_.affine &= index == coordinate.name;
      const bool innermost = run.last + 1 == coordinate.factors.size();
      if (innermost && (run.stride * scale).is(1)) {
        formula_.contiguous = static_cast<int64_t>(c);
        const size_t length = run.last - run.first + 1;
        require_multiple(group_.space.extent(coordinate.factors.slice(run.first, length)));
      } else {
        require_multiple(run.stride * scale);
      }
      terms.push_back(scaled(index, run.stride));
    }
  }
  return terms;
}

/// What a dim adds of which only some positions are there.
std::string FormulaWriter::term_within(size_t d, const Dim& dense) {
  const AxisRange range = range_of(access_, d);
  const Dim scale = dense * Dim(range.step);
  Strides strides;
  add_strides(group_, access_, d, 1, strides);
  std::vector<std::string> terms = terms_of(strides, scale);
  formula_.affine = false;
  if (!range.within.is_fixed()) formula_.nonempty.push_back(range.within);
  // An access of adjacent elements lies inside as a whole, or outside.
  require_multiple(scale * range.before);
  require_multiple(scale * range.within);
  if (!range.before.is(0) || terms.empty()) terms.push_back(dim_code(range.before * Dim(-1)));
  return scaled(fmt::format("within({}, {})", sum_code(terms), dim_code(range.within)), scale);
}

IndexFormula FormulaWriter::run() {
  Strides strides;
  std::vector<std::string> partial, offsets;
  Dim dense = 1;
  for (size_t d = access_.shape.size(); d-- > 0;) {
    AxisRange range = range_of(access_, d);
    if (range.is_part() && is_inside_) {
      require_multiple(dense * Dim(range.step) * range.before);
      require_multiple(dense * Dim(range.step) * range.within);
      range = {range.start - Dim(range.step) * range.before, range.step};
    }
    if (range.is_part())
      partial.push_back(term_within(d, dense));
    else
      add_strides(group_, access_, d, dense * Dim(range.step), strides);
    if (!range.start.is(0)) {
      const Dim offset = dense * range.start;
      require_multiple(offset);
      offsets.push_back(dim_code(offset));
    }
    dense = dense * access_.shape[d];
  }
  std::vector<std::string> terms = terms_of(strides, 1);
  llvm::append_range(terms, partial);
  llvm::append_range(terms, offsets);
  formula_.text = terms.empty() ? "0" : sum_code(terms);
  if (formula_.contiguous < 0) formula_.widest = 1;
  if (formula_.widest == 1) formula_.divisible.clear();
  return std::move(formula_);
}

} // namespace

IndexFormula index_formula(const Group& group, const Access& access,
                           llvm::ArrayRef<Coordinate> coordinates, int64_t limit) {
  return FormulaWriter(group, access, coordinates, limit, false).run();
}

std::string read_address(const std::string& pointer, const IndexFormula& formula,
                         llvm::StringRef element) {
  const std::string address = fmt::format("p.{} + ({})", pointer, formula.text);
  std::string condition;
  for (const Dim& extent : formula.nonempty)
    condition += fmt::format("{}{} > 0", condition.empty() ? "" : " && ", dim_code(extent));
  return condition.empty()
             ? address
             : fmt::format("{} ? {} : nothing<{}>()", condition, address, element.str());
}

IndexFormula store_index(const Group& group, const Access& access, int64_t limit) {
  return FormulaWriter(group, access, stage_coordinates(group), limit, true).run();
}

} // namespace ingot
