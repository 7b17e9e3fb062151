// SPDX-License-Identifier: Apache-2.0
// See gpu_run.h.
#include "src/gpu_run.h"

#include "ir/interpreter/memory.h"
#include "ir/random.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

namespace ingot {
namespace {

/// Guard bytes on both sides of an output. It is a multiple of every alignment that kernels need.
constexpr int64_t kGuardBytes = 512;
constexpr uint8_t kPoison = 0xff; ///< NaN in every floating type

bool is_param(const Graph& graph, ValueId id) {
  return graph.attributes<InputAttributes>(graph.producer(id)).role == InputAttributes::Role::param;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.size_bytes() == b.size_bytes() &&
         (a.size_bytes() == 0 ||
          std::memcmp(a.bytes(), b.bytes(), static_cast<size_t>(a.size_bytes())) == 0);
}

} // namespace

void GpuInputs::add(bool is_param, DeviceBuffer buffer, llvm::ArrayRef<int64_t> extents) {
  extents_.emplace_back(extents);
  (is_param ? params_ : inputs_).push_back({buffer.data(), extents_.back()});
  is_param_.push_back(is_param);
  buffers_.push_back(std::move(buffer));
}

llvm::Expected<GpuInputs> GpuInputs::copy(const driver_api::Functions& driver) const {
  GpuInputs result;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    auto buffer = DeviceBuffer::allocate(driver, buffers_[i].bytes());
    if (!buffer) return buffer.takeError();
    if (auto error = call(driver, driver.copy_async, buffer->data(), buffers_[i].data(),
                          static_cast<size_t>(buffers_[i].bytes()), nullptr))
      return error;
    result.add(is_param_[i], std::move(*buffer), extents_[i]);
  }
  if (auto error = call(driver, driver.stream_synchronize, nullptr)) return error;
  return result;
}

llvm::Expected<GpuInputs> GpuInputs::upload(const driver_api::Functions& driver, const Graph& graph,
                                            llvm::ArrayRef<const Tensor*> tensors) {
  GpuInputs result;
  for (auto [id, tensor] : llvm::zip_equal(graph.inputs(), tensors)) {
    auto buffer = DeviceBuffer::allocate(driver, tensor->size_bytes());
    if (!buffer) return buffer.takeError();
    auto bytes = llvm::ArrayRef(reinterpret_cast<const uint8_t*>(tensor->bytes()),
                                static_cast<size_t>(tensor->size_bytes()));
    if (auto error = buffer->copy_from_host(bytes)) return error;
    result.add(is_param(graph, id), std::move(*buffer), tensor->extents());
  }
  // A copy of pageable memory returns before its last piece has arrived, and the stream of a run
  // does not wait for the default stream.
  if (auto error = call(driver, driver.stream_synchronize, nullptr)) return error;
  return result;
}

llvm::Expected<std::vector<Tensor>> draw_tensors(const Graph& graph, const DimBindings& dims,
                                                 uint64_t seed) {
  double bytes = 0;
  for (ValueId id : graph.inputs()) {
    const Type& type = graph.type(id);
    double own = static_cast<double>(size_of(type.dtype));
    for (int64_t extent : evaluate_shape(type.shape, dims)) own *= static_cast<double>(extent);
    bytes += own;
  }
  if (auto error = check_bytes("the inputs", bytes)) return error;
  std::vector<Tensor> tensors;
  for (ValueId id : graph.inputs()) {
    const auto& input = graph.attributes<InputAttributes>(graph.producer(id));
    Tensor& tensor = tensors.emplace_back(input.type.dtype, evaluate_shape(input.type.shape, dims));
    fill_random(tensor, default_distribution(graph, id, tensor.extents()),
                random_key(input.name, seed));
  }
  return tensors;
}

std::vector<const Tensor*> pointers_to(llvm::ArrayRef<Tensor> tensors) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

llvm::Error GpuRun::make_outputs(const Graph& graph, const DimBindings& dims) {
  for (const GraphOutput& output : graph.outputs()) {
    const Type& type = graph.type(output.value);
    auto extents = evaluate_shape(type.shape, dims);
    auto count = checked_count(extents);
    if (!count || *count > INT64_MAX / 16)
      return make_error(ErrorCode::invalid_argument, "output '{}' of {} elements is too large",
                        output.name, text_of(extents));
    // The buffer is read back as a whole, then the output is taken out of its guards.
    const auto bytes = static_cast<double>(*count * size_of(type.dtype));
    if (auto error = check_bytes("output '" + output.name + "'", 2 * bytes)) return error;
    auto buffer = DeviceBuffer::allocate(*driver_, *count * size_of(type.dtype) + 2 * kGuardBytes);
    if (!buffer) return buffer.takeError();
    outputs_.push_back({type.dtype, std::move(extents), std::move(*buffer)});
  }
  return llvm::Error::success();
}

