// SPDX-License-Identifier: Apache-2.0
// The dynamic shared memory of kernels whose stages run behind a mainloop.
#pragma once

#include "tile/stages.cuh"

namespace ingot {

/// Dynamic shared memory of a kernel. Scratch and staging of the stages overlay the mainloop's
/// slots after these are drained.
template <class K> struct SharedBytes {
  using Layout = typename K::Source::Layout;
  static constexpr int kScratch = kStageBytes<Layout, typename K::Stages>;
  static constexpr int kBytes =
      K::Source::kSharedBytes > kScratch ? K::Source::kSharedBytes : kScratch;
};

} // namespace ingot
