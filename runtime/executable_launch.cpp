// SPDX-License-Identifier: Apache-2.0
// Executable::launch: checks, variant choice and the driver's calls. See executable.h.
#include "runtime/executable_state.h"

#include "src/support/error.h"

namespace ingot {

namespace {

/// "m = 4096, k = 8" for messages.
std::string sizes_text(const Module& module, llvm::ArrayRef<int64_t> slots) {
  std::string text;
  for (size_t i = 0; i < module.dims.size(); ++i)
    text += fmt::format("{}{} = {}", i ? ", " : "", module.dims[i].name, slots[i]);
  return text;
}

/// Calls `visit` with each number of a request but its stream, and with the device, as long as it
/// returns true. Returns whether it did throughout.
template <class Visit>
bool all_of_arguments(const LaunchRequest& request, driver_api::Device device, Visit visit) {
  for (uint64_t word : {uint64_t(device), request.prepared, request.workspace, request.state})
    if (!visit(word)) return false;
  for (llvm::ArrayRef<TensorArgument> tensors : {request.inputs, request.params, request.outputs}) {
    if (!visit(tensors.size())) return false;
    for (const TensorArgument& tensor : tensors) {
      if (!visit(tensor.data) || !visit(tensor.shape.size())) return false;
      for (int64_t extent : tensor.shape)
        if (!visit(uint64_t(extent))) return false;
    }
  }
  return true;
}

bool is_for(const LaunchRecord& record, const LaunchRequest& request, driver_api::Device device) {
  size_t at = 0;
  return all_of_arguments(
             request, device,
             [&](uint64_t word) { return at < record.key.size() && record.key[at++] == word; }) &&
         at == record.key.size();
}

} // namespace

llvm::Error Executable::not_prepared(const Prepared* prepared,
                                     llvm::ArrayRef<int64_t> slots) const {
  if (!prepared)
    return make_error(ErrorCode::not_prepared,
                      "'{}' is launched on this device before prepare; prepare it once with the "
                      "sizes to be launched",
                      module_.name);
  return make_error(ErrorCode::not_prepared,
                    "'{}' is launched with {}, sizes that were not prepared; prepare them first",
                    module_.name, sizes_text(module_, slots));
}

llvm::Error Executable::check_params(const Prepared& prepared, const LaunchRequest& request,
                                     driver_api::Device device) const {
  // Without a prepare program, params are ordinary inputs and may differ between launches.
  if (plan_.prepare.empty()) return llvm::Error::success();
  for (const ParamSet& set : prepared.sets) {
    if (set.prepared != request.prepared || set.device != device) continue;
    for (size_t i = 0; i < set.params.size(); ++i)
      if (set.params[i] != request.params[i].data)
        return make_error(ErrorCode::not_prepared,
                          "param '{}' is at {:#x}, but the prepared memory was made from {:#x}; "
                          "prepare again for this parameter set",
                          plan_.params[i].name, request.params[i].data, set.params[i]);
    return llvm::Error::success();
  }
  return make_error(ErrorCode::not_prepared,
                    "the prepared memory at {:#x} was not filled by prepare of '{}' on this device",
                    request.prepared, module_.name);
}

llvm::Error Executable::bind_call(const BoundKernel& kernel, const DeviceState& device,
                                  llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases,
                                  LoadVariant load, KernelCall& call) const {
  uint32_t v = kernel.first, end = kernel.first + kernel.count;
  while (v < end && !variant_holds(plan_.variants[v], slots, bases)) ++v;
  if (v == end)
    return make_error(ErrorCode::unsupported, "no variant of kernel '{}' fits these sizes: {}",
                      kernel.name, sizes_text(module_, slots));
  LoadedVariant loaded = device.variants[v];
  if (!loaded.function) {
    llvm::Expected<LoadedVariant> late = load(v);
    if (!late) return late.takeError();
    loaded = *late;
  }
  return call.bind(*driver_.load(std::memory_order_relaxed), plan_.variants[v], loaded, slots,
                   bases);
}

llvm::Error Executable::bind_calls(llvm::ArrayRef<Step> steps, const DeviceState& device,
                                   llvm::ArrayRef<int64_t> slots, llvm::ArrayRef<uint64_t> bases,
                                   LoadVariant load, std::vector<KernelCall>& calls) const {
  calls.resize(steps.size());
  for (auto [step, call] : llvm::zip_equal(steps, calls))
    if (auto error = bind_call(plan_.kernels[step.kernel], device, slots, bases, load, call))
      return error;
  return llvm::Error::success();
}

llvm::Error Executable::enqueue(llvm::ArrayRef<KernelCall> calls, Stream stream) const {
  const driver_api::Functions& driver = *driver_.load(std::memory_order_relaxed);
  for (const KernelCall& call : calls)
    if (llvm::Error error = call.enqueue(driver, stream)) return error;
  return llvm::Error::success();
}

llvm::Error Executable::bind_launch(const LaunchRequest& request, const Prepared& prepared,
                                    driver_api::Device current,
                                    std::vector<KernelCall>& calls) const {
  const DeviceState* device = prepared.find_device(current);
  if (!device) return not_prepared(nullptr, {});
  SlotValues slots(plan_.num_dims, kUnknownDim);
  const TensorGroup groups[] = {{"input", plan_.inputs, request.inputs, 0},
                                {"param", plan_.params, request.params, plan_.param_base()},
                                {"output", plan_.outputs, request.outputs, plan_.output_base()}};
  if (llvm::Error error = solve_dims(module_, groups, UnknownDims::refuse, slots)) return error;
  if (llvm::Error error = check_requirements(module_, plan_, slots)) return error;
  if (!device->covers_sizes(slots)) return not_prepared(&prepared, slots);

  llvm::SmallVector<uint64_t, 64> bases(plan_.num_bases(), 0);
  if (llvm::Error error = take_pointers(groups, bases)) return error;
  const std::tuple<const char*, const BoundMemory*, DevicePointer> memories[] = {
      {"prepared", &plan_.prepared, request.prepared},
      {"workspace", &plan_.workspace, request.workspace},
      {"state", &plan_.state, request.state}};
  uint64_t* base = &bases[plan_.prepared_base()];
  for (auto [what, memory, given] : memories)
    if (llvm::Error error = take_memory(what, *memory, given, slots, base++)) return error;
  if (llvm::Error error = check_overlap(plan_, groups, slots, bases)) return error;
  if (llvm::Error error = check_params(prepared, request, current)) return error;
  return bind_calls(
      plan_.launch, *device, slots, bases,
      [&](uint32_t v) { return load_late(device->device, v, slots); }, calls);
}

llvm::Error Executable::launch(const LaunchRequest& request) const {
  std::shared_ptr<const Prepared> prepared = published();
  if (!prepared) {
    // Without a usable driver, the error is that of the driver.
    if (!driver_.load(std::memory_order_relaxed))
      if (auto driver = open_driver(); !driver) return driver.takeError();
    return not_prepared(nullptr, {});
  }
  llvm::Expected<driver_api::Device> current =
      current_device(*driver_.load(std::memory_order_relaxed));
  if (!current) return current.takeError();

  std::unique_ptr<LaunchRecord> record = records_.take();
  if (!record) record = std::make_unique<LaunchRecord>(plan_);
  llvm::Error error = repeat_or_bind(request, std::move(prepared), *current, *record);
  if (!error) error = enqueue(record->calls, request.stream);
  records_.put(std::move(record));
  return error;
}

llvm::Error Executable::repeat_or_bind(const LaunchRequest& request,
                                       std::shared_ptr<const Prepared> prepared,
                                       driver_api::Device device, LaunchRecord& record) const {
  if (record.made_for == prepared && is_for(record, request, device)) return llvm::Error::success();
  record.made_for = nullptr; // until all calls are bound
  if (auto error = bind_launch(request, *prepared, device, record.calls)) return error;
  record.key.clear();
  all_of_arguments(request, device,
                   [&](uint64_t word) { return record.key.push_back(word), true; });
  record.made_for = std::move(prepared);
  return llvm::Error::success();
}

} // namespace ingot
