// SPDX-License-Identifier: Apache-2.0
// Random legal chains of library calls for differential tests of the kernels, and what makes a
// failing one small. Equal seeds give equal graphs.
#pragma once

#include "ir/interpreter/evaluate.h"

#include <functional>
#include <map>

namespace ingot::testing {

/// What a random chain may be made of.
struct ChainScale {
  std::vector<int64_t> extents; ///< of any dim
  int64_t most_elements = 0;    ///< of any value
  int most_calls = 0;

  /// Sizes around the edges of tiles, for emulation.
  static ChainScale small();
  /// Sizes of several tiles and of rows that no block holds, for a GPU.
  static ChainScale large();
};

/// What a chain has, for the distribution that a fuzzer prints.
enum class Feature : uint8_t {
  matmul,
  two_matmuls,
  half,
  fed_back_reduction, ///< a reduction's result meets a value of the shape it was reduced from
  reshape,
  transpose,
  several_outputs,
  named_dim,
  norm,
  softmax,
  integer,
  moved_slices, ///< slice or concat
  scan,
};
const char* spelling(Feature feature);

struct RandomChain {
  Graph graph;
  DimBindings sizes; ///< of the named dims
  std::vector<Feature> features;

  /// A fed-back reduction, a reshape and several outputs: what fuses least easily.
  bool has_combination() const;
};

RandomChain random_chain(uint64_t seed, const ChainScale& scale);

/// A smaller graph for which `fails` still holds: outputs are dropped, and values become inputs, as
/// long as it does.
Graph shrink(Graph graph, const std::function<bool(const Graph&)>& fails);

} // namespace ingot::testing
