// SPDX-License-Identifier: Apache-2.0
// judged_graph: the ops of a plan kernel by kernel, with a rounding wherever a kernel rounds an
// operand to a 16-bit type. check.cpp and the tests call it.
#include "ir/fusion/legality.h"
#include "src/reports/check.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace ingot {
namespace {

/// The computed operand whose element `op` is the first to use, as `operand`: the matmul is, or a
/// factor of its rows. Null: there is none.
const ComputedOperand* taken_operand(const Group& group, OpId op, uint32_t operand) {
  for (const Group* part = &group; part->computed; part = part->computed->tile.get()) {
    const auto& factors = part->computed->factors;
    const RowFactor first = factors.empty() ? RowFactor{part->matmuls.front().op} : factors.front();
    if (op == first.op && operand == first.element) return &*part->computed;
  }
  return nullptr;
}

/// True if `op` is a matmul of the kernel with a prologue for this operand.
bool evaluates(const Group& group, OpId op, uint32_t operand) {
  return llvm::any_of(parts_of(group), [&](const Group* part) {
    return llvm::any_of(part->matmuls, [&](const Matmul& matmul) {
      return matmul.op == op && !matmul.operands[operand].prologue.empty();
    });
  });
}

/// The value that a kernel rounds to a 16-bit type before `op` uses it as `operand`. Another kernel
/// stored it, or a matmul computes it and multiplies it in that type. None if it is not rounded.
ValueId rounded_operand(const Graph& graph, const Group& group, OpId op, uint32_t operand) {
  for (const Read* read : memory_reads(group)) {
    const ValueId value = before_reshapes(graph, read->access.value);
    // Partial results are not rounded to the type.
    if (read->op == op && read->operand == operand)
      return !read->combine && is_16_bit(graph.stored_type(read->access.value)) &&
                     graph.producer(value).kind != OpKind::input
                 ? value
                 : ValueId();
  }
  for (const Group* part : parts_of(group))
    for (const Read& read : part->reads)
      if (read.tile && read.op == op && read.operand == operand)
        return is_16_bit(graph.type(read.access.value).dtype)
                   ? before_reshapes(graph, read.access.value)
                   : ValueId();
  if (const ComputedOperand* taken = taken_operand(group, op, operand))
    return is_16_bit(graph.type(taken->value).dtype) ? taken->element : ValueId();
  const ValueId made = root_of(graph, graph.op(op).operands[operand]);
  if (llvm::is_contained(group.rounded, made)) return made;
  return evaluates(group, op, operand) && is_16_bit(graph.type(made).dtype) ? made : ValueId();
}

/// Whether a matmul of f32 rounds a computed operand. The loss of a coarse precision then depends
/// on how the graph computes the operand.
bool rounds_computed_operands(const Graph& graph) {
  return llvm::any_of(graph.ops(), [&](const Op& op) {
    return op.kind == OpKind::matmul && graph.type(op.operands[0]).dtype == DType::f32 &&
           llvm::any_of(op.operands, [&](ValueId operand) {
             return graph.producer(root_of(graph, operand)).kind != OpKind::input;
           });
  });
}

/// Copies the rewritten graph kernel by kernel. A value that its kernel uses unrounded and another
/// kernel loads becomes two values here.
class Unfolding {
public:
  explicit Unfolding(const Compilation& compilation)
      : graph_(compilation.rewritten), plan_(compilation.plan), result_{Graph(graph_.name())} {
    for (const Group& group : plan_.groups)
      for (const Group* part = &group; part->computed; part = part->computed->tile.get()) {
        const ComputedOperand& operand = *part->computed;
        elements_[operand.element] = graph_.type(operand.value).dtype;
        const bool runs = !operand.resident && !operand.tile->reductions.empty();
        if (runs) running_.insert(operand.element);
      }
    for (ValueId input : graph_.inputs())
      made_[{input, ValueId()}] = copied(graph_.producer(input), {})[0];
  }

  JudgedGraph run() {
    for (const Group& group : plan_.groups)
      for (OpId id : group.ops) compute(group, id);
    for (const GraphOutput& output : graph_.outputs())
      llvm::cantFail(result_.graph.add_output(output.name, reached(output.value, ValueId())));
    return std::move(result_);
  }

private:
  std::vector<ValueId> copied(const Op& op, llvm::ArrayRef<ValueId> operands) {
    if (const auto* input = std::get_if<InputAttributes>(&op.attributes))
      return {llvm::cantFail(result_.graph.add_input(input->name, input->type, input->role))};
    const OpId id = llvm::cantFail(result_.graph.add(op.kind, operands, op.attributes));
    const auto& results = result_.graph.op(id).results;
    return {results.begin(), results.end()};
  }

