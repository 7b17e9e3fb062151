// SPDX-License-Identifier: Apache-2.0
// See unused.h.
#include "ir/text/unused.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {

namespace {

void add_names(const Shape& shape, llvm::StringSet<>& names) {
  for (const Dim& dim : shape)
    for (const std::string& name : dim.names()) names.insert(name);
}

/// The names in types of needed values and in shapes whose elements are counted.
llvm::StringSet<> needed_dims(const Graph& graph, const std::vector<bool>& is_needed) {
  llvm::StringSet<> names;
  for (uint32_t i = 0; i < is_needed.size(); ++i) {
    if (!is_needed[i]) continue;
    add_names(graph.type({i}).shape, names);
    const Op& op = graph.producer({i});
    if (op.kind == OpKind::extent) add_names(graph.attributes<ExtentAttributes>(op).shape, names);
  }
  return names;
}

} // namespace

std::vector<bool> needed_values(const Graph& graph) {
  std::vector<bool> is_needed(graph.values().size());
  for (const GraphOutput& output : graph.outputs()) is_needed[output.value.index] = true;
  for (const Op& op : llvm::reverse(graph.ops())) {
    if (llvm::none_of(op.results, [&](ValueId result) { return is_needed[result.index]; }))
      continue;
    for (ValueId operand : op.operands) is_needed[operand.index] = true;
  }
  for (const auto& dim : needed_dims(graph, is_needed)) {
    llvm::SmallVector<ValueId, 2> givers;
    for (ValueId input : graph.inputs())
      if (llvm::is_contained(graph.type(input).shape, Dim::named(dim.getKey())))
        givers.push_back(input);
    if (llvm::none_of(givers, [&](ValueId giver) { return is_needed[giver.index]; }))
      is_needed[givers.front().index] = true;
  }
  return is_needed;
}

} // namespace ingot
