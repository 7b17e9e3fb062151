// SPDX-License-Identifier: Apache-2.0
// The parts of the generated PyTorch binding that are the same for every module. torch_binding.cpp
// uses them.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// The headers to include, in angle brackets.
inline constexpr llvm::StringLiteral kBindingHeaders[] = {"ATen/cuda/CUDAContext.h",
                                                          "c10/cuda/CUDACachingAllocator.h",
                                                          "c10/cuda/CUDAGraphsC10Utils.h",
                                                          "c10/cuda/CUDAGuard.h",
                                                          "torch/extension.h",
                                                          "map",
                                                          "mutex",
                                                          "string",
                                                          "utility",
                                                          "vector"};

inline constexpr llvm::StringLiteral kCheckingText = R"cpp(
using Tensors = std::vector<torch::Tensor>;

/// The device of the first tensor; all others must lie there too.
inline c10::Device device_of(const Tensors& inputs, const Tensors& params) {
  if (!inputs.empty()) return inputs[0].device();
  if (!params.empty()) return params[0].device();
  return c10::Device(c10::kCUDA, c10::cuda::current_device());
}

// Numbers go into messages as strings: streams of an extension and of PyTorch's process may come
// from two C++ libraries, whose facets for numbers do not fit together.
inline std::string text(int64_t number) { return std::to_string(number); }

inline std::string text(c10::IntArrayRef numbers) {
  std::string result;
  for (const int64_t number : numbers) result += (result.empty() ? "" : ", ") + text(number);
  return "[" + result + "]";
}

inline void check_count(const char* role, const Tensors& tensors, size_t expected) {
  TORCH_CHECK(tensors.size() == expected, "ingot: expected ", text(expected), " ", role,
              ", got ", text(tensors.size()));
}

inline void check_tensor(const char* what, const torch::Tensor& tensor, at::ScalarType dtype,
                  int64_t dimensions, c10::Device device) {
  TORCH_CHECK(tensor.defined(), "ingot: ", what, ": expected a tensor, got None");
  TORCH_CHECK(tensor.is_cuda(), "ingot: ", what, ": expected a tensor on a CUDA device, got one ",
              "on ", tensor.device(), "; move it with .to('cuda')");
  TORCH_CHECK(tensor.device() == device, "ingot: ", what, ": expected a tensor on ", device,
              " like those before it, got one on ", tensor.device());
  TORCH_CHECK(tensor.scalar_type() == dtype, "ingot: ", what, ": expected dtype ", dtype, ", got ",
              tensor.scalar_type());
  TORCH_CHECK(tensor.dim() == dimensions, "ingot: ", what, ": expected ",
              text(dimensions), " dimensions, got ", text(tensor.dim()));
  TORCH_CHECK(tensor.is_contiguous(), "ingot: ", what,
              ": expected a contiguous tensor, got strides ", text(tensor.strides()),
              "; give it .contiguous()");
}

inline void check_extent(const char* what, const torch::Tensor& tensor, int64_t axis, Int expected,
                  const char* formula) {
  TORCH_CHECK(tensor.size(axis) == expected.value, "ingot: ", what, ", dimension ", text(axis),
              ": expected ", text(expected.value), formula, ", got ", text(tensor.size(axis)));
}

inline uint64_t address(const torch::Tensor& tensor) {
  return reinterpret_cast<uint64_t>(tensor.data_ptr());
}

inline bool is_capturing() {
  return c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None;
}

inline torch::Tensor allocate(Int bytes, c10::Device device) {
  return torch::empty({bytes.value}, torch::dtype(torch::kUInt8).device(device));
}
)cpp";

/// The text for kernels that keep state.
inline constexpr llvm::StringLiteral kStateText = R"cpp(
/// Memory that is zeroed once. Every launch leaves it as it was. There is one for each stream, as
/// launches of one stream follow each other. A captured launch has its own: its graph may run on
/// any stream.
inline torch::Tensor state_memory(Int bytes, c10::Device device, c10::cuda::CUDAStream stream) {
  const auto options = torch::dtype(torch::kUInt8).device(device);
  if (is_capturing()) return torch::zeros({bytes.value}, options);
  static std::mutex mutex;
  // Never destroyed: at exit the driver may be gone before it.
  static auto* kept = new std::map<std::pair<c10::DeviceIndex, c10::StreamId>, torch::Tensor>;
  const std::lock_guard<std::mutex> lock(mutex);
  torch::Tensor& memory = (*kept)[{stream.device_index(), stream.id()}];
  if (!memory.defined() || memory.numel() < bytes.value)
    memory = torch::zeros({bytes.value}, options);
  return memory;
}
)cpp";

} // namespace ingot
