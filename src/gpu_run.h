// SPDX-License-Identifier: Apache-2.0
// The caller's side of an executable, from host tensors to host tensors: memory on the GPU,
// prepare, launches into poisoned outputs. Called by check and execute.
#pragma once

#include "ir/interpreter/evaluate.h"
#include "runtime/device_memory.h"
#include "src/compiler.h"

namespace ingot {

/// One input list on the current context's device. The executable must outlive it.
class GpuRun {
public:
  /// Uploads the inputs and params (in the graph's order of declaration; their sizes are `dims`),
  /// allocates the rest, and prepares for the sizes of `ranges`; empty: for `dims` alone.
  static llvm::Expected<GpuRun> create(const driver_api::Functions& driver, Executable& executable,
                                       const Graph& graph, llvm::ArrayRef<const Tensor*> inputs,
                                       const DimBindings& dims,
                                       llvm::ArrayRef<DimInfo> ranges = {});

  /// Fills outputs and workspace with NaN, launches and waits.
  llvm::Error launch();
  /// Launches, and does no more.
  llvm::Error enqueue();
  /// Runs the prepare program again, on the same params.
  llvm::Error enqueue_prepare();
  Stream stream() const { return stream_.get(); }

  struct Fetched {
    Tensor tensor;
    bool surroundings_kept = true; ///< no byte just before or after the output was written
  };
  llvm::Expected<Fetched> fetch(size_t output) const;

private:
  GpuRun(const driver_api::Functions& driver, Executable& executable, DeviceStream stream)
      : driver_(&driver), executable_(&executable), stream_(std::move(stream)) {}
  llvm::Error upload(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs);
  llvm::Error make_outputs(const Graph& graph, const DimBindings& dims);
  llvm::Error make_memories();

  struct Output {
    DType dtype;
    llvm::SmallVector<int64_t, 4> extents;
    DeviceBuffer buffer; ///< the output between two guards
  };

  const driver_api::Functions* driver_;
  Executable* executable_;
  DeviceStream stream_;
  std::vector<DimInfo> ranges_; ///< what is prepared
  std::vector<DeviceBuffer> buffers_;
  std::vector<TensorArgument> inputs_, params_;
  std::vector<Output> outputs_;
  std::vector<DeviceBuffer> memories_; ///< prepared, workspace, state
};

} // namespace ingot
