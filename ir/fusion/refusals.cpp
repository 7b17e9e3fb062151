// SPDX-License-Identifier: Apache-2.0
// See refusals.h.
#include "ir/fusion/refusals.h"

#include "ir/passes/part_limits.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot::refusals {
namespace {

Refusal refusal(std::string rule, std::string change) {
  return {{std::move(rule), std::move(change)}};
}

/// A refusal of axes that do not match.
Refusal of_axes(std::string rule, std::string change) {
  return {{std::move(rule), std::move(change)}, std::nullopt, true};
}

Refusal curable(std::string rule, std::string change, ValueId store) {
  return {{std::move(rule), std::move(change)}, store, true};
}

/// The change that would make a reduction local.
std::string inside_one_tile(const Reduction& reduction) {
  if (reduction.span == ReduceSpan::column || reduction.span == ReduceSpan::matrix)
    return "reduce each row, of at most 256 columns";
  return reduction.extent.is_fixed()
             ? fmt::format("reduce at most {} elements", reduction.longest_local)
             : fmt::format("give {} as a number of at most {}", reduction.extent.text(),
                           reduction.longest_local);
}

/// The op behind the elementwise ops that compute `value`, which is not elementwise itself.
std::optional<OpId> computed_behind(const Graph& graph, ValueId value) {
  std::set<ValueId> seen;
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId root = root_of(graph, open.back());
    open.pop_back();
    if (!seen.insert(root).second) continue;
    const Op& op = graph.producer(root);
    const OpClass op_class = info(op.kind).op_class;
    if (op_class == OpClass::elementwise)
      llvm::append_range(open, op.operands);
    else if (op_class != OpClass::source)
      return graph.value(root).op;
  }
  return std::nullopt;
}

} // namespace

std::string named(const Graph& graph, ValueId value) {
  const std::string& name = graph.value(value).name;
  return name.empty() ? named(graph, graph.value(value).op) : "'" + name + "'";
}

std::string reduced(const Graph& graph, OpId reduction) {
  const Op& op = graph.op(reduction);
  return fmt::format("{} reduces axes [{}] of {}", named(graph, reduction),
                     fmt::join(graph.attributes<ReduceAttributes>(op).axes, ", "),
                     graph.type(op.operands[0]).text());
}

std::string named(const Graph& graph, OpId op) {
  const Value& value = graph.value(graph.op(op).results[0]);
  const std::string kind = info(graph.op(op).kind).name.str();
  return value.name.empty() ? kind : fmt::format("{} '{}'", kind, value.name);
}

bool reduce_same_axes(const Graph& graph, OpId a, OpId b) {
  const auto axes = [&](OpId op) { return graph.attributes<ReduceAttributes>(graph.op(op)).axes; };
  const auto type = [&](OpId op) { return graph.type(graph.op(op).operands[0]); };
  return axes(a) == axes(b) && type(a).shape == type(b).shape;
}

Refusal too_many_ops(int64_t most) {
  return refusal(fmt::format("a kernel holds at most {} ops", most), kNoChange);
}

Refusal too_many_layers(int64_t most) {
  return refusal(fmt::format("a kernel computes at most {} products one after another", most),
                 kNoChange);
}

Refusal too_many_results(size_t results, size_t ops, const FusionLimits& limits) {
  return refusal(fmt::format("{} results of {} ops are returned or needed later: a kernel keeps at "
                             "most {} in registers, and computes at most {} ops for all of them",
                             results, ops, limits.most_live, limits.most_evaluations),
                 "return fewer, or use each result soon after it is made");
}

Refusal too_many_tensors(size_t tensors, int64_t most) {
  return refusal(
      fmt::format("one kernel would have {} tensors as arguments, and can have {}", tensors, most),
      "pass several of them as one tensor");
}

Refusal second_matmul(const Graph& graph, OpId op) {
  return refusal(fmt::format("two products in a row are two kernels: {} reads the result of the "
                             "first",
                             named(graph, op)),
                 kNoChange);
}

Refusal cannot_run(const Graph& graph, OpId reduction, const FusionLimits& limits) {
  return refusal(fmt::format("{} reduces a product that another one multiplies: a kernel of both "
                             "computes a softmax there, or reduces whole rows of at most {} "
                             "elements",
                             named(graph, reduction), limits.widest_segment),
                 kNoChange);
}

