// SPDX-License-Identifier: Apache-2.0
// How often a kernel reads what its pointers lead to, for the bytes that explain counts.
#pragma once

#include "ir/fusion/plan.h"
#include "src/support/expr.h"

#include <map>
#include <vector>

namespace ingot {

/// What a kernel reads through one pointer.
struct ReadTraffic {
  int64_t whole = 0;        ///< times that all of it is read
  std::vector<Expr> chosen; ///< elements of each time that an index or a slice chooses them
  bool is_spare = false;    ///< read only where halves do not suit: as good as never

  /// Of a tensor of so many bytes; no choice counts for more than all of it.
  Expr bytes(const Expr& all, const Graph& graph, ValueId value) const;
};

/// By value; states of a reduction that are merged by its first result. Rows that are streamed are
/// read again for each reduction that needs them and for the stores. Operands of which halves are
/// multiplied are spare.
std::map<ValueId, ReadTraffic> read_traffic(const Graph& graph, const Group& group,
                                            bool is_streamed, bool multiplies_halves);

} // namespace ingot
