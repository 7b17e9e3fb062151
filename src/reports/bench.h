// SPDX-License-Identifier: Apache-2.0
// Measures the kernels of a graph on the GPU that is present, and the limits of the same GPU in the
// same run. `ingot bench` calls it.
#pragma once

#include "src/compiler.h"
#include "src/reports/stopwatch.h"

#include "llvm/Support/JSON.h"

namespace ingot {

struct BenchOptions {
  CompileOptions compile;
  DimBindings dims; ///< choose_dims chooses the sizes that are not given
  uint64_t seed = 0;
  PhaseObserver observer; ///< receives the artefacts of the compile; may be empty
};

struct BenchReport {
  std::string graph, device, arch, precision;
  std::vector<std::pair<std::string, int64_t>> dims;
  int64_t kernels = 0;          ///< number of kernels in a launch
  Spread launch;                ///< time of a whole launch on the GPU
  Spread rotated;               ///< the same, with launches one after another on alternating memory
  Spread product;               ///< the first product alone, with the same mainloop; may be none
  double host_microseconds = 0; ///< time of the calling thread per launch
  double bare_microseconds = 0; ///< the same for one empty kernel through the driver alone
  Spread prepare;               ///< time on the GPU; no runs if nothing is prepared
  int64_t prepared_bytes = 0, workspace_bytes = 0;
  int64_t flops = 0, bytes = 0; ///< per launch, as explain counts them
  double copy_ceiling = 0;      ///< bytes read and written per second by a copy of device memory
  std::string unit;             ///< the unit that multiplies: `mma bf16`; empty: no matmul
  double unit_ceiling = 0;      ///< operations per second

  double flops_per_second() const { return static_cast<double>(flops) / launch.median * 1e3; }
  double bytes_per_second() const { return static_cast<double>(bytes) / launch.median * 1e3; }
};

std::string text_of(const BenchReport& report);
llvm::json::Value json_of(const BenchReport& report);

/// Draws inputs, launches until the clocks have settled, then measures one launch at a time. The L2
/// cache then holds no data of the launch. `check` verifies results, not this function. Errors:
/// those of compiling and launching; ErrorCode::unavailable without a GPU.
llvm::Expected<BenchReport> bench_on_gpu(const Graph& graph, const BenchOptions& options,
                                         const std::shared_ptr<CompileService>& service);

} // namespace ingot
