// SPDX-License-Identifier: Apache-2.0
// The sizes of named dimensions from the extents of the inputs, and checks of these sizes. See
// evaluate.h.
#include "ir/interpreter/evaluate.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

namespace {

const InputAttributes& input_of(const Graph& graph, ValueId value) {
  return graph.attributes<InputAttributes>(graph.producer(value));
}

bool is_name(const Dim& dim) {
  const auto names = dim.names();
  return names.size() == 1 && dim == Dim::named(names.front());
}

/// The place that first gave a named dim its size.
struct Binding {
  int64_t size;
  std::string input;
};

/// A tensor and its declaration.
struct Given {
  const InputAttributes& input;
  const Tensor& tensor;
};

llvm::Error wrong_tensor(const Given& given, const std::string& reason) {
  return make_error(ErrorCode::invalid_argument, "input {}: expected {}, got {}{}",
                    given.input.name, given.input.type.text(), given.tensor.type_text(), reason);
}

std::string sizes_seen(const Dim& dim, const std::map<std::string, Binding>& bindings) {
  std::string seen;
  for (const std::string& name : dim.names())
    if (auto found = bindings.find(name); found != bindings.end())
      seen += fmt::format("; {} is {} in input {}", name, found->second.size, found->second.input);
  return seen;
}

/// Checks an extent whose names are all bound.
llvm::Error check_dim(const Given& given, size_t axis, const DimBindings& sizes,
                      const std::map<std::string, Binding>& bindings) {
  const Dim& dim = given.input.type.shape[axis];
  const int64_t extent = given.tensor.extents()[axis];
  const auto value = dim.evaluate(sizes);
  if (value == extent) return llvm::Error::success();
  const std::string seen = sizes_seen(dim, bindings);
  if (value && *value < 0)
    return wrong_tensor(given, fmt::format(": axis {} is {}, but {} is {}{}", axis, extent,
                                           dim.text(), *value, seen));
  std::string expected = dim.text();
  if (!value) expected += ", which overflows";
  if (value && !dim.is_fixed() && !is_name(dim))
    expected = fmt::format("{} ({})", *value, dim.text());
  return wrong_tensor(given,
                      fmt::format(": axis {} is {}, expected {}{}", axis, extent, expected, seen));
}

/// `'x'`, or the type if the value has no name.
std::string name_of(const Value& value) {
  return value.name.empty() ? value.type.text() : fmt::format("'{}'", value.name);
}

/// The tensor with extent `dim`, if an op yields or counts one.
std::optional<std::string> holder_of(const Graph& graph, const Op& op, const Dim& dim) {
  const char* role = op.kind == OpKind::input ? "input " : "";
  for (ValueId result : op.results)
    for (auto [axis, extent] : llvm::enumerate(graph.type(result).shape))
      if (extent == dim)
        return fmt::format("{}{}, axis {}", role, name_of(graph.value(result)), axis);
  const auto* counted = std::get_if<ExtentAttributes>(&op.attributes);
  if (!counted || !llvm::is_contained(counted->shape, dim)) return std::nullopt;
  return "extent of " + text_of(counted->shape);
}

/// The slice that lies inside its tensor only if `dim` is at least 0.
std::optional<std::string> part_of(const Graph& graph, const Op& op, const Dim& dim) {
  const auto* window = std::get_if<WindowAttributes>(&op.attributes);
  if (!window || !window->is_inside) return std::nullopt;
  const Value& whole = graph.value(op.operands[0]);
  const bool starts = window->start == dim;
  if (!starts && whole.type.shape[window->axis] - (window->start + window->extent) != dim)
    return std::nullopt;
  return fmt::format("a part of {}, axis {}, {}", name_of(whole), window->axis,
                     starts ? "starts before it" : "ends behind it");
}

/// The reason why `dim` must be at least 0.
std::string needed_by(const Graph& graph, const Dim& dim) {
  for (const Op& op : graph.ops()) {
    if (const auto part = part_of(graph, op, dim)) return *part;
    if (const auto holder = holder_of(graph, op, dim)) return *holder;
  }
  return "a tensor would have a negative extent, or a slice outside of it";
}

} // namespace

llvm::Error check_requirements(const Graph& graph, const DimBindings& sizes) {
  for (const Dim& least : graph.requirements()) {
    const auto value = least.evaluate(sizes);
    if (value && *value >= 0) continue;
    std::string given;
    for (const std::string& name : least.names())
      given += fmt::format("{}{} is {}", given.empty() ? "" : ", ", name, sizes.at(name));
    return make_error(ErrorCode::invalid_argument, "graph {}: {}: {} {}, expected at least 0; {}",
                      graph.name(), needed_by(graph, least), least.text(),
                      value ? fmt::format("is {}", *value) : "overflows", given);
  }
  return llvm::Error::success();
}

llvm::Expected<DimBindings> bind_dims(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs) {
  if (inputs.size() != graph.inputs().size())
    return make_error(ErrorCode::invalid_argument, "graph {} has {} inputs, got {} tensors",
                      graph.name(), graph.inputs().size(), inputs.size());
  std::vector<Given> list;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputAttributes& input = input_of(graph, graph.inputs()[i]);
    list.push_back({input, *inputs[i]});
    if (inputs[i]->dtype() != input.type.dtype ||
        static_cast<int64_t>(inputs[i]->extents().size()) != input.type.rank())
      return wrong_tensor(list.back(), "");
  }
  std::map<std::string, Binding> bindings;
  for (const Given& given : list)
    for (auto [axis, dim] : llvm::enumerate(given.input.type.shape))
      if (is_name(dim))
        bindings.try_emplace(dim.names().front(),
                             Binding{given.tensor.extents()[axis], given.input.name});
  DimBindings result;
  for (const auto& [name, binding] : bindings) result[name] = binding.size;
  for (const Given& given : list)
    for (size_t axis = 0; axis < given.input.type.shape.size(); ++axis)
      if (auto error = check_dim(given, axis, result, bindings)) return error;
  if (auto error = check_requirements(graph, result)) return error;
  return result;
}

} // namespace ingot
