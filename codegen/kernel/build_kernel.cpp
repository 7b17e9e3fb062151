// SPDX-License-Identifier: Apache-2.0
// See build_kernel.h.
#include "codegen/kernel/build_kernel.h"

#include "codegen/kernel/build_body.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/launch_shape.h"
#include "codegen/kernel/mapping.h"
#include "codegen/kernel/names.h"
#include "codegen/kernel/packing.h"
#include "codegen/kernel/predicates.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/tile_values.h"
#include "codegen/kernel/visit.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace ingot {
namespace {

KernelParameter number_parameter(Purpose purpose, const std::string& name, const Expr& value) {
  KernelParameter parameter;
  parameter.purpose = purpose;
  parameter.dtype = DType::i64;
  parameter.buffer.argument.kind = ArgumentKind::dim;
  parameter.buffer.argument.name = name;
  parameter.buffer.argument.value = value;
  parameter.buffer.value = name;
  return parameter;
}

uint32_t append(std::vector<KernelParameter>& parameters, KernelParameter parameter) {
  parameters.push_back(std::move(parameter));
  return static_cast<uint32_t>(parameters.size() - 1);
}

/// Lists the tensors and states of a group, in the order of its kernel's parameters.
class ParameterList {
public:
  explicit ParameterList(const GroupSite& site) : graph_(site.graph), group_(site.group) {}

  BodyParameters run(std::vector<KernelParameter>& parameters) {
    for (const Read* read : memory_reads(group_)) add_read(*read);
    for (const Write& write : group_.writes) add_write(write.value);
    for (const Reduction& r : group_.reductions)
      if (r.global) add_states(Purpose::states, r.op);
    parameters = std::move(parameters_);
    return std::move(numbers_);
  }

private:
  uint32_t add_tensor(Purpose purpose, ValueId value) {
    const Expr elements = dim_expr(element_count(graph_.type(value).shape));
    return append(parameters_, {purpose, graph_.stored_type(value), elements, {}, value});
  }
  void add_states(Purpose purpose, OpId op) {
    const ValueId first = graph_.op(op).results[0];
    const Expr results = dim_expr(element_count(graph_.type(first).shape));
    numbers_.states[op] = append(parameters_, {purpose, DType::f32, results, {}, first});
  }
  void add_read(const Read& read) {
    const ValueId value = read.access.value;
    if (is_computed_iota(graph_, read)) return;
    if (const OpId op = graph_.value(value).op; read.combine) {
      if (!numbers_.states.count(op)) add_states(Purpose::merged, op);
    } else if (!numbers_.reads.count(value)) {
      numbers_.reads[value] = add_tensor(Purpose::read, value);
    }
  }
  /// Adds a parameter for each output name of the value.
  void add_write(ValueId value) {
    const auto names = llvm::count_if(
        graph_.outputs(), [&](const GraphOutput& output) { return output.value == value; });
    std::vector<uint32_t>& writes = numbers_.writes.emplace_back();
    for (int64_t k = 0; k < std::max<int64_t>(names, 1); ++k)
      writes.push_back(add_tensor(Purpose::write, value));
  }

  const Graph& graph_;
  const Group& group_;
  std::vector<KernelParameter> parameters_;
  BodyParameters numbers_;
};

/// The outline's tiles stay as they are.
void own_tiles(TileBody& body) {
  for (Mainloop& mainloop : body.mainloops) {
    if (!mainloop.a) continue;
    mainloop.a = std::make_shared<ComputedTile>(*mainloop.a);
    own_tiles(mainloop.a->body);
  }
}

/// Completes an outline.
class Completion {
public:
  explicit Completion(const KernelSite& site)
      : site_(site), graph_(site.graph), group_(site.group), kernel_(site.outline),
        body_(std::get<TileBody>(kernel_.body)) {
    own_tiles(body_);
  }

  Kernel run();

private:
  void place_parameters();
  void count_states();
  void add_packed(MatmulSide of);
  void add_map(size_t number, MatrixOperand& operand);
  void add_maps(const Schedule& schedule);
  void add_split();
  uint32_t add(Purpose purpose, const Buffer& buffer) {
    return append(kernel_.parameters, {purpose, DType::f32, {}, buffer, {}});
  }
  OpId reduction_of(uint32_t parameter) const {
    return graph_.value(kernel_.parameters[parameter].value).op;
  }

