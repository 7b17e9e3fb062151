// SPDX-License-Identifier: Apache-2.0
// See traffic.h.
#include "codegen/kernel/traffic.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/visit.h"

#include <map>
#include <set>

namespace ingot {
namespace {

/// The reads of stages' expressions, as numbers in PointFrame and of stages.
struct Reads {
  std::set<uint32_t> reads, gathers, merges;

  void add(const Reads& other) {
    reads.insert(other.reads.begin(), other.reads.end());
    gathers.insert(other.gathers.begin(), other.gathers.end());
    merges.insert(other.merges.begin(), other.merges.end());
  }
};

/// The elements of one parameter.
struct Elements {
  std::optional<Expr> kept;    ///< elements of a row or column, read once in all
  std::map<size_t, Expr> wide; ///< read by each walk
  std::vector<Expr> writes;

  void keep(const Expr& elements) { kept = kept ? *kept + elements : elements; }
  void add(size_t walk, const Expr& elements) {
    const auto [known, added] = wide.try_emplace(walk, elements);
    if (!added) known->second = known->second + elements;
  }
};

class Traffic {
public:
  Traffic(const Kernel& kernel, bool is_streamed)
      : kernel_(kernel), is_streamed_(is_streamed), elements_(kernel.parameters.size()) {}

  std::vector<ParameterTraffic> run() {
    std::visit([&](const auto& body) { add(body); }, kernel_.body);
    std::vector<ParameterTraffic> result;
    for (size_t p = 0; p < elements_.size(); ++p) result.push_back(traffic(p));
    return result;
  }

private:
  void add(const TileBody& body);
  void add(const PackingBody& body) {
    add(body.operand);
    write(*body.operand.packed);
  }
  void add(const MatrixOperand& operand);
  void add(const TileBody& body, size_t walk, const Reads& reads);
  std::vector<Reads> walks_of(const TileBody& body) const;
  void write(uint32_t parameter) {
    elements_[parameter].writes.push_back(kernel_.parameters[parameter].elements);
  }
  ParameterTraffic traffic(size_t parameter) const;

  const Kernel& kernel_;
  const bool is_streamed_;
  std::vector<Elements> elements_; ///< by parameter
};

/// The reads of an expression, including those of the slots that it names.
Reads reads_of(const PointExpr& expr, const std::map<uint32_t, Reads>& slots) {
  Reads result;
  for (const PointOp& op : expr.ops) {
    if (op.kind == PointOp::Kind::read) result.reads.insert(op.index);
    if (op.kind == PointOp::Kind::gather) result.gathers.insert(op.index);
    if (op.kind == PointOp::Kind::merged) result.merges.insert(op.index);
    if (op.kind != PointOp::Kind::slot) continue;
    if (const auto held = slots.find(op.index); held != slots.end()) result.add(held->second);
  }
  return result;
}

/// The reads of each walk over the rows. There is one walk unless rows are streamed.
std::vector<Reads> Traffic::walks_of(const TileBody& body) const {
  std::vector<Reads> walks;
  std::map<uint32_t, Reads> slots;
  Reads last; // reads of the stores
  for (const Stage& stage : body.stages) {
    const PointExpr* value = value_of(stage);
    if (!value) continue;
    Reads reads = reads_of(*value, slots);
    const auto* map = std::get_if<MapStage>(&stage.step);
    if (map) slots[static_cast<uint32_t>(map->slot)] = reads;
    if (!is_streamed_)
      last.add(reads);
    else if (std::holds_alternative<ReduceStage>(stage.step))
      walks.push_back(std::move(reads));
    else if (!map) // a map is evaluated by the walks that need it
      last.add(reads);
  }
  walks.push_back(std::move(last));
  return walks;
}

void Traffic::add(const TileBody& body, size_t walk, const Reads& reads) {
  for (uint32_t number : reads.reads) {
    const MemoryRead& read = body.frame.reads[number];
    if (is_wide(body, read.map)) elements_[read.parameter].add(walk, read.elements);
  }
  for (uint32_t number : reads.gathers) {
    const GatherRead& gather = body.frame.gathers[number];
    elements_[gather.parameter].add(walk, gather.elements);
  }
  for (uint32_t number : reads.merges) {
    const uint32_t states = std::get<MergeStage>(body.stages[number].step).parameter;
    elements_[states].add(walk, kernel_.parameters[states].elements);
  }
}

void Traffic::add(const TileBody& body) {
  for (const Mainloop& mainloop : body.mainloops)
    for (const MatrixOperand& operand : mainloop.operands)
      if (operand.packed)
        elements_[*operand.packed].keep(kernel_.parameters[*operand.packed].elements);
      else
        add(operand);
  for (const MemoryRead& read : body.frame.reads)
    if (!is_wide(body, read.map)) elements_[read.parameter].keep(read.elements);
  for (const Stage& stage : body.stages) {
    if (const auto* merge = std::get_if<MergeStage>(&stage.step); merge && !merge->at_points)
      elements_[merge->parameter].keep(kernel_.parameters[merge->parameter].elements);
    if (const auto* states = std::get_if<StoreStatesStage>(&stage.step)) write(states->parameter);
    if (const auto* store = std::get_if<StoreStage>(&stage.step))
      for (uint32_t parameter : store->parameters)
        elements_[parameter].writes.push_back(store->elements);
  }
  if (kernel_.split) {
    elements_[kernel_.split->sums].keep({});
    write(kernel_.split->sums);
  }
  const std::vector<Reads> walks = walks_of(body);
  for (size_t walk = 0; walk < walks.size(); ++walk) add(body, walk, walks[walk]);
}

void Traffic::add(const MatrixOperand& operand) {
  elements_[operand.from.parameter].keep(operand.from.elements);
  for (const MemoryRead& read : operand.frame.reads) {
    const bool is_fetched =
        read.parameter == operand.from.parameter && read.map.index == operand.from.map.index;
    if (!is_fetched) elements_[read.parameter].keep(read.elements);
  }
  for (const GatherRead& gather : operand.frame.gathers)
    elements_[gather.parameter].keep(gather.elements);
}

/// The traffic of one parameter. A walk counts at most all its elements.
ParameterTraffic Traffic::traffic(size_t parameter) const {
  const auto& [kept, wide, writes] = elements_[parameter];
  const Expr& all = kernel_.parameters[parameter].elements;
  ParameterTraffic result{{}, writes};
  for (const auto& [walk, elements] : wide) {
    const bool is_first = result.reads.empty();
    result.reads.push_back(min(kept && is_first ? elements + *kept : elements, all));
  }
  if (wide.empty() && kept) result.reads.push_back(min(*kept, all));
  return result;
}

} // namespace

Expr bytes_of(const KernelParameter& parameter, const Expr& elements) {
  const bool is_tensor = parameter.purpose == Purpose::read || parameter.purpose == Purpose::write;
  return is_tensor ? elements * size_of(parameter.dtype) : parameter.buffer.bytes;
}

std::vector<ParameterTraffic> traffic_of(const Kernel& kernel, const Schedule& schedule) {
  return Traffic(kernel, schedule.skeleton == Skeleton::streamed).run();
}

} // namespace ingot
