// SPDX-License-Identifier: Apache-2.0
// Finds the domain that the matmuls of a group span, and the computation of their operands. Used by
// legality alone.
#pragma once

#include "ir/fusion/bindings.h"

namespace ingot {

/// The dims of a matmul's operands and product: batch, then rows and K of A, K and columns of B.
struct MatmulDims {
  AtomShape a, b, result;
};

/// Sets the domain and each contraction of `group`, whose matmuls have these dims. Refuses matmuls
/// whose products are not tiles of one domain.
std::optional<Refusal> span_matmuls(const Graph& graph, const Bindings& bindings,
                                    llvm::ArrayRef<MatmulDims> dims, Group& group);

/// Finds the prologues of the group's matmuls, whose domain is known, and the tensor that each
/// operand fetches. A refusal names the op that a prologue cannot compute.
std::optional<Refusal> find_operands(const GroupContext& context, const Bindings& bindings,
                                     Group& group);

/// True for an op that a prologue of the group evaluates.
bool in_prologue(const Group& group, OpId op);

} // namespace ingot
