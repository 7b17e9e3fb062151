// SPDX-License-Identifier: Apache-2.0
// The decisions of a compilation as facts and as text: the kernels, their stored values and memory
// traffic, the reasons for their boundaries, and the traffic of an op-by-op run. The command line
// calls it.
#pragma once

#include "codegen/schedule/cost_model.h"
#include "src/compiler.h"

#include <optional>
#include <set>
#include <tuple>

namespace ingot {

/// A kind of memory, the name of the caller's tensor, and the place in memory of other kinds.
using MemoryId = std::tuple<ArgumentKind, std::string, uint32_t>;

/// A tensor or memory that a kernel reads or writes.
struct Transfer {
  Buffer memory;
  bool is_write = false;
  int64_t bytes = 0;

  MemoryId id() const { return {memory.argument.kind, memory.argument.name, memory.place}; }
  std::string name() const; ///< the name of the tensor, or `workspace 0`
};

struct OpFacts {
  OpKind kind = OpKind::add;
  std::string line;       ///< in the text language
  bool is_merged = false; ///< a reduction whose partials an earlier kernel stored
};

/// A schedule that a kernel might have.
struct OtherSchedule {
  std::string text;
  double seconds = 0; ///< predicted
};

struct KernelFacts {
  std::string name;
  ProgramKind program = ProgramKind::launch;
  std::optional<PackFormat> packs; ///< the format in which it packs a product's operand
  std::vector<OpFacts> ops;
  std::string source; ///< `matmul [1024, 8192] over K = 64`, or the loaded rows
  std::vector<std::string> reductions;
  std::vector<std::string> schedules; ///< of its variants, in the order of a launch
  std::vector<Transfer> transfers;
  int64_t flops = 0;
  std::string tuned;                 ///< the tuner's choice; empty: none
  KernelCost predicted;              ///< on the device of the compile
  std::vector<OtherSchedule> others; ///< in predicted order

  int64_t bytes() const;
  /// The index of the transfer of a memory in one direction.
  std::optional<size_t> find(const MemoryId& memory, bool is_write) const;
  std::vector<std::string> op_texts() const;
};

struct BoundaryFacts {
  size_t producer = 0, consumer = 0; ///< indices of kernels in Explanation
  std::vector<std::string> values;   ///< values that cross; none: the neighbours exchange nothing
  std::string rule;
  std::string change; ///< the change that lifts the rule; empty: none does
};

/// The launches of another plan for the same graph.
struct OtherPlan {
  int64_t kernels = 0, bytes = 0;
  double seconds = 0; ///< predicted, one kernel after another
};

/// Traffic counts every tensor once per kernel that reads or writes it, and streamed rows once per
/// pass. A gather's table counts only as far as it is selected. Sums of parts of tiles count as
/// written and as read. Other repeated reads do not count, because caches absorb them.
struct Explanation {
  std::string graph, family, arch, device;
  std::vector<KernelFacts> kernels; ///< in launch order, those of prepare first
  std::vector<BoundaryFacts> boundaries;
  std::vector<std::pair<std::string, int64_t>> dims; ///< the sizes behind the figures
  std::set<std::string> given_dims; ///< names whose sizes were given; the others were chosen
  int64_t bytes = 0;                ///< of the launch program's kernels
  int64_t flops = 0;
  double predicted_seconds = 0; ///< of the same kernels, one after another
  OtherPlan unfused; ///< every operator of the caller's graph, compiled alone with the same options
  std::optional<OtherPlan> pedantic; ///< f32 products by FMA; none if this plan has no halves
  int64_t prepared_bytes = 0, workspace_bytes = 0, state_bytes = 0;

  int64_t launches() const; ///< number of kernels in the launch program
};

/// Figures use the given sizes of named dimensions; choose_dims chooses the others. Each kernel of
/// the launch program has up to `candidates` other schedules. Errors: ErrorCode::invalid_argument
/// for a name that the graph lacks, or for sizes whose figures overflow.
llvm::Expected<Explanation> explain(const Compilation& compilation, const DimBindings& dims = {},
                                    size_t candidates = 0);

/// The explanation as text. `colour` adds escape sequences of terminals.
std::string text_of(const Explanation& explanation, bool colour = false);
std::string json_of(const Explanation& explanation);
/// A drawing in Graphviz's language: kernels are boxes, boundaries are arrows with their rule.
std::string dot_of(const Explanation& explanation);
/// A drawing with kernels, tensors between them, times and bytes. Rules appear where the pointer
/// rests on a tensor.
std::string svg_of(const Explanation& explanation);

} // namespace ingot
