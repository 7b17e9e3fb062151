// SPDX-License-Identifier: Apache-2.0
// text_of(Kernel): the text form. It has everything that the code depends on. Notes follow two
// slashes.
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/names.h"
#include "codegen/program/manifest_words.h"
#include "src/support/code_writer.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

class KernelPrinter {
public:
  explicit KernelPrinter(const Kernel& kernel)
      : kernel_(kernel), names_(parameter_names(kernel.parameters)) {}

  std::string run();

private:
  void print_parameters();
  void print(const TileBody& body);
  void print(const PackingBody& body) { print(body.operand, "operand"); }
  void print(const MatrixOperand& operand, const char* name);
  void print(const PointExpr& expr, const PointFrame& frame);
  void print(const MapStage& stage, const PointFrame& frame);
  void print(const ReduceStage& stage, const PointFrame& frame);
  void print(const StoreStatesStage& stage, const PointFrame& frame);
  void print(const MergeStage& stage, const PointFrame& frame);
  void print(const CarriedStage& stage, const PointFrame& frame);
  void print(const ScanStage& stage, const PointFrame& frame);
  void print(const StoreStage& stage, const PointFrame& frame);
  void print(const Variant& variant);
  std::string step(const PointOp& op, const PointFrame& frame) const;
  std::string element(uint32_t parameter, const IndexMap& map) const {
    return fmt::format("{}[{}]", names_[parameter], map.index.text());
  }

  const Kernel& kernel_;
  const std::vector<std::string> names_;
  CodeWriter out_;
};

std::string reducer_text(const Reducer& reducer) {
  return fmt::format("{} {}", info(reducer.op).name.str(), spelling(reducer.dtype).str());
}

std::string conditions_text(llvm::ArrayRef<Condition> conditions) {
  static const char* const compare[] = {"==", ">=", "<", ">"};
  std::vector<std::string> texts;
  for (const Condition& c : conditions)
    texts.push_back(fmt::format("{} {} {}", c.left.text(), compare[static_cast<size_t>(c.compare)],
                                c.right.text()));
  return fmt::format("{}", fmt::join(texts, " and "));
}

std::string function_text(const DeviceFunction& function, DType to) {
  static const char* const forms[] = {"", " bounded", " reciprocal", " shared"};
  std::string text = info(function.op).name.str() + forms[static_cast<size_t>(function.form)];
  if (function.is_short) text += " short";
  if (function.op == OpKind::cast)
    text += fmt::format(" {} to {}", spelling(function.from).str(), spelling(to).str());
  return text;
}

std::string KernelPrinter::step(const PointOp& op, const PointFrame& frame) const {
  using Kind = PointOp::Kind;
  std::string operands;
  for (uint32_t operand : op.operands) operands += fmt::format(" %{}", operand);
  switch (op.kind) {
  case Kind::slot: return fmt::format("tile{}", op.index);
  case Kind::read: return element(frame.reads[op.index].parameter, frame.reads[op.index].map);
  case Kind::gather: {
    const GatherRead& gather = frame.gathers[op.index];
    return fmt::format("{} at{} below {}", element(gather.parameter, gather.map), operands,
                       gather.extent.text());
  }
  case Kind::result: return fmt::format("result {} of stage {}", op.result, op.index);
  case Kind::merged: return fmt::format("result {} of the states of stage {}", op.result, op.index);
  case Kind::constant: // every float is an f32
    return number_text(op.constant) + (is_float(op.dtype) ? "" : " as " + spelling(op.dtype).str());
  case Kind::number: return fmt::format("{} as {}", op.number.text(), spelling(op.dtype).str());
  case Kind::call: return function_text(op.function, op.dtype) + operands;
  case Kind::round: return fmt::format("round to {}{}", spelling(op.dtype).str(), operands);
  }
  llvm_unreachable("not a kind of step");
}

void KernelPrinter::print(const PointExpr& expr, const PointFrame& frame) {
  for (const auto& [k, op] : llvm::enumerate(expr.ops))
    out_.line("    %{} = {}", k, step(op, frame));
}

void KernelPrinter::print_parameters() {
  static const char* const purposes[] = {
      "read",       "write",          "states",        "merged states", "packed",      "map",
      "split sums", "split arrivals", "pack counters", "split parts",   "packed rows", "dim"};
  for (const auto& [k, parameter] : llvm::enumerate(kernel_.parameters)) {
    const bool is_tensor =
        parameter.purpose == Purpose::read || parameter.purpose == Purpose::write;
    const Argument& argument = parameter.buffer.argument;
    const bool is_number = argument.kind == ArgumentKind::dim;
    out_.line("  {}: {}{} {}{} // {}", names_[k], purposes[static_cast<size_t>(parameter.purpose)],
              is_tensor ? " " + spelling(parameter.dtype).str() : "", word_of(argument.kind).str(),
              is_number ? " " + argument.value.text() : "", parameter.note());
  }
}

void KernelPrinter::print(const MatrixOperand& operand, const char* name) {
  out_.line("  {} {} major {}{}", name, element(operand.from.parameter, operand.from.map),
            operand.from.map.contiguous == Coordinate::mn ? "mn" : "k",
            operand.packed
                ? fmt::format(" {} {} of {}", facts_of(operand.packing.format).type,
                              names_[*operand.packed],
                              text_of(Shape{operand.packing.batches, operand.packing.rows,
                                            operand.packing.depth}))
            : operand.map
                ? fmt::format(" mapped {} of [{}, {}, {}] steps {}, {} from {} at {}",
                              names_[*operand.map], operand.mapping.extents[0].text(),
                              operand.mapping.extents[1].text(), operand.mapping.extents[2].text(),
                              operand.mapping.strides[0].text(), operand.mapping.strides[1].text(),
                              operand.mapping.first.text(), operand.mapping.matrix.text())
                : "");
  if (!operand.prologue.empty()) print(operand.prologue, operand.frame);
}

