// SPDX-License-Identifier: Apache-2.0
// The state of an executable after prepare: the loaded kernels and the prepared sizes per device,
// and the parameter sets. Only executable.cpp and executable_launch.cpp share it.
#pragma once

#include "runtime/executable.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>

namespace ingot {

struct Executable::DeviceState {
  driver_api::Device device = 0;
  std::string name;
  int64_t max_shared_bytes = 0; ///< for a block
  bool overlaps = false;        ///< launches may; see LoadedVariant
  std::vector<LoadedVariant> variants;
  std::vector<std::vector<IntRange>> boxes; ///< prepared sizes: one interval per named dim

  bool covers(llvm::ArrayRef<IntRange> box) const {
    return llvm::any_of(boxes, [&](const std::vector<IntRange>& known) {
      return llvm::all_of(llvm::zip_equal(known, box), [](auto pair) {
        auto& [outer, inner] = pair;
        return outer.least <= inner.least && inner.most <= outer.most;
      });
    });
  }

  static bool holds(llvm::ArrayRef<IntRange> box, llvm::ArrayRef<int64_t> dims) {
    for (size_t i = 0; i < box.size(); ++i)
      if (dims[i] < box[i].least || dims[i] > box[i].most) return false;
    return true;
  }
  bool covers_sizes(llvm::ArrayRef<int64_t> dims) const {
    return llvm::any_of(boxes, [&](const auto& box) { return holds(box, dims); });
  }
  /// The prepared sizes that hold `slots`, all of them together.
  std::vector<IntRange> ranges_around(llvm::ArrayRef<int64_t> slots) const {
    std::vector<IntRange> ranges;
    for (int64_t slot : slots) ranges.push_back({slot, slot});
    for (const std::vector<IntRange>& box : boxes)
      for (size_t i = 0; holds(box, slots) && i < box.size(); ++i)
        ranges[i] = {std::min(ranges[i].least, box[i].least),
                     std::max(ranges[i].most, box[i].most)};
    return ranges;
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
