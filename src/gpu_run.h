// SPDX-License-Identifier: Apache-2.0
// The caller's side of an executable, from host tensors to host tensors: memory on the GPU,
// prepare, and launches into poisoned outputs. check and execute call it.
#pragma once

#include "ir/interpreter/evaluate.h"
#include "runtime/device_memory.h"
#include "src/compiler.h"

#include <deque>

namespace ingot {

/// Inputs and params on the current context's device. The tensors that they were copied from may be
/// freed.
class GpuInputs {
public:
  /// Copies `tensors`, which are in the graph's order of declaration.
  static llvm::Expected<GpuInputs> upload(const driver_api::Functions& driver, const Graph& graph,
                                          llvm::ArrayRef<const Tensor*> tensors);
  /// Copies the same elements to other memory.
  llvm::Expected<GpuInputs> copy(const driver_api::Functions& driver) const;
  llvm::ArrayRef<TensorArgument> inputs() const { return inputs_; }
  llvm::ArrayRef<TensorArgument> params() const { return params_; }

private:
  void add(bool is_param, DeviceBuffer buffer, llvm::ArrayRef<int64_t> extents);
  std::vector<DeviceBuffer> buffers_;                 ///< in the graph's order
  std::vector<bool> is_param_;                        ///< one per tensor
  std::deque<llvm::SmallVector<int64_t, 4>> extents_; ///< the arguments point to these
  std::vector<TensorArgument> inputs_, params_;
};

/// Random inputs and params from default_distribution. Errors: ErrorCode::invalid_argument if the
/// host lacks memory for them.
llvm::Expected<std::vector<Tensor>> draw_tensors(const Graph& graph, const DimBindings& dims,
                                                 uint64_t seed);
std::vector<const Tensor*> pointers_to(llvm::ArrayRef<Tensor> tensors);

/// Everything else that a launch needs. The inputs must outlive it.
class GpuRun {
public:
  /// Allocates outputs and memories, and prepares for the sizes of `ranges`. If empty, prepares
  /// only for `dims`, the sizes of `inputs`.
  static llvm::Expected<GpuRun> create(const driver_api::Functions& driver,
                                       std::shared_ptr<Executable> executable, const Graph& graph,
                                       const GpuInputs& inputs, const DimBindings& dims,
                                       llvm::ArrayRef<DimInfo> ranges = {});

  /// Fills outputs and workspace with NaN, launches and waits.
  llvm::Error launch();
  /// Only launches.
  llvm::Error enqueue() { return enqueue_on(stream()); }
  llvm::Error enqueue_on(Stream stream);
  /// Runs the prepare program again on the same params.
  llvm::Error enqueue_prepare();
  Stream stream() const { return stream_.get(); }

  struct Fetched {
    Tensor tensor;
    bool surroundings_kept = true; ///< no byte just before or after the output changed
  };
  llvm::Expected<Fetched> fetch(size_t output) const;

  /// An output of two launches.
  struct Twice {
    Tensor tensor;                 ///< of the first launch
    bool same_bits = true;         ///< the second launch gave the same bytes
    bool surroundings_kept = true; ///< by both launches
  };
  llvm::Expected<std::vector<Twice>> launch_twice();

private:
  GpuRun(const driver_api::Functions& driver, std::shared_ptr<Executable> executable,
         const GpuInputs& inputs, DeviceStream stream)
      : driver_(&driver), executable_(std::move(executable)), inputs_(&inputs),
        stream_(std::move(stream)) {}
  llvm::Error make_outputs(const Graph& graph, const DimBindings& dims);
  llvm::Error make_memories();

  struct Output {
    DType dtype;
    llvm::SmallVector<int64_t, 4> extents;
    DeviceBuffer buffer; ///< the output between two guards
  };

  const driver_api::Functions* driver_;
  std::shared_ptr<Executable> executable_;
  const GpuInputs* inputs_;
  DeviceStream stream_;
  std::vector<DimInfo> ranges_; ///< the prepared sizes
  std::vector<Output> outputs_;
  std::vector<DeviceBuffer> memories_; ///< prepared, workspace, state
};

} // namespace ingot
