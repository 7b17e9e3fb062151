// SPDX-License-Identifier: Apache-2.0
// Facts about the values of a graph, for passes, fusion and programs. Each is one sweep.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <vector>

namespace ingot {

/// For each value, the ops that read it, once per operand.
std::vector<std::vector<OpId>> users_of_values(const Graph& graph);

/// The names of dimensions that occur in no shape of a param. Values that depend on them belong to
/// a launch.
class LaunchSizes {
public:
  explicit LaunchSizes(const Graph& graph);
  /// Whether the numbers that an op computes depend on such a name. Movement alone computes
  /// nothing: a reshape or a broadcast is part of its reader. An extent is a number of each launch.
  /// `graph` has the inputs of the constructor's graph.
  bool appear_in(const Graph& graph, const Op& op) const;

private:
  llvm::StringSet<> of_params_;
};

/// For each value, whether it depends on no input of role `input` and on no size of a launch. True
/// for constants and iotas too.
std::vector<bool> depends_only_on_params(const Graph& graph);

/// For each value, a hash of its definition down to the positions of inputs. It depends neither on
/// names, nor on the order of independent ops, nor on the process.
std::vector<uint64_t> hash_definitions(const Graph& graph);

/// The hashes of a graph in which some ops have their two operands swapped. `swaps` decides for
/// each such op, given the hashes of the values before it.
using SwapsOperands = llvm::function_ref<bool(const Op&, llvm::ArrayRef<uint64_t>)>;
std::vector<uint64_t> hash_swapped(const Graph& graph, SwapsOperands swaps);

/// Whether two graphs have the same ops in the same order and the same outputs. Names of values and
/// locations do not count.
bool identical(const Graph& a, const Graph& b);

} // namespace ingot
