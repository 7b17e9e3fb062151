// SPDX-License-Identifier: Apache-2.0
// Checks every guarantee of Graph::add again. It runs between phases.
#include "ir/graph.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

namespace {

template <typename... Args>
llvm::Error broken(const Graph& graph, fmt::format_string<Args...> format, Args&&... args) {
  return make_error(ErrorCode::internal, "graph {} is broken: {}", graph.name(),
                    fmt::format(format, std::forward<Args>(args)...));
}

llvm::Error verify_op(const Graph& graph, uint32_t index, uint32_t& next_value) {
  const Op& op = graph.ops()[index];
  llvm::StringRef name = info(op.kind).name;
  llvm::SmallVector<Type, 4> operand_types;
  for (ValueId operand : op.operands) {
    if (operand.index >= next_value)
      return broken(graph, "op {} ({}) uses value {} before it is defined", index, name,
                    operand.index);
    operand_types.push_back(graph.type(operand));
  }
  auto types = infer_types(op.kind, operand_types, op.attributes);
  if (!types) return types.takeError();
  if (types->size() != op.results.size())
    return broken(graph, "op {} ({}) has {} results, expected {}", index, name, op.results.size(),
                  types->size());
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (op.results[i].index != next_value || next_value >= graph.values().size())
      return broken(graph, "op {} ({}) defines value {}, expected {}", index, name,
                    op.results[i].index, next_value);
    const Value& value = graph.value(op.results[i]);
    if (value.op.index != index || value.result != i || !(value.type == (*types)[i]))
      return broken(graph, "value {} is {}, result {} of op {}; expected {}, result {} of op {}",
                    next_value, value.type.text(), value.result, value.op.index, (*types)[i].text(),
                    i, index);
    ++next_value;
  }
  return llvm::Error::success();
}

/// A named dim gets its size from an input that has it alone as an extent.
llvm::Error verify_dims(const Graph& graph) {
  for (const std::string& name : graph.dim_names()) {
    bool is_bound = llvm::any_of(graph.inputs(), [&](ValueId input) {
      return llvm::is_contained(graph.type(input).shape, Dim::named(name));
    });
    if (!is_bound)
      return make_error(ErrorCode::type_error,
                        "dimension '{}' occurs only in products or sums: its size is unknown; give "
                        "an input with '{}' alone as an extent, as in n: f32[{}]",
                        name, name, name);
  }
  for (const Value& value : graph.values())
    for (const Dim& dim : value.type.shape)
      for (const std::string& name : dim.names())
        if (!llvm::is_contained(graph.dim_names(), name))
          return broken(graph, "{} has the dimension '{}', which no input has", value.type.text(),
                        name);
  return llvm::Error::success();
}

} // namespace

llvm::Error verify(const Graph& graph) {
  uint32_t next_value = 0;
  size_t input_count = 0;
  for (uint32_t i = 0; i < graph.ops().size(); ++i) {
    if (auto error = verify_op(graph, i, next_value)) return error;
    input_count += graph.ops()[i].kind == OpKind::input;
  }
  if (next_value != graph.values().size())
    return broken(graph, "{} values, but ops define {}", graph.values().size(), next_value);
  for (ValueId input : graph.inputs())
    if (input.index >= next_value || graph.producer(input).kind != OpKind::input)
      return broken(graph, "value {} is listed as an input and is none", input.index);
  if (input_count != graph.inputs().size())
    return broken(graph, "{} input ops, but {} inputs listed", input_count, graph.inputs().size());

  llvm::StringSet<> names;
  for (ValueId input : graph.inputs()) {
    const auto& name = graph.attributes<InputAttributes>(graph.producer(input)).name;
    if (!is_identifier(name) || !names.insert(name).second)
      return broken(graph, "input name '{}' is no identifier or repeated", name);
  }
  for (const GraphOutput& output : graph.outputs()) {
    if (output.value.index >= next_value)
      return broken(graph, "output '{}' is value {}, which does not exist", output.name,
                    output.value.index);
    if (!is_identifier(output.name) || !names.insert(output.name).second)
      return broken(graph, "output name '{}' is no identifier or repeated", output.name);
  }
  if (graph.outputs().empty())
    return make_error(ErrorCode::type_error, "graph {} has no outputs", graph.name());
  return verify_dims(graph);
}

} // namespace ingot
