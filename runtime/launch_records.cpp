// SPDX-License-Identifier: Apache-2.0
// The memory of a launch's record. See launch_records.h.
#include "runtime/launch_records.h"

#include <algorithm>

namespace ingot {

LaunchRecord::LaunchRecord(const LaunchPlan& plan) : calls(plan.launch.size()) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const BoundKernel& kernel = plan.kernels[plan.launch[i].kernel];
    for (uint32_t v = kernel.first; v < kernel.first + kernel.count; ++v) {
      const BoundVariant& variant = plan.variants[v];
      calls[i].values.reserve(std::max(calls[i].values.capacity(), variant.arguments.size()));
      calls[i].maps.reserve(std::max(calls[i].maps.capacity(), variant.maps.size()));
    }
  }
  size_t words = 7; // the device, three memories, three numbers of tensors
  for (const std::vector<BoundTensor>* tensors : {&plan.inputs, &plan.params, &plan.outputs})
    for (const BoundTensor& tensor : *tensors) words += 2 + tensor.shape.size();
  key.reserve(words);
}

} // namespace ingot
