// SPDX-License-Identifier: Apache-2.0
// See operands.h.
#include "codegen/schedule/operands.h"

#include "codegen/kernel/widths.h"

#include <algorithm>

namespace ingot {

OperandSchedule choose_operand(const Kernel& kernel, const Schedule& s,
                               const MatrixOperand& operand, bool is_b, int64_t aligned) {
  constexpr int64_t kWidestStaged = 8; // elements of a vector that a slot of a mainloop takes
  const DType dtype = kernel.parameters[operand.from.parameter].dtype;
  const int64_t whole = std::min(kWidestAccess / size_of(dtype), kWidestStaged);
  const IndexMap& map = operand.from.map;
  OperandSchedule result;
  // Neighbours along the batch are not neighbours in a tile. Tiles begin at multiples of tile_m
  // rows and of step_n columns.
  const bool bounded = is_b && map.contiguous == Coordinate::mn;
  result.vec = map.contiguous == Coordinate::batch ? 1
               : bounded                           ? std::min(map.widest(whole), aligned)
                                                   : map.widest(whole);
  // Elements that are converted pass through registers. SIMT tiles are transposed while they are
  // staged.
  const bool converts =
      !s.uses_tensor_cores() ||
      (dtype == DType::f32 && s.mainloop != MainloopKind::thirds && s.compute != ComputeType::tf32);
  result.path =
      !converts && can_copy(kernel, operand, result.vec) ? PathKind::direct : PathKind::staged;
  return result;
}

bool can_copy(const Kernel& kernel, const MatrixOperand& operand, int64_t vec) {
  const auto contiguous = operand.from.map.contiguous;
  const DType dtype = kernel.parameters[operand.from.parameter].dtype;
  return operand.prologue.empty() && vec * size_of(dtype) >= kLeastCopy &&
         (contiguous == Coordinate::mn || contiguous == Coordinate::k);
}

bool can_copy_both(const Kernel& kernel, const Schedule& s) {
  const auto& operands = std::get<TileBody>(kernel.body).mainloops.front().operands;
  return can_copy(kernel, operands[0], s.operands[0].vec) &&
         can_copy(kernel, operands[1], s.operands[1].vec);
}

} // namespace ingot