Refusal product_in_steps(const Graph& graph, OpId product) {
  return refusal(
      fmt::format("the kernel of {} computes its operand step by step along K, and has no "
                  "result before the last step: a product of it is another kernel",
                  named(graph, product)),
      kNoChange);
}

Refusal operand_not_resident(const Graph& graph, OpId matmul, const FusionLimits& limits) {
  return refusal(fmt::format("the kernel of {} would compute its operand by several products, each "
                             "of which needs all elements that it multiplies: it can if K is at "
                             "most {}",
                             named(graph, matmul), limits.widest_segment),
                 fmt::format("choose a fixed K of at most {}", limits.widest_segment));
}

Refusal operand_at_other_points(const Graph& graph, OpId matmul) {
  return refusal(fmt::format("the kernel of {} has other rows than the product that computes its "
                             "operand",
                             named(graph, matmul)),
                 kNoChange);
}

Refusal third_matmul(const Graph& graph, OpId op) {
  return refusal(fmt::format("{} is the third product: a kernel has room for two, or for more if "
                             "each multiplies the result of the one before",
                             named(graph, op)),
                 kNoChange);
}

Refusal second_scan(const Graph& graph, OpId op) {
  return refusal(fmt::format("{} is the second scan: a kernel runs one", named(graph, op)),
                 kNoChange);
}

Refusal scan_shares_nothing(const Graph& graph, OpId scan) {
  return refusal(fmt::format("{} is a scan: no product and no reduction shares its kernel",
                             named(graph, scan)),
                 kNoChange);
}

Refusal scan_merges_nothing(const Graph& graph, OpId scan, OpId reduction) {
  Refusal result = refusal(
      fmt::format("{} is a scan and needs the result of {}, which another kernel completes first",
                  named(graph, scan), named(graph, reduction)),
      kNoChange);
  result.merge = true;
  return result;
}

Refusal axes_split_differently(const Graph& graph, OpId op, const std::string& which) {
  return of_axes(fmt::format("the operands of {} split {} differently", named(graph, op), which),
                 "reshape both operands to the same factors");
}

Refusal operand_in_steps(const Graph& graph, OpId matmul) {
  return refusal(fmt::format("{} computes an operand of another product, and reads its own operand "
                             "b from memory, a step at a time",
                             named(graph, matmul)),
                 kNoChange);
}

Refusal operand_computed(const Graph& graph, OpId op) {
  return refusal(fmt::format("{} reads a computed value, and a product reads its operands from "
                             "memory",
                             named(graph, op)),
                 "give it an input, or a rearranged input");
}

Refusal stored_for_others(const Graph& graph, ValueId operand, OpId stored) {
  if (graph.value(operand).op == stored)
    return refusal(
        fmt::format("{} is stored for other readers, and the product reads the stored tensor",
                    named(graph, stored)),
        kNoChange);
  return refusal(fmt::format("{} is made together with {}, which is stored for other readers",
                             named(graph, operand), named(graph, stored)),
                 kNoChange);
}

Refusal operand_reduced(const Graph& graph, OpId matmul, OpId reduction) {
  return refusal(fmt::format("{} reads the result of {}: a reduction is complete before a product "
                             "begins, so its result is stored",
                             named(graph, matmul), named(graph, reduction)),
                 kNoChange);
}

Refusal operand_not_elementwise(const Graph& graph, OpId matmul, OpId op) {
  return refusal(fmt::format("{} reads the result of {}: a product computes elementwise ops on its "
                             "operands, and no others",
                             named(graph, matmul), named(graph, op)),
                 kNoChange);
}

Refusal operand_is_number(const Graph& graph, OpId op, ValueId number) {
  return curable(fmt::format("{} reads numbers that no tensor in memory holds", named(graph, op)),
                 "pass them as an input", number);
}

Refusal parts_meet(const Graph& graph, OpId concat) {
  const auto& parts = graph.op(concat).operands;
  std::string why =
      fmt::format("they take more than {} elementwise ops and views", kMostRepeatedOps);
  if (parts.size() > kMostSpreadParts)
    why = fmt::format("they are {}, and a kernel takes {}", parts.size(), kMostSpreadParts);
  for (ValueId part : parts)
    if (const auto op = computed_behind(graph, part))
      why = fmt::format("{} is among the ops that make them", named(graph, *op));
  return refusal(
      fmt::format("the parts of {} are written to memory, and read as one tensor there: {}",
                  named(graph, concat), why),
      "use the parts instead of the concat");
}

