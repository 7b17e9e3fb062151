// SPDX-License-Identifier: Apache-2.0
// Reproducible tensors. Element i of a tensor depends only on the tensor's name, the seed and i.
// Checks and benchmarks draw the same data on the host and on the device.
#pragma once

#include "ir/graph.h"
#include "ir/tensor.h"

namespace ingot {

struct Distribution {
  enum class Kind : uint8_t {
    uniform, ///< [low, high) for floats
    normal,  ///< mean low, standard deviation high; within 4.9 deviations
    integer, ///< low, low+1, .., high-1
  } kind = Kind::uniform;
  double low = 0;
  double high = 1;
};

/// The Philox key of a tensor.
uint64_t random_key(llvm::StringRef name, uint64_t seed);

/// Fills every element, rounded once to the tensor's type.
void fill_random(Tensor& tensor, const Distribution& distribution, uint64_t key);

/// A useful distribution for an input, derived from its uses. Params of a matmul are U(-1/sqrt(K),
/// 1/sqrt(K)); values under a root or a logarithm U(0.5, 1.5); indices of a gather 0..extent-1;
/// other params normal; other float inputs U[0, 1); other integers 0..9.
Distribution default_distribution(const Graph& graph, ValueId input,
                                  llvm::ArrayRef<int64_t> extents);

} // namespace ingot
