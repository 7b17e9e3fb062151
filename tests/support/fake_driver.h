// SPDX-License-Identifier: Apache-2.0
// A CUDA driver that records its calls: launch logic is tested without a GPU.
#pragma once

#include "runtime/driver_api.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::testing {

struct FakeLaunch {
  std::string entry;
  std::array<unsigned, 3> grid, block;
  unsigned shared_bytes = 0;
  std::vector<uint64_t> arguments; ///< as many as FakeDriver::num_arguments says
  std::array<unsigned, 3> cluster = {1, 1, 1};
  bool overlaps = false; ///< its blocks may start while the kernel before it runs
  driver_api::Stream stream = nullptr;
};

/// One at a time; its functions are the table.
class FakeDriver {
public:
  FakeDriver();
  ~FakeDriver();

  driver_api::Functions functions;

  // The pretended machine.
  int device = 0; ///< of the current context; negative: no context
  std::string name = "Fake A100";
  int compute_major = 8, compute_minor = 0;
  int driver_version = 13000;
  int num_sms = 108;
  int max_shared_bytes = 166912;
  int static_shared_bytes = 0;
  int most_clusters = 1 << 20; ///< that run at once
  size_t num_arguments = 0;    ///< how many parameters launched kernels have
  driver_api::Result launch_result = 0;
  driver_api::Result load_result = 0; ///< of libraries

  // The recorded calls.
  std::vector<std::string> loaded; ///< code, in order of loading
  std::vector<FakeLaunch> launches;
  std::vector<std::pair<std::string, int>> shared_attributes;
  std::vector<std::vector<uint64_t>> maps; ///< address, extents, strides, box of tensor maps
};

} // namespace ingot::testing
