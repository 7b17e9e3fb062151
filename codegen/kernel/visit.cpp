// SPDX-License-Identifier: Apache-2.0
// See visit.h.
#include "codegen/kernel/visit.h"

#include "codegen/kernel/index_map.h"

#include <algorithm>

namespace ingot {
namespace {

using Visit = llvm::function_ref<void(const Expr&)>;

void walk(const IndexMap& map, Visit visit) {
  visit(map.index);
  for (const Dim& extent : map.nonempty) visit(dim_expr(extent));
}

void walk(const PointExpr& expr, Visit visit) {
  for (const PointOp& op : expr.ops) visit(op.number);
}

void walk(const PointFrame& frame, Visit visit) {
  for (const MemoryRead& read : frame.reads) walk(read.map, visit);
  for (const GatherRead& gather : frame.gathers) {
    walk(gather.map, visit);
    visit(gather.extent);
  }
}

void walk(const MatrixOperand& operand, Visit visit) {
  walk(operand.from.map, visit);
  walk(operand.frame, visit);
  walk(operand.prologue, visit);
  if (operand.map) visit(operand.mapping.matrix); // the host makes the tensor map
  if (!operand.packed) return;
  const PackedOperand& extents = operand.packing;
  visit(dim_expr(extents.batches));
  if (!operand.packed_rows) visit(dim_expr(extents.rows));
  visit(dim_expr(extents.depth));
}

void walk(const MapStage& stage, Visit visit) {
  walk(stage.value, visit);
  walk(stage.within, visit);
}
void walk(const ReduceStage& stage, Visit visit) {
  visit(stage.count);
  visit(stage.position);
  walk(stage.value, visit);
}
void walk(const CarriedStage&, Visit) {}
void walk(const StoreStatesStage& stage, Visit visit) {
  for (const Expr* expr : {&stage.states, &stage.result, &stage.state}) visit(*expr);
}
void walk(const MergeStage& stage, Visit visit) {
  for (const Expr* expr : {&stage.count, &stage.states, &stage.result}) visit(*expr);
}
void walk(const ScanStage& stage, Visit visit) { walk(stage.value, visit); }
void walk(llvm::ArrayRef<Condition> conditions, Visit visit) {
  for (const Condition& condition : conditions) {
    visit(condition.left);
    visit(condition.right);
  }
}
void walk(const StoreStage& stage, Visit visit) {
  walk(stage.value, visit);
  walk(stage.map, visit);
  walk(stage.owns, visit);
  walk(stage.reaches, visit);
}

void walk(const TileBody& body, Visit visit) {
  for (const Expr* expr : {&body.batch, &body.rows, &body.columns}) visit(*expr);
  for (const Mainloop& mainloop : body.mainloops) {
    if (mainloop.a) {
      walk(mainloop.a->body, visit);
      walk(mainloop.a->element, visit);
      for (const PointExpr& value : mainloop.a->kept) walk(value, visit);
      walk(mainloop.a->admits, visit);
    } else {
      walk(mainloop.operands[0], visit);
    }
    walk(mainloop.operands[1], visit);
    visit(mainloop.depth);
  }
  walk(body.frame, visit);
  for (const Stage& stage : body.stages)
    std::visit([&](const auto& step) { walk(step, visit); }, stage.step);
}

void walk(const PackingBody& body, Visit visit) { walk(body.operand, visit); }

} // namespace

void for_each_expr(const Kernel& kernel, Visit visit) {
  std::visit([&](const auto& body) { walk(body, visit); }, kernel.body);
  for (const Variant& variant : kernel.variants) visit(variant.tile_columns);
}

namespace {

template <class Operand, class Body> std::vector<Operand*> operands_of(Body& body) {
  std::vector<Operand*> operands;
  for (auto& mainloop : body.mainloops) {
    if (mainloop.a)
      operands = operands_of<Operand>(mainloop.a->body);
    else
      operands.push_back(&mainloop.operands[0]);
    operands.push_back(&mainloop.operands[1]);
  }
  return operands;
}

} // namespace

std::vector<const MatrixOperand*> matrix_operands(const TileBody& body) {
  return operands_of<const MatrixOperand>(body);
}
std::vector<MatrixOperand*> matrix_operands(TileBody& body) {
  return operands_of<MatrixOperand>(body);
}

const ComputedTile* computed_tile(const TileBody& body) {
  return body.mainloops.empty() ? nullptr : body.mainloops.front().a.get();
}

std::vector<const ComputedTile*> computed_tiles(const TileBody& body) {
  std::vector<const ComputedTile*> tiles;
  for (const ComputedTile* tile = computed_tile(body); tile; tile = computed_tile(tile->body))
    tiles.push_back(tile);
  std::reverse(tiles.begin(), tiles.end());
  return tiles;
}

const PointExpr* value_of(const Stage& stage) {
  return std::visit(
      [](const auto& step) -> const PointExpr* {
        if constexpr (requires { step.value; })
          return &step.value;
        else
          return nullptr;
      },
      stage.step);
}

void for_each_read(MatrixOperand& operand, llvm::function_ref<void(uint32_t&)> visit) {
  visit(operand.from.parameter);
  for (MemoryRead& read : operand.frame.reads) visit(read.parameter);
  for (GatherRead& gather : operand.frame.gathers) visit(gather.parameter);
}

} // namespace ingot
