// SPDX-License-Identifier: Apache-2.0
// See emit.h.
#include "codegen/emit.h"

#include "codegen/emit_matrix.h"
#include "codegen/emit_output.h"
#include "codegen/emit_partials.h"
#include "codegen/emit_scan.h"
#include "codegen/functors.h"
#include "codegen/parameters.h"
#include "codegen/predicates.h"
#include "codegen/split_k.h"
#include "ir/fusion/loaded_domain.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {

std::string reducer_of(const Graph& graph, const Op& op) {
  const std::string type = register_type(graph.type(op.operands[0]).dtype).str();
  switch (op.kind) {
  case OpKind::sum:
  case OpKind::cumsum: return fmt::format("SumReducer<{}>", type);
  case OpKind::mean: return fmt::format("MeanReducer<{}>", type);
  case OpKind::prod:
  case OpKind::cumprod: return fmt::format("ProdReducer<{}>", type);
  case OpKind::reduce_max: return fmt::format("MaxReducer<{}>", type);
  case OpKind::reduce_min: return fmt::format("MinReducer<{}>", type);
  case OpKind::argmax: return fmt::format("ArgReducer<{}, 1>", type);
  case OpKind::argmin: return fmt::format("ArgReducer<{}, -1>", type);
  case OpKind::max_sumexp:
    return is_half(graph.type(op.operands[0]).dtype) ? "HalfMaxSumexpReducer" : "MaxSumexpReducer";
  default: INGOT_ASSERT(op.kind == OpKind::moments); return "MomentsReducer";
  }
}

namespace {

class Emitter {
public:
  Emitter(const Graph& graph, const Ranges& ranges, const Group& group, const Schedule& schedule,
          const BufferMap& buffers, std::string entry)
      : graph_(graph), ranges_(ranges), group_(group), schedule_(schedule), buffers_(buffers),
        stages_(plan_stages(graph, group)), parameters_(graph) {
    variant_.entry = std::move(entry);
  }

  KernelVariant run();

private:
  void collect_pointers();
  void collect_split();
  void write_comment(CodeWriter& out) const;
  void write_source(CodeWriter& out);
  void write_stage(CodeWriter& out, FunctorWriter& functors, const Stage& stage);
  void write_reduction(CodeWriter& out, FunctorWriter& functors, const Stage& stage);
  void write_store(CodeWriter& out, FunctorWriter& functors, const Stage& stage);
  void write_kernel(CodeWriter& out) const;
  void set_launch();
  const Reduction& reduction(OpId op) const;
  PartialStates partial_states(OpId op) const { return {partials_.at(op), buffers_.cuts.at(op)}; }
  std::string layout() const;
  Dim columns() const { return group_.space.extent(group_.domain.columns); }
  /// Of the split skeleton's rows.
  AxisParts shared_parts() const { return {schedule_.tile_n, schedule_.parts}; }

