// SPDX-License-Identifier: Apache-2.0
// See emit_body.h.
#include "codegen/emit/emit_body.h"

#include "codegen/emit/mainloops.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/walks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace ingot {
namespace {

class BodyWriter {
public:
  /// `reads`: the widths of the body's reads.
  BodyWriter(CodeWriter& out, const EmitContext& context, const TileBody& body,
             llvm::ArrayRef<VariantNumber> reads)
      : out_(out), context_(context), spell_(context.spell), body_(body),
        functors_(context, body.frame, kStageCoordinates, reads, names_) {}

  void run();
  /// Writes tile `number` of the computed operands. `before`: the struct of the tile before it,
  /// which is its operand A; empty: none. Returns the tile's struct.
  std::string run_tile(const ComputedTile& tile, size_t number, const std::string& before);
  /// The struct of a stage that yields results.
  const std::string& name_of(uint32_t stage) const { return names_.at(stage); }

private:
  void write_stages();
  void write(const CarriedStage& stage, const std::string& note);
  void write(const MapStage& stage, const std::string& note);
  void write(const ReduceStage& stage, const std::string& note);
  void write(const StoreStatesStage& stage, const std::string& note);
  void write(const MergeStage& stage, const std::string& note);
  void write(const ScanStage& stage, const std::string& note);
  void write(const StoreStage& stage, const std::string& note);
  void write_output(const StoreStage& stage, const StoreNumbers& numbers, uint32_t parameter,
                    const std::string& type);
  void write_source();
  void write_kept();
  void write_copied_ahead();
  void write_packing();
  bool has_skeleton(Skeleton skeleton) const;
  /// `EarlierValue<1, 0, 0>`, for each slot with a value of an earlier tile.
  std::vector<std::string> earlier_values() const;
  /// Writes `using name = List<...>;` of the operands of these reads.
  void write_operands(const char* name, const std::vector<uint32_t>& reads);
  void write_grid();
  /// Writes a static function of the parameters.
  void write_number(const char* name, const Expr& value) {
    write_function(out_, fmt::format("i64 {}(const Params& p)", name), spell_.integer(value));
  }
  std::string functor(const std::string& wanted, const PointExpr& value);
  std::string unique(const std::string& wanted) const { return context_.types.unique(wanted); }
  static std::string op_name(OpKind op) { return pascal(info(op).name); }

