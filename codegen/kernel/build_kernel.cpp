// SPDX-License-Identifier: Apache-2.0
// See build_kernel.h.
#include "codegen/kernel/build_kernel.h"

#include "codegen/kernel/build_body.h"
#include "codegen/kernel/halves.h"
#include "codegen/kernel/launch_shape.h"
#include "codegen/kernel/predicates.h"
#include "codegen/kernel/stage_list.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/names.h"
#include "codegen/kernel/split_k.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

KernelParameter number_parameter(Purpose purpose, const std::string& name, const Expr& value) {
  KernelParameter parameter{purpose, DType::i64, {}, {}};
  parameter.buffer.argument.kind = ArgumentKind::dim;
  parameter.buffer.argument.name = name;
  parameter.buffer.argument.value = value;
  parameter.buffer.value = name;
  return parameter;
}

/// Lists what a launch passes, in the order of the kernel's parameters.
class ParameterList {
public:
  explicit ParameterList(const KernelSite& site) : site_(site) {}

  uint32_t add(Purpose purpose, const Buffer& buffer, DType dtype = DType::f32,
               ValueId value = {}) {
    parameters_.push_back({purpose, dtype, buffer, value});
    return static_cast<uint32_t>(parameters_.size() - 1);
  }
  uint32_t add_tensor(Purpose purpose, const Buffer& buffer, ValueId value) {
    return add(purpose, buffer, site_.graph.stored_type(value), value);
  }
  void add_read(const Read& read, BodyParameters& to) {
    const ValueId value = read.access.value;
    const OpId op = site_.graph.value(value).op;
    if (is_computed_iota(site_.graph, read)) return;
    if (read.combine) {
      if (!to.states.count(op))
        to.states[op] = add(Purpose::merged, site_.buffers.partials.at(op), DType::f32,
                            site_.graph.op(op).results[0]);
    } else if (!to.reads.count(value)) {
      to.reads[value] = add_tensor(Purpose::read, site_.buffers.values.at(value), value);
    }
  }
  uint32_t add_number(Purpose purpose, const std::string& name, const Expr& value) {
    parameters_.push_back(number_parameter(purpose, name, value));
    return static_cast<uint32_t>(parameters_.size() - 1);
  }

  std::vector<KernelParameter> take() { return std::move(parameters_); }

private:
  const KernelSite& site_;
  std::vector<KernelParameter> parameters_;
};

SplitParameters add_split(const KernelSite& site, ParameterList& list) {
  const SplitBuffers& split = site.buffers.splits.at(site.group.matmuls.front().op);
  SplitParameters result;
  result.sums = list.add(Purpose::split_sums, split.sums);
  result.arrivals = list.add(Purpose::split_arrivals, split.arrivals);
  if (const auto fixed = split.parts.constant())
    result.fixed_parts = *fixed;
  else
    result.parts = list.add_number(Purpose::split_parts, "parts", split.parts);
  return result;
}

BodyParameters add_parameters(const KernelSite& site, ParameterList& list) {
  BodyParameters result;
  for (const Read& read : site.group.reads) list.add_read(read, result);
  for (const Write& write : site.group.writes) {
    std::vector<uint32_t>& writes = result.writes.emplace_back();
    for (const Buffer& target : site.buffers.targets.at(write.value))
      writes.push_back(list.add_tensor(Purpose::write, target, write.value));
  }
  for (const Reduction& r : site.group.reductions)
    if (r.global) result.states[r.op] = list.add(Purpose::states, site.buffers.partials.at(r.op));
  if (site.schedules.front().compute == ComputeType::f16x3)
    for (MatmulSide of : matmul_sides(site.group))
      result.halves[of.index()] = list.add(
          Purpose::halves, site.buffers.halves.at({site.group.matmuls[of.matmul].op, of.side}));
  return result;
}

/// Appends the named dims that the kernel's expressions hold, in the graph's order.
void add_dims(const Graph& graph, Kernel& kernel) {
  std::set<std::string> used;
  for_each_expr(kernel, [&](const Expr& expr) {
    expr.for_each_leaf([&](const Expr& leaf) {
      if (leaf.kind() == Expr::Kind::symbol) used.insert(leaf.name());
    });
  });
  for (const std::string& dim : graph.dim_names()) {
    if (!used.count(dim)) continue;
    kernel.parameters.push_back(number_parameter(Purpose::dim, dim, Expr::symbol(dim)));
  }
}

void note_ops(const KernelSite& site, Kernel& kernel) {
  for (OpId op : site.group.ops) kernel.ops.push_back(op_line(site.graph, site.graph.op(op)));
}

} // namespace

Kernel build_kernel(const KernelSite& site) {
  Kernel kernel;
  kernel.program = site.group.program;
  note_ops(site, kernel);
  ParameterList list(site);
  const BodyParameters parameters = add_parameters(site, list);
  const Schedule& first = site.schedules.front();
  if (first.scheduler == TileScheduler::split_k) kernel.split = add_split(site, list);
  kernel.parameters = list.take();
  TileBody body = build_body(site, parameters);
  for (const Schedule& schedule : site.schedules) {
    kernel.variants.push_back(
        {schedule, {}, tile_launch(site.group, schedule), tile_columns_of(site.group, schedule)});
  }
  kernel.body = std::move(body);
  add_dims(site.graph, kernel);
  for (size_t v = 0; v < kernel.variants.size(); ++v) {
    kernel.variants[v].when = predicates_of(kernel, kernel.variants[v].schedule);
    // A variant that asks for nothing takes everything.
    if (kernel.variants[v].when.empty()) kernel.variants.resize(v + 1);
  }
  return kernel;
}

Kernel build_halving(const KernelSite& site, MatmulSide of) {
  Kernel kernel;
  kernel.program = site.group.program;
  const Matmul& matmul = site.group.matmuls[of.matmul];
  for (OpId op : matmul.operands[of.side].prologue)
    kernel.ops.push_back(op_line(site.graph, site.graph.op(op)));
  ParameterList list(site);
  BodyParameters parameters;
  for (size_t r : operand_reads(site.graph, site.group, of))
    list.add_read(site.group.reads[r], parameters);
  parameters.halves[of.index()] =
      list.add(Purpose::halves, site.buffers.halves.at({matmul.op, of.side}));
  kernel.parameters = list.take();
  kernel.body = HalvingBody{build_operand(site, parameters, of)};
  add_dims(site.graph, kernel);
  const HalvesExtents& extents = std::get<HalvingBody>(kernel.body).operand.extents;
  for (const Schedule* schedule : {&site.schedules.front(), &site.schedules.back()}) {
    const Schedule halving = halving_schedule(schedule->operands[of.index()]);
    kernel.variants.push_back(
        {halving, predicates_of(kernel, halving), halving_launch(extents, halving), {}});
    if (kernel.variants.back().when.empty()) break;
  }
  return kernel;
}

} // namespace ingot
