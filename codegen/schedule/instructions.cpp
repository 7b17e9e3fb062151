// SPDX-License-Identifier: Apache-2.0
// See instructions.h.
#include "codegen/schedule/instructions.h"

#include "codegen/device/sizes/shared_memory.h"
#include "codegen/kernel/device_tile.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/visit.h"
#include "ir/op_info.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

namespace ingot {
namespace {

// Stages are straight-line code, which an SM fetches from L2 or memory when it runs them first.
// Measured on an H200 with an L2 cache that holds nothing, bf16, instructions of the kernel and us
// beyond the prediction without this term. RMS norms of 1024 x 128 by 512: 2112 1.5, 3704 6.7, 4704
// 11.8. A GELU, an RMS norm and a logsumexp of 1024 x 64 by 256: 4096 5.6, 12816 56.6, which exceed
// the instruction caches.
constexpr double kFetch = 2.5e-9;     ///< an instruction, when an SM runs it first
constexpr double kReductionSteps = 8; ///< of an element, beside those of the reducer

/// The number of values of a step along each coordinate: 1, or up to the coordinate's extent.
using Counts = std::array<double, 3>;
constexpr Counts kOne = {1, 1, 1};

Counts most(const Counts& a, const Counts& b) {
  return {std::max(a[0], b[0]), std::max(a[1], b[1]), std::max(a[2], b[2])};
}

double product(const Counts& counts) { return counts[0] * counts[1] * counts[2]; }

/// Counts the steps of expressions over one kind of point.
class StepCounter {
public:
  StepCounter(const PointFrame& frame, const PointCoordinates& coordinates, const Counts& extents)
      : frame_(frame), coordinates_(coordinates), extents_(extents), slots_(extents) {}

  void set_slots(const Counts& counts) { slots_ = counts; }

  /// Sets the counts of a stage's results, for the expressions that follow it.
  void set_results(uint32_t stage, const Counts& counts) { results_[stage] = counts; }
  Counts along(const Expr& expr) const {
    Counts counts = kOne;
    for (size_t c = 0; c < counts.size(); ++c)
      if (varies_along(expr, coordinates_[c])) counts[c] = extents_[c];
    return counts;
  }
  double instructions(const PointExpr& expr) const;

private:
  Counts counts(const PointOp& op) const;