  const Graph& graph_;
  const Ranges& ranges_;
  const Group& group_;
  const Schedule& schedule_;
  const BufferMap& buffers_;
  const StageList stages_;
  KernelVariant variant_;
  Parameters parameters_;
  Names struct_names_;
  std::map<ValueId, std::string> pointers_;            ///< read
  std::map<size_t, std::vector<std::string>> outputs_; ///< written, by write
  std::map<OpId, std::string> partials_;
  std::vector<std::string> halves_; ///< of operands
  std::vector<std::string> stage_types_;
  AccessNeeds needs_;
  std::string split_; ///< members of SplitK, where tiles are shared
};

void Emitter::collect_pointers() {
  for (const Read& read : group_.reads) {
    const ValueId value = read.access.value;
    const OpId op = graph_.value(value).op;
    if (is_computed_iota(graph_, read)) continue;
    if (read.combine) {
      if (partials_.count(op)) continue;
      const Buffer& partials = buffers_.partials.at(op);
      partials_[op] = parameters_.add("const u8*", partials.name, partials.argument);
    } else if (!pointers_.count(value)) {
      pointers_[value] =
          parameters_.add_pointer(buffers_.values.at(value), graph_.stored_type(value), false);
    }
  }
  for (size_t w = 0; w < group_.writes.size(); ++w) {
    const ValueId value = group_.writes[w].value;
    for (const Buffer& target : buffers_.targets.at(value))
      outputs_[w].push_back(parameters_.add_pointer(target, graph_.stored_type(value), true));
  }
  for (const Reduction& r : group_.reductions) {
    if (!r.global) continue;
    const Buffer& partials = buffers_.partials.at(r.op);
    partials_[r.op] = parameters_.add("u8*", partials.name, partials.argument);
  }
  if (schedule_.compute == ComputeType::f16x3)
    for (MatmulSide of : matmul_sides(group_)) {
      const Buffer& halves = buffers_.halves.at({group_.matmuls[of.matmul].op, of.side});
      halves_.push_back(parameters_.add("u8*", halves.name, halves.argument));
    }
  if (schedule_.scheduler == TileScheduler::split_k) collect_split();
}

void Emitter::collect_split() {
  const SplitBuffers& split = buffers_.splits.at(group_.matmuls.front().op);
  auto add = [&](const char* type, const std::string& name, const Argument& argument) {
    return "p." + parameters_.add(type, name, argument);
  };
  const std::string sums = add("f32*", split.sums.name, split.sums.argument);
  const std::string arrivals = add("u32*", split.arrivals.name, split.arrivals.argument);
  std::string parts;
  if (const auto fixed = split.parts.constant()) {
    parts = fmt::format("{}", *fixed);
  } else {
    Argument argument;
    argument.kind = ArgumentKind::dim;
    argument.name = "parts";
    argument.value = split.parts;
    parts = add("i64", argument.name, argument);
  }
  split_ = fmt::format("{}, {}, {}", parts, sums, arrivals);
}

void Emitter::write_comment(CodeWriter& out) const {
  out.line("// {}", schedule_.text());
  auto is_matmul = [&](OpId op) { return graph_.op(op).kind == OpKind::matmul; };
  for (const Matmul& matmul : group_.matmuls)
    out.line("//   {}", op_line(graph_, graph_.op(matmul.op)));
  for (OpId op : group_.ops)
    if (!is_matmul(op)) out.line("//   {}", op_line(graph_, graph_.op(op)));
}

const Reduction& Emitter::reduction(OpId op) const {
  return *llvm::find_if(group_.reductions, [&](const Reduction& r) { return r.op == op; });
}

std::string Emitter::layout() const {
  if (schedule_.row_threads == RowThreads::along_rows) {
    if (group_.scan)
      return fmt::format("LaneRunLayout<{}, {}>", schedule_.threads, schedule_.chunks);
    return fmt::format("LaneRowLayout<{}, {}, {}>", schedule_.threads, schedule_.chunks,
                       schedule_.tile_m / kRowsOfAWarp);
  }
  return fmt::format("RowLayout<{}, {}, {}, {}>", schedule_.threads, schedule_.per_row,
                     schedule_.chunks, schedule_.vec);
}

void Emitter::write_source(CodeWriter& out) {
  if (group_.matmuls.empty()) {
    out.line("using MatmulOrRows = NoSource<{}>;", layout());
    return;
  }
  write_mainloops(out,
                  {graph_, ranges_, group_, schedule_, pointers_, halves_, struct_names_, needs_});
}

void Emitter::write_reduction(CodeWriter& out, FunctorWriter& functors, const Stage& stage) {
  const Reduction& r = reduction(stage.reduction);
  const Op& op = graph_.op(stage.reduction);
  const std::string name = struct_names_.unique(pascal(info(op.kind).name));
  const std::string input = struct_names_.unique(name + "Input");
  functors.write(out, input, stage.target, stage.slots);
  static const char* const spans[] = {"row", "segment", "column", "tile"};
  const ReduceSpan span = r.span_in_tile();
  {
    out.line("/// {}", op_line(graph_, op));
    auto block = out.block(fmt::format("struct {}", name), "};");
    out.line("using Reducer = {};", reducer_of(graph_, op));
    out.line("using Functor = {};", input);
    out.line("static constexpr Span kSpan = Span::{};", spans[static_cast<int>(span)]);
    out.line("static constexpr int kWidth = {};",
             span == ReduceSpan::segment ? r.extent.fixed() : 0);
    out.line("static INGOT_DEVICE i64 count(const Params& p) {{ return {}; }}", dim_code(r.extent));
    const auto coordinates = stage_coordinates(group_);
    out.line("static INGOT_DEVICE i64 index(const Params& p, i64 batch, i64 row, i64 col) {{ "
             "return {}; }}",
             index_formula(group_, dense_access(group_, r.reduced), coordinates, 1).text);
  }
  functors.reduction_names[stage.reduction] = name;
  stage_types_.push_back(fmt::format("Reduce<{}>", name));
}

void Emitter::write_store(CodeWriter& out, FunctorWriter& functors, const Stage& stage) {
  const Write& write = group_.writes[stage.write];
  const StoreFormula formula = store_formula(graph_, group_, schedule_, write);
  needs_.add(write.value, graph_.stored_type(write.value), formula.index, formula.vec);
  for (const std::string& pointer : outputs_.at(stage.write)) {
    const std::string value = struct_names_.unique(pascal(pointer) + "Value");
    const std::string output = struct_names_.unique(pascal(pointer) + "Output");
    functors.write(out, value, stage.target, stage.slots);
    write_output(out, graph_, group_, write, formula, {output, pointer});
    stage_types_.push_back(fmt::format("Store<{}, {}>", value, output));
  }
}

void Emitter::write_stage(CodeWriter& out, FunctorWriter& functors, const Stage& stage) {
  switch (stage.kind) {
  case StageKind::reduce: return write_reduction(out, functors, stage);
  case StageKind::store: return write_store(out, functors, stage);
  case StageKind::combine:
  case StageKind::merge_at_points:
  case StageKind::store_partial: {
    const KernelParts kernel{graph_, group_, struct_names_};
    const PartialStates states = partial_states(stage.reduction);
    const std::string type = stage.kind == StageKind::store_partial
                                 ? write_partial(out, functors, kernel, stage.reduction, states)
                                 : write_combine(out, functors, kernel, stage.reduction, states);
    if (stage.kind != StageKind::merge_at_points) stage_types_.push_back(type);
    return;
  }
  case StageKind::scan:
    stage_types_.push_back(write_scan(out, functors, graph_, stage, struct_names_));
    return;
  case StageKind::map: {
    const ValueId value =
        stage.target.is_read ? group_.reads[stage.target.index].access.value : stage.target.id();
    const std::string name = struct_names_.unique("Map" + pascal(value_name(graph_, value)));
    functors.write(out, name, stage.target, stage.slots);
    stage_types_.push_back(fmt::format("Map<{}, {}>", name, stage.slot));
  }
  }
}

void Emitter::write_kernel(CodeWriter& out) const {
  auto block = out.block("struct Kernel", "};");
  out.line("using Params = struct Params;");
  out.line("using Source = MatmulOrRows;");
  out.line("static constexpr int kMatmuls = {};", group_.matmuls.size());
  out.line("static constexpr int kSlots = {};", std::max(stages_.slots, 1));
  out.line("using Stages = List<{}>;", fmt::join(stage_types_, ", "));
  {
    auto grid = out.block("static INGOT_DEVICE TileGrid grid(const Params& p)");
    const std::string tile_columns =
        schedule_.skeleton == Skeleton::held    ? fmt::format("{}", schedule_.step_n)
        : schedule_.skeleton == Skeleton::split ? part_width_code(columns(), shared_parts())
                                                : dim_code(columns());
    out.line("return {{{}, {}, {}, {}, {}, {}}};",
             dim_code(group_.space.extent(group_.domain.batch)),
             dim_code(group_.space.extent(group_.domain.rows)), dim_code(columns()),
             schedule_.tile_m, tile_columns, schedule_.group_rows);
  }
  if (group_.matmuls.empty()) return;
  std::string depth = dim_code(group_.space.extent(group_.matmuls.back().contraction));
  if (group_.matmuls.size() > 1)
    depth = fmt::format("matmul == 0 ? {} : {}",
                        dim_code(group_.space.extent(group_.matmuls.front().contraction)), depth);
  out.line("static INGOT_DEVICE i64 contraction(const Params& p, int matmul) {{ return {}; }}",
           depth);
  out.line("static constexpr bool kSplitsK = {};", !split_.empty());
  if (!split_.empty())
    out.line("static INGOT_DEVICE SplitK split(const Params& p) {{ return {{{}}}; }}", split_);
}

void Emitter::set_launch() {
  auto extent = [&](const AtomList& factors) { return dim_expr(group_.space.extent(factors)); };
  const Expr rows = ceil_div(extent(group_.domain.rows), schedule_.tile_m);
  // Reductions of nothing have results too.
  const Expr units =
      schedule_.skeleton == Skeleton::held
          ? tile_count(group_, schedule_) * part_count(group_, schedule_)
      : schedule_.skeleton == Skeleton::split
          ? extent(group_.domain.batch) * rows * max(part_count_limit(columns(), shared_parts()), 1)
          : extent(group_.domain.batch) * rows;
  LaunchShape& launch = variant_.launch;
  // 2^31 - 1 blocks is the most that a grid may have; blocks then take several tiles.
  launch.grid = {min(units, 2147483647), 1, 1};
  launch.block = {schedule_.threads, 1, 1};
  launch.shared_bytes = schedule_.shared_bytes;
  launch.max_threads = schedule_.threads;
  launch.min_blocks_per_sm = schedule_.min_blocks_per_sm;
}

KernelVariant Emitter::run() {
  collect_pointers();
  variant_.schedule = schedule_.text();
  variant_.includes = {fmt::format("kernels/{}.cuh", spelling(schedule_.skeleton).str())};
  if (!group_.matmuls.empty()) variant_.includes.push_back(mainloop_of(schedule_).header);
  if (group_.matmuls.size() > 1) variant_.includes.push_back("tile/matmul_pair.cuh");
  FunctorWriter functors(graph_, ranges_, group_,
                         {stage_coordinates(group_), schedule_.adjacent(), schedule_.vec},
                         pointers_, struct_names_, needs_);
  CodeWriter types;
  write_source(types);
  for (const Stage& stage : stages_.stages) write_stage(types, functors, stage);
  write_kernel(types);
  const std::string types_text = types.take();
  parameters_.add_dims(types_text);

  CodeWriter out;
  write_comment(out);
  out.line("namespace in_{} {{", variant_.entry);
  out.line("using namespace ingot;");
  out.blank();
  parameters_.write_struct(out);
  out.text(types_text);
  out.line("static_assert(SharedBytes<Kernel>::kBytes == {}, \"the host plans shared memory\");",
           schedule_.shared_bytes);
  out.blank();
  parameters_.write_entry(out, variant_.entry, schedule_.threads, schedule_.min_blocks_per_sm,
                          spelling(schedule_.skeleton));
  variant_.arguments = parameters_.arguments();
  out.blank();
  out.line("}} // namespace in_{}", variant_.entry);
  variant_.body = out.take();
  set_launch();
  variant_.when = predicates_of(needs_, buffers_, variant_.arguments);
  return std::move(variant_);
}

} // namespace

KernelVariant emit_variant(const Graph& graph, const Ranges& ranges, const Group& group,
                           const Schedule& schedule, const BufferMap& buffers,
                           const std::string& entry) {
  return Emitter(graph, ranges, group, schedule, buffers, entry).run();
}

} // namespace ingot
