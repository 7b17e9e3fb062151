// SPDX-License-Identifier: Apache-2.0
// See bundle_executable.h.
#include "runtime/bundle_executable.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ingot {

namespace {

/// One code image for all variants of a section.
class SectionCode final : public CodeProvider {
public:
  SectionCode(const BundleSection& section, bool is_ptx) : is_ptx_(is_ptx) {
    const CodeFacts& code = section.manifest->code;
    image_.bytes = is_ptx ? section.ptx : section.cubin;
    if (is_ptx && !code.least_driver.empty())
      image_.needs = fmt::format("the bundle has no machine code for this GPU, and its PTX, of "
                                 "version {}, needs a driver of branch {} or newer",
                                 code.ptx_version, code.least_driver);
    family_ = section.manifest->module.family;
  }

  bool runs_on(llvm::StringRef arch, ComputeCapability gpu) const override {
    return is_ptx_ ? ptx_runs_on(family_, gpu) : machine_code_runs_on(arch, gpu);
  }

  llvm::Expected<std::vector<CodeImage>> images(llvm::ArrayRef<VariantRef> variants,
                                                const std::string&) override {
    return std::vector<CodeImage>(variants.size(), image_);
  }

private:
  bool is_ptx_;
  std::string family_;
  CodeImage image_;
};

/// A ranking of code that runs on a GPU: larger is better. Machine code ranks above PTX. Then comes
/// the nearest architecture, preferably one from below, and of one architecture the code that may
/// use all of it, such as sm_90a. Last comes code made for this very card.
using Fit = std::tuple<bool, bool, int, bool, bool>;

Fit fit_of(const BundleSection& section, bool is_ptx, const DeviceProperties& gpu) {
  const auto arch = parse_arch(section.manifest->module.arch).value_or(GpuArch());
  const int made_for = arch.capability.major * 1000 + arch.capability.minor;
  const int present = gpu.compute_major * 1000 + gpu.compute_minor;
  const bool is_below = made_for <= present;
  const bool is_card =
      !section.device.empty() && llvm::StringRef(gpu.name).contains_insensitive(section.device);
  return {!is_ptx, is_below, is_below ? made_for : -made_for, arch.is_exact, is_card};
}

template <typename Range> std::string list(const Range& texts) {
  std::vector<std::string> once;
  for (const std::string& text : texts)
    if (!llvm::is_contained(once, text)) once.push_back(text);
  return fmt::format("{}", fmt::join(once, ", "));
}

} // namespace

BundleExecutable::BundleExecutable(std::shared_ptr<const Bundle> bundle,
                                   const driver_api::Functions* driver)
    : bundle_(std::move(bundle)), driver_(driver) {}

BundleExecutable::~BundleExecutable() = default;

llvm::Expected<std::unique_ptr<BundleExecutable>>
BundleExecutable::create(std::shared_ptr<const Bundle> bundle,
                         const driver_api::Functions* driver) {
  std::unique_ptr<BundleExecutable> result(new BundleExecutable(std::move(bundle), driver));
  // Sections with the same manifest share its bound module.
  std::map<const Manifest*, std::shared_ptr<const BoundModule>> modules;
  for (const BundleSection& section : result->bundle_->sections) {
    std::shared_ptr<const BoundModule>& module = modules[section.manifest.get()];
    if (!module) {
      auto bound = BoundModule::bind({section.manifest, &section.manifest->module});
      if (!bound) return bound.takeError();
      module = std::move(*bound);
    }
    result->add(section, module, /*is_ptx=*/false);
    if (section.ptx) result->add(section, module, /*is_ptx=*/true);
  }
  return result;
}

void BundleExecutable::add(const BundleSection& section, std::shared_ptr<const BoundModule> module,
                           bool is_ptx) {
  candidates_.push_back(
      {&section, is_ptx,
       std::make_unique<Executable>(
           std::move(module), std::make_shared<SectionCode>(section, is_ptx), driver_.load())});
}

llvm::Expected<const driver_api::Functions*> BundleExecutable::driver() {
  if (const driver_api::Functions* driver = driver_.load()) return driver;
  auto driver = open_driver();
  if (driver) driver_.store(*driver);
  return driver;
}

