// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver's C interface that Ingot calls. It is declared here so that Ingot
// builds where CUDA is not installed. Layouts are those of the driver's stable ABI (12.4 and
// later).
#pragma once

#include "runtime/shared_object.h"

#include <cstddef>
#include <cstdint>

namespace ingot::driver_api {

using Result = int;
using Device = int;
using DevicePointer = uint64_t;
using Context = struct ContextOpaque*;
using Stream = struct StreamOpaque*;
using Event = struct EventOpaque*;
using Library = struct LibraryOpaque*;
using Kernel = struct KernelOpaque*;
using Function = struct FunctionOpaque*;
using Graph = struct GraphOpaque*;
using GraphExec = struct GraphExecOpaque*;

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidContext = 201;

enum DeviceAttribute : int {
  kMultiprocessorCount = 16,
  kL2CacheBytes = 38,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kMaxSharedPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  kStaticSharedBytes = 1,
  kMaxDynamicSharedBytes = 8,
};

enum LaunchAttributeId : int { kClusterDimension = 4, kProgrammaticSerialization = 6 };

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[8 - sizeof(LaunchAttributeId)];
  union {
    char bytes[64];
    unsigned cluster[3];
    int serialization_is_programmatic;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned num_attributes;
};
static_assert(offsetof(LaunchConfig, stream) == 32 && sizeof(LaunchConfig) == 56);

/// CUtensorMap.
struct alignas(64) TensorMap {
  uint64_t words[16];
};

enum TensorMapType : int { kMapF16 = 6, kMapF32 = 7, kMapBf16 = 9, kMapTf32 = 11 };
enum TensorMapInterleave : int { kNotInterleaved = 0 };
enum TensorMapSwizzle : int { kSwizzle128Bytes = 3 };
enum TensorMapPromotion : int { kPromote256Bytes = 3 };
enum TensorMapFill : int { kFillWithZeros = 0 };

/// The functions by their names in libcuda. A test fills its own table.
struct Functions {
  EntryPoint<Result(unsigned flags)> init{"cuInit"};
  EntryPoint<Result(int* version)> driver_version{"cuDriverGetVersion"};
  EntryPoint<Result(Result error, const char** text)> error_name{"cuGetErrorName"};
  EntryPoint<Result(Result error, const char** text)> error_string{"cuGetErrorString"};

  EntryPoint<Result(Device* device, int ordinal)> device_get{"cuDeviceGet"};
  EntryPoint<Result(int* count)> device_count{"cuDeviceGetCount"};
  EntryPoint<Result(char* name, int size, Device device)> device_name{"cuDeviceGetName"};
  EntryPoint<Result(int* value, DeviceAttribute attribute, Device device)> device_attribute{
      "cuDeviceGetAttribute"};
  EntryPoint<Result(size_t* bytes, Device device)> device_memory{"cuDeviceTotalMem_v2"};
  EntryPoint<Result(Context* context, Device device)> primary_retain{"cuDevicePrimaryCtxRetain"};
  EntryPoint<Result(Device device)> primary_release{"cuDevicePrimaryCtxRelease_v2"};
  EntryPoint<Result(Context context)> context_set{"cuCtxSetCurrent"};
  EntryPoint<Result(Context* context)> context_get{"cuCtxGetCurrent"};
  EntryPoint<Result(Device* device)> context_device{"cuCtxGetDevice"};

  EntryPoint<Result(Library* library, const void* code, void* jit_options, void** jit_values,
                    unsigned num_jit, void* options, void** values, unsigned num)>
      library_load{"cuLibraryLoadData"};
  EntryPoint<Result(Library library)> library_unload{"cuLibraryUnload"};
  EntryPoint<Result(Kernel* kernel, Library library, const char* name)> library_kernel{
      "cuLibraryGetKernel"};
  EntryPoint<Result(Function* function, Kernel kernel)> kernel_function{"cuKernelGetFunction"};
  EntryPoint<Result(int* value, FunctionAttribute attribute, Kernel kernel, Device device)>
      kernel_attribute{"cuKernelGetAttribute"};
  EntryPoint<Result(FunctionAttribute attribute, int value, Kernel kernel, Device device)>
      kernel_set_attribute{"cuKernelSetAttribute"};
  EntryPoint<Result(Function function)> function_load{"cuFuncLoad"};
  EntryPoint<Result(const LaunchConfig* config, Function function, void** params, void** extra)>
      launch{"cuLaunchKernelEx"};
  EntryPoint<Result(int* clusters, Function function, const LaunchConfig* config)> most_clusters{
      "cuOccupancyMaxActiveClusters"};

  EntryPoint<Result(TensorMap* map, TensorMapType type, uint32_t rank, DevicePointer tensor,
                    const uint64_t* extents, const uint64_t* strides, const uint32_t* box,
                    const uint32_t* element_strides, TensorMapInterleave interleave,
                    TensorMapSwizzle swizzle, TensorMapPromotion promotion, TensorMapFill fill)>
      encode_tensor_map{"cuTensorMapEncodeTiled"};

  EntryPoint<Result(DevicePointer* pointer, size_t bytes)> memory_alloc{"cuMemAlloc_v2"};
  EntryPoint<Result(DevicePointer pointer)> memory_free{"cuMemFree_v2"};
  EntryPoint<Result(DevicePointer to, const void* from, size_t bytes)> copy_to_device{
      "cuMemcpyHtoD_v2"};
  EntryPoint<Result(void* to, DevicePointer from, size_t bytes)> copy_to_host{"cuMemcpyDtoH_v2"};
  EntryPoint<Result(DevicePointer to, unsigned char value, size_t bytes, Stream stream)> fill_async{
      "cuMemsetD8Async"};

  EntryPoint<Result(DevicePointer to, DevicePointer from, size_t bytes, Stream stream)> copy_async{
      "cuMemcpyDtoDAsync_v2"};

  EntryPoint<Result(Event* event, unsigned flags)> event_create{"cuEventCreate"};
  EntryPoint<Result(Event event)> event_destroy{"cuEventDestroy_v2"};
  EntryPoint<Result(Event event, Stream stream)> event_record{"cuEventRecord"};
  EntryPoint<Result(Event event)> event_synchronize{"cuEventSynchronize"};
  EntryPoint<Result(float* milliseconds, Event start, Event end)> event_elapsed{
      "cuEventElapsedTime"};

  EntryPoint<Result(Stream* stream, unsigned flags)> stream_create{"cuStreamCreate"};
  EntryPoint<Result(Stream stream)> stream_destroy{"cuStreamDestroy_v2"};
  EntryPoint<Result(Stream stream)> stream_synchronize{"cuStreamSynchronize"};
  EntryPoint<Result(Stream stream, int mode)> stream_begin_capture{"cuStreamBeginCapture_v2"};
  EntryPoint<Result(Stream stream, Graph* graph)> stream_end_capture{"cuStreamEndCapture"};
  EntryPoint<Result(GraphExec* exec, Graph graph, unsigned long long flags)> graph_instantiate{
      "cuGraphInstantiateWithFlags"};
  EntryPoint<Result(GraphExec exec, Stream stream)> graph_launch{"cuGraphLaunch"};
  EntryPoint<Result(GraphExec exec)> graph_exec_destroy{"cuGraphExecDestroy"};
  EntryPoint<Result(Graph graph)> graph_destroy{"cuGraphDestroy"};
};

} // namespace ingot::driver_api
