// SPDX-License-Identifier: Apache-2.0
// The text form of a fusion plan and its verifier; see grouping.h.
#include "ir/fusion/grouping.h"
#include "ir/fusion/legality.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

std::string name_of(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  return v.name.empty() ? fmt::format("v{}", value.index) : v.name;
}

std::string factors(const Group& group, const AtomList& atoms) {
  if (atoms.empty()) return "1";
  std::string text;
  for (Atom atom : atoms)
    text += fmt::format("{}{}", text.empty() ? "" : "x", group.space.extent(atom).text());
  return text;
}

const char* span_name(ReduceSpan span) {
  switch (span) {
  case ReduceSpan::row: return "row";
  case ReduceSpan::segment: return "segment";
  case ReduceSpan::column: return "column";
  case ReduceSpan::matrix: return "matrix";
  }
  return "";
}

std::string prologue_text(const Graph& graph, const MatmulOperand& operand,
                          const std::string& side) {
  if (operand.prologue.empty()) return "";
  std::string text = fmt::format("  {} computed by:", side);
  for (OpId op : operand.prologue) text += fmt::format(" {}", info(graph.op(op).kind).name.str());
  return text + "\n";
}

/// The type of a value in memory, if it differs from the graph's.
std::string as_stored(const Graph& graph, ValueId value) {
  const DType stored = graph.stored_type(value);
  return stored == graph.type(value).dtype ? "" : fmt::format(" as {}", spelling(stored).str());
}

/// The tiles of computed operands. The side names the product: `A of A` is the tile of the second.
std::string tiles_text(const Group& group, const Graph& graph) {
  std::string text, side = "A";
  for (const Group* part = &group; part->computed; part = part->computed->tile.get()) {
    const ComputedOperand& operand = *part->computed;
    const Matmul& matmul = operand.tile->matmuls.front();
    text += fmt::format("  {} computed {} K: {}, K {}, ops:", side,
                        operand.resident ? "with all of" : "along", name_of(graph, operand.value),
                        factors(*operand.tile, matmul.contraction));
    for (OpId op : operand.tile->ops)
      text += fmt::format(" {}", info(graph.op(op).kind).name.str());
    text += "\n";
    for (size_t k = 0; k < 2; ++k)
      text += prologue_text(graph, matmul.operands[k], (k == 0 ? "A of " : "B of ") + side);
    side = "A of " + side;
  }
  return text;
}

std::string text_of(const Group& group, const Graph& graph, size_t index) {
  std::string text =
      fmt::format("kernel {}{}: {}, domain batch {} rows {} columns {}", index,
                  group.program == ProgramKind::prepare ? " (prepare)" : "",
                  group.matmuls.empty() ? "loaded" : "matmul", factors(group, group.domain.batch),
                  factors(group, group.domain.rows), factors(group, group.domain.columns));
  for (const Matmul& matmul : group.matmuls)
    text += fmt::format(" K {}", factors(group, matmul.contraction));
  text += "\n  ops:";
  for (OpId op : group.ops) text += fmt::format(" {}", info(graph.op(op).kind).name.str());
  text += "\n";
  for (const Matmul& matmul : group.matmuls)
    for (size_t k = 0; k < matmul.operands.size(); ++k)
      text += prologue_text(graph, matmul.operands[k], k == 0 ? "A" : "B");
  if (group.scan)
    text += fmt::format("  {} along rows\n", info(graph.op(*group.scan).kind).name.str());
  for (const Reduction& r : group.reductions)
    text += fmt::format("  {} over {} {} elements: {}\n", info(graph.op(r.op).kind).name.str(),
                        span_name(r.span), r.extent.text(), r.global ? "global" : "local");
  text += tiles_text(group, graph);
  for (const Read* read : memory_reads(group))
    text += fmt::format("  {} {}{}\n", read->combine ? "combines" : "reads",
                        name_of(graph, read->access.value),
                        read->combine ? "" : as_stored(graph, read->access.value));
  for (const Write& write : group.writes)
    text +=
        fmt::format("  writes {}{}\n", name_of(graph, write.value), as_stored(graph, write.value));
  for (ValueId value : group.rounded)
    text += fmt::format("  rounds {} to {}\n", name_of(graph, value),
                        spelling(graph.type(value).dtype).str());
  return text;
}

/// Checks that the ops of each prologue are in the group and fetch the tensor that the operand
/// names.
llvm::Error verify_operands(const Group& group, const Graph& graph) {
  for (const Matmul& matmul : group.matmuls)
    for (uint32_t side = 0; side < matmul.operands.size(); ++side) {
      const MatmulOperand& operand = matmul.operands[side];
      const bool fetches =
          operand.read < group.reads.size() &&
          (operand.prologue.empty()
               ? group.reads[operand.read].op == matmul.op &&
                     group.reads[operand.read].operand == side
               : llvm::is_contained(operand.prologue, group.reads[operand.read].op));
      const bool computes = llvm::all_of(operand.prologue, [&](OpId op) {
        return info(graph.op(op).kind).op_class == OpClass::elementwise &&
               llvm::is_contained(group.ops, op);
      });
      if (!fetches || !computes)
        return make_error(ErrorCode::internal,
                          "plan has a matmul whose operand {} comes from "
                          "nowhere",
                          side);
    }
  return llvm::Error::success();
}

} // namespace

std::string text_of(const FusionPlan& plan, const Graph& graph) {
  std::string text;
  for (size_t g = 0; g < plan.groups.size(); ++g) text += text_of(plan.groups[g], graph, g);
  for (const Boundary& b : plan.boundaries)
    text += fmt::format("kernels {} | {}{}: {}\n", b.producer, b.consumer,
                        b.value ? " at " + name_of(graph, *b.value) : "", b.reason.rule);
  return text;
}

llvm::Error verify(const FusionPlan& plan, const Graph& graph) {
  std::set<ValueId> available;
  std::set<OpId> placed;
  for (const Group& group : plan.groups) {
    for (const Group* part : parts_of(group))
      if (auto error = verify_operands(*part, graph)) return error;
    for (const Read* read : memory_reads(group)) {
      const ValueId value = read->access.value;
      const bool source = info(graph.producer(value).kind).op_class == OpClass::source;
      if (!source && !available.count(value))
        return make_error(ErrorCode::internal, "plan reads '{}' before any kernel wrote it",
                          name_of(graph, value));
    }
    for (OpId op : group.ops)
      if (!placed.insert(op).second)
        return make_error(ErrorCode::internal, "plan holds op {} twice", op.index);
    for (const Write& write : group.writes) available.insert(write.value);
    for (const Reduction& r : group.reductions)
      if (r.global)
        for (ValueId value : graph.op(r.op).results) available.insert(value);
  }
  for (const GraphOutput& output : graph.outputs())
    if (!available.count(output.value))
      return make_error(ErrorCode::internal, "plan never writes output '{}'", output.name);
  for (const Boundary& boundary : plan.boundaries)
    if (boundary.reason.rule.empty() || boundary.reason.change.empty())
      return make_error(ErrorCode::internal, "kernels {} and {} are apart for no stated reason",
                        boundary.producer, boundary.consumer);
  return llvm::Error::success();
}

} // namespace ingot
