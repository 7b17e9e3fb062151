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

/// One of axes that do not suit each other.
Refusal of_axes(std::string rule, std::string change) {
  Refusal result = refusal(std::move(rule), std::move(change));
  result.of_axes = true;
  return result;
}

Refusal curable(std::string rule, std::string change, ValueId store) {
  Refusal result = of_axes(std::move(rule), std::move(change));
  result.store = store;
  return result;
}

/// What would make a reduction local.
std::string inside_one_tile(const Reduction& reduction) {
  if (reduction.span == ReduceSpan::column)
    return "reduce along the rows: a kernel holds rows of up to 256 columns of a product, and no "
           "columns";
  if (reduction.span == ReduceSpan::matrix)
    return "reduce along the rows: a kernel holds rows of up to 256 columns of a product, and no "
           "product";
  const std::string most =
      fmt::format("{} elements, which one block takes", reduction.longest_local);
  return reduction.extent.is_fixed()
             ? "reduce at most " + most
             : fmt::format("give {} as a number, of at most {}", reduction.extent.text(), most);
}

/// An op behind elementwise ones that `value` is made by, which is none itself.
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
  return refusal(fmt::format("more than {} ops", most),
                 fmt::format("none: a kernel holds at most {} ops", most));
}

Refusal too_many_results(size_t results, size_t ops, const FusionLimits& limits) {
  return refusal(fmt::format("{} results of {} ops are returned or needed later: a kernel keeps at "
                             "most {} in registers, "
                             "and evaluates at most {} ops for all of them",
                             results, ops, limits.most_live, limits.most_evaluations),
                 "return fewer, or use each result soon after it is made");
}

Refusal too_many_tensors(size_t tensors, int64_t most) {
  return refusal(fmt::format("{} tensors would be arguments of one kernel; 4 KB of parameters hold "
                             "{} beside the sizes",
                             tensors, most),
                 "pass several of them as one tensor");
}

Refusal second_matmul(const Graph& graph, OpId op) {
  return refusal(
      fmt::format("{} is the second matmul, of what the first one yields", named(graph, op)),
      "none: a mainloop reads its operands from memory, where other blocks left them");
}

Refusal third_matmul(const Graph& graph, OpId op) {
  return refusal(fmt::format("{} is the third matmul", named(graph, op)),
                 "none: the registers of a block hold the tiles of two products");
}

Refusal second_scan(const Graph& graph, OpId op) {
  return refusal(fmt::format("{} is the second scan", named(graph, op)),
                 "none: a kernel carries one running value along its rows");
}

Refusal scan_shares_nothing(const Graph& graph, OpId scan) {
  return refusal(
      fmt::format("{} runs along loaded rows; neither a matmul nor a reduction shares its kernel",
                  named(graph, scan)),
      "none: a scan carries its value from one end of a row to the other");
}

Refusal scan_merges_nothing(const Graph& graph, OpId scan, OpId reduction) {
  Refusal result = refusal(
      fmt::format(
          "{} runs along rows, and needs the results of {}, of which only partials are there",
          named(graph, scan), named(graph, reduction)),
      "none: a scan carries its value from one end of a row to the other, and merges nothing");
  result.merge = true;
  return result;
}

Refusal axes_split_differently(const Graph& graph, OpId op, const std::string& which) {
  return of_axes(fmt::format("operands of {} split {} differently", named(graph, op), which),
                 "reshape both operands to the same factors");
}

Refusal operand_computed(const Graph& graph, OpId op) {
  return refusal(
      fmt::format("{} reads a computed value: its operands come from memory", named(graph, op)),
      "give it an operand that is an input or a movement of one");
}

Refusal stored_for_others(const Graph& graph, ValueId operand, OpId stored) {
  if (graph.value(operand).op == stored)
    return refusal(fmt::format("{} is stored for others, and the matmul reads it from there",
                               named(graph, stored)),
                   "return or use it in one place only");
  return refusal(fmt::format("{} is made beside {}, which is stored for others: a matmul evaluates "
                             "what it alone needs",
                             named(graph, operand), named(graph, stored)),
                 "make them of different inputs");
}

Refusal operand_reduced(const Graph& graph, OpId matmul, OpId reduction) {
  return refusal(fmt::format("{} reads what {} makes: a reduction is complete before a mainloop "
                             "begins, so its result comes from memory",
                             named(graph, matmul), named(graph, reduction)),
                 "none: the rows would be reduced again for every tile");
}

Refusal operand_not_elementwise(const Graph& graph, OpId matmul, OpId op) {
  return refusal(fmt::format("{} reads what {} makes: only elementwise ops are evaluated on the "
                             "way to a mainloop",
                             named(graph, matmul), named(graph, op)),
                 "none: its operand is stored once and read by all tiles");
}

Refusal operand_is_number(const Graph& graph, OpId op, ValueId number) {
  return curable(fmt::format("{} reads numbers that are not in memory", named(graph, op)),
                 "pass them as an input", number);
}

