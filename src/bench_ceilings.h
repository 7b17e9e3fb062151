// SPDX-License-Identifier: Apache-2.0
// What the GPU of the current context does at most: bytes of a copy, operations of the units that
// multiply. Called by bench.
#pragma once

#include "codegen/schedule.h"
#include "runtime/compile_service.h"
#include "runtime/driver.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot {

/// Bytes read and written a second by the driver's copy between two buffers that no cache holds.
llvm::Expected<double> measure_copy(const driver_api::Functions& driver, Stream stream);

/// `mma bf16`, `fma f32`.
std::string unit_name(ComputeType compute);

/// CUDA C++ of a kernel that does nothing but multiply.
std::string ceiling_source(ComputeType compute);

/// Operations a second (two for a multiply-add) of that kernel, in
/// registers, on values as random as those of a matmul: the power that they draw sets the clocks.
llvm::Expected<double> measure_unit(const driver_api::Functions& driver, CompileService& service,
                                    const std::string& arch, ComputeType compute, Stream stream);

/// Microseconds of the calling thread for a launch of an empty kernel by the driver alone.
llvm::Expected<double> measure_bare_launch(const driver_api::Functions& driver,
                                           CompileService& service, const std::string& arch,
                                           Stream stream);

/// Median microseconds of the calling thread for `enqueue`, on an idle GPU each time.
llvm::Expected<double> host_microseconds(const driver_api::Functions& driver, Stream stream,
                                         llvm::function_ref<llvm::Error()> enqueue);

} // namespace ingot
