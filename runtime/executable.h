// SPDX-License-Identifier: Apache-2.0
// A compiled graph, ready to run: a Module and where its code comes from. `prepare` gets and loads
// code and runs the prepare program once; `launch` checks and launches. A launch gets code only
// where a tensor is aligned to less than kExpectedAlignment and needs a variant for that. Made by
// the compiler's front, and by a bundle for each of its sections.
#pragma once

#include "runtime/code_provider.h"
#include "runtime/launch_plan.h"
#include "runtime/launch_records.h"
#include "runtime/launchable.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ingot {

class Executable final : public Launchable {
public:
  /// If `driver` is null, the first prepare opens the machine's driver. Tests pass their own.
  static llvm::Expected<std::unique_ptr<Executable>>
  create(Module module, std::shared_ptr<CodeProvider> code,
         const driver_api::Functions* driver = nullptr);
  Executable(std::shared_ptr<const BoundModule> bound, std::shared_ptr<CodeProvider> code,
             const driver_api::Functions* driver);
  ~Executable() override;

  const Module& module() const override { return module_; }
  llvm::Expected<MemorySizes> memory(llvm::ArrayRef<DimInfo> dims) const override;
  llvm::Error prepare(const PrepareRequest& request) override;
  llvm::Error launch(const LaunchRequest& request) const override;

private:
  struct DeviceState;
  struct ParamSet;
  struct Prepared;
  /// Loads a variant that prepare left out.
  using LoadVariant = llvm::function_ref<llvm::Expected<LoadedVariant>(uint32_t variant)>;

  llvm::Expected<SlotIntervals> declared_ranges(llvm::ArrayRef<DimInfo> dims) const;
  llvm::Expected<const driver_api::Functions*> driver_locked();
  llvm::Expected<DeviceState> describe_device(driver_api::Device device) const;
  llvm::Error load_variants(DeviceState& device, llvm::ArrayRef<IntRange> slots);
  llvm::Error get_images(llvm::ArrayRef<uint32_t> variants) const;
  llvm::Error load_library(uint32_t variant) const;
  llvm::Error ready_variant(DeviceState& device, uint32_t variant,
                            llvm::ArrayRef<IntRange> slots) const;
  llvm::Error ready_variants(DeviceState& device, llvm::ArrayRef<uint32_t> variants,
                             llvm::ArrayRef<IntRange> slots) const;
  llvm::Expected<LoadedVariant> load_late(driver_api::Device device, uint32_t variant,
                                          llvm::ArrayRef<int64_t> slots) const;
  llvm::Expected<int64_t> run_prepare(const PrepareRequest& request, DeviceState& device,
                                      llvm::ArrayRef<IntRange> ranges);
  std::shared_ptr<const Prepared> published() const;
  void publish(std::shared_ptr<const Prepared> prepared) const;
  llvm::Error not_prepared(const Prepared* prepared, llvm::ArrayRef<int64_t> slots) const;
  llvm::Error check_params(const Prepared& prepared, const LaunchRequest& request,
                           driver_api::Device device) const;
  llvm::Error bind_call(const BoundKernel& kernel, const DeviceState& device,
                        llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases,
                        LoadVariant load, KernelCall& call) const;
  llvm::Error bind_calls(llvm::ArrayRef<Step> steps, const DeviceState& device,
                         llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases,
                         LoadVariant load, std::vector<KernelCall>& calls) const;
  llvm::Error bind_launch(const LaunchRequest& request, const Prepared& prepared,
                          driver_api::Device current, std::vector<KernelCall>& calls) const;
  llvm::Error repeat_or_bind(const LaunchRequest& request, std::shared_ptr<const Prepared> prepared,
                             driver_api::Device device, LaunchRecord& record) const;
  llvm::Error enqueue(llvm::ArrayRef<KernelCall> calls, Stream stream) const;

  const std::shared_ptr<const BoundModule> bound_;
  const Module& module_;   ///< the module of bound_
  const LaunchPlan& plan_; ///< the plan of bound_
  const std::shared_ptr<CodeProvider> code_;

  std::atomic<const driver_api::Functions*> driver_;
  /// Held by prepare, and by the rare launch that loads a variant. It guards the two vectors, which
  /// are indexed by variant and filled from the first prepare on.
  mutable std::mutex prepare_mutex_;
  mutable std::vector<CodeImage> images_;                         ///< null bytes: not yet
  mutable std::vector<std::shared_ptr<LoadedLibrary>> libraries_; ///< one for each image

  /// Immutable: whoever adds to it replaces it, and a launch keeps the one it began with. The mutex
  /// is held while the pointer is copied, and no longer.
  mutable std::shared_ptr<const Prepared> prepared_;
  mutable std::mutex published_mutex_;
  mutable LaunchRecords records_;
};

} // namespace ingot
