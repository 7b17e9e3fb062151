// SPDX-License-Identifier: Apache-2.0
// See fake_driver.h.
#include "tests/support/fake_driver.h"

#include <cstring>
#include <mutex>
#include <set>

namespace ingot::testing {

namespace {

using namespace driver_api;

FakeDriver* fake = nullptr;
std::mutex mutex;

/// Handles are the addresses of interned entry names.
const std::string* intern(const std::string& name) {
  static std::set<std::string> names;
  return &*names.insert(name).first;
}

template <typename Handle> Handle handle_of(const std::string* name) {
  return reinterpret_cast<Handle>(const_cast<std::string*>(name));
}

template <typename Handle> const std::string& name_of(Handle handle) {
  return *reinterpret_cast<const std::string*>(handle);
}

Result device_attribute(int* value, DeviceAttribute attribute, Device) {
  switch (attribute) {
  case kMultiprocessorCount: *value = fake->num_sms; break;
  case kComputeCapabilityMajor: *value = fake->compute_major; break;
  case kComputeCapabilityMinor: *value = fake->compute_minor; break;
  case kMaxSharedPerBlockOptin: *value = fake->max_shared_bytes; break;
  default: *value = 0;
  }
  return kSuccess;
}

Result launch(const LaunchConfig* config, Function function, void** params, void**) {
  std::lock_guard lock(mutex);
  if (fake->launch_result != kSuccess) return fake->launch_result;
  FakeLaunch record;
  record.entry = name_of(function);
  record.grid = {config->grid[0], config->grid[1], config->grid[2]};
  record.block = {config->block[0], config->block[1], config->block[2]};
  record.shared_bytes = config->shared_bytes;
  record.stream = config->stream;
  for (unsigned i = 0; i < config->num_attributes; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kClusterDimension)
      for (int axis = 0; axis < 3; ++axis) record.cluster[axis] = attribute.value.cluster[axis];
    if (attribute.id == kProgrammaticSerialization)
      record.overlaps = attribute.value.serialization_is_programmatic != 0;
  }
  for (size_t i = 0; i < fake->num_arguments; ++i) {
    uint64_t value = 0;
    std::memcpy(&value, params[i], sizeof value);
    record.arguments.push_back(value);
  }
  fake->launches.push_back(record);
  return kSuccess;
}

/// The first word of a fake tensor map is the number of maps made before it.
Result encode_tensor_map(TensorMap* map, TensorMapType, uint32_t rank, DevicePointer tensor,
                         const uint64_t* extents, const uint64_t* strides, const uint32_t* box,
                         const uint32_t*, TensorMapInterleave, TensorMapSwizzle, TensorMapPromotion,
                         TensorMapFill) {
  if (extents[1] >= uint64_t{1} << 19) return 1; // stands for the driver's own limit
  map->words[0] = fake->maps.size();
  std::vector<uint64_t>& made = fake->maps.emplace_back();
  made.push_back(tensor);
  made.insert(made.end(), extents, extents + rank);
  made.insert(made.end(), strides, strides + rank - 1);
  made.insert(made.end(), box, box + rank);
  return kSuccess;
}

void fill_device_table(Functions& f) {
  f.error_name = [](Result, const char** text) {
    *text = "CUDA_ERROR_FAKE";
    return kSuccess;
  };
  f.error_string = [](Result, const char** text) {
    *text = "pretended";
    return kSuccess;
  };
  f.device_name = [](char* name, int size, Device) {
    std::strncpy(name, fake->name.c_str(), size_t(size));
    return kSuccess;
  };
  f.device_attribute = device_attribute;
  f.device_memory = [](size_t* bytes, Device) {
    *bytes = size_t(1) << 30;
    return kSuccess;
  };
  f.driver_version = [](int* version) {
    *version = fake->driver_version;
    return kSuccess;
  };
  f.context_device = [](Device* device) {
    *device = fake->device;
    return fake->device < 0 ? kInvalidContext : kSuccess;
  };
}

void fill_kernel_table(Functions& f) {
  // Fake machine code is the names of its entries, with a space before and behind each where there
  // are several.
  f.library_load = [](Library* library, const void* code, void*, void**, unsigned, void*, void**,
                      unsigned) {
    if (fake->load_result != kSuccess) return fake->load_result;
    fake->loaded.emplace_back(static_cast<const char*>(code));
    *library = handle_of<Library>(intern(fake->loaded.back()));
    return kSuccess;
  };
  f.library_unload = [](Library) { return kSuccess; };
  f.library_kernel = [](Kernel* kernel, Library library, const char* name) {
    *kernel = handle_of<Kernel>(intern(name));
    const std::string& code = name_of(library);
    const bool has_entry = code.find(' ' + std::string(name) + ' ') != std::string::npos;
    return code == name || has_entry ? kSuccess : 500;
  };
  f.kernel_function = [](Function* function, Kernel kernel) {
    *function = reinterpret_cast<Function>(kernel);
    return kSuccess;
  };
  f.kernel_attribute = [](int* value, FunctionAttribute, Kernel, Device) {
    *value = fake->static_shared_bytes;
    return kSuccess;
  };
  f.kernel_set_attribute = [](FunctionAttribute, int value, Kernel kernel, Device) {
    fake->shared_attributes.emplace_back(name_of(kernel), value);
    return kSuccess;
  };
  f.function_load = [](Function) { return kSuccess; };
  f.launch = launch;
  f.most_clusters = [](int* clusters, Function, const LaunchConfig* config) {
    *clusters = config->num_attributes == 1 ? fake->most_clusters : 0;
    return kSuccess;
  };
  f.encode_tensor_map = encode_tensor_map;
}

} // namespace

FakeDriver::FakeDriver() {
  fake = this;
  fill_device_table(functions);
  fill_kernel_table(functions);
}

FakeDriver::~FakeDriver() { fake = nullptr; }

} // namespace ingot::testing
