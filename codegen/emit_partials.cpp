// SPDX-License-Identifier: Apache-2.0
// See emit_partials.h.
#include "codegen/emit_partials.h"

#include "codegen/emit.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// Where a tile begins along each extent that is cut.
std::vector<std::string> positions(const Group& group, const Reduction& r) {
  switch (r.span) {
  case ReduceSpan::row: return {"col"};
  case ReduceSpan::segment: return {fmt::format("col % {}", divisor_code(r.extent))};
  case ReduceSpan::column: return {"row"};
  case ReduceSpan::matrix: break;
  }
  const AtomList batch = reduced_batch(group, r);
  if (batch.empty()) return {"row", "col"};
  const auto coordinates = stage_coordinates(group);
  return {"(" + index_formula(group, dense_access(group, {batch}), coordinates, 1).text + ")",
          "row", "col"};
}

/// The number of the tile's part among those of its result.
std::string slot_code(const Group& group, const Reduction& r, const Cuts& cuts) {
  std::string code;
  for (const auto& [cut, position] : llvm::zip_equal(cuts, positions(group, r))) {
    const std::string width = part_width_code(cut.extent, cut.parts);
    if (code.empty())
      code = fmt::format("{} / {}", position, width);
    else
      code = fmt::format("({}) * ({}) + {} / {}", code, part_count_code(cut.extent, cut.parts),
                         position, width);
  }
  return code;
}

} // namespace

std::string write_partial(CodeWriter& out, FunctorWriter& functors, const KernelParts& kernel,
                          OpId op, const PartialStates& states) {
  const Group& group = kernel.group;
  const Reduction& r =
      *llvm::find_if(group.reductions, [&](const Reduction& each) { return each.op == op; });
  const std::string& name = functors.reduction_names.at(op);
  const std::string partial = kernel.names.unique(name + "Partial");
  auto block = out.block(fmt::format("struct {}", partial), "};");
  out.line("using R = {};", name);
  auto at = out.block("static INGOT_DEVICE R::Reducer::State* at(const Params& p, i64 batch, "
                      "i64 row, i64 col)");
  out.line("const i64 slots = {};", part_count_code(states.cuts));
  const auto coordinates = stage_coordinates(group);
  out.line("const i64 result = {};",
           index_formula(group, dense_access(group, r.kept), coordinates, 1).text);
  out.line("return reinterpret_cast<R::Reducer::State*>(p.{}) + result * slots + {};",
           states.pointer, slot_code(group, r, states.cuts));
  return fmt::format("StorePartial<{}>", partial);
}

std::string write_combine(CodeWriter& out, FunctorWriter& functors, const KernelParts& kernel,
                          OpId op, const PartialStates& states) {
  const Graph& graph = kernel.graph;
  const Op& node = graph.op(op);
  const std::string name = kernel.names.unique("Combine" + pascal(info(node.kind).name));
  const auto read = llvm::find_if(kernel.group.reads, [&](const Read& r) {
    return r.combine && graph.value(r.access.value).op == op;
  });
  const auto coordinates = stage_coordinates(kernel.group);
  const IndexFormula formula = index_formula(kernel.group, read->access, coordinates, 1);
  Dim count = 1;
  for (int64_t axis : graph.attributes<ReduceAttributes>(node).axes)
    count = count * graph.type(node.operands[0]).shape[axis];
  functors.reduction_names[op] = name;
  out.line("/// {}: merges the states of its parts", op_line(graph, node));
  auto block = out.block(fmt::format("struct {}", name), "};");
  out.line("using Reducer = {};", reducer_of(graph, node));
  out.line("static constexpr Span kSpan = Span::row;");
  out.line("static constexpr int kWidth = 0;");
  out.line("static INGOT_DEVICE i64 count(const Params& p) {{ return {}; }}", dim_code(count));
  out.line("static INGOT_DEVICE i64 partials(const Params& p) {{ return {}; }}",
           part_count_code(states.cuts));
  auto at = out.block(
      fmt::format("static INGOT_DEVICE const Reducer::State* at(const Params& p, i64 batch, "
                  "i64 row{})",
                  read->at_points ? ", i64 col" : ""));
  out.line("return reinterpret_cast<const Reducer::State*>(p.{}) + ({}) * partials(p);",
           states.pointer, formula.text);
  return fmt::format("Combine<{}>", name);
}

} // namespace ingot
