// SPDX-License-Identifier: Apache-2.0
// The parts of generated launchers that are the same for every module. launcher.cpp uses them.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace ingot {

inline constexpr llvm::StringLiteral kArithmeticText = R"cpp(
/// A number in a formula of sizes: division rounds down, and overflow is an error.
struct Int {
  int64_t value = 0;
  Int(int64_t number = 0) : value(number) {}
};

inline Int checked(bool overflows, int64_t value) {
  if (overflows) throw std::runtime_error("ingot: a size overflows; give smaller tensors");
  return value;
}
inline int64_t positive(Int divisor) {
  checked(divisor.value <= 0, 0);
  return divisor.value;
}
inline Int operator+(Int a, Int b) {
  long long sum = 0;
  const bool overflows = __builtin_saddll_overflow(a.value, b.value, &sum);
  return checked(overflows, sum);
}
inline Int operator-(Int a, Int b) {
  long long difference = 0;
  const bool overflows = __builtin_ssubll_overflow(a.value, b.value, &difference);
  return checked(overflows, difference);
}
inline Int operator*(Int a, Int b) {
  long long product = 0;
  const bool overflows = __builtin_smulll_overflow(a.value, b.value, &product);
  return checked(overflows, product);
}
inline Int operator/(Int a, Int b) {
  const int64_t divisor = positive(b);
  return a.value / divisor - (a.value % divisor < 0 ? 1 : 0);
}
inline Int operator%(Int a, Int b) { return a - a / b * b; }
inline Int ceil_div(Int a, Int b) {
  const int64_t divisor = positive(b);
  return a.value / divisor + (a.value % divisor > 0 ? 1 : 0);
}
inline Int min(Int a, Int b) { return a.value < b.value ? a : b; }
inline Int max(Int a, Int b) { return a.value > b.value ? a : b; }
)cpp";

inline constexpr llvm::StringLiteral kStartText = R"cpp(
void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError(); // so that no later call reports this error again
  throw std::runtime_error(std::string("ingot: ") + what + ": " + cudaGetErrorString(status));
}

// A module uses some of the next functions.
[[maybe_unused]] bool aligned(uint64_t address, uint64_t bytes) { return address % bytes == 0; }
[[maybe_unused]] bool divisible(Int value, int64_t by) { return value.value % by == 0; }
[[maybe_unused]] bool at_least(Int value, int64_t least) { return value.value >= least; }

[[maybe_unused]] uint64_t bits(Int value) { return static_cast<uint64_t>(value.value); }
[[maybe_unused]] uint64_t offset(uint64_t base, Int bytes) { return base + bits(bytes); }

/// A kernel, and its dynamic shared memory; -1: as much as there is.
struct Entry {
  const char* name;
  const void* kernel;
  int64_t shared_bytes;
};

/// How one kernel is launched.
struct Shape {
  Int grid[3];
  Int block[3];
  Int shared_bytes;
  unsigned cluster[3];
};

/// False: an extent is 0, and there is nothing to launch.
bool take_extents(const char* name, const Int* from, dim3& to) {
  static const int64_t most[3] = {INT32_MAX, 65535, 65535};
  unsigned extents[3];
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t extent = from[axis].value;
    if (extent < 0 || extent > most[axis])
      throw std::runtime_error(std::string("ingot: kernel ") + name + ": extent " +
                               std::to_string(axis) + " of its grid or block is " +
                               std::to_string(extent) + ", expected 0 to " +
                               std::to_string(most[axis]) + "; give smaller tensors");
    extents[axis] = static_cast<unsigned>(extent);
  }
  to = dim3(extents[0], extents[1], extents[2]);
  return extents[0] > 0 && extents[1] > 0 && extents[2] > 0;
}

/// Launches a kernel on the call's stream with the arguments at these addresses.
void start_at(const Call& call, const Entry& entry, const Shape& shape, void** arguments) {
  cudaLaunchConfig_t config = {};
  if (!take_extents(entry.name, shape.grid, config.gridDim)) return;
  if (!take_extents(entry.name, shape.block, config.blockDim)) return;
  const int64_t shared_bytes = shape.shared_bytes.value;
  if (shared_bytes < 0 || shared_bytes > call.max_shared_bytes)
    throw std::runtime_error(std::string("ingot: kernel ") + entry.name + " needs " +
                             std::to_string(shared_bytes) +
                             " bytes of shared memory, this GPU has " +
                             std::to_string(call.max_shared_bytes) +
                             " for a block: compile the graph for it (--device)");
  config.dynamicSmemBytes = static_cast<size_t>(shared_bytes);
  config.stream = call.stream;

  cudaLaunchAttribute attribute = {};
  config.attrs = &attribute;
  if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 1) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = shape.cluster[0];
    attribute.val.clusterDim.y = shape.cluster[1];
    attribute.val.clusterDim.z = shape.cluster[2];
    config.numAttrs = 1;
  }
  check(cudaLaunchKernelExC(&config, entry.kernel, arguments), entry.name);
}

