// SPDX-License-Identifier: Apache-2.0
// Writes one variant of one kernel: thin text over the device library. Called by lower.
#pragma once

#include "codegen/parts.h"
#include "codegen/program.h"
#include "codegen/schedule.h"
#include "codegen/stage_list.h"
#include "ir/passes/ranges.h"

#include <map>
#include <string>

namespace ingot {

/// A tensor or a set of partials in memory, as arguments refer to it.
struct Buffer {
  Argument argument; ///< kind, name, offset
  std::string name;  ///< a readable name for the generated code
};

/// What blocks that share the tiles of a matmul meet in.
struct SplitBuffers {
  Buffer sums, arrivals;
  Expr parts; ///< of each tile
};

/// Where every value that a group reads or writes lies.
struct BufferMap {
  std::map<ValueId, Buffer> values;               ///< where a value is read
  std::map<ValueId, std::vector<Buffer>> targets; ///< where it is written: once, or per output name
  std::map<OpId, Buffer> partials;                ///< of global reductions
  std::map<OpId, Cuts> cuts;                      ///< into parts with a state each
  std::map<OpId, SplitBuffers> splits;            ///< of a kernel, by its first matmul
  std::map<std::pair<OpId, uint32_t>, Buffer> halves; ///< of a matmul's operands
};

/// Emits `entry`. The same inputs give the same bytes in every process.
KernelVariant emit_variant(const Graph& graph, const Ranges& ranges, const Group& group,
                           const Schedule& schedule, const BufferMap& buffers,
                           const std::string& entry);

/// `MaxSumexpReducer`, `SumReducer<f32>`: the device library's reducer of a reduction.
std::string reducer_of(const Graph& graph, const Op& op);

} // namespace ingot