Refusal parts_meet(const Graph& graph, OpId concat) {
  const auto& parts = graph.op(concat).operands;
  std::string why = fmt::format("they take more than {} elementwise ops and movements of memory",
                                kMostRepeatedOps);
  if (parts.size() > kMostSpreadParts)
    why = fmt::format("they are {}, more than {}", parts.size(), kMostSpreadParts);
  for (ValueId part : parts)
    if (const auto op = computed_behind(graph, part))
      why = fmt::format("{} is behind one, which is more than elementwise ops of memory",
                        named(graph, *op));
  return refusal(fmt::format("the parts of {} meet in memory, where it is read after all of them "
                             "are written: {}",
                             named(graph, concat), why),
                 "use the parts instead of the concat");
}

Refusal rearranged_after() {
  return refusal("what the op reads is rearranged in memory first",
                 "read it as it is, or compute on it after it is rearranged");
}

Refusal rearranged_before() {
  return refusal("what the op reads is rearranged in memory first",
                 "read it as it is, or compute on it before it is rearranged");
}

Refusal prepared_before() {
  return refusal("the producer depends on params alone and runs once, in prepare",
                 "none needed: no launch runs it; declared as inputs, params would be read anew");
}

Refusal runs_between(const Graph& graph, OpId between) {
  return refusal(
      fmt::format("{} would have to run in the middle of the kernel", named(graph, between)),
      "none: it reads what the kernel stores, and the kernel reads its result");
}

Refusal partials_elsewhere(const Graph& graph, OpId reduction) {
  Refusal result = of_axes(
      fmt::format("the partial results of {} are merged row by row; this kernel needs them along "
                  "its columns, or at two points of a row",
                  named(graph, reduction)),
      "none: merging them for each tile again would read them once for every tile");
  result.merge = true;
  return result;
}

Refusal partials_too_many(const Graph& graph, OpId reduction, const Dim& reduced, int64_t most) {
  Refusal result = refusal(
      fmt::format("{} reduces {} elements; of at most {} the partial results are merged where a "
                  "result is read",
                  named(graph, reduction), reduced.text(), most),
      fmt::format("reduce at most {} elements", most));
  result.merge = true;
  return result;
}

Refusal reshape_mixes_axes(const Type& from, const Shape& to, ValueId operand) {
  return curable(fmt::format("reshape of {} to {} is no split or merge of the kernel's axes",
                             from.text(), text_of(to)),
                 "split axes or merge neighbouring ones only", operand);
}

Refusal part_of_computed(const Graph& graph, OpId part) {
  return of_axes(
      fmt::format("{} shows a part of a computed value: its users see another domain than its "
                  "producer",
                  graph.op(part).kind == OpKind::window ? "a choice between parts of a concat"
                                                        : named(graph, part)),
      "none: use the value as a whole");
}

Refusal part_of_reshaped(const Graph& graph, OpId part, size_t axis) {
  return curable(fmt::format("{} along axis {} of a reshaped tensor", named(graph, part), axis),
                 "take it before the reshape", graph.op(part).operands[0]);
}

Refusal too_many_points() {
  return of_axes("the kernel would span 2^63 points or more",
                 "none: it is needed at too many combinations of the ops' axes");
}

Refusal diagonal(const Graph& graph, ValueId value) {
  return of_axes(fmt::format("{} would be needed on its diagonal, or at two points at once: two of "
                             "its axes are one of the kernel's",
                             named(graph, value)),
                 "none: its points are computed where it is written, not where it is read");
}

Refusal contracted_and_kept(const Graph& graph, OpId matmul) {
  return of_axes(fmt::format("an axis of {} is both contracted and kept", named(graph, matmul)),
                 "none: the value is needed at other points than where it is computed");
}

Refusal products_apart(const Graph& graph, OpId first, OpId second) {
  return refusal(
      fmt::format("{} and {} do not meet point by point: no op joins points of the same "
                  "batch, row and column of both",
                  named(graph, first), named(graph, second)),
      "none, unless an op joins them; of one left operand, multiply it by both right ones side by "
      "side, and use the product as a whole");
}

Refusal products_of_types(const Graph& graph, OpId first, OpId second) {
  return refusal(
      fmt::format("{} and {} multiply different types", named(graph, first), named(graph, second)),
      "cast the operands of both to one type");
}

Refusal axis_outside(const Graph& graph, ValueId value) {
  return of_axes(
      fmt::format("{} varies along an axis that the kernel's rows and columns do not have",
                  named(graph, value)),
      "reduce it to the kernel's axes before it is used");
}

Refusal spread_outside(const Graph& graph, ValueId value) {
  return of_axes(
      fmt::format("{} is spread along an axis that the kernel's rows and columns do not have",
                  named(graph, value)),
      "return it without the broadcast");
}

Refusal lost_without_rows(const Graph& graph, ValueId value, const Dim& rows) {
  return of_axes(
      fmt::format("{} does not vary along {} rows, and where these are none no block would "
                  "store it",
                  named(graph, value), rows.text()),
      fmt::format("give {} a size", rows.text()));
}

