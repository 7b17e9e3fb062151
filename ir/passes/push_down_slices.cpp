// SPDX-License-Identifier: Apache-2.0
// Slices of what is computed, elementwise or by a matmul, become the same of slices: of what lies
// in memory a slice is index arithmetic, and what nobody looks at is not computed.
#include "ir/passes/dataflow.h"
#include "ir/passes/parts.h"
#include "ir/passes/passes.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

/// Results of matmuls of which nothing but slices is used, elementwise ops before them apart, and
/// no more by all of them than there is.
class SlicedProducts {
public:
  explicit SlicedProducts(const Graph& graph) : graph_(graph), users_(users_of_values(graph)) {
    for (const GraphOutput& output : graph.outputs()) returned_.insert(output.value);
    for (const Op& op : graph.ops())
      if (op.kind == OpKind::matmul && is_sliced(op.results[0])) products_.push_back(op.results[0]);
  }

  /// `value` of the new graph is one of them. `rewriter` has come as far as `reader`.
  bool contain(const GraphRewriter& rewriter, OpId reader, ValueId value) const {
    return llvm::any_of(products_, [&](ValueId product) {
      return graph_.value(product).op < reader && rewriter.mapped(product) == value;
    });
  }

private:
  bool is_sliced(ValueId product) const;
  std::optional<double> share(const Op& slice) const;

  const Graph& graph_;
  std::vector<std::vector<OpId>> users_;
  std::set<ValueId> returned_;
  std::vector<ValueId> products_;
};

/// How much of its operand a slice shows; none where an operand of a matmul would be read with
/// gaps, or at places that no access of 16 bytes is aligned to.
std::optional<double> SlicedProducts::share(const Op& slice) const {
  constexpr int64_t kAligned = 8;
  const auto& part = graph_.attributes<SliceAttributes>(slice);
  const Shape& from = graph_.type(slice.operands[0]).shape;
  const Shape& to = graph_.type(slice.results[0]).shape;
  double result = 1;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == to[d]) continue;
    if (part.steps[d] != 1 || (d + 2 >= from.size() && part.starts[d] % kAligned != 0))
      return std::nullopt;
    result *= static_cast<double>(to[d].fixed()) / static_cast<double>(from[d].fixed());
  }
  return result;
}

bool SlicedProducts::is_sliced(ValueId product) const {
  constexpr double kAll = 1 + 1e-9; // shares are rounded
  double shown = 0;
  std::set<ValueId> seen = {product};
  std::vector<ValueId> open = {product};
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (returned_.count(value)) return false;
    for (OpId user : users_[value.index]) {
      const Op& op = graph_.op(user);
      if (op.kind == OpKind::slice) {
        const auto part = share(op);
        if (!part || (shown += *part) > kAll) return false;
      } else if (info(op.kind).op_class != OpClass::elementwise) {
        return false;
      } else if (seen.insert(op.results[0]).second) {
        open.push_back(op.results[0]);
      }
    }
  }
  return shown > 0;
}

} // namespace

llvm::Expected<Graph> push_down_slices(const Graph& graph, const PassContext&) {
  const SlicedProducts products(graph);
  return rewrite(graph, [&](GraphRewriter& rewriter, const Candidate& candidate) -> Replacement {
    if (candidate.kind() != OpKind::slice) return {};
    const ValueId x = candidate.operands[0];
    const OpClass op_class = info(rewriter.kind(x)).op_class;
    if (op_class != OpClass::elementwise && op_class != OpClass::matmul) return {};
    const auto& part = std::get<SliceAttributes>(candidate.op.attributes);
    auto is_sliced = [&](ValueId value) { return products.contain(rewriter, candidate.id, value); };
    Parts::Rules rules;
    rules.takes_product = is_sliced;
    rules.takes_repeated = true;
    Parts parts(rewriter, rules);
    if (!parts.affords(x, part)) return {};
    return {parts.of(x, part)};
  });
}

} // namespace ingot
