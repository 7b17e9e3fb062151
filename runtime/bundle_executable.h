// SPDX-License-Identifier: Apache-2.0
// A bundle that is ready to run. prepare chooses the section whose code fits the GPU of the current
// context. It needs no compiler. The public API makes it.
#pragma once

#include "codegen/program/bundle.h"
#include "runtime/executable.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ingot {

class BundleExecutable final : public Launchable {
public:
  /// `driver` as for Executable. Errors: those of LaunchPlan::bind for a section's module.
  static llvm::Expected<std::unique_ptr<BundleExecutable>>
  create(std::shared_ptr<const Bundle> bundle, const driver_api::Functions* driver = nullptr);
  ~BundleExecutable() override;

  const Module& module() const override { return section().manifest->module; }
  /// The section that launches on the current device run; before prepare, the first.
  const BundleSection& section() const;

  /// On a prepared device, the needs of its section. Otherwise the maximum over all sections, which
  /// is enough on any device.
  llvm::Expected<MemorySizes> memory(llvm::ArrayRef<DimInfo> dims) const override;

  /// Errors: unsupported on a GPU that no section has code for. The message lists the
  /// architectures.
  llvm::Error prepare(const PrepareRequest& request) override;
  llvm::Error launch(const LaunchRequest& request) const override;

private:
  /// One image of one section: machine code or PTX.
  struct Candidate {
    const BundleSection* section = nullptr;
    bool is_ptx = false;
    std::unique_ptr<Executable> executable;
  };
  struct Choice {
    driver_api::Device device = 0;
    const Candidate* candidate = nullptr;
  };

  BundleExecutable(std::shared_ptr<const Bundle> bundle, const driver_api::Functions* driver);

  void add(const BundleSection& section, std::shared_ptr<const BoundModule> module, bool is_ptx);
  llvm::Expected<const driver_api::Functions*> driver();
  llvm::Expected<const Candidate*> choose(const DeviceProperties& gpu) const;
  llvm::Error nothing_fits(const DeviceProperties& gpu) const;
  const Candidate* chosen(driver_api::Device device) const;
  const Candidate* chosen_on_current_device() const;

  const std::shared_ptr<const Bundle> bundle_;
  std::atomic<const driver_api::Functions*> driver_;
  std::vector<Candidate> candidates_; ///< complete after create()

  /// The prepared devices. The mutex is held only while they are searched.
  std::vector<Choice> choices_;
  mutable std::mutex mutex_;
};

} // namespace ingot
