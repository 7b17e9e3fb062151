// SPDX-License-Identifier: Apache-2.0
// Pushes slices below the ops that compute their operand. A slice of a tensor in memory is only
// index arithmetic, and unused elements are not computed. A slice stays if its kernel computes the
// whole value anyway and stores the slice.
#include "ir/passes/parts.h"
#include "ir/passes/passes.h"
#include "ir/passes/sliced_values.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

class SlicePusher {
public:
  explicit SlicePusher(const Graph& graph) : sliced_(graph) {}
  Replacement push(GraphRewriter& rewriter, const Candidate& slice);

private:
  void advance(const GraphRewriter& rewriter, OpId reader);
  std::optional<ValueId> take(GraphRewriter& rewriter, const Candidate& slice, const Part& part);
  Part without_held(const Candidate& slice, const Part& whole) const;

  const SlicedValues sliced_;
  size_t next_ = 0;            ///< index into the sliced results
  std::set<ValueId> in_reach_; ///< sliced results that are in the new graph
};

/// Records the sliced results before `reader`.
void SlicePusher::advance(const GraphRewriter& rewriter, OpId reader) {
  const std::vector<ValueId>& results = sliced_.sliced_results();
  for (; next_ < results.size() && rewriter.source().value(results[next_]).op < reader; ++next_)
    in_reach_.insert(rewriter.mapped(results[next_]));
}

std::optional<ValueId> SlicePusher::take(GraphRewriter& rewriter, const Candidate& slice,
                                         const Part& part) {
  auto takes = [&](ValueId value) { return in_reach_.count(value) != 0; };
  PartTaker::Rules rules;
  rules.takes_result = takes;
  rules.takes_repeated = true;
  PartTaker parts(rewriter, rules);
  const ValueId x = slice.operands[0];
  return parts.affords(x, part) ? std::optional(parts.of(x, part)) : std::nullopt;
}

/// The slice, widened to all positions along dims that the kernel holds whole.
Part SlicePusher::without_held(const Candidate& slice, const Part& whole) const {
  Part part = std::get<SliceAttributes>(slice.op.attributes);
  for (size_t d = 0; d < part.starts.size(); ++d)
    if (sliced_.is_held(slice.id, d)) copy_dim(whole, d, part, d);
  return part;
}

Replacement SlicePusher::push(GraphRewriter& rewriter, const Candidate& slice) {
  const ValueId x = slice.operands[0];
  const OpClass op_class = info(rewriter.kind(x)).op_class;
  if (op_class == OpClass::source || op_class == OpClass::movement || sliced_.stays(slice.id))
    return {};
  advance(rewriter, slice.id);
  const Part part = std::get<SliceAttributes>(slice.op.attributes);
  const Part whole = whole_slice(rewriter.type(x).shape);
  const Part without = without_held(slice, whole);
  if (without == part || !sliced_.is_returned(slice.id))
    if (const auto taken = take(rewriter, slice, part)) return {*taken};
  if (without == part || without == whole) return {};
  const auto taken = take(rewriter, slice, without);
  if (!taken) return {};
  Part rest = whole_slice(rewriter.type(*taken).shape);
  for (size_t d = 0; d < part.starts.size(); ++d)
    if (sliced_.is_held(slice.id, d)) copy_dim(part, d, rest, d);
  return {rewriter.make(OpKind::slice, {*taken}, rest)};
}

} // namespace

Graph push_down_slices(const Graph& graph, const PassContext&) {
  SlicePusher pusher(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    return candidate.kind() == OpKind::slice ? pusher.push(rewriter, candidate) : Replacement();
  });
}

} // namespace ingot