  CodeWriter& out_;
  const EmitContext& context_;
  const CodeSpelling& spell_;
  const TileBody& body_;
  std::map<uint32_t, std::string> names_; ///< the structs of stages that yield results
  FunctorWriter functors_;
  std::vector<std::string> types_;                 ///< the types of the stages
  uint32_t number_ = 0;                            ///< the number of the current stage
  std::vector<std::unique_ptr<BodyWriter>> tiles_; ///< those of the computed operands
  size_t stores_ = 0;                              ///< the number of stores so far
};

/// The functor of `value`. It gets the name `wanted`, unless a slot holds the value.
std::string BodyWriter::functor(const std::string& wanted, const PointExpr& value) {
  const PointOp& last = value.ops.back();
  if (last.kind == PointOp::Kind::slot) return fmt::format("Held<{}>", last.index);
  const std::string name = unique(wanted);
  functors_.write(out_, name, value);
  return name;
}

void BodyWriter::write(const MapStage& stage, const std::string&) {
  const std::string name = functor(fmt::format("Tile{}", stage.slot), stage.value);
  if (stage.within.empty()) {
    types_.push_back(fmt::format("Map<{}, {}>", name, stage.slot));
  } else {
    const std::string within = functor(name + "Within", stage.within);
    types_.push_back(fmt::format("MaskedMap<{}, {}, {}>", name, within, stage.slot));
  }
}

void BodyWriter::write(const ReduceStage& stage, const std::string& note) {
  static const char* const spans[] = {"row", "segment", "column", "matrix"};
  const std::string name = unique(op_name(stage.reducer.op));
  const std::string input = functor(name + "Input", stage.value);
  out_.line("/// {}", note);
  {
    const std::string width = stage.width > 0 ? fmt::format(", {}", stage.width) : "";
    auto block = out_.block(fmt::format("struct {} : Reduction<{}, {}, Span::{}{}>", name,
                                        reducer_text(stage.reducer), input,
                                        spans[static_cast<size_t>(stage.span)], width),
                            "};");
    const bool rises = stage.span == ReduceSpan::row && is_index_reduction(stage.reducer.op) &&
                       stage.position == coordinate(Coordinate::col);
    if (rises) out_.line("static constexpr bool kRises = true;");
    if (stage.summands)
      out_.line("struct Scale {{ static constexpr f32 kValue = {}; }};",
                literal({DType::f32, stage.scale}));
    write_number("count", stage.count);
    write_function(out_, "i64 index(const Params& p, i64 batch, i64 row, i64 col)",
                   spell_.integer(stage.position));
  }
  names_[number_] = name;
  types_.push_back(stage.summands ? fmt::format("RunningReduce<{}, {}>", name, *stage.summands)
                                  : fmt::format("Reduce<{}>", name));
}

void BodyWriter::write(const CarriedStage& stage, const std::string&) {
  const std::string& name = names_[number_] = tiles_.back()->name_of(stage.stage);
  types_.push_back(fmt::format("Carried<{}>", name));
}

void BodyWriter::write(const StoreStatesStage& stage, const std::string&) {
  const std::string& reduction = names_.at(stage.reduction);
  const std::string name = unique(reduction + "States");
  auto block = out_.block(fmt::format("struct {}", name), "};");
  out_.line("using R = {};", reduction);
  out_.line("using State = typename R::Reducer::State;");
  write_function(out_, "State* at(const Params& p, i64 batch, i64 row, i64 col)",
                 fmt::format("reinterpret_cast<State*>(p.{}) + ({})",
                             spell_.parameter(stage.parameter),
                             spell_.integer(stage.result * stage.states + stage.state)));
  types_.push_back(fmt::format("StoreStates<{}>", name));
}

void BodyWriter::write(const MergeStage& stage, const std::string& note) {
  const std::string name = unique("Merge" + op_name(stage.reducer.op));
  out_.line("/// {}: merges the states of its tiles", note);
  auto block =
      out_.block(fmt::format("struct {} : Merged<{}>", name, reducer_text(stage.reducer)), "};");
  write_number("count", stage.count);
  write_number("states", stage.states);
  write_function(out_,
                 fmt::format("const State* at(const Params& p, i64 batch, i64 row{})",
                             stage.at_points ? ", i64 col" : ""),
                 fmt::format("reinterpret_cast<const State*>(p.{}) + ({})",
                             spell_.parameter(stage.parameter),
                             spell_.integer(stage.result * stage.states)));
  names_[number_] = name;
  if (!stage.at_points) types_.push_back(fmt::format("Merge<{}>", name));
}

void BodyWriter::write(const ScanStage& stage, const std::string& note) {
  const std::string name = unique(op_name(stage.reducer.op));
  const std::string input = functor(name + "Input", stage.value);
  out_.line("/// {}", note);
  out_.line("struct {} : ScanOf<{}, {}, {}, {}> {{}};", name, reducer_text(stage.reducer), input,
            stage.is_exclusive, stage.is_reversed);
  names_[number_] = name;
  types_.push_back(fmt::format("Scan<{}>", name));
}

void BodyWriter::write(const StoreStage& stage, const std::string&) {
  const StoreNumbers& numbers = context_.numbers.stores[stores_++];
  const std::string value =
      functor(pascal(spell_.parameter(stage.parameters.front())) + "Value", stage.value);
  for (uint32_t parameter : stage.parameters) {
    const std::string output = unique(pascal(spell_.parameter(parameter)));
    write_output(stage, numbers, parameter, output);
    types_.push_back(fmt::format("Store<{}, {}>", value, output));
  }
}

void BodyWriter::write_output(const StoreStage& stage, const StoreNumbers& numbers,
                              uint32_t parameter, const std::string& type) {
  const std::string element = spelling(spell_.dtype(parameter)).str();
  auto block = out_.block(fmt::format("struct {} : Stored<{}, {}, {}, {}, {}>", type, element,
                                      along_text(stage.map, kStageCoordinates), numbers.vec.use,
                                      stage.map.is_affine, numbers.staged.use),
                          "};");
  IndexMap map = stage.map;
  map.nonempty.clear(); // the store writes no element of an empty extent
  write_function(out_, element + "* at(const Params& p, i64 batch, i64 row, i64 col)",
                 spell_.address(parameter, map, spell_.integer(map.index)));
  if (!stage.owns.empty())
    write_function(out_, "bool owns(const Params& p, i64 batch, i64 row, i64 col)",
                   spell_.all_of(stage.owns));
  if (!stage.reaches.empty())
    write_function(out_, "bool reaches(const Params& p, i64 col, i64 count)",
                   spell_.all_of(stage.reaches));
}

void BodyWriter::write_source() {
  if (body_.mainloops.empty()) {
    out_.line("using Source = NoSource<typename V::Layout>;");
    return;
  }
  static const char* const names[] = {"MatrixA", "MatrixB", "SecondA", "SecondB"};
  std::vector<std::string> sources;
  if (body_.mainloops.front().a) {
    std::string tile;
    for (const auto& [number, computed] : llvm::enumerate(computed_tiles(body_))) {
      tiles_.push_back(std::make_unique<BodyWriter>(out_, context_, computed->body,
                                                    context_.numbers.tile_reads[number]));
      tile = tiles_.back()->run_tile(*computed, number, tile);
    }
    write_operand_matrix(out_, context_, body_.mainloops.front().operands[1], tiles_.size() + 1,
                         "MatrixB");
    std::vector<std::string> parts = earlier_values();
    parts.insert(parts.begin(), {tile, "MatrixB"});
    out_.line("using Source = typename V::template Mainloop<{}>;", fmt::join(parts, ", "));
    return;
  }
  for (size_t m = 0; m < body_.mainloops.size(); ++m) {
    for (size_t side : {0, 1})
      write_operand_matrix(out_, context_, body_.mainloops[m].operands[side], 2 * m + side,
                           names[2 * m + side]);
    sources.push_back(
        fmt::format("typename V::template Mainloop<{}, {}>", names[2 * m], names[2 * m + 1]));
  }
  if (body_.sum_factor) {
    auto block = out_.block("struct Second", "};");
    out_.line("static constexpr i64 kFirstDepth = {};", *body_.mainloops[0].depth.constant());
    out_.line("static constexpr f32 kFactor = {};", literal({DType::f32, *body_.sum_factor}));
    sources.emplace_back("Second");
  }
  out_.line("using Source = {};",
            sources.size() == 1 ? sources.front()
                                : fmt::format("Matmul{}<{}>", body_.sum_factor ? "Sum" : "Pair",
                                              fmt::join(sources, ", ")));
}

std::vector<std::string> BodyWriter::earlier_values() const {
  std::vector<std::string> values;
  for (const auto& [slot, back, number] : body_.earlier)
    values.push_back(fmt::format("EarlierValue<{}, {}, {}>", slot, back, number));
  return values;
}

bool BodyWriter::has_skeleton(Skeleton skeleton) const {
  return llvm::any_of(spell_.kernel().variants, [&](const Variant& variant) {
    return variant.schedule.skeleton == skeleton;
  });
}

void BodyWriter::write_operands(const char* name, const std::vector<uint32_t>& reads) {
  std::vector<std::string> operands;
  for (uint32_t read : reads) operands.push_back(functors_.operand(read));
  write_list(out_, fmt::format("using {} = List<", name), operands, ">;");
}

/// Writes the operands that variants keep in shared memory.
void BodyWriter::write_kept() {
  if (!has_skeleton(Skeleton::kept)) return;
  write_operands("Kept", kept_reads(body_));
  out_.line("static constexpr i64 kColumns = {};", *body_.columns.constant());
}

/// Writes the operands that variants copy to shared memory while they multiply.
void BodyWriter::write_copied_ahead() {
  if (has_skeleton(Skeleton::specialised))
    write_operands("CopiedAhead", reads_along_columns(body_));
}

/// Writes whether the kernel packs its own A, and where its blocks meet.
void BodyWriter::write_packing() {
  if (!has_skeleton(Skeleton::specialised)) return;
  const std::optional<uint32_t> counters = spell_.kernel().pack_counters;
  out_.line("static constexpr bool kPacksA = {};", counters.has_value());
  if (counters)
    write_function(out_, "PackingBeside packing(const Params& p)",
                   fmt::format("{{p.{}}}", spell_.parameter(*counters)));
}

void BodyWriter::write_grid() {
  {
    const std::string extents =
        fmt::format("{}, {}, {}", spell_.integer(body_.batch), spell_.integer(body_.rows),
                    spell_.integer(body_.columns));
    const char* const step = has_fixed_steps(spell_.kernel()) ? "V::kStepN" : "V::tile_columns(p)";
    write_function(out_, "TileGrid grid(const Params& p)",
                   fmt::format("{{{}, V::kTileM, {}, V::kGroupRows}}", extents, step));
  }
  if (body_.mainloops.empty()) return;
  std::string depth = spell_.integer(body_.mainloops.front().depth);
  if (product_slots(body_) > 1)
    depth =
        fmt::format("matmul == 0 ? {} : {}", depth, spell_.integer(body_.mainloops.back().depth));
  if (body_.sum_factor)
    depth = "Source::Contraction::kBegin + " + spell_.integer(body_.mainloops.back().depth);
  write_function(out_, "i64 contraction(const Params& p, int matmul)", depth);
  const auto& split = spell_.kernel().split;
  out_.line("static constexpr bool kSplitsK = {};", split.has_value());
  if (!split) return;
  const std::string parts =
      split->parts ? "p." + spell_.parameter(*split->parts) : fmt::format("{}", split->fixed_parts);
  write_function(out_, "SplitK split(const Params& p)",
                 fmt::format("{{{}, p.{}, p.{}}}", parts, spell_.parameter(split->sums),
                             spell_.parameter(split->arrivals)));
}

void BodyWriter::write_stages() {
  for (const Stage& stage : body_.stages) {
    std::visit([&](const auto& step) { write(step, stage.note); }, stage.step);
    ++number_;
  }
}

std::string BodyWriter::run_tile(const ComputedTile& tile, size_t number,
                                 const std::string& before) {
  const Mainloop& product = body_.mainloops.front();
  const std::string b = unique("InnerB"), name = unique("TileA");
  if (number == 0) write_operand_matrix(out_, context_, product.operands[0], 0, "InnerA");
  write_operand_matrix(out_, context_, product.operands[1], number + 1, b);
  write_stages();
  std::vector<std::string> values = {functor("Element", tile.element)};
  for (const PointExpr& value : tile.kept) values.push_back(functor("Kept", value));
  std::vector<std::string> admits;
  for (const Condition& condition : tile.admits) {
    admits.push_back(unique("Admitted"));
    auto block = out_.block("struct " + admits.back(), "};");
    write_function(out_, "bool holds(const Params& p, i64 batch, i64 row, i64 col)",
                   spell_.all_of({condition}));
  }
  out_.line("/// Operand A, {}",
            tile.resident ? "with all of its K" : "computed step by step along K");
  auto block = out_.block("struct " + name, "};");
  out_.line("using A = {};", before.empty() ? "InnerA" : before);
  out_.line("using B = {};", b);
  write_number("depth", product.depth);
  if (tile.resident) out_.line("static constexpr int kColumns = {};", *body_.columns.constant());
  out_.line("static constexpr int kSlots = {};", std::max(body_.tile_slots, 1));
  write_list(out_, "using Stages = List<", types_, ">;");
  if (tile.resident) {
    write_list(out_, "using Values = List<", values, ">;");
    write_list(out_, "using Earlier = List<", earlier_values(), ">;");
    return name;
  }
  out_.line("using Value = {};", values.front());
  write_list(out_, "using Admits = List<", admits, ">;");
  return name;
}

void BodyWriter::run() {
  write_source();
  write_stages();
  out_.line("static constexpr int kMatmuls = {}, kSlots = {};", product_slots(body_),
            std::max(body_.tile_slots, 1));
  write_list(out_, "using Stages = List<", types_, ">;");
  write_kept();
  write_copied_ahead();
  write_packing();
  write_grid();
}

/// `{p.packed0, 1, 1024, 8192}`, or `{p.packed0, 1, p.rows, 8192}`
std::string packed_text(const CodeSpelling& spell, const MatrixOperand& operand) {
  const PackedOperand& extents = operand.packing;
  return fmt::format("{{p.{}, {}, {}, {}}}", spell.parameter(*operand.packed),
                     spell.integer(dim_expr(extents.batches)),
                     operand.packed_rows ? "p." + spell.parameter(*operand.packed_rows)
                                         : spell.integer(dim_expr(extents.rows)),
                     spell.integer(dim_expr(extents.depth)));
}

} // namespace

