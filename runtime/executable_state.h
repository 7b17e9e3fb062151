// SPDX-License-Identifier: Apache-2.0
// The state of an executable after prepare: the loaded kernels and the prepared sizes per device,
// and the parameter sets. Only executable.cpp and executable_launch.cpp share it.
#pragma once

#include "runtime/executable.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

namespace ingot {

struct Executable::LoadedVariant {
  driver_api::Function function = nullptr; ///< null if the variant is not prepared
  int64_t shared_limit = 0;                ///< the dynamic shared memory that the attribute allows
  int64_t most_blocks = 0;                 ///< cooperative: maximum number of resident blocks
};

struct Executable::DeviceState {
  driver_api::Device device = 0;
  std::string name;
  std::array<int64_t, 2> constants = {}; ///< values of the device slots
  std::vector<LoadedVariant> variants;
  std::vector<std::vector<SlotRange>> boxes; ///< prepared sizes: one interval per named dim

  bool covers(llvm::ArrayRef<SlotRange> box) const {
    return llvm::any_of(boxes, [&](const std::vector<SlotRange>& known) {
      return llvm::all_of(llvm::zip_equal(known, box), [](auto pair) {
        auto& [outer, inner] = pair;
        return outer.least <= inner.least && inner.most <= outer.most;
      });
    });
  }

  bool covers_sizes(llvm::ArrayRef<int64_t> dims) const {
    return llvm::any_of(boxes, [&](const std::vector<SlotRange>& known) {
      for (size_t i = 0; i < known.size(); ++i)
        if (dims[i] < known[i].least || dims[i] > known[i].most) return false;
      return true;
    });
  }
};

/// The params from which the memory at `prepared` was computed.
struct Executable::ParamSet {
  driver_api::Device device = 0;
  DevicePointer prepared = 0;
  int64_t bytes = 0;
  std::vector<DevicePointer> params;

  bool operator==(const ParamSet&) const = default;
  bool overlaps(const ParamSet& other) const {
    if (device != other.device) return false;
    return prepared == other.prepared || (prepared < other.prepared + uint64_t(other.bytes) &&
                                          other.prepared < prepared + uint64_t(bytes));
  }
};

struct Executable::Prepared {
  std::vector<DeviceState> devices;
  std::vector<ParamSet> sets;

  DeviceState* find_device(driver_api::Device device) {
    for (DeviceState& state : devices)
      if (state.device == device) return &state;
    return nullptr;
  }
  const DeviceState* find_device(driver_api::Device device) const {
    return const_cast<Prepared*>(this)->find_device(device);
  }

  /// Returns whether this changed anything. It forgets the sets whose memory `set` overwrote, so
  /// that there are never more sets than fit into memory.
  bool remember_params(ParamSet set) {
    if (llvm::is_contained(sets, set)) return false;
    llvm::erase_if(sets, [&](const ParamSet& known) { return known.overlaps(set); });
    sets.push_back(std::move(set));
    return true;
  }
};

} // namespace ingot
