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
  for (const std::string& name : dim.names())
    text += (text.empty() ? "p." : " * p.") + dim_member(name);
  if (text.empty()) return fmt::format("{}", dim.coefficient());
  return dim.coefficient() == 1 ? text : fmt::format("{} * {}", dim.coefficient(), text);
}

std::string divisor_code(const Dim& dim) {
  return fmt::format("{}({})", dim.is_fixed() ? "" : "nonzero", dim_code(dim));
}

Expr dim_expr(const Dim& dim) {
  Expr result = dim.coefficient();
  for (const std::string& name : dim.names()) result = result * Expr::symbol(name);
  return result;
}

Dim extent_of(const Group& group, llvm::ArrayRef<Atom> factors) {
  Dim result = 1;
  for (Atom atom : factors) result = result * group.space.extent(atom);
  return result;
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
  Access access{ValueId(), {}, dims, {}, {}};
  for (const AtomList& list : dims)
    access.shape.push_back(extent_of(group, group.space.leaves(list)));
  return access;
}

namespace {

/// Adjacent factors of one coordinate that the tensor counts through as one index.
struct Run {
  size_t first, last; ///< positions in the coordinate's factors
  Dim stride;         ///< in elements
};

/// How far one step along each factor moves in memory.
std::map<Atom, Dim> strides_of(const Group& group, const Access& access) {
  std::map<Atom, Dim> strides;
  Dim dense = 1;
  for (size_t d = access.shape.size(); d-- > 0;) {
    Dim inner = access.step.empty() ? Dim(1) : Dim(access.step[d]);
    const AtomList leaves = group.space.leaves(access.dims[d]);
    for (size_t k = leaves.size(); k-- > 0;) {
      strides[leaves[k]] = dense * inner;
      inner = inner * group.space.extent(leaves[k]);
    }
    dense = dense * access.shape[d];
  }
  return strides;
}

std::vector<Run> runs_of(const Group& group, llvm::ArrayRef<Atom> factors,
                         const std::map<Atom, Dim>& strides) {
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
  const Dim below = extent_of(group, coordinate.factors.drop_front(run.last + 1));
  std::string text = coordinate.name;
  if (!below.is(1)) text = fmt::format("({} / {})", text, divisor_code(below));
  if (run.first > 0) {
    const Dim extent =
        extent_of(group, coordinate.factors.slice(run.first, run.last - run.first + 1));
    text = fmt::format("({} % {})", text, divisor_code(extent));
  }
  return text;
}

/// Narrows `formula.widest` so that `dim` is a multiple of it, or notes a named size that must be.
void require_multiple(IndexFormula& formula, const Dim& dim) {
  while (formula.widest > 1 && dim.coefficient() % formula.widest != 0) {
    if (!dim.is_fixed()) {
      formula.divisible.push_back(dim);
      return;
    }
    formula.widest /= 2;
  }
}

} // namespace

IndexFormula index_formula(const Group& group, const Access& access,
                           llvm::ArrayRef<Coordinate> coordinates, int64_t limit) {
  IndexFormula formula;
  formula.widest = limit;
  formula.contiguous = -1;
  const std::map<Atom, Dim> strides = strides_of(group, access);
  std::vector<std::string> terms;
  for (size_t c = 0; c < coordinates.size(); ++c) {
    const std::vector<Run> runs = runs_of(group, coordinates[c].factors, strides);
    formula.varies.push_back(!runs.empty());
    for (const Run& run : runs) {
      const std::string index = run_code(group, coordinates[c], run);
      formula.affine &= index == coordinates[c].name;
      const bool innermost = run.last + 1 == coordinates[c].factors.size();
      if (run.stride.is(1) && innermost) {
        formula.contiguous = static_cast<int64_t>(c);
        const size_t length = run.last - run.first + 1;
        require_multiple(formula,
                         extent_of(group, coordinates[c].factors.slice(run.first, length)));
        terms.push_back(index);
      } else {
        require_multiple(formula, run.stride);
        terms.push_back(run.stride.is(1) ? index
                                         : fmt::format("{} * ({})", index, dim_code(run.stride)));
      }
    }
  }
  Dim dense = 1;
  for (size_t d = access.shape.size(); d-- > 0;) {
    if (!access.start.empty() && access.start[d] != 0) {
      const Dim offset = dense * Dim(access.start[d]);
      require_multiple(formula, offset);
      terms.push_back(dim_code(offset));
    }
    dense = dense * access.shape[d];
  }
  formula.text = terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + "));
  if (formula.contiguous < 0) formula.widest = 1;
  if (formula.widest == 1) formula.divisible.clear();
  return formula;
}

} // namespace ingot
