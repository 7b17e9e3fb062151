// SPDX-License-Identifier: Apache-2.0
// See executable.h. executable_launch.cpp has launch().
#include "runtime/executable_state.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot {

namespace {

/// The slots whose range is a single value.
SlotValues known_sizes(llvm::ArrayRef<IntRange> ranges) {
  SlotValues slots;
  for (const IntRange& range : ranges)
    slots.push_back(range.least == range.most ? range.least : kUnknownDim);
  return slots;
}

} // namespace

Executable::Executable(std::shared_ptr<const BoundModule> bound, std::shared_ptr<CodeProvider> code,
                       const driver_api::Functions* driver)
    : bound_(std::move(bound)), module_(*bound_->module), plan_(bound_->plan),
      code_(std::move(code)), driver_(driver) {}

Executable::~Executable() = default;

llvm::Expected<std::unique_ptr<Executable>>
Executable::create(Module module, std::shared_ptr<CodeProvider> code,
                   const driver_api::Functions* driver) {
  auto bound = BoundModule::bind(std::make_shared<const Module>(std::move(module)));
  if (!bound) return bound.takeError();
  return std::make_unique<Executable>(std::move(*bound), std::move(code), driver);
}

llvm::Expected<SlotIntervals> Executable::declared_ranges(llvm::ArrayRef<DimInfo> dims) const {
  SlotIntervals ranges;
  for (const DimInfo& dim : module_.dims) ranges.push_back({dim.least, dim.most});
  for (const DimInfo& given : dims) {
    auto known =
        llvm::find_if(module_.dims, [&](const DimInfo& d) { return d.name == given.name; });
    if (known == module_.dims.end())
      return make_error(ErrorCode::invalid_argument, "'{}' has no named dimension '{}'",
                        module_.name, given.name);
    if (given.least > given.most || given.least < known->least || given.most > known->most)
      return make_error(ErrorCode::invalid_argument,
                        "dimension '{}' of '{}': expected a range within [{}, {}], got [{}, {}]",
                        given.name, module_.name, known->least, known->most, given.least,
                        given.most);
    const auto same = [&](const DimInfo& d) { return d.name == given.name; };
    if (llvm::count_if(dims, same) > 1)
      return make_error(ErrorCode::invalid_argument,
                        "dimension '{}' of '{}' is given twice; give one range", given.name,
                        module_.name);
    ranges[known - module_.dims.begin()] = {given.least, given.most};
  }
  return ranges;
}

llvm::Expected<MemorySizes> Executable::memory(llvm::ArrayRef<DimInfo> dims) const {
  llvm::Expected<SlotIntervals> ranges = declared_ranges(dims);
  if (!ranges) return ranges.takeError();
  if (llvm::Error error = check_requirements(module_, plan_, known_sizes(*ranges))) return error;
  if (llvm::Error error = check_sizes(module_, plan_, *ranges)) return error;
  const bool is_exact =
      llvm::all_of(*ranges, [](const IntRange& range) { return range.least == range.most; });
  MemorySizes sizes;
  const std::pair<const BoundMemory*, MemorySizes::Size*> memories[] = {
      {&plan_.prepared, &sizes.prepared},
      {&plan_.workspace, &sizes.workspace},
      {&plan_.state, &sizes.state}};
  for (auto [memory, size] : memories) {
    std::optional<IntRange> bytes = memory->bytes.bounds(*ranges);
    if (!bytes)
      return make_error(ErrorCode::invalid_argument, "the memory that '{}' needs {}", module_.name,
                        is_exact ? "overflows for these sizes; give smaller ones"
                                 : "has no bound; give a value or a range for its named "
                                   "dimensions");
    *size = {std::max<int64_t>(bytes->most, 0), memory->alignment};
  }
  return sizes;
}

llvm::Expected<const driver_api::Functions*> Executable::driver_locked() {
  if (const driver_api::Functions* driver = driver_.load()) return driver;
  llvm::Expected<const driver_api::Functions*> driver = open_driver();
  if (driver) driver_.store(*driver);
  return driver;
}

