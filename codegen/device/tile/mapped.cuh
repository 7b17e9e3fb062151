// SPDX-License-Identifier: Apache-2.0
// A matmul's operand that tensor copies read where it lies (sm_90a).
#pragma once

#include "ptx/bulk_copy.cuh"
#include "tile/matrix.cuh"

namespace ingot {

/// An operand of type T behind a tensor map: f16, bf16, or f32, whose copies may round to TF32 (to
/// nearest, ties to even), as the map says. Its dims are the major index, the other one of k and
/// the rows of A or columns of B, and matrices.
template <class T, Major kMajorIndex> struct MappedTensor {
  using Element = T;
  static constexpr Major kMajor = kMajorIndex;
  static constexpr int kPlanes = 1;
  static constexpr bool kScales = false, kListsResiduals = false;
  const TensorMap* map;
  i64 matrix; ///< that of the batch
};

} // namespace ingot
