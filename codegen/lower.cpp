// SPDX-License-Identifier: Apache-2.0
// See lower.h.
#include "codegen/lower.h"

#include "codegen/emit/emit_kernel.h"
#include "codegen/kernel/build_kernel.h"
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/mapping.h"
#include "codegen/kernel/names.h"
#include "codegen/kernel/packing.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/split_k.h"
#include "codegen/workspace_layout.h"
#include "src/support/gpu_arch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <set>

namespace ingot {
namespace {

/// The place of a computed operand of a matmul.
struct Prologue {
  size_t group = 0;
  uint32_t side = 0;
  bool transposed = false;
  friend bool operator==(const Prologue&, const Prologue&) = default;
};

/// The elements that are packed. Equal ones have the same packed operand.
struct PackedSource {
  ValueId value; ///< the tensor in memory, or a prologue's result
  PackedOperand packing;
  Expr index; ///< of the tensor's elements
  std::optional<Prologue> prologue;
  friend bool operator==(const PackedSource&, const PackedSource&) = default;
};

class Lowering {
public:
  explicit Lowering(const ScheduledPlan& plan)
      : graph_(plan.graph), groups_(plan.plan.groups), target_(plan.target),
        outlines_(plan.outlines), schedules_(plan.schedules.begin(), plan.schedules.end()) {
    module_.arch = target_.arch();
    module_.overlaps = arch_of(module_.arch).capability >= kOverlappingLaunches;
  }

  LoweredPlan run();
  KernelCode run_one(size_t index);

private:
  void describe_tensors();
  void place_all();
  void place_inputs();
  void place_writes();
  void place_workspace();
  void use(const Buffer& buffer, size_t index);
  void use_tensors(size_t index);
  Buffer tensor_buffer(const Argument& argument, ValueId value) const;
  Buffer allocate(ProgramKind program, const std::string& value, const Expr& bytes);
  Buffer allocate(MemoryInfo& memory, ArgumentKind kind, const std::string& value,
                  const Expr& bytes);
  void place_partials(size_t index);
  void place_split(size_t index);
  PackedSource packed_source(size_t index, MatmulSide of) const;
  void place_packed(size_t index, MatmulSide of);
  Buffer place_beside(size_t index, const PackedSource& source);
  Buffer place_before(size_t index, MatmulSide of, const PackedSource& source);
  std::string packed_name(size_t index, MatmulSide of, const PackedSource& source) const;
  void place_meetings(size_t index);
  void check_uses(const Kernel& kernel, size_t index) const;
  Kernel build_group(size_t index) const;
  Kernel build_guard(size_t index) const;
  void add_beside(Kernel kernel);
  void add_step(ProgramKind program, size_t kernel);
  const TileBody& body(size_t index) const { return std::get<TileBody>(outlines_[index].body); }
  KernelSite site(size_t index) const {
    return {graph_, groups_[index], outlines_[index], schedules_[index], buffers_};
  }