Refusal rearranged_after() {
  return refusal("the operand of the op is rearranged in memory first",
                 "read it as it is, or compute on it after it is rearranged");
}

Refusal rearranged_before() {
  return refusal("the operand of the op is rearranged in memory first",
                 "read it as it is, or compute on it before it is rearranged");
}

Refusal prepared_before() {
  return refusal("the first depends on params alone: it runs once, in prepare, and in no launch",
                 "declare the params as inputs; each launch computes it then");
}

Refusal runs_between(const Graph& graph, OpId between) {
  return refusal(fmt::format("{} runs between them: it reads a result of the first, and the second "
                             "reads its result",
                             named(graph, between)),
                 kNoChange);
}

Refusal partials_elsewhere(const Graph& graph, OpId reduction) {
  Refusal result =
      of_axes(fmt::format("the partial results of {} are merged row by row, and this kernel needs "
                          "them along its columns, or at two points of a row",
                          named(graph, reduction)),
              kNoChange);
  result.merge = true;
  return result;
}

Refusal partials_too_many(const Graph& graph, OpId reduction, const Dim& reduced, int64_t most) {
  Refusal result =
      refusal(fmt::format("{} reduces {} elements; of more than {} a kernel of its own merges the "
                          "partial results",
                          named(graph, reduction), reduced.text(), most),
              fmt::format("reduce at most {} elements", most));
  result.merge = true;
  return result;
}

Refusal reshape_mixes_axes(const Type& from, const Shape& to, ValueId operand) {
  return curable(
      fmt::format("the reshape of {} to {} mixes the kernel's axes", from.text(), text_of(to)),
      "split axes or merge neighbouring ones only", operand);
}

Refusal part_of_computed(const Graph& graph, OpId part) {
  return of_axes(
      fmt::format("{} reads a slice of a computed value; the slice has other points than the whole",
                  graph.op(part).kind == OpKind::window ? "a choice between parts of a concat"
                                                        : named(graph, part)),
      "use the value as a whole");
}

Refusal part_of_reshaped(const Graph& graph, OpId part, size_t axis) {
  return curable(fmt::format("{} along axis {} of a reshaped tensor", named(graph, part), axis),
                 "take it before the reshape", graph.op(part).operands[0]);
}

Refusal too_many_points() {
  return of_axes("the kernel would have 2^63 points or more", kNoChange);
}

Refusal diagonal(const Graph& graph, ValueId value) {
  return of_axes(
      fmt::format("{} is needed on its diagonal, or at two points at once", named(graph, value)),
      kNoChange);
}

Refusal contracted_and_kept(const Graph& graph, OpId matmul) {
  return of_axes(
      fmt::format("{} sums along an axis that the kernel also keeps", named(graph, matmul)),
      kNoChange);
}

Refusal products_apart(const Graph& graph, OpId first, OpId second) {
  return refusal(
      fmt::format("{} and {} are two products that no op joins point by point", named(graph, first),
                  named(graph, second)),
      "join them by an op; or, of one left operand, multiply it by both right ones side by "
      "side, and use the product as a whole");
}

Refusal products_of_types(const Graph& graph, OpId first, OpId second) {
  return refusal(
      fmt::format("{} and {} multiply different types", named(graph, first), named(graph, second)),
      "cast the operands of both to one type");
}

Refusal axis_outside(const Graph& graph, ValueId value) {
  return of_axes(
      fmt::format("{} has an axis that the kernel's rows and columns lack", named(graph, value)),
      "reduce that axis before the value is used");
}

Refusal spread_outside(const Graph& graph, ValueId value) {
  return of_axes(fmt::format("{} is needed along an axis that the kernel's rows and columns lack",
                             named(graph, value)),
                 "return it without the broadcast");
}

Refusal lost_without_rows(const Graph& graph, ValueId value, const Dim& rows) {
  return of_axes(fmt::format("{} has no rows, and would not be stored where {} is 0",
                             named(graph, value), rows.text()),
                 fmt::format("give {} a size", rows.text()));
}

Refusal repeated_for_rows(const Graph& graph, OpId op, std::optional<ValueId> other) {
  return of_axes(
      fmt::format(
          "{} would be computed again for every row of {}, which costs more than storing it",
          named(graph, op), other ? named(graph, *other) : "the stored tensor"),
      kNoChange);
}

