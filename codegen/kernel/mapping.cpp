// SPDX-License-Identifier: Apache-2.0
// See mapping.h.
#include "codegen/kernel/mapping.h"

#include "codegen/device/sizes/tensor_boxes.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/packing.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/visit.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace ingot {

namespace {

/// The coordinates of a matrix, innermost first.
std::array<Coordinate, 2> coordinates_of(const IndexMap& map) {
  const bool is_k = map.contiguous == Coordinate::k;
  return {is_k ? Coordinate::k : Coordinate::mn, is_k ? Coordinate::mn : Coordinate::k};
}

MapType map_type(DType dtype, ComputeType compute) {
  switch (dtype) {
  case DType::f16: return MapType::f16;
  case DType::bf16: return MapType::bf16;
  default: return compute == ComputeType::tf32 ? MapType::tf32 : MapType::f32;
  }
}

/// The matrices of a mapped operand: their number, the elements between them, and that of a batch.
/// Several terms of a batch have a common step.
struct Matrices {
  Expr matrices = 1, step, own;
};
Matrices matrices_of(const IndexMap& map) {
  Matrices result;
  if (map.batches.empty()) return result;
  int64_t factor = 0;
  for (const auto& term : map.batches) factor = std::gcd(factor, term.stride.factor());
  const bool is_one = map.batches.size() == 1;
  result.step = is_one ? dim_expr(map.batches.front().stride) : Expr(factor);
  result.matrices = Expr(0);
  for (const auto& term : map.batches) {
    const Expr steps = is_one ? Expr(1) : dim_expr(term.stride) / factor;
    result.matrices = result.matrices + dim_expr(term.extent) * steps;
    result.own = result.own + term.index * steps;
  }
  return result;
}

} // namespace

bool is_mapped(const Schedule& schedule, MatmulSide of) {
  return schedule.operands[of.index()].path == PathKind::mapped;
}

bool multiplies_copied(const Kernel& outline, const MatrixOperand& operand, ComputeType compute) {
  const DType dtype = outline.parameters[operand.from.parameter].dtype;
  return (compute == ComputeType::f16 && dtype == DType::f16) ||
         (compute == ComputeType::bf16 && dtype == DType::bf16) ||
         (compute == ComputeType::tf32 && dtype == DType::f32);
}

bool can_map(const Kernel& outline, const MatrixOperand& operand) {
  const DType dtype = outline.parameters[operand.from.parameter].dtype;
  const IndexMap& map = operand.from.map;
  if (!llvm::is_contained({DType::f16, DType::bf16, DType::f32}, dtype) ||
      !operand.prologue.empty() || !map.has_matrices ||
      (map.contiguous != Coordinate::k && map.contiguous != Coordinate::mn))
    return false;
  const int64_t aligned = kMapAlignment / size_of(dtype);
  if (map.widest(aligned) != aligned || !map.needed(aligned).empty()) return false;
  const auto other = map.strides.find(coordinates_of(map)[1]);
  const auto is_aligned = [&](const Dim& stride) { return stride.factor() % aligned == 0; };
  return other != map.strides.end() && is_aligned(other->second) &&
         matrices_of(map).matrices.constant().value_or(0) <= INT32_MAX &&
         llvm::all_of(map.batches, [&](const auto& term) { return is_aligned(term.stride); });
}

bool is_same_matrix(const MatrixOperand& a, const MatrixOperand& b) {
  return a.prologue.empty() && b.prologue.empty() && a.from.parameter == b.from.parameter &&
         a.from.map.index == b.from.map.index;
}

const MatrixOperand* shared_operand(const TileBody& body, MatmulSide of) {
  const MatrixOperand& first = body.mainloops.front().operands[of.side];
  const MatrixOperand& operand = body.mainloops[of.matmul].operands[of.side];
  return of.matmul > 0 && is_same_matrix(first, operand) ? &first : nullptr;
}

MappedOperand mapped_operand(const Graph& graph, const Group& group, MatmulSide of,
                             const MatrixOperand& operand) {
  const IndexMap& map = operand.from.map;
  MappedOperand mapped;
  // Only the extents are of interest; each format has them.
  const PackedOperand packed = packed_operand(graph, group, of, PackFormat::f16);
  const auto along = coordinates_of(map);
  for (size_t dim : {0, 1})
    mapped.extents[dim] = dim_expr(along[dim] == Coordinate::k ? packed.depth : packed.rows);
  mapped.strides[0] = dim_expr(map.strides.at(along[1]));
  const Matrices matrices = matrices_of(map);
  mapped.extents[2] = matrices.matrices;
  mapped.strides[1] = map.batches.empty() ? mapped.strides[0] : matrices.step;
  mapped.matrix = matrices.own;
  mapped.first = map.first;
  return mapped;
}

namespace {

/// The lines of an operand that a block copies of a tile, and the blocks of 64 lines of one
/// warpgroup. `number`: that in Schedule::operands.
struct OperandLines {
  int64_t lines, blocks = 1;
};
OperandLines lines_of(const TileBody& body, const Schedule& s, size_t number) {
  if (s.mainloop == MainloopKind::resident_wgmma) {
    const auto tiles = computed_tiles(body);
    if (number == 0) return {s.tile_m};
    return {number > tiles.size() ? s.tile_n : resident_columns(tiles[number - 1]->body, s)};
  }
  if (s.mainloop == MainloopKind::nested_wgmma)
    return {number == 0 ? s.tile_m : number == 1 ? s.tile_k : s.tile_n};
  // The blocks of a cluster share B, and each copies a part of its columns.
  if (number % 2 == 1) return {s.tile_n / s.cluster};
  return {s.tile_m, s.mainloop == MainloopKind::wgmma_swapped ? 1 : s.warp_m / 16};
}

TensorMap tensor_map(const Kernel& kernel, const MatrixOperand& operand, ComputeType compute,
                     const OperandLines& of) {
  const MappedOperand& mapping = operand.mapping;
  const DType dtype = kernel.parameters[operand.from.parameter].dtype;
  TensorMap map;
  map.argument = operand.from.parameter;
  map.type = map_type(dtype, compute);
  map.extents = mapping.extents;
  const auto size = static_cast<int>(size_of(dtype));
  for (size_t dim : {0, 1}) map.strides[dim] = mapping.strides[dim] * size;
  const bool is_k = operand.from.map.contiguous == Coordinate::k;
  map.box = {sizes::box_elements(size),
             sizes::box_lines(is_k, static_cast<int>(of.lines), static_cast<int>(of.blocks), size),
             1};
  return map;
}

} // namespace

std::vector<VariantMap> tensor_maps(const Kernel& kernel, const Schedule& schedule) {
  std::vector<VariantMap> maps;
  const auto& body = std::get<TileBody>(kernel.body);
  const auto operands = matrix_operands(body);
  for (const auto& [number, operand] : llvm::enumerate(operands)) {
    if (!operand->map || schedule.operands[number].path != PathKind::mapped) continue;
    if (llvm::any_of(maps, [&](const auto& known) { return known.parameter == *operand->map; }))
      continue;
    const DType dtype = kernel.parameters[operand->from.parameter].dtype;
    maps.push_back(
        {*operand->map,
         tensor_map(kernel, *operand, schedule.compute, lines_of(body, schedule, number)),
         operand->mapping.first * size_of(dtype)});
  }
  return maps;
}

} // namespace ingot
