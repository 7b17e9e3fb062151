// SPDX-License-Identifier: Apache-2.0
// Converts tensors of graphs and programs between the C and the C++ interface. The other files of
// src/c_api call it.
#include "src/c_api/internal.h"

namespace ingot {

static_assert(static_cast<int>(Role::output) == INGOT_OUTPUT);

CTensors::CTensors(const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& params,
                   const std::vector<TensorSpec>& outputs)
    : lists_{&inputs, &params, &outputs} {
  for (Role role : {Role::input, Role::param, Role::output})
    for (const TensorSpec& tensor : of(role))
      shapes_[static_cast<int>(role)].push_back(to_c(tensor.shape));
}

Status CTensors::count(ingot_role given, size_t* count) const {
  Role role = Role::input;
  if (Status status = to_role(given, role); !status.ok()) return status;
  if (!count) return invalid("count: expected where to store it, got null");
  *count = of(role).size();
  return {};
}

Status CTensors::describe(ingot_role given, size_t index, ingot_tensor_info* info) const {
  Role role = Role::input;
  if (Status status = to_role(given, role); !status.ok()) return status;
  const std::vector<TensorSpec>& tensors = of(role);
  if (index >= tensors.size())
    return invalid("index: expected one of {} tensors, got {}", tensors.size(), index);
  const auto& shape = shapes_[given][index];
  return write_struct("ingot_tensor_info",
                      ingot_tensor_info{0, tensors[index].name.c_str(),
                                        static_cast<ingot_type>(tensors[index].type),
                                        static_cast<int32_t>(shape.size()), shape.data()},
                      info);
}

Status to_role(ingot_role given, Role& role) {
  if (given < INGOT_INPUT || given > INGOT_OUTPUT)
    return invalid("role: {} is no ingot_role; expected INGOT_INPUT, INGOT_PARAM or INGOT_OUTPUT",
                   given);
  role = static_cast<Role>(given);
  return {};
}

Status to_views(const char* role, const std::vector<TensorSpec>& declared,
                const ingot_tensor* tensors, size_t count,
                llvm::SmallVectorImpl<TensorView>& views) {
  if (count != declared.size())
    return invalid("expected {} {} tensors, got {}", declared.size(), role, count);
  if (!tensors && count > 0) return invalid("{}s: expected {} of them, got null", role, count);
  for (size_t i = 0; i < count; ++i) {
    const ingot_tensor& tensor = tensors[i];
    if (tensor.rank < 0)
      return invalid("{} {}: expected a rank of at least 0, got {}", role, i, tensor.rank);
    TensorView view{tensor.data, std::nullopt};
    if (tensor.shape) view.extents = {tensor.shape, static_cast<size_t>(tensor.rank)};
    views.push_back(view);
  }
  return {};
}

} // namespace ingot
