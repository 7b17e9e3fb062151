// SPDX-License-Identifier: Apache-2.0
// A CUDA driver with one pretended A100. Its memory is the host's; kernels are counted, not run;
// machine code is text, and holds the kernels whose names occur in it.
#include "runtime/driver_api.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace ingot::driver_api;

// NOLINTBEGIN(readability-identifier-naming, readability-function-size): CUDA's
#define EXPORT extern "C" __attribute__((visibility("default"))) Result

namespace {

std::atomic<int64_t> launches = 0;
thread_local Context current = nullptr;
char the_context = 0;

struct Code {
  std::string text;
};

char* host(DevicePointer pointer) { return reinterpret_cast<char*>(pointer); }

Result unused() { return 801; } // CUDA_ERROR_NOT_SUPPORTED

} // namespace

extern "C" __attribute__((visibility("default"))) int64_t stand_in_launches() { return launches; }

EXPORT cuInit(unsigned) { return kSuccess; }

EXPORT cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}

EXPORT cuGetErrorName(Result, const char** text) {
  *text = "CUDA_ERROR_PRETENDED";
  return kSuccess;
}

EXPORT cuGetErrorString(Result, const char** text) {
  *text = "pretended";
  return kSuccess;
}

EXPORT cuDeviceGet(Device* device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}

EXPORT cuDeviceGetCount(int* count) {
  *count = 1;
  return kSuccess;
}

EXPORT cuDeviceGetName(char* name, int size, Device) {
  std::strncpy(name, "Pretended A100", size_t(size));
  return kSuccess;
}

EXPORT cuDeviceGetAttribute(int* value, DeviceAttribute attribute, Device) {
  switch (attribute) {
  case kMultiprocessorCount: *value = 108; break;
  case kL2CacheBytes: *value = 40 << 20; break;
  case kComputeCapabilityMajor: *value = 8; break;
  case kComputeCapabilityMinor: *value = 0; break;
  case kMaxSharedPerMultiprocessor: *value = 167936; break;
  case kRegistersPerMultiprocessor: *value = 65536; break;
  case kMaxSharedPerBlockOptin: *value = 166912; break;
  default: *value = 0;
  }
  return kSuccess;
}

EXPORT cuDeviceTotalMem_v2(size_t* bytes, Device) {
  *bytes = size_t(40) << 30;
  return kSuccess;
}

EXPORT cuDevicePrimaryCtxRetain(Context* context, Device) {
  *context = reinterpret_cast<Context>(&the_context);
  return kSuccess;
}

EXPORT cuDevicePrimaryCtxRelease_v2(Device) { return kSuccess; }

EXPORT cuCtxSetCurrent(Context context) {
  current = context;
  return kSuccess;
}

EXPORT cuCtxGetCurrent(Context* context) {
  *context = current;
  return kSuccess;
}

EXPORT cuCtxGetDevice(Device* device) {
  *device = 0;
  return current ? kSuccess : kInvalidContext;
}

EXPORT cuLibraryLoadData(Library* library, const void* code, void*, void**, unsigned, void*, void**,
                         unsigned) {
  *library = reinterpret_cast<Library>(new Code{static_cast<const char*>(code)});
  return kSuccess;
}

EXPORT cuLibraryUnload(Library library) {
  delete reinterpret_cast<Code*>(library);
  return kSuccess;
}

EXPORT cuLibraryGetKernel(Kernel* kernel, Library library, const char* name) {
  *kernel = reinterpret_cast<Kernel>(library);
  const auto* code = reinterpret_cast<const Code*>(library);
  return code->text.find(name) != std::string::npos ? kSuccess : 500; // CUDA_ERROR_NOT_FOUND
}

EXPORT cuKernelGetFunction(Function* function, Kernel kernel) {
  *function = reinterpret_cast<Function>(kernel);
  return kSuccess;
}

EXPORT cuKernelGetAttribute(int* value, FunctionAttribute, Kernel, Device) {
  *value = 0;
  return kSuccess;
}

EXPORT cuKernelSetAttribute(FunctionAttribute, int, Kernel, Device) { return kSuccess; }

EXPORT cuFuncLoad(Function) { return kSuccess; }

EXPORT cuOccupancyMaxActiveClusters(int* clusters, Function, const LaunchConfig*) {
  *clusters = 16;
  return kSuccess;
}

EXPORT cuLaunchKernelEx(const LaunchConfig*, Function function, void**, void**) {
  // Reading the code shows whether it is alive.
  if (reinterpret_cast<const Code*>(function)->text.empty()) return 400;
  ++launches;
  return kSuccess;
}

EXPORT cuTensorMapEncodeTiled(TensorMap* map, TensorMapType, uint32_t, DevicePointer,
                              const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*,
                              TensorMapInterleave, TensorMapSwizzle, TensorMapPromotion,
                              TensorMapFill) {
  *map = {};
  return kSuccess;
}

EXPORT cuMemAlloc_v2(DevicePointer* pointer, size_t bytes) {
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  *pointer = reinterpret_cast<DevicePointer>(memory);
  return memory ? kSuccess : 2; // CUDA_ERROR_OUT_OF_MEMORY
}

EXPORT cuMemFree_v2(DevicePointer pointer) {
  std::free(host(pointer));
  return kSuccess;
}

EXPORT cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
  std::memcpy(host(to), from, bytes);
  return kSuccess;
}

EXPORT cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
  std::memcpy(to, host(from), bytes);
  return kSuccess;
}

EXPORT cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes, Stream) {
  std::memset(host(to), value, bytes);
  return kSuccess;
}

EXPORT cuStreamSynchronize(Stream) { return kSuccess; }

// Functions that are looked up and not called here.
EXPORT cuMemcpyDtoDAsync_v2() { return unused(); }
EXPORT cuEventCreate() { return unused(); }
EXPORT cuEventDestroy_v2() { return unused(); }
EXPORT cuEventRecord() { return unused(); }
EXPORT cuEventSynchronize() { return unused(); }
EXPORT cuEventElapsedTime() { return unused(); }
EXPORT cuStreamCreate() { return unused(); }
EXPORT cuStreamDestroy_v2() { return unused(); }
EXPORT cuStreamBeginCapture_v2() { return unused(); }
EXPORT cuStreamEndCapture() { return unused(); }
EXPORT cuGraphInstantiateWithFlags() { return unused(); }
EXPORT cuGraphLaunch() { return unused(); }
EXPORT cuGraphExecDestroy() { return unused(); }
EXPORT cuGraphDestroy() { return unused(); }

// NOLINTEND(readability-identifier-naming, readability-function-size)
