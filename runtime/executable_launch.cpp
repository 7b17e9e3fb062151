// SPDX-License-Identifier: Apache-2.0
// Executable::launch: checks, variant choice and cuLaunchKernelEx, without allocation but for the
// rare variant that prepare left out. See executable.h.
#include "runtime/executable_state.h"

#include "src/support/error.h"

#include <array>

namespace ingot {

namespace {

constexpr std::array<int64_t, 3> kMostBlocks = {INT32_MAX, 65535, 65535};

/// "m = 4096, k = 8" for messages.
std::string sizes_text(const Module& module, llvm::ArrayRef<int64_t> slots) {
  std::string text;
  for (size_t i = 0; i < module.dims.size(); ++i)
    text += fmt::format("{}{} = {}", i ? ", " : "", module.dims[i].name, slots[i]);
  return text;
}

/// Evaluates a grid or block. Returns false if an extent is 0, so that there is nothing to launch.
llvm::Expected<bool> evaluate_extents(const BoundVariant& variant, const char* what,
                                      const std::array<SlotExpr, 3>& exprs,
                                      llvm::ArrayRef<int64_t> slots, unsigned* extents) {
  bool any = true;
  for (int axis = 0; axis < 3; ++axis) {
    std::optional<int64_t> value = exprs[axis].evaluate(slots);
    if (!value || *value < 0 || *value > kMostBlocks[axis])
      return make_error(ErrorCode::unsupported,
                        "kernel {}: the {} along {} is {}, expected 0 to {}; the sizes are too "
                        "large for one launch",
                        variant.entry, what, "xyz"[axis],
                        value ? std::to_string(*value) : "out of range", kMostBlocks[axis]);
    extents[axis] = unsigned(*value);
    any &= *value > 0;
  }
  return any;
}

driver_api::TensorMapType driver_type(MapType type) {
  switch (type) {
  case MapType::f16: return driver_api::kMapF16;
  case MapType::bf16: return driver_api::kMapBf16;
  case MapType::tf32: return driver_api::kMapTf32;
  }
  llvm_unreachable("not a type of maps");
}

/// Makes a map of the tensor at `address`. A tensor without elements has none: no copy reads it.
llvm::Error encode_map(const driver_api::Functions& driver, const BoundVariant& variant,
                       const BoundMap& map, llvm::ArrayRef<int64_t> slots, uint64_t address,
                       driver_api::TensorMap& encoded) {
  encoded = {};
  std::array<uint64_t, 3> extents;
  std::array<uint64_t, 2> strides;
  bool is_counted = true; // by the copies' coordinates, of 32 bits with a sign
  for (size_t dim = 0; dim < 3; ++dim) {
    extents[dim] = uint64_t(map.extents[dim].evaluate(slots).value_or(-1));
    if (extents[dim] == 0) return llvm::Error::success();
    is_counted &= extents[dim] <= INT32_MAX;
  }
  for (size_t dim = 0; dim < 2; ++dim)
    strides[dim] = uint64_t(map.strides[dim].evaluate(slots).value_or(-1));
  constexpr uint32_t kOnes[3] = {1, 1, 1};
  if (is_counted &&
      driver.encode_tensor_map(&encoded, driver_type(map.type), 3, address, extents.data(),
                               strides.data(), map.box.data(), kOnes, driver_api::kNotInterleaved,
                               driver_api::kSwizzle128Bytes, driver_api::kPromote256Bytes,
                               driver_api::kFillWithZeros) == driver_api::kSuccess)
    return llvm::Error::success();
  return make_error(ErrorCode::unsupported,
                    "kernel {}, argument {}: there is no tensor map of [{}, {}, {}] elements with "
                    "steps of {} and {} bytes; expected fewer than 2^31 elements "
                    "along each dimension and steps below 2^40",
                    variant.entry, map.argument, extents[2], extents[1], extents[0], strides[0],
                    strides[1]);
}

} // namespace

llvm::Error Executable::not_prepared(const Prepared* prepared,
                                     llvm::ArrayRef<int64_t> slots) const {
  if (!prepared)
    return make_error(ErrorCode::not_prepared,
                      "'{}' is launched on this device before prepare; prepare it once with the "
                      "sizes to be launched",
                      module_.name);
  return make_error(ErrorCode::not_prepared,
                    "'{}' is launched with {}, sizes that were not prepared; prepare them first",
                    module_.name, sizes_text(module_, slots));
}

llvm::Error Executable::check_params(const Prepared& prepared, const LaunchRequest& request,
                                     driver_api::Device device) const {
  // Without a prepare program, params are ordinary inputs and may differ between launches.
  if (plan_.prepare.empty()) return llvm::Error::success();
  for (const ParamSet& set : prepared.sets) {
    if (set.prepared != request.prepared || set.device != device) continue;
    for (size_t i = 0; i < set.params.size(); ++i)
      if (set.params[i] != request.params[i].data)
        return make_error(ErrorCode::not_prepared,
                          "param '{}' is at {:#x}, but the prepared memory was made from {:#x}; "
                          "prepare again for this parameter set",
                          plan_.params[i].name, request.params[i].data, set.params[i]);
    return llvm::Error::success();
  }
  return make_error(ErrorCode::not_prepared,
                    "the prepared memory at {:#x} was not filled by prepare of '{}' on this device",
                    request.prepared, module_.name);
}

llvm::Error Executable::launch_kernel(const BoundKernel& kernel, const DeviceState& device,
                                      llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases,
                                      Stream stream, LoadVariant load) const {
  uint32_t v = kernel.first, end = kernel.first + kernel.count;
  while (v < end && !variant_holds(plan_.variants[v], slots, bases)) ++v;
  if (v == end)
    return make_error(ErrorCode::unsupported, "no variant of kernel '{}' fits these sizes: {}",
                      kernel.name, sizes_text(module_, slots));
  const BoundVariant& variant = plan_.variants[v];
  LoadedVariant loaded = device.variants[v];
  if (!loaded.function) {
    llvm::Expected<LoadedVariant> late = load(v);
    if (!late) return late.takeError();
    loaded = *late;
  }

  driver_api::LaunchConfig config = {};
  llvm::Expected<bool> any = evaluate_extents(variant, "grid", variant.grid, slots, config.grid);
  if (!any) return any.takeError();
  if (!*any) return llvm::Error::success(); // a tensor without elements
  any = evaluate_extents(variant, "block", variant.block, slots, config.block);
  if (!any) return any.takeError();
  std::optional<int64_t> shared = variant.shared_bytes.evaluate(slots);
  if (!shared || *shared < 0 || *shared > loaded.shared_limit)
    return make_error(ErrorCode::unsupported,
                      "kernel {} needs {} bytes of shared memory for these sizes, {} are prepared",
                      variant.entry, shared.value_or(-1), loaded.shared_limit);
  config.shared_bytes = unsigned(*shared);
  config.stream = stream;

  driver_api::LaunchAttribute attribute;
  config.attributes = &attribute;
  if (variant.cluster != std::array<unsigned, 3>{1, 1, 1}) {
    config.num_attributes = 1;
    attribute = {};
    attribute.id = driver_api::kClusterDimension;
    for (int axis = 0; axis < 3; ++axis) attribute.value.cluster[axis] = variant.cluster[axis];
  }

  // These arrays are filled only as far as the kernel's arguments and maps go.
  uint64_t values[kMaxArguments];
  void* pointers[kMaxArguments];
  for (size_t i = 0; i < variant.arguments.size(); ++i) {
    std::optional<uint64_t> value = argument_value(variant.arguments[i], slots, bases);
    if (!value)
      return make_error(ErrorCode::unsupported,
                        "kernel {}, argument {}: its value overflows for these sizes",
                        variant.entry, i);
    values[i] = *value;
    pointers[i] = &values[i];
  }
  const driver_api::Functions& driver = *driver_.load(std::memory_order_relaxed);
  driver_api::TensorMap maps[kMostTensorMaps];
  for (size_t i = 0; i < variant.maps.size(); ++i) {
    const BoundMap& map = variant.maps[i];
    if (auto error = encode_map(driver, variant, map, slots, values[map.argument], maps[i]))
      return error;
    pointers[map.argument] = &maps[i];
  }
  driver_api::Result result = driver.launch(&config, loaded.function, pointers, nullptr);
  if (result == driver_api::kSuccess) return llvm::Error::success();
  return make_error(ErrorCode::launch_error, "kernel {}: {}", variant.entry,
                    take_error(check_driver(driver, result, driver.launch.name)).second);
}

llvm::Error Executable::run(llvm::ArrayRef<Step> steps, const DeviceState& device,
                            llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases,
                            Stream stream, LoadVariant load) const {
  for (const Step& step : steps)
    if (llvm::Error error =
            launch_kernel(plan_.kernels[step.kernel], device, slots, bases, stream, load))
      return error;
  return llvm::Error::success();
}

llvm::Error Executable::launch(const LaunchRequest& request) const {
  const std::shared_ptr<const Prepared> prepared = published();
  if (!prepared) {
    // Without a usable driver, the error is that of the driver.
    if (!driver_.load(std::memory_order_relaxed))
      if (auto driver = open_driver(); !driver) return driver.takeError();
    return not_prepared(nullptr, {});
  }
  llvm::Expected<driver_api::Device> current =
      current_device(*driver_.load(std::memory_order_relaxed));
  if (!current) return current.takeError();
  const DeviceState* device = prepared->find_device(*current);
  if (!device) return not_prepared(nullptr, {});

  SlotValues slots(plan_.num_dims, kUnknownDim);
  const TensorGroup groups[] = {{"input", plan_.inputs, request.inputs, 0},
                                {"param", plan_.params, request.params, plan_.param_base()},
                                {"output", plan_.outputs, request.outputs, plan_.output_base()}};
  if (llvm::Error error = solve_dims(module_, groups, UnknownDims::refuse, slots)) return error;
  if (llvm::Error error = check_requirements(module_, plan_, slots)) return error;
  if (!device->covers_sizes(slots)) return not_prepared(prepared.get(), slots);

  llvm::SmallVector<uint64_t, 64> bases(plan_.num_bases(), 0);
  if (llvm::Error error = take_pointers(groups, bases)) return error;
  const std::tuple<const char*, const BoundMemory*, DevicePointer> memories[] = {
      {"prepared", &plan_.prepared, request.prepared},
      {"workspace", &plan_.workspace, request.workspace},
      {"state", &plan_.state, request.state}};
  uint64_t* base = &bases[plan_.prepared_base()];
  for (auto [what, memory, given] : memories)
    if (llvm::Error error = take_memory(what, *memory, given, slots, base++)) return error;
  if (llvm::Error error = check_overlap(plan_, groups, slots, bases)) return error;
  if (llvm::Error error = check_params(*prepared, request, *current)) return error;
  return run(plan_.launch, *device, slots, bases, request.stream,
             [&](uint32_t v) { return load_late(device->device, v, slots); });
}

} // namespace ingot
