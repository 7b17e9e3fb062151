// SPDX-License-Identifier: Apache-2.0
// shrink: a failing graph made small. Called by the fuzzers of random chains.
#include "tests/support/random_chains.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot::testing {

namespace {

/// `graph` with the outputs to keep alone, and with the results of op `cut` as inputs. Nothing when
/// that is not legal: a named dim may lose the input that declares it.
std::optional<Graph> reduced(const Graph& graph, llvm::ArrayRef<bool> keep_output,
                             std::optional<uint32_t> cut) {
  std::vector<bool> needed(graph.ops().size(), false);
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    if (keep_output[i]) needed[graph.value(graph.outputs()[i].value).op.index] = true;
  for (size_t i = graph.ops().size(); i-- > 0;)
    if (needed[i] && !(cut && *cut == i))
      for (ValueId operand : graph.ops()[i].operands) needed[graph.value(operand).op.index] = true;
  Graph result(graph.name());
  std::vector<ValueId> now(graph.values().size());
  // Fewer with every cut, so that cuts of cuts have names of their own.
  const auto computed =
      llvm::count_if(graph.ops(), [](const Op& op) { return op.kind != OpKind::input; });
  for (uint32_t i = 0; i < graph.ops().size(); ++i) {
    if (!needed[i]) continue;
    const Op& op = graph.ops()[i];
    if (op.kind == OpKind::input || (cut && *cut == i)) {
      for (ValueId value : op.results) {
        const auto* attributes = std::get_if<InputAttributes>(&op.attributes);
        now[value.index] = llvm::cantFail(result.add_input(
            attributes ? attributes->name : fmt::format("cut{}_{}", computed, value.index),
            graph.type(value), attributes ? attributes->role : InputAttributes::Role::input));
      }
      continue;
    }
    llvm::SmallVector<ValueId, 3> operands;
    for (ValueId operand : op.operands) operands.push_back(now[operand.index]);
    auto id = result.add(op.kind, operands, op.attributes);
    if (!id) {
      llvm::consumeError(id.takeError());
      return std::nullopt;
    }
    for (size_t r = 0; r < op.results.size(); ++r)
      now[op.results[r].index] = result.op(*id).results[r];
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    if (keep_output[i])
      llvm::cantFail(
          result.add_output(graph.outputs()[i].name, now[graph.outputs()[i].value.index]));
  return result;
}

/// One step smaller and failing in the same way, or nothing.
std::optional<Graph> shrunk_once(const Graph& graph,
                                 const std::function<bool(const Graph&)>& fails) {
  const size_t outputs = graph.outputs().size();
  llvm::SmallVector<bool, 4> keep(outputs, true);
  for (size_t drop = 0; outputs > 1 && drop < outputs; ++drop) {
    keep[drop] = false;
    if (auto less = reduced(graph, keep, std::nullopt); less && fails(*less)) return less;
    keep[drop] = true;
  }
  // The latest ops first: an input in their place makes all before them dead.
  for (auto i = static_cast<uint32_t>(graph.ops().size()); i-- > 0;) {
    const OpKind kind = graph.ops()[i].kind;
    if (kind == OpKind::input || kind == OpKind::constant) continue;
    if (auto less = reduced(graph, keep, i); less && fails(*less)) return less;
  }
  return std::nullopt;
}

} // namespace

std::string failure_kind(ErrorCode code, llvm::StringRef text) {
  return fmt::format("error {}: {}", static_cast<int>(code),
                     text.take_front(text.find_first_of("'\":0123456789")).rtrim());
}

Graph shrink(Graph graph, const std::function<std::string(const Graph&)>& failure) {
  const std::string kind = failure(graph);
  if (kind.empty()) return graph; // it failed once, and not again
  auto fails = [&](const Graph& less) { return failure(less) == kind; };
  while (auto less = shrunk_once(graph, fails)) graph = std::move(*less);
  return graph;
}

} // namespace ingot::testing
