// SPDX-License-Identifier: Apache-2.0
// See traffic.h.
#include "codegen/kernel/traffic.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/walks.h"

#include <map>

namespace ingot {
namespace {

/// The elements of one parameter.
struct Elements {
  std::optional<Expr> once;    ///< elements of a row or column, read once in all
  std::map<size_t, Expr> wide; ///< read by each walk
  std::vector<Expr> writes;

  void add_once(const Expr& elements) { once = once ? *once + elements : elements; }
  void add(size_t walk, const Expr& elements) {
    const auto [known, added] = wide.try_emplace(walk, elements);
    if (!added) known->second = known->second + elements;
  }
};

class Traffic {
public:
  Traffic(const Kernel& kernel, Skeleton skeleton)
      : kernel_(kernel), skeleton_(skeleton), elements_(kernel.parameters.size()) {}

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
  void write(uint32_t parameter) {
    elements_[parameter].writes.push_back(kernel_.parameters[parameter].elements);
  }
  ParameterTraffic traffic(size_t parameter) const;

  const Kernel& kernel_;
  const Skeleton skeleton_;
  std::vector<Elements> elements_; ///< by parameter
};

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
  for (const MatrixOperand* operand : matrix_operands(body))
    if (operand->packed)
      elements_[*operand->packed].add_once(kernel_.parameters[*operand->packed].elements);
    else
      add(*operand);
  for (const ComputedTile* tile : computed_tiles(body)) {
    for (const MemoryRead& read : tile->body.frame.reads)
      elements_[read.parameter].add_once(read.elements);
    for (const GatherRead& gather : tile->body.frame.gathers)
      elements_[gather.parameter].add_once(gather.elements);
  }
  if (kernel_.pack_counters) {
    const MatrixOperand& a = body.mainloops.front().operands[0];
    add(a);
    write(*a.packed);
  }
  for (const MemoryRead& read : body.frame.reads)
    if (!is_wide(body, read.map)) elements_[read.parameter].add_once(read.elements);
  for (const Stage& stage : body.stages) {
    if (const auto* merge = std::get_if<MergeStage>(&stage.step); merge && !merge->at_points)
      elements_[merge->parameter].add_once(kernel_.parameters[merge->parameter].elements);
    if (const auto* states = std::get_if<StoreStatesStage>(&stage.step)) write(states->parameter);
    if (const auto* store = std::get_if<StoreStage>(&stage.step))
      for (uint32_t parameter : store->parameters)
        elements_[parameter].writes.push_back(store->elements);
  }
  if (kernel_.split) {
    elements_[kernel_.split->sums].add_once({});
    write(kernel_.split->sums);
  }
  const std::vector<Reads> walks = walks_of(body, skeleton_);
  for (size_t walk = 0; walk < walks.size(); ++walk) add(body, walk, walks[walk]);
}

void Traffic::add(const MatrixOperand& operand) {
  elements_[operand.from.parameter].add_once(operand.from.elements);
  for (const MemoryRead& read : operand.frame.reads) {
    const bool is_fetched =
        read.parameter == operand.from.parameter && read.map.index == operand.from.map.index;
    if (!is_fetched) elements_[read.parameter].add_once(read.elements);
  }
  for (const GatherRead& gather : operand.frame.gathers)
    elements_[gather.parameter].add_once(gather.elements);
}

/// The traffic of one parameter. A walk counts at most all its elements.
ParameterTraffic Traffic::traffic(size_t parameter) const {
  const auto& [once, wide, writes] = elements_[parameter];
  const Expr& all = kernel_.parameters[parameter].elements;
  ParameterTraffic result{{}, writes};
  for (const auto& [walk, elements] : wide) {
    const bool is_first = result.reads.empty();
    result.reads.push_back(min(once && is_first ? elements + *once : elements, all));
  }
  if (wide.empty() && once) result.reads.push_back(min(*once, all));
  return result;
}

} // namespace

Expr bytes_of(const KernelParameter& parameter, const Expr& elements) {
  const bool is_tensor = parameter.purpose == Purpose::read || parameter.purpose == Purpose::write;
  return is_tensor ? elements * size_of(parameter.dtype) : parameter.buffer.bytes;
}

std::vector<ParameterTraffic> traffic_of(const Kernel& kernel, const Schedule& schedule) {
  return Traffic(kernel, schedule.skeleton).run();
}

} // namespace ingot
