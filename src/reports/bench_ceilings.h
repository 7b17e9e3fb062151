// SPDX-License-Identifier: Apache-2.0
// The limits of the GPU of the current context: bytes of a copy, operations of the units that
// multiply. bench calls it.
#pragma once

#include "codegen/schedule/choose.h"
#include "runtime/compile_service.h"
#include "runtime/device_memory.h"
#include "runtime/driver.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

/// A kernel from source text, without the runtime around it.
struct BareKernel {
  static llvm::Expected<BareKernel> load(const driver_api::Functions& driver,
                                         CompileService& service, const std::string& arch,
                                         const std::string& entry, const std::string& source);
  llvm::Error launch(const driver_api::Functions& driver, unsigned blocks, unsigned threads,
                     void** arguments, Stream stream) const;

  LoadedLibrary library;
  driver_api::Function function;
};

/// The driver's copy between two buffers that are larger than any cache.
struct CopyCeiling {
  /// Each copy reads `bytes` and writes as many.
  static llvm::Expected<CopyCeiling> create(const driver_api::Functions& driver, int64_t bytes,
                                            Stream stream);
  llvm::Error enqueue();
  /// Bytes read and written per second if one copy takes `milliseconds`.
  double per_second(double milliseconds) const;

  const driver_api::Functions* driver;
  DeviceBuffer from, to;
  Stream stream;
};

/// `mma bf16`, `fma f32`.
std::string unit_name(ComputeType compute);

/// The CUDA C++ of a kernel that only multiplies.
std::string ceiling_source(ComputeType compute);

/// A launch of that kernel. It works in registers, on values as random as those of a matmul,
/// because their power consumption determines the clocks.
struct UnitCeiling {
  static llvm::Expected<UnitCeiling> create(const driver_api::Functions& driver,
                                            CompileService& service, const std::string& arch,
                                            ComputeType compute, Stream stream);
  llvm::Error enqueue();
  /// Operations per second (two per multiply-add) if one launch takes `milliseconds`.
  double per_second(double milliseconds) const;

  const driver_api::Functions* driver;
  BareKernel kernel;
  DeviceBuffer out;
  ComputeType compute;
  unsigned blocks;
  Stream stream;
};

/// The time of the calling thread, in microseconds, to launch an empty kernel through the driver
/// alone.
llvm::Expected<double> measure_bare_launch(const driver_api::Functions& driver,
                                           CompileService& service, const std::string& arch,
                                           Stream stream);

/// The median time of the calling thread for `enqueue`, in microseconds, with an idle GPU each
/// time.
llvm::Expected<double> host_microseconds(const driver_api::Functions& driver, Stream stream,
                                         llvm::function_ref<llvm::Error()> enqueue);

} // namespace ingot
