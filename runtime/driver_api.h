// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver's C interface that Ingot calls. It is declared here so that Ingot
// builds where CUDA is not installed. Layouts are those of the driver's stable ABI (12.4 and
// later).
#pragma once

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
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidContext = 201;
inline constexpr Result kNoBinaryForGpu = 209;

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
  kLocalBytes = 3,
  kNumRegisters = 4,
  kMaxDynamicSharedBytes = 8,
};

enum LaunchAttributeId : int { kCooperative = 2, kClusterDimension = 4 };

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[8 - sizeof(LaunchAttributeId)];
  union {
    char bytes[64];
    int cooperative;
    unsigned cluster[3];
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

/// The entry points. A test fills its own table.
struct Functions {
  Result (*init)(unsigned flags) = nullptr;
  Result (*driver_version)(int* version) = nullptr;
  Result (*error_name)(Result error, const char** text) = nullptr;
  Result (*error_string)(Result error, const char** text) = nullptr;

  Result (*device_get)(Device* device, int ordinal) = nullptr;
  Result (*device_count)(int* count) = nullptr;
  Result (*device_name)(char* name, int size, Device device) = nullptr;
  Result (*device_attribute)(int* value, DeviceAttribute attribute, Device device) = nullptr;
  Result (*device_memory)(size_t* bytes, Device device) = nullptr;
  Result (*primary_retain)(Context* context, Device device) = nullptr;
  Result (*primary_release)(Device device) = nullptr;
  Result (*context_set)(Context context) = nullptr;
  Result (*context_get)(Context* context) = nullptr;
  Result (*context_device)(Device* device) = nullptr;

  Result (*library_load)(Library* library, const void* code, void* jit_options, void** jit_values,
                         unsigned num_jit, void* options, void** values, unsigned num) = nullptr;
  Result (*library_unload)(Library library) = nullptr;
  Result (*library_kernel)(Kernel* kernel, Library library, const char* name) = nullptr;
  Result (*kernel_function)(Function* function, Kernel kernel) = nullptr;
  Result (*kernel_attribute)(int* value, FunctionAttribute attribute, Kernel kernel,
                             Device device) = nullptr;
  Result (*kernel_set_attribute)(FunctionAttribute attribute, int value, Kernel kernel,
                                 Device device) = nullptr;
  Result (*function_load)(Function function) = nullptr;
  Result (*occupancy)(int* blocks, Function function, int threads, size_t shared_bytes) = nullptr;
  Result (*launch)(const LaunchConfig* config, Function function, void** params,
                   void** extra) = nullptr;

  Result (*memory_alloc)(DevicePointer* pointer, size_t bytes) = nullptr;
  Result (*memory_free)(DevicePointer pointer) = nullptr;
  Result (*copy_to_device)(DevicePointer to, const void* from, size_t bytes) = nullptr;
  Result (*copy_to_host)(void* to, DevicePointer from, size_t bytes) = nullptr;
  Result (*fill_async)(DevicePointer to, unsigned char value, size_t bytes,
                       Stream stream) = nullptr;

  Result (*copy_async)(DevicePointer to, DevicePointer from, size_t bytes, Stream stream) = nullptr;

  Result (*event_create)(Event* event, unsigned flags) = nullptr;
  Result (*event_destroy)(Event event) = nullptr;
  Result (*event_record)(Event event, Stream stream) = nullptr;
  Result (*event_synchronize)(Event event) = nullptr;
  Result (*event_elapsed)(float* milliseconds, Event start, Event end) = nullptr;

  Result (*stream_create)(Stream* stream, unsigned flags) = nullptr;
  Result (*stream_destroy)(Stream stream) = nullptr;
  Result (*stream_synchronize)(Stream stream) = nullptr;
  Result (*stream_begin_capture)(Stream stream, int mode) = nullptr;
  Result (*stream_end_capture)(Stream stream, Graph* graph) = nullptr;
  Result (*graph_instantiate)(GraphExec* exec, Graph graph, unsigned long long flags) = nullptr;
  Result (*graph_launch)(GraphExec exec, Stream stream) = nullptr;
  Result (*graph_exec_destroy)(GraphExec exec) = nullptr;
  Result (*graph_destroy)(Graph graph) = nullptr;
};

} // namespace ingot::driver_api