/// Launches a kernel with arguments of 8 bytes.
template <size_t N>
void start(const Call& call, const Entry& entry, const Shape& shape,
           const uint64_t (&arguments)[N]) {
  void* pointers[N];
  for (size_t i = 0; i < N; ++i) pointers[i] = const_cast<uint64_t*>(&arguments[i]);
  start_at(call, entry, shape, pointers);
}
)cpp";

/// For modules with tensor maps.
inline constexpr llvm::StringLiteral kMapText = R"cpp(
/// A tensor as copies of a kernel read it: the argument that takes its tensor map, its address,
/// extents, steps in bytes, and the box of a copy.
struct Map {
  size_t argument;
  CUtensorMapDataType type;
  uint64_t tensor;
  Int extents[3], strides[2];
  uint32_t box[3];
};

/// The driver's function of this name.
template <class Function> Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  check(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result), name);
#else
  check(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result), name);
#endif
  if (result != cudaDriverEntryPointSuccess || !found)
    throw std::runtime_error(std::string("ingot: the driver has no ") + name +
                             ": update it to CUDA 12 or newer");
  return reinterpret_cast<Function>(found);
}

/// A tensor without elements has no map: no copy reads it.
CUtensorMap encode(const Entry& entry, const Map& map) {
  static const auto encode_tiled =
      driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  CUtensorMap encoded = {};
  cuuint64_t extents[3], strides[2];
  const cuuint32_t ones[3] = {1, 1, 1};
  bool is_counted = true; // by coordinates of 32 bits with a sign
  for (int dim = 0; dim < 3; ++dim) {
    extents[dim] = bits(map.extents[dim]);
    if (extents[dim] == 0) return encoded;
    is_counted &= extents[dim] <= INT32_MAX;
  }
  for (int dim = 0; dim < 2; ++dim) strides[dim] = bits(map.strides[dim]);
  if (is_counted &&
      encode_tiled(&encoded, map.type, 3, reinterpret_cast<void*>(map.tensor), extents, strides,
                   map.box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS)
    return encoded;
  throw std::runtime_error(std::string("ingot: kernel ") + entry.name +
                           ": expected fewer than 2^31 elements along each dimension of a tensor "
                           "map, and steps below 2^40 bytes, got [" +
                           std::to_string(extents[2]) + ", " + std::to_string(extents[1]) + ", " +
                           std::to_string(extents[0]) + "], " + std::to_string(strides[0]) +
                           " and " + std::to_string(strides[1]) + "; give smaller tensors");
}

/// Launches a kernel with arguments of 8 bytes and tensor maps.
template <size_t N, size_t M>
void start(const Call& call, const Entry& entry, const Shape& shape,
           const uint64_t (&arguments)[N], const Map (&maps)[M]) {
  void* pointers[N];
  CUtensorMap encoded[M];
  for (size_t i = 0; i < N; ++i) pointers[i] = const_cast<uint64_t*>(&arguments[i]);
  for (size_t i = 0; i < M; ++i) {
    encoded[i] = encode(entry, maps[i]);
    pointers[maps[i].argument] = &encoded[i];
  }
  start_at(call, entry, shape, pointers);
}
)cpp";

/// This text follows the table kEntries, kLeastCapability and kMostCapability.
[[maybe_unused]] constexpr llvm::StringLiteral kDeviceText =
    R"cpp(int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

/// Loads every kernel on the current device and lets it use the shared memory that it needs.
/// Launches do none of that, so that any launch may be captured. Returns the shared memory that the
/// device has for a block.
int make_ready(int device) {
  const int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
                         attribute(cudaDevAttrComputeCapabilityMinor, device);
  if (capability < kLeastCapability || capability > kMostCapability)
    throw std::runtime_error("ingot: expected a GPU of compute capability " +
                             std::to_string(kLeastCapability / 10) + "." +
                             std::to_string(kLeastCapability % 10) +
                             (kMostCapability > kLeastCapability ? " or newer" : "") + ", got " +
                             std::to_string(capability / 10) + "." +
                             std::to_string(capability % 10));
  const int max_shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  for (const Entry& entry : kEntries) {
    cudaFuncAttributes found = {};
    check(cudaFuncGetAttributes(&found, entry.kernel), entry.name);
    const int64_t offered = max_shared_bytes - static_cast<int64_t>(found.sharedSizeBytes);
    const int64_t wanted = entry.shared_bytes < 0 || entry.shared_bytes > offered
                               ? offered
                               : entry.shared_bytes;
    check(cudaFuncSetAttribute(entry.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(wanted)),
          entry.name);
  }
  return max_shared_bytes;
}

} // namespace

void set_device(Call& call, int device) {
  constexpr int kMostDevices = 64;
  static std::once_flag once[kMostDevices];
  static int max_shared_bytes[kMostDevices];
  if (device < 0 || device >= kMostDevices)
    throw std::runtime_error("ingot: expected a device from 0 to 63, got " +
                             std::to_string(device));
  std::call_once(once[device], [device] { max_shared_bytes[device] = make_ready(device); });
  call.max_shared_bytes = max_shared_bytes[device];
}
)cpp";

} // namespace ingot