void KernelPrinter::print(const MapStage& stage, const PointFrame& frame) {
  out_.line("  map tile{}", stage.slot);
  print(stage.value, frame);
  if (stage.within.empty()) return;
  out_.line("    where no mask is");
  print(stage.within, frame);
}

void KernelPrinter::print(const ReduceStage& stage, const PointFrame& frame) {
  static const char* const spans[] = {"row", "segment", "column", "tile"};
  out_.line("  reduce {} over {}{} of {} at {}", reducer_text(stage.reducer),
            spans[static_cast<size_t>(stage.span)],
            stage.width > 0 ? fmt::format(" {}", stage.width) : "", stage.count.text(),
            stage.position.text());
  if (stage.summands)
    out_.line("    runs over {} times tile{}, summands in its place", stage.scale, *stage.summands);
  print(stage.value, frame);
}

void KernelPrinter::print(const CarriedStage& stage, const PointFrame&) {
  out_.line("  results of stage {} of a", stage.stage);
}

void KernelPrinter::print(const StoreStatesStage& stage, const PointFrame&) {
  out_.line("  store states of stage {} to {}[{}, {}] of {}", stage.reduction,
            names_[stage.parameter], stage.result.text(), stage.state.text(), stage.states.text());
}

void KernelPrinter::print(const MergeStage& stage, const PointFrame&) {
  out_.line("  merge {} of {} from {} states {}[{}]{}", reducer_text(stage.reducer),
            stage.count.text(), stage.states.text(), names_[stage.parameter], stage.result.text(),
            stage.at_points ? " at points" : "");
}

void KernelPrinter::print(const ScanStage& stage, const PointFrame& frame) {
  out_.line("  scan {}{}{}", reducer_text(stage.reducer), stage.is_exclusive ? " exclusive" : "",
            stage.is_reversed ? " reversed" : "");
  print(stage.value, frame);
}

void KernelPrinter::print(const StoreStage& stage, const PointFrame& frame) {
  for (uint32_t parameter : stage.parameters)
    out_.line("  store {}{}{}", element(parameter, stage.map), stage.owns.empty() ? "" : " where ",
              conditions_text(stage.owns));
  print(stage.value, frame);
}

void KernelPrinter::print(const TileBody& body) {
  out_.line("  domain batch {} rows {} columns {}, slots {}", body.batch.text(), body.rows.text(),
            body.columns.text(), body.tile_slots);
  for (const Mainloop& mainloop : body.mainloops) {
    out_.line("  product over {}", mainloop.depth.text());
    if (mainloop.a) {
      out_.line("  a computed {}:",
                mainloop.a->resident ? "whole" : "along the product, tile by tile");
      print(mainloop.a->body);
      out_.line("  element");
      print(mainloop.a->element, mainloop.a->body.frame);
      for (const PointExpr& value : mainloop.a->kept) {
        out_.line("  keeps");
        print(value, mainloop.a->body.frame);
      }
      if (!mainloop.a->admits.empty())
        out_.line("  steps where {}", conditions_text(mainloop.a->admits));
      out_.line("  end of a");
    } else {
      print(mainloop.operands[0], "  a");
    }
    print(mainloop.operands[1], "  b");
  }
  if (body.sum_factor)
    out_.line("  tile0 is {} times the first product, and the second", *body.sum_factor);
  for (const EarlierValue& value : body.earlier)
    out_.line("  tile{} has value {} of the tile {} before", value.slot, value.number, value.back);
  for (const Stage& stage : body.stages)
    std::visit([&](const auto& step) { print(step, body.frame); }, stage.step);
}

void KernelPrinter::print(const Variant& variant) {
  std::vector<std::string> when;
  for (const Predicate& predicate : variant.when)
    when.push_back(
        predicate.kind == PredicateKind::aligned
            ? fmt::format("{} aligned to {}", names_[predicate.argument], predicate.number)
            : fmt::format("{} divides {}", predicate.number, predicate.value.text()));
  out_.line("  variant {}", variant.schedule.text());
  out_.line("    when {}", when.empty() ? "always" : fmt::format("{}", fmt::join(when, ", ")));
  out_.line("    grid {} shared {}", variant.launch.grid[0].text(),
            variant.launch.shared_bytes.text());
  for (const VariantMap& map : variant.maps)
    out_.line("    {} maps {} + {} bytes, box {} x {}", names_[map.parameter],
              names_[map.map.argument], map.first.text(), map.map.box[1], map.map.box[0]);
}

std::string KernelPrinter::run() {
  out_.line("kernel {} // {}", kernel_.program == ProgramKind::prepare ? "prepare" : "launch",
            kernel_.name);
  print_parameters();
  std::visit([&](const auto& body) { print(body); }, kernel_.body);
  for (const Variant& variant : kernel_.variants) print(variant);
  return out_.take();
}

} // namespace

std::string text_of(const Kernel& kernel) { return KernelPrinter(kernel).run(); }

} // namespace ingot
