// SPDX-License-Identifier: Apache-2.0
// A compiled graph, ready to run: a Module with its machine code. `prepare` compiles, loads and
// runs the prepare program once; `launch` only checks and launches. Made by the compiler's front.
#pragma once

#include "codegen/program.h"
#include "runtime/compile_service.h"
#include "runtime/driver.h"
#include "runtime/launch_check.h"
#include "runtime/launch_plan.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ingot {

/// Bytes and alignments of the caller-owned memories.
struct MemorySizes {
  struct Size {
    int64_t bytes = 0;
    int64_t alignment = 1;
  };
  Size prepared;  ///< per parameter set; read-only after prepare
  Size workspace; ///< per launch in flight; undefined on entry
  Size state;     ///< per launch in flight; zeroed once by the caller, restored by every launch
};

struct PrepareRequest {
  /// Sizes that will be launched: a value (least == most) or a range per named dimension. A
  /// dimension that is not listed takes its whole declared range.
  std::vector<DimInfo> dims;
  llvm::ArrayRef<TensorArgument> params; ///< may be empty where the prepare program has no steps
  DevicePointer prepared = 0;
  DevicePointer workspace = 0;
  Stream stream = nullptr;
};

struct LaunchRequest {
  llvm::ArrayRef<TensorArgument> inputs;
  llvm::ArrayRef<TensorArgument> params;
  llvm::ArrayRef<TensorArgument> outputs;
  DevicePointer prepared = 0;
  DevicePointer workspace = 0;
  DevicePointer state = 0;
  Stream stream = nullptr;
};

class Executable {
public:
  /// `driver`: null opens the machine's at the first prepare; tests pass their own.
  static llvm::Expected<std::unique_ptr<Executable>>
  create(Module module, std::shared_ptr<CompileService> service,
         const driver_api::Functions* driver = nullptr);
  ~Executable();

  const Module& module() const { return module_; }

  /// The largest sizes that launches within `dims` need. Needs no GPU: what depends on the device
  /// is a bound for any, until prepare has seen one.
  llvm::Expected<MemorySizes> memory(llvm::ArrayRef<DimInfo> dims) const;

  /// Compiles and loads the variants that `request.dims` may need on the current context's device,
  /// then enqueues the prepare program on the stream. May be called again: for further sizes,
  /// another parameter set (with prepared memory of its own), another device, or after writing to
  /// a param. Thread-safe.
  llvm::Error prepare(const PrepareRequest& request);

  /// Enqueues the launch program on the stream. Never compiles, allocates or sets attributes; may
  /// be captured in a CUDA graph. Thread-safe. Tensors stand in the module's order.
  llvm::Error launch(const LaunchRequest& request) const;

private:
  struct LoadedVariant;
  struct DeviceState;
  struct ParamSet;
  struct Prepared;

  Executable(Module module, LaunchPlan plan, std::shared_ptr<CompileService> service,
             const driver_api::Functions* driver);

  llvm::Expected<SlotIntervals> declared_ranges(llvm::ArrayRef<DimInfo> dims) const;
  llvm::Expected<const driver_api::Functions*> driver_locked();
  llvm::Expected<DeviceState> describe_device(driver_api::Device device) const;
  llvm::Error load_variants(DeviceState& device, llvm::ArrayRef<SlotRange> slots);
  llvm::Error compile_variants(llvm::ArrayRef<uint32_t> variants);
  llvm::Error ready_variant(DeviceState& device, uint32_t variant, llvm::ArrayRef<SlotRange> slots);
  llvm::Expected<int64_t> run_prepare(const PrepareRequest& request, const DeviceState& device,
                                      llvm::ArrayRef<SlotRange> ranges);
  std::shared_ptr<const Prepared> published() const;
  void publish(std::shared_ptr<const Prepared> prepared);
  llvm::Error not_prepared(const Prepared* prepared, llvm::ArrayRef<int64_t> slots) const;
  llvm::Error check_params(const Prepared& prepared, const LaunchRequest& request,
                           driver_api::Device device) const;
  llvm::Error run(llvm::ArrayRef<BoundStep> steps, const DeviceState& device,
                  llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases,
                  Stream stream) const;
  llvm::Error launch_kernel(const BoundKernel& kernel, const DeviceState& device,
                            llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases,
                            Stream stream) const;

  const Module module_;
  const LaunchPlan plan_;
  const std::shared_ptr<CompileService> service_;

  std::mutex prepare_mutex_;
  std::atomic<const driver_api::Functions*> driver_;
  std::vector<std::shared_ptr<const CompiledKernel>> compiled_; ///< by variant; null: not yet
  std::vector<std::unique_ptr<LoadedLibrary>> libraries_;       ///< by variant; null: not yet

  /// Immutable: prepare replaces it when something is new, and a launch keeps the one it began
  /// with. The mutex is held while the pointer is copied, and no longer.
  std::shared_ptr<const Prepared> prepared_;
  mutable std::mutex published_mutex_;
};

} // namespace ingot
