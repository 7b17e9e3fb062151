// SPDX-License-Identifier: Apache-2.0
// The dynamic shared memory of kernels whose stages run behind a mainloop.
#pragma once

#include "tile/stages.cuh"

namespace ingot {

/// Dynamic shared memory of a kernel. Scratch and staging of the stages overlay the mainloop's
/// slots after these are drained.
template <class K> struct SharedBytes {
  using Layout = typename K::Source::Layout;
  static constexpr int kScratch = ScratchBytes<Layout, typename K::Stages>::kBytes +
                                  StagingBytes<Layout, typename K::Stages>::kBytes;
  static constexpr int kBytes =
      K::Source::kSharedBytes > kScratch ? K::Source::kSharedBytes : kScratch;
};

} // namespace ingot
