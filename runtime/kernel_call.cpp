// SPDX-License-Identifier: Apache-2.0
// The arguments, tensor maps and launch shape of a kernel. See kernel_call.h.
#include "runtime/kernel_call.h"

#include "src/support/error.h"

#include <array>

namespace ingot {

namespace {

constexpr std::array<int64_t, 3> kMostBlocks = {INT32_MAX, 65535, 65535};

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
  case MapType::f32: return driver_api::kMapF32;
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

llvm::Error KernelCall::bind(const driver_api::Functions& driver, const BoundVariant& bound,
                             const LoadedVariant& loaded, llvm::ArrayRef<int64_t> slots,
                             llvm::ArrayRef<uint64_t> bases) {
  variant = nullptr;
  llvm::Expected<bool> any = evaluate_extents(bound, "grid", bound.grid, slots, config.grid);
  if (!any) return any.takeError();
  if (!*any) return llvm::Error::success();
  any = evaluate_extents(bound, "block", bound.block, slots, config.block);
  if (!any) return any.takeError();
  std::optional<int64_t> shared = bound.shared_bytes.evaluate(slots);
  if (!shared || *shared < 0 || *shared > loaded.shared_limit)
    return make_error(ErrorCode::unsupported,
                      "kernel {} needs {} bytes of shared memory for these sizes, {} are prepared",
                      bound.entry, shared.value_or(-1), loaded.shared_limit);
  config.shared_bytes = unsigned(*shared);
  // A cluster that waits for others to end would double the kernel's time.
  if (has_clusters(bound))
    config.grid[0] =
        unsigned(std::min<int64_t>(config.grid[0], loaded.most_clusters * bound.cluster[0]));

  values.resize(bound.arguments.size());
  for (size_t i = 0; i < values.size(); ++i) {
    std::optional<uint64_t> value = argument_value(bound.arguments[i], slots, bases);
    if (!value)
      return make_error(ErrorCode::unsupported,
                        "kernel {}, argument {}: its value overflows for these sizes", bound.entry,
                        i);
    values[i] = *value;
  }
  maps.resize(bound.maps.size());
  for (size_t i = 0; i < maps.size(); ++i)
    if (auto error = encode_map(driver, bound, bound.maps[i], slots, values[bound.maps[i].argument],
                                maps[i]))
      return error;
  function = loaded.function;
  overlaps = loaded.overlaps;
  variant = &bound;
  return llvm::Error::success();
}

llvm::Error KernelCall::enqueue(const driver_api::Functions& driver, Stream stream) const {
  if (!variant) return llvm::Error::success();
  driver_api::LaunchConfig shape = config;
  shape.stream = stream;
  driver_api::LaunchAttribute attributes[2];
  shape.attributes = attributes;
  shape.num_attributes = 0;
  if (has_clusters(*variant)) attributes[shape.num_attributes++] = cluster_attribute(*variant);
  if (overlaps) attributes[shape.num_attributes++] = overlap_attribute();
  void* pointers[kMaxArguments]; // filled only as far as the arguments go
  for (size_t i = 0; i < values.size(); ++i) pointers[i] = const_cast<uint64_t*>(&values[i]);
  for (size_t i = 0; i < maps.size(); ++i)
    pointers[variant->maps[i].argument] = const_cast<driver_api::TensorMap*>(&maps[i]);
  driver_api::Result result = driver.launch(&shape, function, pointers, nullptr);
  if (result == driver_api::kSuccess) return llvm::Error::success();
  return make_error(ErrorCode::launch_error, "kernel {}: {}", variant->entry,
                    take_error(check_driver(driver, result, driver.launch.name)).second);
}

} // namespace ingot
