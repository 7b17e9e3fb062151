// SPDX-License-Identifier: Apache-2.0
// Turns a fusion Access into an IndexMap: the element of a tensor at a point, and the width of
// an aligned access. Used by schedules and kernels.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// A coordinate and the list of domain factors that it counts through.
struct CoordinateFactors {
  Coordinate coordinate;
  llvm::ArrayRef<Atom> factors;
};

/// The kStageCoordinates of a group.
std::vector<CoordinateFactors> stage_coordinates(const Group& group);
/// The kOperandCoordinates of operand `operand` (0: A, 1: B) of a matmul.
std::vector<CoordinateFactors> operand_coordinates(const Group& group, const Matmul& matmul,
                                                   uint32_t operand);

/// The map for coordinates listed outermost first. The last coordinate of stride 1 is contiguous.
IndexMap index_map(const Group& group, const Access& access,
                   llvm::ArrayRef<CoordinateFactors> coordinates);

/// The map of a store. It is valid where the access's ranges hold. An access of adjacent elements
/// lies inside the ranges as a whole, or outside.
IndexMap store_map(const Group& group, const Access& access);

/// The index of a dense row-major tensor of these dims.
Expr dense_index(const Group& group, const AtomShape& dims,
                 llvm::ArrayRef<CoordinateFactors> coordinates);

/// True if a read of the stages has a different element for each row and column.
bool is_wide(const TileBody& body, const IndexMap& map);
/// The same for a read of a group, from its factors: fusion asks it often, and a map takes longer.
bool is_wide(const Group& group, const Read& read);

/// The number of elements as an expression.
Expr dim_expr(const Dim& dim);

} // namespace ingot
