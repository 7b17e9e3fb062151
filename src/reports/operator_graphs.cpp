// SPDX-License-Identifier: Apache-2.0
// See operator_graphs.h.
#include "src/reports/operator_graphs.h"

#include "ir/fusion/legality.h"
#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace ingot {
namespace {

using Place = std::pair<uint32_t, uint32_t>;
using Ops = std::set<uint32_t>;

/// The part of a graph that computes `results` with the ops of one operator, from values that other
/// operators leave in memory.
class Extraction {
public:
  Extraction(const Graph& from, const Ops& own, const std::vector<bool>& params_only)
      : from_(from), own_(own), params_only_(params_only) {}

  Graph run(llvm::ArrayRef<ValueId> results) {
    find_ops(results);
    for (ValueId value : inputs_)
      values_[value] =
          add_input(from_.type(value), params_only_[value.index] ? InputAttributes::Role::param
                                                                 : InputAttributes::Role::input);
    for (const std::string& name : from_.dim_names())
      if (!has_alone(name))
        add_input({DType::f32, {Dim::named(name)}}, InputAttributes::Role::input);
    for (uint32_t index : ops_) copy(index);
    size_t number = 0;
    for (ValueId result : results)
      llvm::cantFail(graph_.add_output("result" + std::to_string(number++), values_.at(result)));
    return std::move(graph_);
  }

private:
  void find_ops(llvm::ArrayRef<ValueId> results) {
    std::vector<ValueId> open = results;
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      const uint32_t index = from_.value(value).op.index;
      const Op& op = from_.ops()[index];
      if (own_.count(index) || is_view(op.kind) || is_computed_source(op.kind)) {
        if (ops_.insert(index).second) llvm::append_range(open, op.operands);
      } else {
        inputs_.insert(value);
      }
    }
  }

  /// Views and numbers may have sizes that no tensor here has. Each name must be an extent of its
  /// own in one.
  bool has_alone(const std::string& name) const {
    return llvm::any_of(graph_.inputs(), [&](ValueId input) {
      return llvm::is_contained(graph_.type(input).shape, Dim::named(name));
    });
  }

  ValueId add_input(Type type, InputAttributes::Role role) {
    return llvm::cantFail(
        graph_.add_input("input" + std::to_string(graph_.inputs().size()), std::move(type), role));
  }

  void copy(uint32_t index) {
    std::vector<ValueId> operands;
    for (ValueId operand : from_.ops()[index].operands) operands.push_back(values_.at(operand));
    const Op& copied = graph_.op(graph_.copy_op(from_, OpId{index}, operands));
    for (const auto& [old, now] : llvm::zip_equal(from_.ops()[index].results, copied.results))
      values_[old] = now;
  }

  const Graph& from_;
  const Ops& own_;
  const std::vector<bool>& params_only_; ///< by value
  Graph graph_{"operator"};
  Ops ops_; ///< in order
  std::set<ValueId> inputs_;
  std::map<ValueId, ValueId> values_;
};

class Operators {
public:
  explicit Operators(const Graph& graph) : graph_(graph) {
    for (uint32_t i = 0; i < graph.ops().size(); ++i) {
      const Op& op = graph.ops()[i];
      if (info(op.kind).op_class == OpClass::source) continue;
      const bool is_written = op.location.line != 0;
      const Place place = is_written ? Place{op.location.line, op.location.column} : Place{0, i};
      operators_[place].insert(i);
      places_[i] = place;
    }
  }

  std::vector<Graph> run() {
    find_needed();
    for (const auto& [place, ops] : operators_) {
      std::vector<ValueId> results;
      for (uint32_t i : ops)
        if (const Op& op = graph_.ops()[i]; is_compute(op) || op.kind == OpKind::concat)
          llvm::copy_if(op.results, std::back_inserter(results),
                        [&](ValueId result) { return needed_.count(result) > 0; });
      if (!results.empty()) graphs_.push_back(Extraction(graph_, ops, params_only_).run(results));
    }
    add_copies();
    return std::move(graphs_);
  }

private:
  /// Finds the values that are returned or that another operator reads.
  void find_needed() {
    for (const GraphOutput& output : graph_.outputs())
      needed_.insert(root_of(graph_, output.value));
    for (const auto& [i, place] : places_)
      for (ValueId operand : graph_.ops()[i].operands) {
        const ValueId root = root_of(graph_, operand);
        const auto producer = places_.find(graph_.value(root).op.index);
        if (producer != places_.end() && producer->second != place) needed_.insert(root);
      }
  }

  void add_copies() {
    std::set<ValueId> written;
    for (const GraphOutput& output : graph_.outputs()) {
      const ValueId root = root_of(graph_, output.value);
      const bool is_made = info(graph_.producer(root).kind).op_class != OpClass::source;
      const bool is_dense =
          before_reshapes(graph_, output.value) == root; // a reshape moves nothing
      if (!(is_dense && is_made && written.insert(root).second))
        graphs_.push_back(Extraction(graph_, {}, params_only_).run(output.value));
    }
  }

  const Graph& graph_;
  const std::vector<bool> params_only_ = depends_only_on_params(graph_);
  std::map<Place, Ops> operators_;
  std::map<uint32_t, Place> places_; ///< by op
  std::set<ValueId> needed_;
  std::vector<Graph> graphs_;
};

} // namespace

std::vector<Graph> operator_graphs(const Graph& graph) { return Operators(graph).run(); }

} // namespace ingot
