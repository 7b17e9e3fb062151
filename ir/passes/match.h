// SPDX-License-Identifier: Apache-2.0
// Small questions that rewrite rules ask of values and numbers.
#pragma once

#include "ir/graph.h"

#include <optional>

namespace ingot {

/// The literal that a value equals in every element, seen through movement.
std::optional<ConstantAttributes> splat_literal(const Graph& graph, ValueId id);
/// The same for float types.
std::optional<double> splat_real(const Graph& graph, ValueId id);
/// `id` is a rank-0 float constant of this value; zeros are told apart by their sign.
bool is_real(const Graph& graph, ValueId id, double value);
/// A value of float type whose elements all equal `value`, the sign of zero included.
bool is_splat(const Graph& graph, ValueId id, double value);

/// f32, in which kernels compute every float type, holds it exactly. NaN and Inf count.
bool is_exact_in_f32(double value);
/// Plus or minus a power of two that f32 holds as a normal number.
bool is_power_of_two(double value);
/// A finite number other than zero.
bool is_finite_nonzero(double value);

/// A reduction over a named extent, which may be 0 at launch.
bool may_reduce_nothing(const Graph& graph, const Op& reduction);

/// A permutation that swaps the last two axes and keeps the others.
bool swaps_matrix(llvm::ArrayRef<int64_t> permutation);

/// Swapping the operands changes no bit, but which NaN of two comes out.
bool is_commutative(OpKind kind);

} // namespace ingot
