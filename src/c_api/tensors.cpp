// SPDX-License-Identifier: Apache-2.0
// Converts tensors and options between the C and the C++ interface. The other files of src/c_api
// call it.
#include "src/c_api/internal.h"

namespace ingot {

static_assert(static_cast<int>(Role::output) == INGOT_OUTPUT);

Status describe(const TensorSpec& spec, const std::vector<ingot_extent>& shape,
                ingot_tensor_info* info) {
  return write_struct("ingot_tensor_info",
                      ingot_tensor_info{0, spec.name.c_str(), static_cast<ingot_type>(spec.type),
                                        static_cast<int32_t>(shape.size()), shape.data()},
                      info);
}

CTensors::CTensors(const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& params,
                   const std::vector<TensorSpec>& outputs)
    : lists_{&inputs, &params, &outputs} {
  for (Role role : {Role::input, Role::param, Role::output})
    for (const TensorSpec& tensor : of(role))
      shapes_[static_cast<int>(role)].push_back(to_c(tensor.shape));
}

Status CTensors::count(ingot_role role, size_t* count) const {
  CReader read;
  const Role known = read.role(role);
  read.place("count", count);
  if (read.failed()) return read.status();
  *count = of(known).size();
  return {};
}

Status CTensors::describe(ingot_role role, size_t index, ingot_tensor_info* info) const {
  CReader read;
  const std::vector<TensorSpec>& tensors = of(read.role(role));
  if (read.failed()) return read.status();
  if (index >= tensors.size())
    return invalid("index: expected one of {} tensors, got {}", tensors.size(), index);
  return ingot::describe(tensors[index], shapes_[role][index], info);
}

Options CReader::options(const ingot_options* given) {
  Options result;
  if (!given) return result;
  const auto options = structure("ingot_options", given);
  if (options.target) result.target = options.target;
  if (options.device) result.device = options.device;
  switch (options.precision) {
  case INGOT_HIGHEST: result.precision = Precision::highest; break;
  case INGOT_PEDANTIC: result.precision = Precision::pedantic; break;
  case INGOT_HIGH: result.precision = Precision::high; break;
  case INGOT_MEDIUM: result.precision = Precision::medium; break;
  default: fail(invalid("ingot_options: precision {} is no ingot_precision", options.precision));
  }
  switch (options.math) {
  case INGOT_MATH_RELAXED: result.math = Math::relaxed; break;
  case INGOT_MATH_STRICT: result.math = Math::strict; break;
  case INGOT_MATH_FINITE: result.math = Math::finite; break;
  default: fail(invalid("ingot_options: math {} is no ingot_math", options.math));
  }
  return result;
}

std::vector<DimRange> CReader::dims(const ingot_dim* dims, size_t count) {
  constexpr size_t most = 1024; // more than any graph has; the program reports missing ones
  std::vector<DimRange> result;
  if (count > most)
    fail(invalid("dims: expected at most {}, got {}", most, count));
  else if (!dims && count > 0)
    fail(invalid("dims: expected {} of them, got null", count));
  for (size_t i = 0; !failed() && i < count; ++i)
    if (dims[i].name)
      result.push_back({dims[i].name, dims[i].least, dims[i].most});
    else
      fail(invalid("dims[{}]: expected a name, got null", i));
  return result;
}

Role CReader::role(ingot_role given) {
  if (given >= INGOT_INPUT && given <= INGOT_OUTPUT) return static_cast<Role>(given);
  fail(invalid("role: {} is no ingot_role; expected INGOT_INPUT, INGOT_PARAM or INGOT_OUTPUT",
               given));
  return Role::input;
}

Status check_count(const char* role, const std::vector<TensorSpec>& declared, const void* tensors,
                   size_t count) {
  if (count != declared.size())
    return invalid("expected {} {} tensors, got {}", declared.size(), role, count);
  if (!tensors && count > 0) return invalid("{}s: expected {} of them, got null", role, count);
  return {};
}

Views CReader::views(const char* role, const std::vector<TensorSpec>& declared,
                     const ingot_tensor* tensors, size_t count) {
  fail(check_count(role, declared, tensors, count));
  Views views;
  for (size_t i = 0; !failed() && i < count; ++i) {
    const ingot_tensor& tensor = tensors[i];
    if (tensor.rank < 0)
      fail(invalid("{} {}: expected a rank of at least 0, got {}", role, i, tensor.rank));
    TensorView& view = views.emplace_back(TensorView{tensor.data, std::nullopt});
    if (tensor.shape) view.extents = {tensor.shape, static_cast<size_t>(tensor.rank)};
  }
  return views;
}

} // namespace ingot
