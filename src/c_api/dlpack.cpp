// SPDX-License-Identifier: Apache-2.0
// Launches of DLPack's tensors in the C interface. See include/ingot/ingot_c.h.
#include <dlpack/dlpack.h>

#include "src/c_api/internal.h"

#include "runtime/driver.h"
#include "src/api/internal.h"
#include "src/support/error.h"

#include "llvm/ADT/SmallVector.h"

namespace ingot {
namespace {

constexpr uint8_t kBool = 6; ///< kDLBool, which exists since DLPack 0.8

struct ElementLayout {
  uint8_t code, bits;
};

ElementLayout layout_of(ElementType type) {
  switch (type) {
  case ElementType::f32: return {kDLFloat, 32};
  case ElementType::f16: return {kDLFloat, 16};
  case ElementType::bf16: return {kDLBfloat, 16};
  case ElementType::i32: return {kDLInt, 32};
  case ElementType::i64: return {kDLInt, 64};
  case ElementType::boolean: return {kBool, 8};
  }
  return {};
}

std::string name_of(const DLDataType& type) {
  // In the order of DLPack 1.1's codes. The names of narrow floats contain their bits.
  static constexpr const char* kNames[] = {"int", "uint", "float", "opaque", "bfloat", "complex"};
  static constexpr const char* kNarrow[] = {
      "bool",           "float8_e3m4",     "float8_e4m3",   "float8_e4m3b11fnuz",
      "float8_e4m3fn",  "float8_e4m3fnuz", "float8_e5m2",   "float8_e5m2fnuz",
      "float8_e8m0fnu", "float6_e2m3fn",   "float6_e3m2fn", "float4_e2m1fn"};
  const std::string lanes = type.lanes == 1 ? "" : fmt::format(" with {} lanes", type.lanes);
  if (type.code < std::size(kNames))
    return fmt::format("{}{}{}", kNames[type.code], type.bits, lanes);
  const size_t narrow = type.code - std::size(kNames);
  if (narrow < std::size(kNarrow)) return kNarrow[narrow] + lanes;
  return fmt::format("a type that Ingot does not know (code {} of DLPack, {} bits){}", type.code,
                     type.bits, lanes);
}

/// The name of a tensor's device.
std::string name_of_device(int type) {
  switch (type) {
  case kDLCPU: return "CPU memory";
  case kDLCUDAHost: return "pinned CPU memory";
  case kDLOpenCL: return "OpenCL memory";
  case kDLVulkan: return "Vulkan memory";
  case kDLMetal: return "Metal memory";
  case kDLROCM: return "ROCm memory";
  default:
    return fmt::format("memory of a device that Ingot does not know (type {} of DLPack)", type);
  }
}

std::string list_of(const int64_t* values, int count) {
  return fmt::format("[{}]", fmt::join(values, values + count, ", "));
}

/// Whether elements are contiguous in row-major order. The stride of an extent of 1 does not
/// matter.
bool is_dense(const DLTensor& tensor) {
  if (!tensor.strides) return true;
  int64_t stride = 1;
  for (int i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

/// Checks a tensor against `declared`, without its shape, which the launch checks.
Status check(const char* role, const TensorSpec& declared, const DLTensor* tensor) {
  const std::string_view name = declared.name;
  if (!tensor) return invalid("{} '{}': expected a DLTensor, got null", role, name);
  const ElementLayout layout = layout_of(declared.type);
  const DLDataType expected{layout.code, layout.bits, 1};
  if (tensor->dtype.code != expected.code || tensor->dtype.bits != expected.bits ||
      tensor->dtype.lanes != 1)
    return invalid("{} '{}': expected elements of {}, got {}", role, name, name_of(expected),
                   name_of(tensor->dtype));
  if (tensor->device.device_type != kDLCUDA && tensor->device.device_type != kDLCUDAManaged)
    return invalid("{} '{}': expected a tensor in CUDA memory, got one in {}", role, name,
                   name_of_device(tensor->device.device_type));
  if (tensor->ndim < 0 || (tensor->ndim > 0 && !tensor->shape))
    return invalid("{} '{}': expected a shape of {} extents, got null", role, name, tensor->ndim);
  if (!is_dense(*tensor))
    return invalid("{} '{}': expected dense row-major elements, got shape {} with strides {}; make "
                   "it contiguous",
                   role, name, list_of(tensor->shape, tensor->ndim),
                   list_of(tensor->strides, tensor->ndim));
  return {};
}

/// Tensors of one role: the graph's declarations and the caller's tensors.
struct Given {
  const char* role;
  const std::vector<TensorSpec>& declared;
  const ingot_dltensor* const* tensors;
  size_t count;
};

Status to_views(const Given& given, Views& views) {
  if (Status status = check_count(given.role, given.declared, given.tensors, given.count);
      !status.ok())
    return status;
  for (size_t i = 0; i < given.count; ++i) {
    const DLTensor* tensor = given.tensors[i];
    if (Status status = check(given.role, given.declared[i], tensor); !status.ok()) return status;
    views.push_back({static_cast<char*>(tensor->data) + tensor->byte_offset,
                     std::span<const int64_t>(tensor->shape, static_cast<size_t>(tensor->ndim))});
  }
  return {};
}

/// Makes views of the tensors, which must all be on the device of the current context.
Status to_views(llvm::ArrayRef<Given> all, llvm::MutableArrayRef<Views> views) {
  for (size_t i = 0; i < all.size(); ++i)
    if (Status status = to_views(all[i], views[i]); !status.ok()) return status;
  auto driver = open_driver();
  if (!driver) return to_status(driver.takeError());
  auto device = current_device(**driver);
  if (!device) return to_status(device.takeError());
  for (const Given& given : all)
    for (size_t i = 0; i < given.count; ++i) {
      const DLDevice on = static_cast<const DLTensor*>(given.tensors[i])->device;
      if (on.device_type == kDLCUDA && on.device_id != *device)
        return invalid(
            "{} '{}': expected a tensor on CUDA device {}, whose context is current, got "
            "one on device {}",
            given.role, given.declared[i].name, *device, on.device_id);
    }
  return {};
}

Status prepare(Program& program, const ingot_dlpack_arguments* given, const ingot_dim* dims,
               size_t num_dims) {
  CReader read;
  const auto arguments = read.structure("ingot_dlpack_arguments", given);
  if (read.failed()) return read.status();
  Views params;
  const Given all[] = {{"param", program.params(), arguments.params, arguments.num_params}};
  read.fail(to_views(all, params));
  const std::vector<DimRange> ranges = read.dims(dims, num_dims);
  if (read.failed()) return read.status();
  return program.prepare(
      {params, arguments.prepared, arguments.workspace, arguments.stream, ranges});
}

Status launch(const Program& program, const ingot_dlpack_arguments* given) {
  CReader read;
  const auto arguments = read.structure("ingot_dlpack_arguments", given);
  if (read.failed()) return read.status();
  Views views[3];
  const Given all[] = {{"input", program.inputs(), arguments.inputs, arguments.num_inputs},
                       {"param", program.params(), arguments.params, arguments.num_params},
                       {"output", program.outputs(), arguments.outputs, arguments.num_outputs}};
  if (Status status = to_views(all, views); !status.ok()) return status;
  return program.launch({views[0], views[1], views[2], arguments.prepared, arguments.workspace,
                         arguments.state, arguments.stream});
}

} // namespace
} // namespace ingot

using namespace ingot;

ingot_code ingot_program_prepare_dlpack(ingot_program* handle,
                                        const ingot_dlpack_arguments* arguments,
                                        const ingot_dim* dims, size_t num_dims,
                                        ingot_error** error) {
  return with<CProgram>(handle, error, [&](CProgram& program) {
    return prepare(program.program, arguments, dims, num_dims);
  });
}

ingot_code ingot_program_launch_dlpack(const ingot_program* handle,
                                       const ingot_dlpack_arguments* arguments,
                                       ingot_error** error) {
  return with<CProgram>(handle, error,
                        [&](CProgram& program) { return launch(program.program, arguments); });
}