void write_operand_matrix(CodeWriter& out, const EmitContext& context, const MatrixOperand& operand,
                          size_t index, const std::string& name) {
  const CodeSpelling& spell = context.spell;
  const OperandNumbers& numbers = context.numbers.operands[index];
  const uint32_t parameter = operand.from.parameter;
  std::string prologue = "Unchanged";
  if (!operand.prologue.empty()) {
    prologue = context.types.unique(index % 2 == 0 ? "PrologueA" : "PrologueB");
    const std::map<uint32_t, std::string> no_stages;
    FunctorWriter(context, operand.frame, kOperandCoordinates, numbers.prologue, no_stages)
        .write(out, prologue, operand.prologue, operand.notes);
  }
  const std::string element = spelling(spell.dtype(parameter)).str();
  const char* const major = operand.from.map.contiguous == Coordinate::mn ? "mn" : "k";
  auto block = out.block(fmt::format("struct {} : Matrix<{}, {}, Major::{}, {}, {}, {}>", name,
                                     element, prologue, major, numbers.path.use, numbers.vec.use,
                                     operand.from.map.is_affine),
                         "};");
  if (operand.packed) {
    out.line("using Packed = {};", facts_of(operand.packing.format).type);
    write_function(out, "Packed packed(const Params& p)", packed_text(spell, operand));
  }
  if (operand.map) {
    out.line("using Mapped = MappedTensor<{}, Major::{}>;", element, major);
    write_function(out, "Mapped mapped(const Params& p, i64 batch)",
                   fmt::format("{{p.{}, {}}}", spell.parameter(*operand.map),
                               spell.integer(operand.mapping.matrix)));
  }
  write_function(out,
                 fmt::format("const {}* at(const Params& p, i64 batch, i64 mn, i64 k)", element),
                 spell.address(parameter, operand.from.map, spell.integer(operand.from.map.index)));
}

void write_tile_body(CodeWriter& out, const EmitContext& context, const TileBody& body) {
  BodyWriter(out, context, body, context.numbers.reads).run();
}

void write_packing_body(CodeWriter& out, const EmitContext& context, const PackingBody& body) {
  write_operand_matrix(out, context, body.operand, 0, "Operand");
  if (facts_of(body.operand.packing.format).in_blocks)
    out.line("static constexpr int kPerRow = {};", context.numbers.per_row.use);
}

} // namespace ingot