  const Graph& graph_;
  const llvm::ArrayRef<Group> groups_;
  const Target& target_;
  const llvm::ArrayRef<Kernel> outlines_;        ///< by group
  std::vector<std::vector<Schedule>> schedules_; ///< by group
  Module module_;
  BufferMap buffers_;
  std::map<ArgumentKind, MemoryExtent> extents_;           ///< prepared memory and state
  std::map<ArgumentKind, uint32_t> places_;                ///< number of buffers in each so far
  WorkspaceLayout workspace_{module_.workspace.alignment}; ///< steps are numbers of groups
  std::vector<Kernel> kernels_;                            ///< kernels of the groups
  std::vector<Kernel> beside_; ///< kernels that pack or guard; they follow kernels_
  std::vector<std::pair<size_t, size_t>> guards_; ///< their places in beside_, and their groups
  std::vector<std::pair<PackedSource, Buffer>> packed_;
};

TensorInfo tensor_info(const std::string& name, const Type& type) {
  TensorInfo info;
  info.name = name;
  info.dtype = type.dtype;
  for (const Dim& dim : type.shape) info.shape.push_back(dim_expr(dim));
  info.alignment = size_of(type.dtype);
  return info;
}

void Lowering::describe_tensors() {
  module_.name = graph_.name();
  module_.family = spelling(target_.family).str();
  for (const std::string& dim : graph_.dim_names()) module_.dims.push_back({dim, 0, INT64_MAX});
  for (const Dim& dim : graph_.requirements()) module_.requirements.push_back(dim_expr(dim));
  for (const GraphOutput& output : graph_.outputs())
    module_.outputs.push_back(tensor_info(output.name, graph_.type(output.value)));
}

void Lowering::place_inputs() {
  for (ValueId id : graph_.inputs()) {
    const auto& input = graph_.attributes<InputAttributes>(graph_.producer(id));
    const bool param = input.role == InputAttributes::Role::param;
    (param ? module_.params : module_.inputs).push_back(tensor_info(input.name, input.type));
    Argument argument;
    argument.kind = param ? ArgumentKind::param : ArgumentKind::input;
    argument.name = input.name;
    buffers_.values[id] = tensor_buffer(argument, id);
  }
}

/// The buffer of a caller's tensor.
Buffer Lowering::tensor_buffer(const Argument& argument, ValueId value) const {
  const Expr bytes =
      dim_expr(element_count(graph_.type(value).shape)) * size_of(graph_.stored_type(value));
  return {argument, bytes, 0, argument.name, stored_text(graph_, value)};
}

/// Takes prepared memory for results of the prepare program, and workspace for others.
Buffer Lowering::allocate(ProgramKind program, const std::string& value, const Expr& bytes) {
  const bool prepares = program == ProgramKind::prepare;
  return allocate(prepares ? module_.prepared : module_.workspace,
                  prepares ? ArgumentKind::prepared : ArgumentKind::workspace, value, bytes);
}

/// Memory that is kept has buffers one behind the other. Offsets in workspace follow once all uses
/// are known.
Buffer Lowering::allocate(MemoryInfo& memory, ArgumentKind kind, const std::string& value,
                          const Expr& bytes) {
  Argument argument;
  argument.kind = kind;
  if (kind == ArgumentKind::workspace) return {argument, bytes, workspace_.add(bytes), value, ""};
  MemoryExtent& extent = extents_[kind];
  argument.offset = extent.end();
  // Every buffer is aligned as the memory is.
  extent.grow(ceil_div(bytes, memory.alignment) * memory.alignment);
  memory.bytes = extent.end();
  return {argument, bytes, places_[kind]++, value, ""};
}

/// Notes that the kernels of a group use a buffer.
void Lowering::use(const Buffer& buffer, size_t index) {
  if (buffer.argument.kind == ArgumentKind::workspace) workspace_.use(buffer.place, index);
}

void Lowering::use_tensors(size_t index) {
  for (const KernelParameter& parameter : outlines_[index].parameters) {
    const OpId op = graph_.value(parameter.value).op;
    switch (parameter.purpose) {
    case Purpose::read: use(buffers_.values.at(parameter.value), index); break;
    case Purpose::write:
      for (const Buffer& target : buffers_.targets.at(parameter.value)) use(target, index);
      break;
    case Purpose::states:
    case Purpose::merged: use(buffers_.partials.at(op), index); break;
    default: break; // of a schedule: place_packed, place_split
    }
  }
}

/// Places all buffers in workspace, and tells their offsets to all who know them.
void Lowering::place_workspace() {
  workspace_.place();
  module_.workspace.bytes = workspace_.bytes();
  const auto tell = [&](Buffer& buffer) {
    if (buffer.argument.kind == ArgumentKind::workspace)
      buffer.argument.offset = workspace_.offset(buffer.place);
  };
  for (auto& entry : buffers_.values) tell(entry.second);
  for (auto& entry : buffers_.targets) llvm::for_each(entry.second, tell);
  for (auto& entry : buffers_.partials) tell(entry.second);
  for (auto& entry : buffers_.splits) tell(entry.second.sums);
  for (auto& entry : buffers_.packed) tell(entry.second);
  for (Kernel& kernel : beside_)
    for (KernelParameter& parameter : kernel.parameters) tell(parameter.buffer);
}

/// Checks that the memory of a kernel's buffers is their own while the group runs.
void Lowering::check_uses(const Kernel& kernel, size_t index) const {
  for (const KernelParameter& parameter : kernel.parameters)
    INGOT_ASSERT(parameter.buffer.argument.kind != ArgumentKind::workspace ||
                 workspace_.covers(parameter.buffer.place, index));
}

void Lowering::place_writes() {
  for (const Group& group : groups_)
    for (const Write& write : group.writes) {
      if (buffers_.targets.count(write.value)) continue; // another slice of a concat
      const std::string name = value_name(graph_, write.value);
      std::vector<Buffer> targets;
      for (const GraphOutput& output : graph_.outputs()) {
        if (!(output.value == write.value)) continue;
        Argument argument;
        argument.kind = ArgumentKind::output;
        argument.name = output.name;
        targets.push_back(tensor_buffer(argument, write.value));
      }
      if (targets.empty()) {
        const Type& type = graph_.type(write.value);
        const Expr bytes =
            dim_expr(element_count(type.shape)) * size_of(graph_.stored_type(write.value));
        targets.push_back(allocate(group.program, name, bytes));
        targets.back().type = stored_text(graph_, write.value);
      }
      buffers_.values.try_emplace(write.value, targets.front()); // an input stays in its place
      buffers_.targets[write.value] = std::move(targets);
    }
}

/// Places the states of global reductions in fixed slots: one per result and tile.
void Lowering::place_partials(size_t index) {
  const Group& group = groups_[index];
  for (const KernelParameter& parameter : outlines_[index].parameters) {
    if (parameter.purpose != Purpose::states) continue;
    const OpId op = graph_.value(parameter.value).op;
    Cuts cuts = cuts_of(group, schedules_[index].front(), group.reduction(op));
    const Expr states = parameter.elements * state_count(cuts);
    buffers_.partials[op] =
        allocate(group.program, "partials of " + value_name(graph_, parameter.value),
                 states * state_bytes(reducer_of(graph_, op)));
    buffers_.cuts[op] = std::move(cuts);
  }
}

void Lowering::place_split(size_t index) {
  const Schedule& schedule = schedules_[index].front();
  if (!schedule.splits_k()) return;
  buffers_.splits[groups_[index].matmuls.front().op] = {
      allocate(module_.workspace, ArgumentKind::workspace, "sums of parts of K",
               split_sums_bytes(body(index), schedule)),
      allocate(module_.state, ArgumentKind::state, "arrivals of parts of K",
               split_arrivals_bytes(body(index), schedule)),
      split_parts(body(index), schedule)};
  use(buffers_.splits[groups_[index].matmuls.front().op].sums, index);
}

void Lowering::add_step(ProgramKind program, size_t kernel) {
  (program == ProgramKind::prepare ? module_.prepare : module_.launch)
      .steps.push_back({static_cast<uint32_t>(kernel)});
}

/// True if a number follows from these sizes.
bool needs_only(const Expr& number, const std::set<std::string>& sizes) {
  bool known = true;
  number.for_each_leaf([&](const Expr& leaf) {
    known &= leaf.kind() != Expr::Kind::symbol || sizes.count(leaf.name()) > 0;
  });
  return known;
}

/// True if a kernel that packs an operand reads only params and prepared memory, and only the sizes
/// of their shapes. Other sizes belong to a launch.
bool depends_on_params_alone(const Graph& graph, const Kernel& kernel) {
  std::set<std::string> sizes;
  for (const KernelParameter& parameter : kernel.parameters)
    if (parameter.purpose == Purpose::read)
      for (const Dim& dim : graph.type(parameter.value).shape)
        for (const std::string& name : dim.names()) sizes.insert(name);
  return llvm::all_of(kernel.parameters, [&](const KernelParameter& parameter) {
    const ArgumentKind kind = parameter.buffer.argument.kind;
    return parameter.purpose == Purpose::packed || kind == ArgumentKind::param ||
           kind == ArgumentKind::prepared ||
           (kind == ArgumentKind::dim && needs_only(parameter.buffer.argument.value, sizes));
  });
}

/// The packed form of an unchanged tensor serves all kernels that multiply it, that of a prologue's
/// result all products of one kernel.
PackedSource Lowering::packed_source(size_t index, MatmulSide of) const {
  const Group& group = groups_[index];
  const PackedOperand packing =
      packed_operand(graph_, group, of, pack_format(schedules_[index].front()));
  const MatrixOperand& operand = body(index).mainloops[of.matmul].operands[of.side];
  if (operand.prologue.empty())
    return {outlines_[index].parameters[operand.from.parameter].value, packing,
            operand.from.map.index, std::nullopt};
  const Op& matmul = graph_.op(group.matmuls[of.matmul].op);
  const auto& attributes = graph_.attributes<MatmulAttributes>(matmul);
  const bool transposed = of.side == 0 ? attributes.transpose_a : attributes.transpose_b;
  return {matmul.operands[of.side], packing, Expr(), Prologue{index, of.side, transposed}};
}

/// `halves of x`
std::string Lowering::packed_name(size_t index, MatmulSide of, const PackedSource& source) const {
  const Op& matmul = graph_.op(groups_[index].matmuls[of.matmul].op);
  return fmt::format("{} {}", facts_of(source.packing.format).text,
                     moved_text(graph_, matmul.operands[of.side]));
}

/// Packs a matmul's operand in a step before its kernel, or A in the kernel itself if the schedule
/// says so. It is packed once for all matmuls of one tensor, and once for all launches if it
/// depends on params alone.
void Lowering::place_packed(size_t index, MatmulSide of) {
  const auto key = std::pair(groups_[index].matmuls[of.matmul].op, of.side);
  const bool is_first_a = of == MatmulSide();
  const PackedSource source = packed_source(index, of);
  for (const auto& [known, buffer] : packed_)
    if (known == source) {
      INGOT_ASSERT(of.side == 0 || !schedules_[index].front().packs_a ||
                   buffer.place != buffers_.packed.at({key.first, 0}).place);
      buffers_.packed[key] = buffer;
      use(buffer, index);
      if (is_first_a) // an earlier kernel has packed it
        for (Schedule& schedule : schedules_[index]) schedule.packs_a = false;
      return;
    }
  const bool is_beside = is_first_a && schedules_[index].front().packs_a;
  buffers_.packed[key] = is_beside ? place_beside(index, source) : place_before(index, of, source);
  use(buffers_.packed[key], index);
  packed_.emplace_back(source, buffers_.packed[key]);
}

/// The memory of an A that its own kernel packs.
Buffer Lowering::place_beside(size_t index, const PackedSource& source) {
  for (const Schedule& schedule : schedules_[index])
    INGOT_ASSERT(schedule.packs_a && schedule.tile_m == schedules_[index].front().tile_m);
  buffers_.pack_counters[groups_[index].matmuls.front().op] =
      allocate(module_.state, ArgumentKind::state, "counters of packed rows",
               pack_counters_bytes(source.packing, schedules_[index].front().tile_m));
  return allocate(module_.workspace, ArgumentKind::workspace, packed_name(index, {}, source),
                  packed_bytes(source.packing));
}

/// Adds the kernel that packs an operand. Returns the operand's memory.
Buffer Lowering::place_before(size_t index, MatmulSide of, const PackedSource& source) {
  const auto key = std::pair(groups_[index].matmuls[of.matmul].op, of.side);
  buffers_.packed[key] = Buffer();
  Kernel kernel = build_packing(site(index), of);
  if (depends_on_params_alone(graph_, kernel)) kernel.program = ProgramKind::prepare;
  const Buffer buffer =
      allocate(kernel.program, packed_name(index, of, source), packed_bytes(source.packing));
  for (KernelParameter& parameter : kernel.parameters)
    if (parameter.purpose == Purpose::packed) parameter.buffer = buffer;
  kernel.name = fmt::format("{}_{}_packed_{}{}", graph_.name(), index, of.side == 0 ? "a" : "b",
                            of.matmul == 0 ? "" : "2");
  add_beside(std::move(kernel));
  return buffer;
}

/// The kernel that computes the tiles again whose rows do not suit the format.
Kernel Lowering::build_guard(size_t index) const {
  std::vector<Schedule> schedules;
  for (const Schedule& schedule : schedules_[index]) {
    schedules.push_back(guard_schedule(schedule));
    schedules.back().shared_bytes = shared_bytes(outlines_[index], schedules.back());
  }
  Kernel kernel = build_kernel({graph_, groups_[index], outlines_[index], schedules, buffers_});
  kernel.name = fmt::format("{}_{}_guard", graph_.name(), index);
  kernel.overlaps = module_.overlaps;
  return kernel;
}

/// Adds a kernel that no group has, and its step.
void Lowering::add_beside(Kernel kernel) {
  kernel.overlaps = module_.overlaps;
  add_step(kernel.program, groups_.size() + beside_.size());
  beside_.push_back(std::move(kernel));
}

/// Places the memory through which the blocks of a kernel, or kernels, exchange data.
void Lowering::place_meetings(size_t index) {
  const std::vector<Schedule>& schedules = schedules_[index];
  // All variants share partials and parts, so they have the same tile.
  const bool stores_parts =
      schedules.front().splits_k() ||
      llvm::any_of(groups_[index].reductions, [](const Reduction& r) { return r.global; });
  for (const Schedule& schedule : schedules)
    INGOT_ASSERT(!stores_parts || schedule.cuts_like(schedules.front()));
  place_partials(index);
  place_split(index);
  if (reads_packed(schedules.front().mainloop))
    for (MatmulSide of : matmul_sides(groups_[index]))
      if (!is_mapped(schedules.front(), of)) place_packed(index, of);
}

Kernel Lowering::build_group(size_t index) const {
  Kernel kernel = build_kernel(site(index));
  kernel.name = fmt::format("{}_{}", graph_.name(), index);
  kernel.overlaps = module_.overlaps;
  return kernel;
}

/// Places the buffers of all kernels, and orders the steps.
void Lowering::place_all() {
  place_inputs();
  place_writes();
  for (size_t index = 0; index < groups_.size(); ++index) {
    place_meetings(index);
    use_tensors(index);
    add_step(groups_[index].program, index);
    if (!needs_guard(schedules_[index].front())) continue;
    guards_.emplace_back(beside_.size(), index);
    Kernel guard; // built once all buffers have offsets
    guard.program = groups_[index].program;
    add_beside(std::move(guard));
  }
  place_workspace();
}

LoweredPlan Lowering::run() {
  describe_tensors();
  place_all();
  for (size_t index = 0; index < groups_.size(); ++index) {
    kernels_.push_back(build_group(index));
    check_uses(kernels_.back(), index);
  }
  for (const auto& [place, index] : guards_) {
    beside_[place] = build_guard(index);
    check_uses(beside_[place], index);
  }
  for (Kernel& kernel : beside_) kernels_.push_back(std::move(kernel));
  for (const Kernel& kernel : kernels_) module_.kernels.push_back(emit_kernel(kernel));
  return {std::move(kernels_), std::move(module_)};
}

/// Places the buffers of all kernels as in run, but emits the code of one kernel only.
KernelCode Lowering::run_one(size_t index) {
  place_all();
  return emit_kernel(build_group(index));
}

} // namespace

LoweredPlan lower_plan(const ScheduledPlan& plan) { return Lowering(plan).run(); }

KernelCode lower_kernel(const ScheduledPlan& plan, size_t group) {
  return Lowering(plan).run_one(group);
}

} // namespace ingot
