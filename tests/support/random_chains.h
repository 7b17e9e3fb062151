// SPDX-License-Identifier: Apache-2.0
// Random legal chains of library calls for differential tests of the kernels, and the reduction of
// a failing one. Equal seeds give equal graphs.
#pragma once

#include "ir/interpreter/evaluate.h"
#include "src/support/error.h"

#include <functional>
#include <map>

namespace ingot::testing {

/// The sizes of a random chain.
struct ChainScale {
  std::vector<int64_t> extents; ///< of any dim
  int64_t most_elements = 0;    ///< of any value
  int64_t longest_k = 0;        ///< of a matmul with few rows and columns
  int most_calls = 0;

  /// Sizes around the edges of tiles, for emulation.
  static ChainScale small();
  /// Sizes of several tiles and of rows that no block holds, for a GPU.
  static ChainScale large();
};

/// The features of a chain, for the distribution that a fuzzer prints.
enum class Feature : uint8_t {
  matmul,
  two_matmuls,
  chained_matmuls, ///< one is an operand of the other, with a chain between them
  gated_pair,      ///< silu(x w1) * (x w3)
  prologue,        ///< elementwise ops or a norm before an operand of a matmul
  thin_matmul,     ///< at most 16 rows or columns
  long_k,          ///< many more products than results
  nested,          ///< a product of a product, with few columns enough for one kernel
  attention,       ///< rows of scores times values, mostly behind a softmax
  grouped_heads,   ///< heads of queries that share their keys
  masked_places,   ///< scores masked by comparisons of their positions
  few_queries,     ///< and many keys
  layers,          ///< two to five, of at most 256 columns
  low_rank,        ///< (x a) b
  skips,           ///< a layer whose result joins that of an earlier one
  half,
  fed_back_reduction, ///< a reduction's result meets a value of the shape it was reduced from
  segments,           ///< of 48, 96, 384 or 512 columns, reduced and fed back
  stored_and_reduced, ///< an output that is reduced as well
  residuals,          ///< two tensors of the value's shape are added
  reshape,
  transpose,
  many_dims, ///< five or six
  several_outputs,
  named_dim,
  empty_dim,
  norm,
  softmax,
  loss,
  integer,
  boolean,
  index, ///< argmax or argmin that is computed with
  gather,
  moved_slices, ///< slice or concat
  scan,
  source, ///< iota or a constant as an operand
};
inline constexpr size_t kFeatures = static_cast<size_t>(Feature::source) + 1;
const char* spelling(Feature feature);

struct RandomChain {
  Graph graph;
  DimBindings sizes; ///< of the named dims
  std::vector<Feature> features;

  bool has(Feature feature) const;
  /// Whether it has a fed-back reduction, a reshape and several outputs, which fuse least easily.
  bool has_combination() const;
};

RandomChain random_chain(uint64_t seed, const ChainScale& scale);

/// The kind of a failure that ended in an error: its code, and its text up to names and numbers.
std::string failure_kind(ErrorCode code, llvm::StringRef text);

/// A smaller graph whose failure is of the same kind: outputs are dropped, and values become
/// inputs, as long as it is. `failure` gives the kind; nothing for a graph that does not fail.
Graph shrink(Graph graph, const std::function<std::string(const Graph&)>& failure);

} // namespace ingot::testing