/// Earlier drivers capture no launches that overlap.
constexpr int kLeastOverlappingDriver = 12030;

llvm::Expected<Executable::DeviceState>
Executable::describe_device(driver_api::Device device) const {
  llvm::Expected<DeviceProperties> properties = device_properties(*driver_.load(), device);
  if (!properties) return properties.takeError();
  const ComputeCapability gpu{properties->compute_major, properties->compute_minor};
  if (!code_->runs_on(module_.arch, gpu))
    return make_error(ErrorCode::unsupported,
                      "'{}' was compiled for {}, but the current GPU, {}, is sm_{}{}; compile it "
                      "for this device",
                      module_.name, module_.arch, properties->name, gpu.major, gpu.minor);
  DeviceState state;
  state.device = device;
  state.name = properties->name;
  state.max_shared_bytes = properties->max_shared_bytes;
  int driver_version = 0;
  if (llvm::Error error = call(*driver_.load(), driver_.load()->driver_version, &driver_version))
    return error;
  state.overlaps =
      module_.overlaps && gpu >= kOverlappingLaunches && driver_version >= kLeastOverlappingDriver;
  state.variants.resize(plan_.variants.size());
  return state;
}

llvm::Error Executable::get_images(llvm::ArrayRef<uint32_t> variants) const {
  std::vector<VariantRef> all, missing;
  for (const KernelCode& kernel : module_.kernels)
    for (const KernelVariant& variant : kernel.variants) all.push_back({&kernel, &variant});
  images_.resize(all.size());
  libraries_.resize(all.size());
  std::vector<uint32_t> places;
  for (uint32_t v : variants) {
    if (images_[v].bytes) continue;
    places.push_back(v);
    missing.push_back(all[v]);
  }
  if (missing.empty()) return llvm::Error::success();
  auto images = code_->images(missing, module_.arch);
  if (!images) return images.takeError();
  for (auto [v, image] : llvm::zip_equal(places, *images)) images_[v] = std::move(image);
  return llvm::Error::success();
}

/// Variants with the same image share the loaded library.
llvm::Error Executable::load_library(uint32_t v) const {
  if (libraries_[v]) return llvm::Error::success();
  const CodeImage& image = images_[v];
  for (size_t other = 0; other < images_.size(); ++other)
    if (libraries_[other] && images_[other].bytes == image.bytes) {
      libraries_[v] = libraries_[other];
      return llvm::Error::success();
    }
  auto library = LoadedLibrary::load(*driver_.load(), *image.bytes, plan_.variants[v].entry);
  if (!library) {
    if (image.needs.empty()) return library.takeError();
    auto [code, text] = take_error(library.takeError());
    return make_error(code, "{}; {}", text, image.needs);
  }
  libraries_[v] = std::make_shared<LoadedLibrary>(std::move(*library));
  return llvm::Error::success();
}

/// The clusters of a variant that run at once on the current device, with so much dynamic shared
/// memory a block.
static llvm::Expected<int64_t> most_clusters(const driver_api::Functions& driver,
                                             const BoundVariant& variant,
                                             driver_api::Function function, int64_t shared_bytes,
                                             llvm::ArrayRef<IntRange> slots) {
  driver_api::LaunchAttribute attribute = cluster_attribute(variant);
  driver_api::LaunchConfig config = {};
  config.attributes = &attribute;
  config.num_attributes = 1;
  config.shared_bytes = unsigned(shared_bytes);
  for (int axis = 0; axis < 3; ++axis) {
    config.grid[axis] = variant.cluster[axis];
    const std::optional<IntRange> threads = variant.block[axis].bounds(slots);
    config.block[axis] = threads ? unsigned(threads->most) : 1;
  }
  int clusters = 0;
  if (llvm::Error error = call(driver, driver.most_clusters, &clusters, function, &config))
    return error;
  return std::max(clusters, 1); // if none fits, the launch has the error
}

