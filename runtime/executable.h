// SPDX-License-Identifier: Apache-2.0
// A compiled graph that is ready to run: a Module and the source of its code. `prepare` gets and
// loads code and runs the prepare program once. `launch` only checks and launches. The compiler's
// front end makes it, and a bundle makes one for each of its sections.
#pragma once

#include "runtime/code_provider.h"
#include "runtime/launch_plan.h"
#include "runtime/launchable.h"

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
  struct LoadedVariant;
  struct DeviceState;
  struct ParamSet;
  struct Prepared;

  llvm::Expected<SlotIntervals> declared_ranges(llvm::ArrayRef<DimInfo> dims) const;
  llvm::Expected<const driver_api::Functions*> driver_locked();
  llvm::Expected<DeviceState> describe_device(driver_api::Device device) const;
  llvm::Error load_variants(DeviceState& device, llvm::ArrayRef<SlotRange> slots);
  llvm::Error get_images(llvm::ArrayRef<uint32_t> variants);
  llvm::Error load_library(uint32_t variant);
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

  const std::shared_ptr<const BoundModule> bound_;
  const Module& module_;   ///< the module of bound_
  const LaunchPlan& plan_; ///< the plan of bound_
  const std::shared_ptr<CodeProvider> code_;

  std::mutex prepare_mutex_;
  std::atomic<const driver_api::Functions*> driver_;
  /// One element per variant, filled by the first prepare, so that executables that never run stay
  /// small.
  std::vector<CodeImage> images_;                         ///< null bytes: not loaded yet
  std::vector<std::shared_ptr<LoadedLibrary>> libraries_; ///< one per image

  /// Immutable. prepare replaces the object when it adds something; a launch keeps the object that
  /// it started with. The mutex is held only while the pointer is copied.
  std::shared_ptr<const Prepared> prepared_;
  mutable std::mutex published_mutex_;
};

} // namespace ingot
