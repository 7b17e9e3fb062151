// SPDX-License-Identifier: Apache-2.0
// Copies a graph op by op, with a map from old to new values.
#include "ir/passes/rewriter.h"

#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

GraphRewriter::GraphRewriter(const Graph& source) : source_(source), uses_(count_uses(source)) {}

void GraphRewriter::change() {
  if (is_changed_) return;
  is_changed_ = true;
  graph_ = source_.first_ops(seen_);
  map_.resize(source_.values().size());
  for (uint32_t value = 0; value < graph_.values().size(); ++value) map_[value] = ValueId{value};
}

ValueId GraphRewriter::mapped(ValueId source_value) const {
  if (!is_changed_) return source_value;
  ValueId value = map_[source_value.index];
  INGOT_ASSERT(value != ValueId{});
  return value;
}

bool GraphRewriter::is_returned(ValueId source_value) const {
  return llvm::any_of(source_.outputs(),
                      [&](const GraphOutput& output) { return output.value == source_value; });
}

llvm::SmallVector<ValueId, 2> GraphRewriter::make_all(OpKind kind, llvm::ArrayRef<ValueId> operands,
                                                      Attributes attributes) {
  change();
  OpId id = llvm::cantFail(graph_.add(kind, operands, std::move(attributes), location_),
                           "a pass built an op that does not type");
  return graph_.op(id).results;
}

ValueId GraphRewriter::make(OpKind kind, llvm::ArrayRef<ValueId> operands, Attributes attributes) {
  return make_all(kind, operands, std::move(attributes)).front();
}

ValueId GraphRewriter::reshape(ValueId value, const Shape& shape) {
  if (type(value).shape == shape) return value;
  return make(OpKind::reshape, {value}, ShapeAttributes{shape});
}

ValueId GraphRewriter::broadcast(ValueId value, const Shape& shape) {
  if (type(value).shape == shape) return value;
  return make(OpKind::broadcast, {value}, ShapeAttributes{shape});
}

ValueId GraphRewriter::cast(ValueId value, DType dtype) {
  if (type(value).dtype == dtype) return value;
  return make(OpKind::cast, {value}, CastAttributes{dtype});
}

void GraphRewriter::copy(OpId id) {
  const Op& op = source_.op(id);
  location_ = op.location;
  if (!is_changed_ && id.index == seen_) {
    ++seen_;
    return;
  }
  change();
  if (op.kind == OpKind::input) {
    const auto& attributes = source_.attributes<InputAttributes>(op);
    ValueId value = llvm::cantFail(
        graph_.add_input(attributes.name, attributes.type, attributes.role, op.location));
    replace(id, {value});
    return;
  }
  llvm::SmallVector<ValueId, 3> operands;
  for (ValueId operand : op.operands) operands.push_back(mapped(operand));
  replace(id, graph_.op(graph_.copy_op(source_, id, operands)).results);
}

void GraphRewriter::replace(OpId id, llvm::ArrayRef<ValueId> values) {
  const Op& op = source_.op(id);
  INGOT_ASSERT(values.size() == op.results.size());
  change();
  for (auto [old_value, new_value] : llvm::zip_equal(op.results, values)) {
    INGOT_ASSERT(type(new_value) == source_.type(old_value));
    map_[old_value.index] = new_value;
    name_if_unnamed(new_value, source_.value(old_value).name);
  }
}

void GraphRewriter::pass_name(const Candidate& candidate, ValueId value) {
  name_if_unnamed(value, source_.value(candidate.op.results.front()).name);
}

void GraphRewriter::name_if_unnamed(ValueId value, const std::string& name) {
  change();
  if (!name.empty() && graph_.value(value).name.empty()) graph_.set_name(value, name);
}

Graph GraphRewriter::finish() {
  if (!is_changed_ && seen_ == source_.ops().size()) return source_;
  change();
  for (const GraphOutput& output : source_.outputs()) {
    llvm::cantFail(graph_.add_output(output.name, mapped(output.value)));
  }
  return std::move(graph_);
}

Graph rewrite(const Graph& graph, RewriteRule rule) {
  GraphRewriter rewriter(graph);
  for (uint32_t index = 0; index < graph.ops().size(); ++index) {
    OpId id{index};
    const Op& op = graph.op(id);
    Replacement replacement;
    if (op.kind != OpKind::input && op.kind != OpKind::constant) {
      Candidate candidate{id, op, graph.type(op.results[0]), {}};
      for (ValueId operand : op.operands) candidate.operands.push_back(rewriter.mapped(operand));
      rewriter.set_location(op.location);
      replacement = rule(rewriter, candidate);
    }
    if (replacement.empty()) {
      rewriter.copy(id);
    } else {
      rewriter.replace(id, replacement);
    }
  }
  return rewriter.finish();
}

Replacement first_match(llvm::ArrayRef<Rule> rules, GraphRewriter& rewriter,
                        const Candidate& candidate) {
  if (candidate.operands.empty()) return {}; // inputs, constants, iotas, extents
  for (Rule rule : rules) {
    Replacement replacement = rule(rewriter, candidate);
    if (!replacement.empty()) return replacement;
  }
  return {};
}

} // namespace ingot