llvm::Error Executable::ready_variant(DeviceState& device, uint32_t v,
                                      llvm::ArrayRef<IntRange> slots) const {
  const driver_api::Functions& driver = *driver_.load();
  const BoundVariant& variant = plan_.variants[v];
  LoadedVariant& loaded = device.variants[v];
  if (llvm::Error error = load_library(v)) return error;
  llvm::Expected<driver_api::Kernel> kernel = libraries_[v]->kernel(variant.entry);
  if (!kernel) return kernel.takeError();

  int static_bytes = 0;
  if (llvm::Error error = call(driver, driver.kernel_attribute, &static_bytes,
                               driver_api::kStaticSharedBytes, *kernel, device.device))
    return error;
  int64_t offered = device.max_shared_bytes - static_bytes;
  std::optional<IntRange> shared = variant.shared_bytes.bounds(slots);
  if (shared && shared->least > offered)
    return make_error(ErrorCode::unsupported,
                      "kernel {} needs {} bytes of shared memory a block, but {} offers {}; "
                      "compile it for this device (--device=native)",
                      variant.entry, shared->least, device.name, offered);
  int64_t wanted = std::min(shared ? shared->most : offered, offered);
  wanted = std::max(wanted, loaded.shared_limit);
  if (llvm::Error error =
          call(driver, driver.kernel_set_attribute, driver_api::kMaxDynamicSharedBytes, int(wanted),
               *kernel, device.device))
    return error;
  loaded.shared_limit = wanted;
  loaded.overlaps = device.overlaps;

  // CUDA loads lazily by default. If the first launch loaded the kernel, it would break a graph
  // capture.
  driver_api::Function function = nullptr;
  if (llvm::Error error = call(driver, driver.kernel_function, &function, *kernel)) return error;
  if (llvm::Error error = call(driver, driver.function_load, function)) return error;
  if (has_clusters(variant)) {
    auto clusters = most_clusters(driver, variant, function, wanted, slots);
    if (!clusters) return clusters.takeError();
    loaded.most_clusters = *clusters;
  }
  // A kernel handle stands for its function in any current context.
  loaded.function = reinterpret_cast<driver_api::Function>(*kernel);
  return llvm::Error::success();
}

llvm::Error Executable::ready_variants(DeviceState& device, llvm::ArrayRef<uint32_t> variants,
                                       llvm::ArrayRef<IntRange> slots) const {
  if (llvm::Error error = get_images(variants)) return error;
  for (uint32_t v : variants)
    if (llvm::Error error = ready_variant(device, v, slots)) return error;
  return llvm::Error::success();
}

llvm::Error Executable::load_variants(DeviceState& device, llvm::ArrayRef<IntRange> slots) {
  std::vector<uint32_t> needed;
  for (const BoundKernel& kernel : plan_.kernels)
    for (uint32_t v = kernel.first; v < kernel.first + kernel.count; ++v) {
      Applies applies = variant_applies(plan_, plan_.variants[v], slots);
      if (applies != Applies::never) needed.push_back(v);
      if (applies == Applies::always) break;
    }
  return ready_variants(device, needed, slots);
}

llvm::Expected<LoadedVariant> Executable::load_late(driver_api::Device number, uint32_t v,
                                                    llvm::ArrayRef<int64_t> slots) const {
  std::lock_guard lock(prepare_mutex_);
  auto next = std::make_shared<Prepared>(*published());
  DeviceState& device = *next->find_device(number);
  if (device.variants[v].function) return device.variants[v]; // another launch was first
  if (llvm::Error error = ready_variants(device, v, device.ranges_around(slots))) return error;
  const LoadedVariant loaded = device.variants[v];
  publish(std::move(next));
  return loaded;
}

