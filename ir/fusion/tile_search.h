// SPDX-License-Identifier: Apache-2.0
// Finds the tile that a product's kernel may compute as its operand A: the product behind it, the
// ops between, and the form in which it comes. Called by computed_operands.
#pragma once

#include "ir/fusion/set_judge.h"

namespace ingot {

/// An operand with a product behind it.
struct FoundTile {
  OperandTile tile;
  std::vector<int> sets{};        ///< the other sets that the kernel takes in
  std::vector<int> readers{};     ///< more sets that read the results of its reduction
  std::vector<OpSet> shared{};    ///< ops of those sets that other kernels use too: each for a
                                  ///< kernel of its own
  std::optional<Reason> reason{}; ///< the reason why the matmul's kernel cannot compute it
  bool has_other_users = false;   ///< the reason: kernels that may join later read its values
  std::map<OpId, OperandTile> earlier{}; ///< tiles that keep more values then, by the matmul
};

/// The tile of the matmul's operand A. None: the operand is in memory, or no product is behind it.
std::optional<FoundTile> find_tile(const Partition& partition, const SetJudge& judge, OpId matmul);

} // namespace ingot
