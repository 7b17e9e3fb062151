// SPDX-License-Identifier: Apache-2.0
// Slices of what is computed become the same of slices: of what lies in memory a slice is index
// arithmetic, and what nobody looks at is not computed. Left are those whose kernel has the whole
// anyway and stores the part of it.
#include "ir/passes/parts.h"
#include "ir/passes/passes.h"
#include "ir/passes/sliced_values.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// A slice of the source graph, pushed down.
class PushedSlice {
public:
  PushedSlice(GraphRewriter& rewriter, const Candidate& candidate, const SlicedValues& sliced)
      : rewriter_(rewriter), candidate_(candidate), sliced_(sliced) {}
  Replacement run();

private:
  bool is_sliced(ValueId value) const;
  std::optional<ValueId> take(const Part& part);
  Part without_held() const;

  GraphRewriter& rewriter_;
  const Candidate& candidate_;
  const SlicedValues& sliced_;
};

/// `value` of the new graph is a result of which nothing but slices is used.
bool PushedSlice::is_sliced(ValueId value) const {
  const Graph& source = rewriter_.source();
  return llvm::any_of(sliced_.sliced_results(), [&](ValueId result) {
    return source.value(result).op < candidate_.id && rewriter_.mapped(result) == value;
  });
}

std::optional<ValueId> PushedSlice::take(const Part& part) {
  Parts::Rules rules;
  auto takes = [&](ValueId value) { return is_sliced(value); };
  rules.takes_result = takes;
  rules.takes_repeated = true;
  Parts parts(rewriter_, rules);
  const ValueId x = candidate_.operands[0];
  return parts.affords(x, part) ? std::optional(parts.of(x, part)) : std::nullopt;
}

/// The candidate's part, but all along the dims that are computed as a whole.
Part PushedSlice::without_held() const {
  Part part = std::get<SliceAttributes>(candidate_.op.attributes);
  const Part whole = whole_part(rewriter_.type(candidate_.operands[0]).shape);
  for (size_t d = 0; d < part.starts.size(); ++d)
    if (sliced_.is_held(candidate_.id, d)) {
      part.starts[d] = whole.starts[d];
      part.stops[d] = whole.stops[d];
      part.steps[d] = whole.steps[d];
    }
  return part;
}

Replacement PushedSlice::run() {
  const OpClass op_class = info(rewriter_.kind(candidate_.operands[0])).op_class;
  if (op_class == OpClass::source || op_class == OpClass::movement ||
      sliced_.is_left(candidate_.id))
    return {};
  const auto& part = std::get<SliceAttributes>(candidate_.op.attributes);
  const Part without = without_held();
  if (without == part || !sliced_.is_returned(candidate_.id))
    if (const auto taken = take(part)) return {*taken};
  const Part whole = whole_part(rewriter_.type(candidate_.operands[0]).shape);
  if (without == part || without == whole) return {};
  const auto taken = take(without);
  if (!taken) return {};
  Part rest = whole_part(rewriter_.type(*taken).shape);
  for (size_t d = 0; d < part.starts.size(); ++d)
    if (without.starts[d] == whole.starts[d] && without.stops[d] == whole.stops[d] &&
        without.steps[d] == whole.steps[d]) {
      rest.starts[d] = part.starts[d];
      rest.stops[d] = part.stops[d];
      rest.steps[d] = part.steps[d];
    }
  return {rewriter_.make(OpKind::slice, {*taken}, rest)};
}

} // namespace

llvm::Expected<Graph> push_down_slices(const Graph& graph, const PassContext&) {
  const SlicedValues sliced(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    if (candidate.kind() != OpKind::slice) return {};
    return PushedSlice(rewriter, candidate, sliced).run();
  });
}

} // namespace ingot