Refusal crosses_tiles(const Graph& graph, const Reduction& reduction) {
  Refusal result = refusal(fmt::format("{} of {} elements spans several blocks: its result exists "
                                       "when all of them are done",
                                       named(graph, reduction.op), reduction.extent.text()),
                           inside_one_tile(reduction));
  result.crossing = reduction.op;
  return result;
}

Refusal shared_rows(const Graph& graph, OpId reduction) {
  return refusal(fmt::format("several blocks share each row of {}, and the other reductions need "
                             "whole rows or segments of them in one block",
                             named(graph, reduction)),
                 kNoChange);
}

Refusal merged_before(const Graph& graph, OpId reduction) {
  return refusal(fmt::format("the partial results of {} are merged by a kernel before this one",
                             named(graph, reduction)),
                 kNoChange);
}

Refusal constant_along_rows(const Graph& graph, OpId reduction) {
  return of_axes(
      fmt::format("{} reduces a value that is the same in all rows", named(graph, reduction)),
      kNoChange);
}

Refusal segments_without_tile(const StepDemand& demand, int64_t widest) {
  const std::string whole =
      demand.multiple > 1 ? fmt::format(", a multiple of {},", demand.multiple) : "";
  const auto any = tile_columns({demand.multiple, 0}, widest);
  const std::string more = any ? fmt::format(", or of a multiple of {}", any->step) : "";
  return refusal(fmt::format("segments of {} elements are reduced behind a product; no number of "
                             "columns{} divides them and fits a tile of {}",
                             demand.divides, whole, widest),
                 fmt::format("reduce segments of at most {} elements{}", widest, more));
}

Refusal segment_of_unknown_width(const Graph& graph, const Reduction& reduction) {
  return refusal(fmt::format("{} reduces segments of {} elements behind a product, and their "
                             "length is known only at launch",
                             named(graph, reduction.op), reduction.extent.text()),
                 fmt::format("give {} a size", reduction.extent.text()));
}

Reason reduced_where_read(const Graph& graph, const Reduction& reduction) {
  return {fmt::format("{} of {} elements would span several blocks; its operand is stored anyway, "
                      "and reducing it where it is read costs less",
                      named(graph, reduction.op), reduction.extent.text()),
          inside_one_tile(reduction)};
}

Refusal other_axes(const Graph& graph, OpId reduction, const Group& group, Spread spread) {
  const bool matmul = !group.matmuls.empty();
  auto change = [&]() -> std::string {
    switch (spread) {
    case Spread::across:
      return matmul ? "reduce segments of rows or of columns, or all of both" : kNoChange;
    case Spread::in_columns: return kNoChange;
    case Spread::in_rows:
      return matmul
                 ? "order the columns of the second operand so that the reduced ones lie side by "
                   "side"
                 : kNoChange;
    }
    llvm_unreachable("not a spread");
  };
  if (matmul)
    return of_axes(
        fmt::format("{}: a kernel reduces whole rows of {}, equal segments of them, whole columns "
                    "where it has no batch, or all of it",
                    reduced(graph, reduction), named(graph, group.matmuls.front().op)),
        change());
  const auto other = llvm::find_if(group.reductions, [&](const Reduction& r) {
    return r.op != reduction && !reduce_same_axes(graph, r.op, reduction);
  });
  const std::string beside =
      other == group.reductions.end() ? "" : ", and " + reduced(graph, other->op);
  return of_axes(fmt::format("{}{}: a kernel reduces rows, or equal segments of them",
                             reduced(graph, reduction), beside),
                 change());
}

Refusal segment_of_unknown_row(const Graph& graph, OpId reduction, const Dim& columns,
                               int64_t widest) {
  return refusal(fmt::format("{} reduces segments of rows of {} columns, which one block holds; "
                             "their length is known only at launch",
                             named(graph, reduction), columns.text()),
                 fmt::format("give {} a size of at most {}", columns.text(), widest));
}

Refusal segment_of_long_row(const Graph& graph, OpId reduction, const Dim& columns,
                            int64_t widest) {
  return refusal(fmt::format("{} reduces segments of rows of {} columns; one block holds rows of "
                             "at most {}",
                             named(graph, reduction), columns.text(), widest),
                 fmt::format("shorten the rows to {} columns", widest));
}

} // namespace ingot::refusals
