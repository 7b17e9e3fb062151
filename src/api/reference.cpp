// SPDX-License-Identifier: Apache-2.0
// Reference runs of the public API: a graph on tensors of the caller, in f64. See
// include/ingot/ingot.h.
#include "src/api/internal.h"
#include "src/execute.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace ingot {
namespace {

/// The extents of a view: its own, or those of the graph's declaration.
llvm::Expected<std::vector<int64_t>> extents_of(const InputAttributes& input,
                                                const TensorView& view) {
  if (view.extents) return std::vector<int64_t>(view.extents->begin(), view.extents->end());
  std::vector<int64_t> extents;
  for (const Dim& dim : input.type.shape) {
    if (!dim.is_fixed())
      return make_error(ErrorCode::invalid_argument,
                        "tensor '{}' has a named dimension: give its extents", input.name);
    extents.push_back(dim.fixed());
  }
  return extents;
}

/// A copy of the caller's data in the type of the graph's declaration.
llvm::Expected<Tensor> read_view(const InputAttributes& input, const TensorView& view) {
  auto extents = extents_of(input, view);
  if (!extents) return extents.takeError();
  const auto count = checked_count(*extents);
  if (!count || *count > INT64_MAX / size_of(input.type.dtype))
    return make_error(ErrorCode::invalid_argument,
                      "tensor '{}': expected extents of at least 0 whose elements memory can hold, "
                      "got {}",
                      input.name, text_of(*extents));
  if (!view.data && *count > 0)
    return make_error(ErrorCode::invalid_argument,
                      "tensor '{}': expected {} elements in host memory, got null", input.name,
                      *count);
  Tensor tensor(input.type.dtype, *extents);
  if (*count > 0) std::memcpy(tensor.bytes(), view.data, static_cast<size_t>(tensor.size_bytes()));
  if (tensor.dtype() == DType::boolean)
    for (uint8_t& value : tensor.as<uint8_t>()) value = value != 0;
  return tensor;
}

llvm::Error check_count(const char* role, size_t expected, size_t given) {
  if (expected == given) return llvm::Error::success();
  return make_error(ErrorCode::invalid_argument, "expected {} {} tensors, got {}", expected, role,
                    given);
}

/// Tensors of both roles in the order of the graph's declarations.
llvm::Expected<std::vector<Tensor>> read_views(const GraphSpec::State& spec,
                                               std::span<const TensorView> inputs,
                                               std::span<const TensorView> params) {
  if (auto error = check_count("input", spec.inputs.size(), inputs.size())) return error;
  if (auto error = check_count("param", spec.params.size(), params.size())) return error;
  std::vector<Tensor> tensors;
  size_t next_input = 0, next_param = 0;
  for (ValueId id : spec.graph.inputs()) {
    const auto& input = spec.graph.attributes<InputAttributes>(spec.graph.producer(id));
    const bool is_param = input.role == InputAttributes::Role::param;
    auto tensor = read_view(input, is_param ? params[next_param++] : inputs[next_input++]);
    if (!tensor) return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

llvm::Expected<std::vector<HostTensor>> run(const GraphSpec::State& spec,
                                            std::span<const TensorView> inputs,
                                            std::span<const TensorView> params) {
  auto tensors = read_views(spec, inputs, params);
  if (!tensors) return tensors.takeError();
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : *tensors) pointers.push_back(&tensor);
  auto results = execute_on_reference(spec.graph, pointers);
  if (!results) return results.takeError();
  std::vector<HostTensor> outputs;
  for (const auto& [tensor, declared] : llvm::zip_equal(*results, spec.outputs))
    outputs.push_back({declared.name, declared.type, tensor.extents().vec(),
                       std::string(reinterpret_cast<const char*>(tensor.bytes()),
                                   static_cast<size_t>(tensor.size_bytes()))});
  return outputs;
}

} // namespace

Result<std::vector<HostTensor>> reference(const GraphSpec& graph,
                                          std::span<const TensorView> inputs,
                                          std::span<const TensorView> params) {
  return guarded([&] { return run(graph.state(), inputs, params); });
}

} // namespace ingot