  const KernelSite& site_;
  const Graph& graph_;
  const Group& group_;
  Kernel kernel_;
  TileBody& body_;
};

void Completion::place_parameters() {
  const BufferMap& buffers = site_.buffers;
  for (KernelParameter& parameter : kernel_.parameters) {
    const ValueId value = parameter.value;
    if (parameter.purpose == Purpose::read)
      parameter.buffer = buffers.values.at(value);
    else if (parameter.purpose != Purpose::write)
      parameter.buffer = buffers.partials.at(graph_.value(value).op);
  }
  for (const Stage& stage : body_.stages)
    if (const auto* store = std::get_if<StoreStage>(&stage.step))
      for (const auto& [name, number] : llvm::enumerate(store->parameters)) {
        KernelParameter& parameter = kernel_.parameters[number];
        parameter.buffer = buffers.targets.at(parameter.value)[name];
      }
}

/// Sets the number of states per result, and the index of a tile's state among them.
void Completion::count_states() {
  for (Stage& stage : body_.stages) {
    if (auto* merge = std::get_if<MergeStage>(&stage.step))
      merge->states = state_count(site_.buffers.cuts.at(reduction_of(merge->parameter)));
    auto* store = std::get_if<StoreStatesStage>(&stage.step);
    if (!store) continue;
    const OpId op = reduction_of(store->parameter);
    const Cuts& cuts = site_.buffers.cuts.at(op);
    store->states = state_count(cuts);
    store->state = state_number(group_, group_.reduction(op), cuts);
  }
}

void Completion::add_packed(MatmulSide of) {
  const PackFormat format = pack_format(site_.schedules.front());
  ingot::add_packed(kernel_, of, packed_operand(graph_, group_, of, format), [&] {
    return site_.buffers.packed.at({group_.matmuls[of.matmul].op, of.side});
  });
}

/// Adds the map of operand `number` in the order of matrix_operands, or takes that of the same
/// matrix. The first of computed tiles has two, others have one.
void Completion::add_map(size_t number, MatrixOperand& operand) {
  const auto place = static_cast<uint32_t>(number);
  auto tiles = tiles_of(group_);
  std::reverse(tiles.begin(), tiles.end());
  const size_t tile = number == 0 ? 0 : number - 1;
  const MatmulSide of =
      tiles.empty() ? MatmulSide{place / 2, place % 2} : MatmulSide{0, number == 0 ? 0u : 1u};
  operand.mapping =
      mapped_operand(graph_, tile < tiles.size() ? *tiles[tile] : group_, of, operand);
  if (const MatrixOperand* shared = shared_operand(body_, of); shared && shared->map) {
    operand.map = shared->map;
    return;
  }
  KernelParameter parameter = kernel_.parameters[operand.from.parameter];
  parameter.purpose = Purpose::map;
  parameter.buffer.argument = {};
  parameter.buffer.argument.kind = ArgumentKind::tensormap;
  operand.map = append(kernel_.parameters, std::move(parameter));
}

/// Adds the maps of the operands that a schedule maps.
void Completion::add_maps(const Schedule& schedule) {
  const auto operands = matrix_operands(body_);
  for (const auto& [number, operand] : llvm::enumerate(operands))
    if (schedule.operands[number].path == PathKind::mapped) add_map(number, *operand);
}

void Completion::add_split() {
  const SplitBuffers& buffers = site_.buffers.splits.at(group_.matmuls.front().op);
  SplitParameters split;
  split.sums = add(Purpose::split_sums, buffers.sums);
  split.arrivals = add(Purpose::split_arrivals, buffers.arrivals);
  if (const auto fixed = buffers.parts.constant())
    split.fixed_parts = *fixed;
  else
    split.parts =
        append(kernel_.parameters, number_parameter(Purpose::split_parts, "parts", buffers.parts));
  kernel_.split = split;
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

/// Sets the conditions of each variant. Drops those that no launch takes: an earlier one asks for
/// nothing more.
void set_predicates(Kernel& kernel) {
  std::vector<Variant> taken;
  for (Variant& variant : kernel.variants) {
    variant.when = predicates_of(kernel, variant.schedule);
    const auto asks = [&](const Predicate& p) { return llvm::is_contained(variant.when, p); };
    const bool is_taken = llvm::none_of(
        taken, [&](const Variant& earlier) { return llvm::all_of(earlier.when, asks); });
    if (is_taken) taken.push_back(std::move(variant));
  }
  kernel.variants = std::move(taken);
}

Kernel Completion::run() {
  for (OpId op : group_.ops) kernel_.ops.push_back(op_line(graph_, graph_.op(op)));
  place_parameters();
  count_states();
  const Schedule& first = site_.schedules.front();
  if (reads_packed(first.mainloop))
    for (MatmulSide of : matmul_sides(group_))
      if (!is_mapped(first, of)) add_packed(of);
  add_maps(first);
  if (first.packs_a)
    kernel_.pack_counters =
        add(Purpose::pack_counters, site_.buffers.pack_counters.at(group_.matmuls.front().op));
  if (first.splits_k()) add_split();
  for (const Schedule& schedule : site_.schedules)
    kernel_.variants.push_back({schedule,
                                {},
                                tile_launch(body_, schedule),
                                tile_columns_of(body_, schedule),
                                tensor_maps(kernel_, schedule)});
  add_dims(graph_, kernel_);
  set_predicates(kernel_);
  return std::move(kernel_);
}

} // namespace

Kernel outline_kernel(const GroupSite& site) {
  Kernel kernel;
  kernel.program = site.group.program;
  const BodyParameters parameters = ParameterList(site).run(kernel.parameters);
  kernel.body = build_body(site, parameters);
  return kernel;
}

Kernel build_kernel(const KernelSite& site) { return Completion(site).run(); }

Kernel build_packing(const KernelSite& site, MatmulSide of) {
  Kernel kernel;
  kernel.program = site.group.program;
  const Matmul& matmul = site.group.matmuls[of.matmul];
  const std::vector<OpId>& prologue = matmul.operands[of.side].prologue;
  for (OpId op : prologue) kernel.ops.push_back(op_line(site.graph, site.graph.op(op)));
  MatrixOperand operand =
      std::get<TileBody>(site.outline.body).mainloops[of.matmul].operands[of.side];
  std::map<uint32_t, uint32_t> numbers; // maps the outline's parameters to this kernel's
  for_each_read(operand, [&](uint32_t& parameter) { numbers[parameter]; });
  for (auto& [outlined, number] : numbers) {
    KernelParameter parameter = site.outline.parameters[outlined];
    parameter.buffer = site.buffers.values.at(parameter.value);
    number = append(kernel.parameters, std::move(parameter));
  }
  for_each_read(operand, [&](uint32_t& parameter) { parameter = numbers.at(parameter); });
  operand.packing = packed_operand(site.graph, site.group, of, pack_format(site.schedules.front()));
  operand.packed =
      append(kernel.parameters,
             packed_parameter(operand.packing, site.buffers.packed.at({matmul.op, of.side})));
  KernelParameter rows =
      number_parameter(Purpose::packed_rows, "rows", dim_expr(operand.packing.rows));
  rows.buffer.value = "rows to pack";
  operand.packed_rows = append(kernel.parameters, std::move(rows));
  kernel.body = PackingBody{std::move(operand), prologue};
  add_dims(site.graph, kernel);
  const MatrixOperand& packed = std::get<PackingBody>(kernel.body).operand;
  for (const Schedule* schedule : {&site.schedules.front(), &site.schedules.back()}) {
    Schedule packing = packing_schedule(packed, schedule->operands[of.index()]);
    packing.shared_bytes = shared_bytes(kernel, packing);
    kernel.variants.push_back({packing, {}, packing_launch(packed.packing, packing), {}, {}});
  }
  set_predicates(kernel);
  return kernel;
}

} // namespace ingot
