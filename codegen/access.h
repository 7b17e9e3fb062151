// SPDX-License-Identifier: Apache-2.0
// Turns a fusion Access into what a kernel needs: the index formula over (batch, row, col), along
// which of them it varies, and how wide an aligned access may be. Used by schedules and emitter.
#pragma once

#include "codegen/expr.h"
#include "ir/fusion/plan.h"

namespace ingot {

/// Which list of domain factors a coordinate counts through.
struct Coordinate {
  std::string name; ///< of the variable in the formula
  llvm::ArrayRef<Atom> factors;
};

/// The coordinates of a kernel's stages, called `batch`, `row` and `col`.
std::vector<Coordinate> stage_coordinates(const Group& group);
/// Those of a matmul's operand: `batch`, `mn` - a row of A, a column of B - and `k`.
std::vector<Coordinate> operand_coordinates(const Group& group, const Matmul& matmul,
                                            uint32_t operand);

struct IndexFormula {
  std::string text;           ///< C++: element index as i64; named dims as `p.m`
  std::vector<bool> varies;   ///< per coordinate
  bool affine = true;         ///< equal steps of a coordinate are equal steps in memory
  int64_t contiguous = 0;     ///< which coordinate has stride 1; -1: none
  int64_t widest = 1;         ///< adjacent elements of one access as far as fixed sizes allow
  std::vector<Dim> divisible; ///< named sizes that must be multiples of the access width
  /// Named sizes of which one element is read even where they are 0.
  llvm::SmallVector<Dim, 1> nonempty;
};

/// The formula for coordinates listed outermost first. The last coordinate with stride 1 gives
/// `contiguous`. `limit` bounds `widest`.
IndexFormula index_formula(const Group& group, const Access& access,
                           llvm::ArrayRef<Coordinate> coordinates, int64_t limit);

/// The formula of what a group stores. It holds where the access's ranges do; an access of adjacent
/// elements lies inside them as a whole, or outside.
IndexFormula store_index(const Group& group, const Access& access, int64_t limit);

/// `p.x + (row * (64) + col)`: what a loader reads. Where its tensor may have no elements, the
/// address is one of zeros then.
std::string read_address(const std::string& pointer, const IndexFormula& formula,
                         llvm::StringRef element = "Element");

/// How generated code calls a named size: a member of Params that no tensor's name can take.
std::string dim_member(const std::string& name);

/// `8192`, `4 * p.dim_m`: a Dim in generated code.
std::string dim_code(const Dim& dim);
/// A Dim that generated code divides by: `(8192)`, `nonzero(4 * p.dim_m)`. Named, it may be 0 where
/// a tile without elements still evaluates indices.
std::string divisor_code(const Dim& dim);
/// The same as a manifest expression.
Expr dim_expr(const Dim& dim);
/// A dense row-major tensor of these dims; of no value in memory.
Access dense_access(const Group& group, const AtomShape& dims);

} // namespace ingot