llvm::Error BundleExecutable::nothing_fits(const DeviceProperties& gpu) const {
  std::vector<std::string> cubins, families;
  for (const BundleSection& section : bundle_->sections) {
    cubins.push_back(fmt::format("{} ({})", section.manifest->module.arch, section.device));
    if (section.ptx) families.push_back(section.manifest->module.family);
  }
  const std::string ptx =
      families.empty() ? "no PTX" : fmt::format("PTX for {} and newer", list(families));
  return make_error(
      ErrorCode::unsupported,
      "nothing in the bundle of '{}' runs on {}, which is sm_{}{}: it has machine "
      "code for {}, and {}; {}",
      bundle_->name(), gpu.name, gpu.compute_major, gpu.compute_minor, list(cubins), ptx,
      gpu.compute_major < 8 ? "expected a GPU of compute capability 8.0 or higher"
                            : "make one with its code by `ingot compile --emit=bundle "
                              "--device=native` on a machine with such a GPU");
}

llvm::Expected<const BundleExecutable::Candidate*>
BundleExecutable::choose(const DeviceProperties& gpu) const {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates_) {
    const Module& module = candidate.section->manifest->module;
    const ComputeCapability capability{gpu.compute_major, gpu.compute_minor};
    if (candidate.is_ptx ? !ptx_runs_on(module.family, capability)
                         : !machine_code_runs_on(module.arch, capability))
      continue;
    if (!best || fit_of(*candidate.section, candidate.is_ptx, gpu) >
                     fit_of(*best->section, best->is_ptx, gpu))
      best = &candidate;
  }
  if (!best) return nothing_fits(gpu);
  return best;
}

const BundleExecutable::Candidate* BundleExecutable::chosen(driver_api::Device device) const {
  std::lock_guard lock(mutex_);
  for (const Choice& choice : choices_)
    if (choice.device == device) return choice.candidate;
  return nullptr;
}

const BundleExecutable::Candidate* BundleExecutable::chosen_on_current_device() const {
  // Without a driver, no device was prepared.
  const driver_api::Functions* driver = driver_.load(std::memory_order_relaxed);
  driver_api::Device device = 0;
  if (!driver || driver->context_device(&device) != driver_api::kSuccess) return nullptr;
  return chosen(device);
}

const BundleSection& BundleExecutable::section() const {
  const Candidate* candidate = chosen_on_current_device();
  return candidate ? *candidate->section : bundle_->sections.front();
}

llvm::Expected<MemorySizes> BundleExecutable::memory(llvm::ArrayRef<DimInfo> dims) const {
  if (const Candidate* candidate = chosen_on_current_device())
    return candidate->executable->memory(dims);
  MemorySizes most;
  auto raise = [](MemorySizes::Size& size, const MemorySizes::Size& other) {
    size.bytes = std::max(size.bytes, other.bytes);
    size.alignment = std::max(size.alignment, other.alignment);
  };
  for (const Candidate& candidate : candidates_) {
    if (candidate.is_ptx) continue; // it has the module of the section's machine code
    auto sizes = candidate.executable->memory(dims);
    if (!sizes) return sizes.takeError();
    raise(most.prepared, sizes->prepared);
    raise(most.workspace, sizes->workspace);
    raise(most.state, sizes->state);
  }
  return most;
}

llvm::Error BundleExecutable::prepare(const PrepareRequest& request) {
  auto functions = driver();
  if (!functions) return functions.takeError();
  auto device = current_device(**functions);
  if (!device) return device.takeError();
  if (const Candidate* candidate = chosen(*device)) return candidate->executable->prepare(request);
  auto properties = device_properties(**functions, *device);
  if (!properties) return properties.takeError();
  auto candidate = choose(*properties);
  if (!candidate) return candidate.takeError();
  if (llvm::Error error = (*candidate)->executable->prepare(request)) return error;
  std::lock_guard lock(mutex_);
  // Another thread may have prepared the device meanwhile. It makes the same choice.
  if (llvm::none_of(choices_, [&](const Choice& known) { return known.device == *device; }))
    choices_.push_back({*device, *candidate});
  return llvm::Error::success();
}

llvm::Error BundleExecutable::launch(const LaunchRequest& request) const {
  const Candidate* candidate = chosen_on_current_device();
  // Without a choice, any candidate returns the error for a missing prepare.
  return (candidate ? *candidate : candidates_.front()).executable->launch(request);
}

} // namespace ingot
