// SPDX-License-Identifier: Apache-2.0
// Builds the graph that a pass returns. In: the source graph, read op by op in order, and a
// replacement for each op. Out: a new append-only graph with the same inputs and outputs. Every
// pass uses it.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace ingot {

struct Candidate;

/// A graph under construction, and the new place of every source value seen so far.
///
/// Until the first change it is the source graph itself. At the first change, it copies all ops
/// seen so far.
///
/// References to ops and values of `graph()` become invalid at the next `make`, so rules keep ids.
class GraphRewriter {
public:
  explicit GraphRewriter(const Graph& source);

  const Graph& source() const { return source_; }
  const Graph& graph() const { return is_changed_ ? graph_ : source_; }
  const Type& type(ValueId id) const { return graph().type(id); }
  const Op& producer(ValueId id) const { return graph().producer(id); }
  OpKind kind(ValueId id) const { return producer(id).kind; }
  /// An operand of the op that yields `id`.
  ValueId operand(ValueId id, unsigned position = 0) const {
    return producer(id).operands[position];
  }

  /// The value in the new graph for a source value.
  ValueId mapped(ValueId source_value) const;

  /// The number of uses of a value in the source graph, including outputs.
  uint32_t source_uses(ValueId source_value) const { return uses_[source_value.index]; }

  /// Whether an output of the source graph is this value.
  bool is_returned(ValueId source_value) const;

  /// Appends an op that is well typed by construction. If it is not, that is a bug in the pass.
  ValueId make(OpKind kind, llvm::ArrayRef<ValueId> operands,
               Attributes attributes = NoAttributes{});
  llvm::SmallVector<ValueId, 2> make_all(OpKind kind, llvm::ArrayRef<ValueId> operands,
                                         Attributes attributes = NoAttributes{});
  ValueId constant(DType dtype, double value) {
    change();
    return llvm::cantFail(graph_.add_constant(dtype, value));
  }
  /// Returns `value` itself if it already has the shape.
  ValueId reshape(ValueId value, const Shape& shape);
  ValueId broadcast(ValueId value, const Shape& shape);
  ValueId cast(ValueId value, DType dtype);

  /// The source location for ops that are appended from now on.
  void set_location(SourceLocation location) { location_ = location; }
  /// Appends a copy of the op over the new operands.
  void copy(OpId id);
  /// Gives `value`, if it has no name, the name of the candidate's only result.
  void pass_name(const Candidate& candidate, ValueId value);
  /// Replaces an op's results by values of the same types.
  void replace(OpId id, llvm::ArrayRef<ValueId> values);
  /// Declares the outputs of the source. Every op must have been copied or replaced, or be unused.
  Graph finish();

private:
  void name_if_unnamed(ValueId value, const std::string& name);
  /// Makes `graph_` the new graph.
  void change();

  const Graph& source_;
  bool is_changed_ = false;
  uint32_t seen_ = 0; // ops copied before the first change
  Graph graph_;       // empty before the first change
  std::vector<ValueId> map_;
  std::vector<uint32_t> uses_;
  SourceLocation location_;
};

/// A source op with its operands in the new graph.
struct Candidate {
  OpId id;
  const Op& op;
  const Type& type; ///< of the first result
  llvm::SmallVector<ValueId, 3> operands;

  OpKind kind() const { return op.kind; }
  template <typename T> const T& attributes() const { return std::get<T>(op.attributes); }
  ValueId source_operand(unsigned position = 0) const { return op.operands[position]; }
};

/// The replacement of an op's results: one value each, or none to keep the op.
using Replacement = llvm::SmallVector<ValueId, 2>;
using RewriteRule = llvm::function_ref<Replacement(GraphRewriter&, const Candidate&)>;

/// One sweep. Offers every op except inputs and constants to `rule`, and copies the ops that it
/// keeps.
Graph rewrite(const Graph& graph, RewriteRule rule);

/// Applies the first of `rules` that gives a replacement.
using Rule = Replacement (*)(GraphRewriter&, const Candidate&);
Replacement first_match(llvm::ArrayRef<Rule> rules, GraphRewriter& rewriter,
                        const Candidate& candidate);

} // namespace ingot