  const PointFrame& frame_;
  const PointCoordinates& coordinates_;
  const Counts extents_;
  Counts slots_;                       ///< counts of the values in slots
  std::map<uint32_t, Counts> results_; ///< by stage
};

/// The counts of `op` without its operands.
Counts StepCounter::counts(const PointOp& op) const {
  switch (op.kind) {
  case PointOp::Kind::slot: return slots_;
  case PointOp::Kind::merged: return extents_;
  case PointOp::Kind::read: return along(frame_.reads[op.index].map.index);
  case PointOp::Kind::gather: return along(frame_.gathers[op.index].map.index);
  case PointOp::Kind::result: return results_.at(op.index);
  case PointOp::Kind::number: return along(op.number);
  case PointOp::Kind::constant:
  case PointOp::Kind::call:
  case PointOp::Kind::round: return kOne;
  }
  return kOne;
}

double StepCounter::instructions(const PointExpr& expr) const {
  double sum = 0;
  std::vector<Counts> of;
  for (const PointOp& op : expr.ops) {
    Counts counted = counts(op);
    for (uint32_t operand : op.operands) counted = most(counted, of[operand]);
    if (op.kind == PointOp::Kind::call) sum += product(counted) * info(op.function.op).instructions;
    of.push_back(counted);
  }
  return sum;
}

/// The counts of a reduction's results over a domain.
Counts results_of(const ReduceStage& reduce, const Counts& domain) {
  switch (reduce.span) {
  case ReduceSpan::row: return {domain[0], domain[1], 1};
  case ReduceSpan::segment:
    return {domain[0], domain[1], domain[2] / static_cast<double>(reduce.width)};
  case ReduceSpan::column: return {domain[0], 1, domain[2]};
  case ReduceSpan::matrix: return {domain[0], 1, 1};
  }
  return domain;
}

/// `behind`: an expression that is evaluated behind the stages; null: none.
double of_stages(const TileBody& body, const Counts& domain, const PointExpr* behind = nullptr) {
  StepCounter counter(body.frame, kStageCoordinates, domain);
  double sum = 0;
  for (const auto& [number, stage] : llvm::enumerate(body.stages)) {
    if (const PointExpr* value = value_of(stage)) sum += counter.instructions(*value);
    const auto index = static_cast<uint32_t>(number);
    if (const auto* reduce = std::get_if<ReduceStage>(&stage.step)) {
      sum += product(domain) * info(reduce->reducer.op).instructions;
      counter.set_results(index, results_of(*reduce, domain));
    }
    if (std::holds_alternative<CarriedStage>(stage.step))
      counter.set_results(index, {domain[0], domain[1], 1});
    if (const auto* merge = std::get_if<MergeStage>(&stage.step))
      counter.set_results(index, counter.along(merge->result));
    if (const auto* scan = std::get_if<ScanStage>(&stage.step)) {
      sum += product(domain) * info(scan->reducer.op).instructions;
      counter.set_results(index, domain);
    }
  }
  return sum + (behind ? counter.instructions(*behind) : 0);
}

Counts domain_of(const TileBody& body, llvm::function_ref<double(const Expr&)> value) {
  return {value(body.batch), value(body.rows), value(body.columns)};
}

} // namespace

double instructions_of_element(const TileBody& body,
                               llvm::function_ref<double(const Expr&)> value) {
  const Counts domain = domain_of(body, value);
  return of_stages(body, domain) / std::max(1.0, product(domain));
}

namespace {

/// The same for the stages of one tile of `columns`.
double code_of_tile(const TileBody& body, const Schedule& s, int64_t columns,
                    llvm::function_ref<double(const Expr&)> value) {
  const auto reductions = static_cast<double>(llvm::count_if(body.stages, [](const Stage& stage) {
    return std::holds_alternative<ReduceStage>(stage.step);
  }));
  const double steps = instructions_of_element(body, value) + kReductionSteps * reductions;
  const double elements =
      static_cast<double>(s.tile_m * columns) / static_cast<double>(s.tile_threads());
  const bool in_bands =
      s.in_bands || (s.skeleton == Skeleton::held && !body.mainloops.empty() &&
                     elements >= sizes::kLeastElementsInBands && stays_in_rows(body, s));
  return kFetch * steps * elements / (in_bands ? 2 : 1);
}

} // namespace

double code_seconds(const TileBody& body, const Schedule& s,
                    llvm::function_ref<double(const Expr&)> value) {
  double seconds = code_of_tile(body, s, s.tile_n, value);
  if (is_resident(s.mainloop))
    for (const ComputedTile* tile : computed_tiles(body))
      seconds += code_of_tile(tile->body, s, resident_columns(tile->body, s), value);
  return seconds;
}

double stage_instructions(const Kernel& kernel, llvm::function_ref<double(const Expr&)> value) {
  const auto& body = std::get<TileBody>(kernel.body);
  const Counts domain = domain_of(body, value);
  double sum = of_stages(body, domain);
  const auto add_operand = [&](const MatrixOperand& operand, const Counts& extents) {
    StepCounter counter(operand.frame, kOperandCoordinates, extents);
    counter.set_slots(counter.along(operand.from.map.index)); // the element that is fetched
    sum += counter.instructions(operand.prologue);
  };
  const auto add_product = [&](const Mainloop& mainloop, const Counts& points) {
    for (size_t side : {0, 1})
      if (side == 1 || !mainloop.a)
        add_operand(mainloop.operands[side], {points[0], points[1 + side], value(mainloop.depth)});
  };
  for (const Mainloop& mainloop : body.mainloops) add_product(mainloop, domain);
  for (const ComputedTile* tile : computed_tiles(body)) {
    const Counts points = domain_of(tile->body, value);
    sum += of_stages(tile->body, points, &tile->element);
    add_product(tile->body.mainloops.front(), points);
  }
  return sum;
}

} // namespace ingot
