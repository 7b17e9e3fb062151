// SPDX-License-Identifier: Apache-2.0
// Small tests of values and numbers for rewrite rules.
#pragma once

#include "ir/graph.h"

#include <optional>

namespace ingot {

/// The literal that all elements of a value equal. Looks through movement.
std::optional<ConstantAttributes> splat_literal(const Graph& graph, ValueId id);
/// Like splat_literal, for float types.
std::optional<double> splat_real(const Graph& graph, ValueId id);
/// Whether `id` is a rank-0 float constant of this value. Zeros of different sign differ.
bool is_real(const Graph& graph, ValueId id, double value);

/// Whether f32 holds the number exactly. Kernels compute every float type in f32. True for NaN and
/// Inf.
bool is_exact_in_f32(double value);
/// Whether the number is plus or minus a power of two that is normal in f32.
bool is_power_of_two(double value);

/// Whether a reduction is over a named extent, which may be 0 at launch.
bool may_reduce_nothing(const Graph& graph, const Op& reduction);

/// The root of a value behind movement, and whether movement repeats some of its elements.
struct Moved {
  ValueId root;
  bool repeats = false;
};
Moved moved(const Graph& graph, ValueId value);

/// Whether a permutation swaps the last two axes and keeps the others.
bool swaps_matrix(llvm::ArrayRef<int64_t> permutation);

} // namespace ingot
