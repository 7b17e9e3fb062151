// SPDX-License-Identifier: Apache-2.0
// Builds the graph that a pass returns. In: the source graph, read op by op in order, and what each
// op becomes. Out: a new append-only graph with the same inputs and outputs. Called by every pass.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace ingot {

struct Candidate;

/// A graph under construction and the place in it of every source value seen so far.
///
/// Up to the first change it is the source, of which then the part that was seen is copied at once.
///
/// Op and Value references into `graph()` die with the next `make`: rules keep ids, not references.
class GraphRewriter {
public:
  explicit GraphRewriter(const Graph& source);

  const Graph& source() const { return source_; }
  const Graph& graph() const { return is_changed_ ? graph_ : source_; }
  const Type& type(ValueId id) const { return graph().type(id); }
  OpKind kind(ValueId id) const { return graph().producer(id).kind; }
  /// Operand of the op that yields `id`.
  ValueId operand(ValueId id, unsigned position = 0) const {
    return graph().producer(id).operands[position];
  }

  /// Where a source value lives in the new graph.
  ValueId mapped(ValueId source_value) const;

  /// How often the source graph uses a value, outputs included.
  uint32_t source_uses(ValueId source_value) const { return uses_[source_value.index]; }

  /// Appends an op that is well typed by construction; one that is not is a bug in the pass.
  ValueId make(OpKind kind, llvm::ArrayRef<ValueId> operands,
               Attributes attributes = NoAttributes{});
  llvm::SmallVector<ValueId, 2> make_all(OpKind kind, llvm::ArrayRef<ValueId> operands,
                                         Attributes attributes = NoAttributes{});
  ValueId constant(DType dtype, double value) {
    change();
    return llvm::cantFail(graph_.add_constant(dtype, value));
  }
  /// `value` itself where it has the shape already.
  ValueId reshape(ValueId value, const Shape& shape);
  ValueId broadcast(ValueId value, const Shape& shape);
  ValueId cast(ValueId value, DType dtype);

  /// Where the ops to come say they were written.
  void set_location(SourceLocation location) { location_ = location; }
  /// Appends the op as it is, over the new operands.
  void copy(OpId id);
  /// Gives a value without a name that of an op's only result.
  void pass_name(const Candidate& candidate, ValueId value);
  /// Puts values of the same types in the place of an op's results.
  void replace(OpId id, llvm::ArrayRef<ValueId> values);
  /// Declares the source's outputs. Every op must have been copied or replaced, or be unused.
  Graph finish();

private:
  void name_if_unnamed(ValueId value, const std::string& name);
  /// From here on `graph_` is the new graph.
  void change();

  const Graph& source_;
  bool is_changed_ = false;
  uint32_t seen_ = 0; // ops copied while nothing was changed
  Graph graph_;       // empty until then
  std::vector<ValueId> map_;
  std::vector<uint32_t> uses_;
  SourceLocation location_;
};

/// A source op, and its operands in the new graph.
struct Candidate {
  OpId id;
  const Op& op;
  llvm::SmallVector<ValueId, 3> operands;

  OpKind kind() const { return op.kind; }
  ValueId source_operand(unsigned position = 0) const { return op.operands[position]; }
};

/// What takes the place of an op's results: one value each, or none to keep the op.
using Replacement = llvm::SmallVector<ValueId, 2>;
using RewriteRule = llvm::function_ref<Replacement(GraphRewriter&, const Candidate&)>;

/// One sweep: offers every op but inputs and constants to `rule`, and copies those it keeps.
Graph rewrite(const Graph& graph, RewriteRule rule);

/// The first replacement that any of `rules` makes.
using Rule = Replacement (*)(GraphRewriter&, const Candidate&);
Replacement first_match(llvm::ArrayRef<Rule> rules, GraphRewriter& rewriter,
                        const Candidate& candidate);

} // namespace ingot