  void compute(const Group& group, OpId id) {
    const Op& op = graph_.op(id);
    llvm::SmallVector<ValueId, 3> operands;
    for (uint32_t i = 0; i < op.operands.size(); ++i)
      operands.push_back(reached(op.operands[i], rounded_operand(graph_, group, id, i)));
    const std::vector<ValueId> results = copied(op, operands);
    for (size_t i = 0; i < results.size(); ++i) made_[{op.results[i], ValueId()}] = results[i];
  }

  /// `value` in the result. It is computed, or moved, or made of such values. `loaded`, if it
  /// occurs on the way, is taken from memory: a value of its own beside the unrounded one.
  ValueId reached(ValueId value, ValueId loaded) {
    if (auto found = made_.find({value, loaded}); found != made_.end()) return found->second;
    if (value == loaded) return made_[{value, loaded}] = rounded(value);
    const Op& op = graph_.producer(value);
    if (is_compute(op) || op.kind == OpKind::input) {
      INGOT_ASSERT(loaded != ValueId());
      return reached(value, ValueId());
    }
    llvm::SmallVector<ValueId, 3> operands;
    for (ValueId operand : op.operands) operands.push_back(reached(operand, loaded));
    return made_[{value, loaded}] = copied(op, operands)[0];
  }

  /// `value` as a kernel stores it, or as a product multiplies it: in another type, then.
  ValueId rounded(ValueId value) {
    const auto add = [&](OpKind kind, ValueId operand, const Attributes& attributes) {
      return llvm::cantFail(result_.graph.add_value(kind, {operand}, attributes));
    };
    const Type& type = graph_.type(value);
    const auto element = elements_.find(value);
    const DType stored = element == elements_.end() ? type.dtype : element->second;
    const ValueId exact = reached(value, ValueId());
    const ValueId result = stored == type.dtype
                               ? add(OpKind::reshape, exact, ShapeAttributes{type.shape})
                               : add(OpKind::cast, exact, CastAttributes{stored});
    (running_.count(value) ? result_.rescaled : result_.stored).push_back(result);
    return stored == type.dtype ? result : add(OpKind::cast, result, CastAttributes{type.dtype});
  }

  const Graph& graph_;
  const FusionPlan& plan_;
  JudgedGraph result_;
  std::map<ValueId, DType> elements_; ///< of computed operands, with the type of the product
  std::set<ValueId> running_;         ///< those about a running maximum
  /// Maps a value of graph_ to the result's value. The second id of the key is the value that is
  /// taken from memory.
  std::map<std::pair<ValueId, ValueId>, ValueId> made_;
};

} // namespace

JudgedGraph judged_graph(const Compilation& compilation) {
  const Graph& rewritten = compilation.rewritten;
  const bool rounds = llvm::any_of(compilation.plan.groups, [&](const Group& group) {
    return llvm::any_of(group.ops, [&](OpId op) {
      for (uint32_t i = 0; i < rewritten.op(op).operands.size(); ++i)
        if (rounded_operand(rewritten, group, op, i) != ValueId()) return true;
      return false;
    });
  });
  if (rounds) return Unfolding(compilation).run();
  if (rounds_computed_operands(compilation.graph) ||
      rounds_computed_operands(compilation.rewritten))
    return {compilation.rewritten};
  JudgedGraph given{compilation.graph};
  given.is_given = true;
  return given;
}

llvm::Expected<std::vector<Evaluated>> judged_references(const Compilation& compilation,
                                                         llvm::ArrayRef<const Tensor*> inputs,
                                                         EvaluateOptions evaluation,
                                                         const CompareOptions& comparison) {
  auto given = evaluate(compilation.graph, inputs, evaluation);
  JudgedGraph judged = judged_graph(compilation);
  if (!given || judged.is_given) return given;
  // An overflow at a store happens only in the kernels, so the comparison of the graphs leaves it
  // out.
  auto rewritten = evaluate(compilation.rewritten, inputs, evaluation);
  if (!rewritten) return rewritten;
  for (size_t i = 0; i < given->size(); ++i) {
    auto agreement = compare((*rewritten)[i], (*given)[i].to_tensor(), 0, comparison);
    if (!agreement.pass)
      return make_error(ErrorCode::internal,
                        "the rewritten graph computes something else than the graph as given: {}",
                        agreement.problem);
  }
  if (judged.stored.empty() && judged.rescaled.empty()) return rewritten;
  evaluation.stored = std::move(judged.stored);
  evaluation.rescaled = std::move(judged.rescaled);
  return evaluate(judged.graph, inputs, evaluation);
}

} // namespace ingot
