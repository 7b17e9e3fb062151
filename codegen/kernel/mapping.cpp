// SPDX-License-Identifier: Apache-2.0
// See mapping.h.
#include "codegen/kernel/mapping.h"

#include "codegen/device/sizes/tensor_boxes.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/packing.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

namespace {

/// The coordinates of a map's dims, innermost first.
std::array<Coordinate, 3> coordinates_of(const IndexMap& map) {
  const bool is_k = map.contiguous == Coordinate::k;
  return {is_k ? Coordinate::k : Coordinate::mn, is_k ? Coordinate::mn : Coordinate::k,
          Coordinate::batch};
}

bool multiplies(ComputeType compute, DType dtype) {
  return (compute == ComputeType::f16 && dtype == DType::f16) ||
         (compute == ComputeType::bf16 && dtype == DType::bf16) ||
         (compute == ComputeType::tf32 && dtype == DType::f32);
}

MapType map_type(DType dtype) {
  return dtype == DType::f16 ? MapType::f16 : dtype == DType::bf16 ? MapType::bf16 : MapType::tf32;
}

} // namespace

bool is_mapped(const Schedule& schedule, MatmulSide of) {
  return schedule.operands[of.index()].path == PathKind::mapped;
}

bool can_map(const Kernel& outline, const MatrixOperand& operand, ComputeType compute) {
  const DType dtype = outline.parameters[operand.from.parameter].dtype;
  const IndexMap& map = operand.from.map;
  if (!multiplies(compute, dtype) || !operand.prologue.empty() || !map.is_affine ||
      (map.contiguous != Coordinate::k && map.contiguous != Coordinate::mn))
    return false;
  const int64_t aligned = kMapAlignment / size_of(dtype);
  if (map.widest(aligned) != aligned || !map.needed(aligned).empty()) return false;
  const std::array<Coordinate, 3> along = coordinates_of(map);
  const auto other = map.strides.find(along[1]), batch = map.strides.find(along[2]);
  return other != map.strides.end() && other->second.factor() % aligned == 0 &&
         (batch == map.strides.end() || batch->second.factor() % aligned == 0);
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
  const auto batch = map.strides.find(Coordinate::batch);
  mapped.is_batched = batch != map.strides.end();
  // Only the extents are of interest; each format has them.
  const PackedOperand packed = packed_operand(graph, group, of, PackFormat::f16);
  for (const auto& [dim, along] : llvm::enumerate(coordinates_of(map)))
    mapped.extents[dim] = dim_expr(along == Coordinate::k    ? packed.depth
                                   : along == Coordinate::mn ? packed.rows
                                                             : packed.batches);
  mapped.strides[0] = dim_expr(map.strides.at(coordinates_of(map)[1]));
  mapped.strides[1] = mapped.is_batched ? dim_expr(batch->second) : mapped.strides[0];
  if (!mapped.is_batched) mapped.extents[2] = 1;
  mapped.first = map.first;
  return mapped;
}

namespace {

TensorMap tensor_map(const Kernel& kernel, const MatrixOperand& operand, MatmulSide of,
                     const Schedule& schedule) {
  const MappedOperand& mapping = operand.mapping;
  const DType dtype = kernel.parameters[operand.from.parameter].dtype;
  TensorMap map;
  map.argument = operand.from.parameter;
  map.type = map_type(dtype);
  map.extents = mapping.extents;
  const auto size = static_cast<int>(size_of(dtype));
  for (size_t dim : {0, 1}) map.strides[dim] = mapping.strides[dim] * size;
  const bool is_k = operand.from.map.contiguous == Coordinate::k;
  // The blocks of a cluster share B, and each copies a part of its columns.
  const auto lines =
      static_cast<int>(of.side == 0 ? schedule.tile_m : schedule.tile_n / schedule.cluster);
  const bool is_cut = of.side == 0 && schedule.mainloop != MainloopKind::wgmma_swapped;
  const auto blocks = static_cast<int>(is_cut ? schedule.warp_m / 16 : 1);
  map.box = {sizes::box_elements(size), sizes::box_lines(is_k, lines, blocks, size), 1};
  return map;
}

} // namespace

std::vector<VariantMap> tensor_maps(const Kernel& kernel, const Schedule& schedule) {
  std::vector<VariantMap> maps;
  const auto& mainloops = std::get<TileBody>(kernel.body).mainloops;
  for (uint32_t m = 0; m < mainloops.size(); ++m)
    for (uint32_t side : {0u, 1u}) {
      const MatrixOperand& operand = mainloops[m].operands[side];
      if (!operand.map || !is_mapped(schedule, {m, side})) continue;
      if (llvm::any_of(maps, [&](const auto& known) { return known.parameter == *operand.map; }))
        continue;
      const DType dtype = kernel.parameters[operand.from.parameter].dtype;
      maps.push_back({*operand.map, tensor_map(kernel, operand, {m, side}, schedule),
                      operand.mapping.first * size_of(dtype)});
    }
  return maps;
}

} // namespace ingot