llvm::Error GpuRun::make_memories() {
  auto sizes = executable_->memory(ranges_);
  if (!sizes) return sizes.takeError();
  for (int64_t bytes : {sizes->prepared.bytes, sizes->workspace.bytes, sizes->state.bytes}) {
    auto buffer = DeviceBuffer::allocate(*driver_, bytes);
    if (!buffer) return buffer.takeError();
    memories_.push_back(std::move(*buffer));
  }
  if (auto error = memories_[0].fill(kPoison, stream_.get())) return error;
  if (auto error = memories_[1].fill(kPoison, stream_.get())) return error;
  return memories_[2].fill(0, stream_.get());
}

llvm::Error GpuRun::enqueue_prepare() {
  PrepareRequest request;
  request.dims = ranges_;
  request.params = inputs_->params();
  request.prepared = memories_[0].data();
  request.workspace = memories_[1].data();
  request.stream = stream_.get();
  return executable_->prepare(request);
}

llvm::Expected<GpuRun> GpuRun::create(const driver_api::Functions& driver,
                                      std::shared_ptr<Executable> executable, const Graph& graph,
                                      const GpuInputs& inputs, const DimBindings& dims,
                                      llvm::ArrayRef<DimInfo> ranges) {
  auto stream = DeviceStream::create(driver);
  if (!stream) return stream.takeError();
  GpuRun run(driver, std::move(executable), inputs, std::move(*stream));
  run.ranges_ = ranges;
  if (ranges.empty())
    for (const auto& [name, size] : dims) run.ranges_.push_back({name, size, size});
  if (auto error = run.make_outputs(graph, dims)) return error;
  if (auto error = run.make_memories()) return error;
  if (auto error = run.enqueue_prepare()) return error;
  if (auto error = run.stream_.synchronize()) return error;
  return run;
}

llvm::Error GpuRun::launch() {
  for (Output& output : outputs_)
    if (auto error = output.buffer.fill(kPoison, stream_.get())) return error;
  if (auto error = memories_[1].fill(kPoison, stream_.get())) return error;
  if (auto error = enqueue()) return error;
  return stream_.synchronize();
}

llvm::Error GpuRun::enqueue_on(Stream stream) {
  std::vector<TensorArgument> outputs;
  outputs.reserve(outputs_.size());
  for (const Output& output : outputs_)
    outputs.push_back({output.buffer.data() + kGuardBytes, output.extents});
  LaunchRequest request;
  request.inputs = inputs_->inputs();
  request.params = inputs_->params();
  request.outputs = outputs;
  request.prepared = memories_[0].data();
  request.workspace = memories_[1].data();
  request.state = memories_[2].data();
  request.stream = stream;
  return executable_->launch(request);
}

llvm::Expected<GpuRun::Fetched> GpuRun::fetch(size_t index) const {
  const Output& output = outputs_[index];
  std::vector<uint8_t> bytes(static_cast<size_t>(output.buffer.bytes()));
  if (auto error = output.buffer.copy_to_host(bytes)) return error;
  auto is_poison = [](uint8_t byte) { return byte == kPoison; };
  Fetched fetched;
  fetched.surroundings_kept =
      llvm::all_of(llvm::ArrayRef(bytes).take_front(kGuardBytes), is_poison) &&
      llvm::all_of(llvm::ArrayRef(bytes).take_back(kGuardBytes), is_poison);
  fetched.tensor = Tensor(output.dtype, output.extents);
  std::memcpy(fetched.tensor.bytes(), bytes.data() + kGuardBytes,
              static_cast<size_t>(fetched.tensor.size_bytes()));
  return fetched;
}

llvm::Expected<std::vector<GpuRun::Twice>> GpuRun::launch_twice() {
  std::vector<Twice> results;
  for (bool is_first : {true, false}) {
    if (auto error = launch()) return error;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      auto fetched = fetch(i);
      if (!fetched) return fetched.takeError();
      if (is_first) {
        results.push_back({std::move(fetched->tensor), true, fetched->surroundings_kept});
        continue;
      }
      results[i].same_bits = same_bytes(results[i].tensor, fetched->tensor);
      results[i].surroundings_kept &= fetched->surroundings_kept;
    }
  }
  return results;
}

} // namespace ingot