Refusal repeated_for_rows(const Graph& graph, OpId op, std::optional<ValueId> other) {
  return of_axes(
      fmt::format("{} would be computed again for every row of {}, which spans other axes",
                  named(graph, op), other ? named(graph, *other) : "what is stored"),
      "none: it costs more than to store its result once");
}

Refusal crosses_tiles(const Graph& graph, const Reduction& reduction) {
  Refusal result = refusal(fmt::format("{} of {} elements crosses tiles: its result exists only "
                                       "after the whole grid",
                                       named(graph, reduction.op), reduction.extent.text()),
                           inside_one_tile(reduction));
  result.crossing = reduction.op;
  return result;
}

Refusal shared_rows(const Graph& graph, OpId reduction) {
  return refusal(fmt::format("blocks share the rows of {}; the other reductions take parts of "
                             "them, or rows that lie in one block",
                             named(graph, reduction)),
                 "none: its states are stored before any of its rows is complete");
}

Refusal merged_before(const Graph& graph, OpId reduction) {
  return refusal(fmt::format("the partial results of {} are merged by a kernel before this one",
                             named(graph, reduction)),
                 "none: what reads them needs all of them complete, each once");
}

Refusal constant_along_rows(const Graph& graph, OpId reduction) {
  return of_axes(
      fmt::format("{} reduces a value that does not vary along the rows", named(graph, reduction)),
      "none: it is computed once, not once for every row tile");
}

Refusal segments_without_tile(const StepDemand& demand, int64_t widest) {
  const std::string whole =
      demand.multiple > 1 ? fmt::format(", a multiple of {},", demand.multiple) : "";
  const auto any = tile_columns({demand.multiple, 0}, widest);
  const std::string more = any ? fmt::format(", or of a multiple of {}", any->step) : "";
  return refusal(fmt::format("parts of rows of {} elements are reduced beside a matmul; no number "
                             "of columns{} both divides them and fills a tile of at most {}",
                             demand.divides, whole, widest),
                 fmt::format("reduce parts of at most {} elements{}", widest, more));
}

Refusal segment_of_unknown_width(const Graph& graph, const Reduction& reduction) {
  return refusal(fmt::format("{} reduces parts of rows of {} elements beside a matmul; a length "
                             "that is known only at launch is not cut into whole tiles",
                             named(graph, reduction.op), reduction.extent.text()),
                 fmt::format("give {} a size", reduction.extent.text()));
}

Refusal reduced_where_read(const Graph& graph, const Reduction& reduction) {
  return refusal(fmt::format("{} of {} elements would cross tiles; what it reduces is stored all "
                             "the same, and costs less to reduce where it is read",
                             named(graph, reduction.op), reduction.extent.text()),
                 inside_one_tile(reduction));
}

Refusal other_axes(const Graph& graph, OpId reduction, const Group& group, Spread spread) {
  const bool matmul = !group.matmuls.empty();
  auto change = [&] {
    switch (spread) {
    case Spread::across:
      return matmul
                 ? "reduce parts of rows or of columns, or all of both: a kernel begins no other "
                   "part of both at once"
                 : "none: it takes elements of several rows, and rows lie in different blocks";
    case Spread::in_columns:
      return "none: what it reduces lies in several tiles, and is no whole column";
    case Spread::in_rows:
      return matmul ? "multiply by a second operand whose columns are in the order in which they "
                      "are reduced: a tile holds neighbours"
                    : "none: it takes elements of several rows, and rows lie in different blocks";
    }
    llvm_unreachable("not a spread");
  };
  if (matmul)
    return of_axes(
        fmt::format("{}: a kernel reduces whole rows of {}, equal parts of them, whole columns "
                    "unless it is batched, or all of it",
                    reduced(graph, reduction), named(graph, group.matmuls.front().op)),
        change());
  const auto other = llvm::find_if(group.reductions, [&](const Reduction& r) {
    return r.op != reduction && !reduce_same_axes(graph, r.op, reduction);
  });
  const std::string beside =
      other == group.reductions.end() ? "" : ", and " + reduced(graph, other->op);
  return of_axes(fmt::format("{}{}: a kernel reduces rows, or equal inner parts of them",
                             reduced(graph, reduction), beside),
                 change());
}

Refusal segment_of_unknown_row(const Graph& graph, OpId reduction, const Dim& columns,
                               int64_t widest) {
  return refusal(
      fmt::format(
          "{} reduces a part of rows of {} columns, which one block holds; a length that is "
          "known only at launch cannot be held",
          named(graph, reduction), columns.text()),
      fmt::format("give {} a size of at most {}", columns.text(), widest));
}

Refusal segment_of_long_row(const Graph& graph, OpId reduction, const Dim& columns,
                            int64_t widest) {
  return refusal(
      fmt::format("{} reduces a part of rows of {} columns; the longest that can be held has {}",
                  named(graph, reduction), columns.text(), widest),
      fmt::format("shorten the rows to {} columns", widest));
}

} // namespace ingot::refusals
