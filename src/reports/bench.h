// SPDX-License-Identifier: Apache-2.0
// How long the kernels of a graph take on the GPU that is present, beside what the same GPU does at
// most, measured in the same run: what `ingot bench` does.
#pragma once

#include "ir/interpreter/evaluate.h"
#include "src/compiler.h"
#include "src/reports/stopwatch.h"

#include "llvm/Support/JSON.h"

namespace ingot {

struct BenchOptions {
  CompileOptions compile;
  DimBindings dims; ///< choose_dims chooses those that are not given
  uint64_t seed = 0;
  StageObserver observer; ///< hears of the stages of the compile; may be empty
};

struct BenchReport {
  std::string graph, device, arch, precision;
  std::vector<std::pair<std::string, int64_t>> dims;
  int64_t kernels = 0;          ///< of a launch
  Spread launch;                ///< on the GPU, of a whole launch
  Spread rotated;               ///< the same, one behind the other on memory in turns
  Spread product;               ///< of the first product alone, by the same mainloop; may be none
  double host_microseconds = 0; ///< of the calling thread, for a launch
  double bare_microseconds = 0; ///< the same, for one empty kernel by the driver alone
  Spread prepare;               ///< on the GPU; of no runs where nothing is prepared
  int64_t prepared_bytes = 0, workspace_bytes = 0;
  int64_t flops = 0, bytes = 0; ///< of a launch, as explain counts them
  double copy_ceiling = 0;      ///< bytes read and written a second by a copy of device memory
  std::string unit;             ///< what multiplies: `mma bf16`; empty: the graph has no matmul
  double unit_ceiling = 0;      ///< operations a second

  double flops_per_second() const { return static_cast<double>(flops) / launch.median * 1e3; }
  double bytes_per_second() const { return static_cast<double>(bytes) / launch.median * 1e3; }
};

std::string text_of(const BenchReport& report);
llvm::json::Value json_of(const BenchReport& report);

/// Draws inputs, launches until the clocks have settled, then measures launch by launch, each with
/// an L2 cache that holds nothing of it. Results are not looked at: `check` does that.
/// Errors: what compiling or launching reports; ErrorCode::unavailable without a GPU.
llvm::Expected<BenchReport> bench_on_gpu(const Graph& graph, const BenchOptions& options,
                                         const std::shared_ptr<CompileService>& service);

} // namespace ingot