/// Runs the prepare program and returns the bytes of prepared memory.
llvm::Expected<int64_t> Executable::run_prepare(const PrepareRequest& request, DeviceState& device,
                                                llvm::ArrayRef<IntRange> ranges) {
  // A single declared value counts like an extent of a shape.
  SlotValues slots = known_sizes(ranges);
  TensorGroup params{"param", plan_.params, request.params, plan_.param_base()};
  if (llvm::Error error = solve_dims(module_, params, UnknownDims::pass, slots)) return error;
  for (uint32_t slot = 0; slot < plan_.num_dims; ++slot) {
    const std::string& name = module_.dims[slot].name;
    if (slots[slot] == kUnknownDim) {
      // A dimension that no param fixes must not affect the prepare program.
      if (plan_.prepare_uses(slot))
        return make_error(ErrorCode::invalid_argument,
                          "preparing '{}' depends on '{}', which no param's shape gives; declare "
                          "one value for it",
                          module_.name, name);
    } else if (slots[slot] < ranges[slot].least || slots[slot] > ranges[slot].most) {
      return make_error(ErrorCode::invalid_argument,
                        "the params of '{}' have {} = {}, expected a value in [{}, {}]",
                        module_.name, name, slots[slot], ranges[slot].least, ranges[slot].most);
    }
  }
  if (llvm::Error error = check_requirements(module_, plan_, slots)) return error;
  llvm::SmallVector<uint64_t, 64> bases(plan_.num_bases(), 0);
  if (llvm::Error error = take_pointers(params, bases)) return error;
  if (llvm::Error error = take_memory("prepared", plan_.prepared, request.prepared, slots,
                                      &bases[plan_.prepared_base()]))
    return error;
  bases[plan_.workspace_base()] = request.workspace;
  auto load = [&](uint32_t v) -> llvm::Expected<LoadedVariant> {
    if (llvm::Error error = ready_variants(device, v, ranges)) return error;
    return device.variants[v];
  };
  std::vector<KernelCall> calls;
  if (auto error = bind_calls(plan_.prepare, device, slots, bases, load, calls)) return error;
  if (auto error = enqueue(calls, request.stream)) return error;
  return plan_.prepared.bytes.evaluate(slots).value_or(0);
}

std::shared_ptr<const Executable::Prepared> Executable::published() const {
  std::lock_guard lock(published_mutex_);
  return prepared_;
}

void Executable::publish(std::shared_ptr<const Prepared> prepared) const {
  std::lock_guard lock(published_mutex_);
  prepared_.swap(prepared); // the old object dies with `prepared`, or its last launch or record
}

llvm::Error Executable::prepare(const PrepareRequest& request) {
  std::lock_guard lock(prepare_mutex_);
  llvm::Expected<SlotIntervals> ranges = declared_ranges(request.dims);
  if (!ranges) return ranges.takeError();
  if (llvm::Error error = check_requirements(module_, plan_, known_sizes(*ranges))) return error;
  llvm::Expected<const driver_api::Functions*> driver = driver_locked();
  if (!driver) return driver.takeError();
  llvm::Expected<driver_api::Device> current = current_device(**driver);
  if (!current) return current.takeError();

  std::shared_ptr<const Prepared> before = published();
  if (!before) records_.fill(plan_);
  auto next = before ? std::make_shared<Prepared>(*before) : std::make_shared<Prepared>();
  DeviceState* device = next->find_device(*current);
  if (!device) {
    llvm::Expected<DeviceState> described = describe_device(*current);
    if (!described) return described.takeError();
    next->devices.push_back(std::move(*described));
    device = &next->devices.back();
  }

  bool is_new = false;
  std::vector<IntRange> box(ranges->begin(), ranges->end());
  if (!device->covers(box)) {
    if (llvm::Error error = load_variants(*device, *ranges)) return error;
    device->boxes.push_back(std::move(box));
    is_new = true;
  }
  if (!plan_.prepare.empty()) {
    const std::vector<LoadedVariant> loaded = device->variants;
    llvm::Expected<int64_t> bytes = run_prepare(request, *device, *ranges);
    if (!bytes) return bytes.takeError();
    is_new |= device->variants != loaded;
    ParamSet set{*current, request.prepared, *bytes, {}};
    for (const TensorArgument& param : request.params) set.params.push_back(param.data);
    is_new |= next->remember_params(std::move(set));
  }
  if (is_new) publish(std::move(next));
  return llvm::Error::success();
}

} // namespace ingot
