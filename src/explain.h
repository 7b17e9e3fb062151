// SPDX-License-Identifier: Apache-2.0
// What a compilation decided, as facts and as text: kernels, what they hold and move, why they end
// where they do, and what running op by op would have moved. Called by the command line.
#pragma once

#include "codegen/cost_model.h"
#include "ir/fusion/prologue_cost.h"
#include "ir/interpreter/evaluate.h"
#include "src/compiler.h"

#include "llvm/Support/JSON.h"

namespace ingot {

/// The size of a named dimension that was not given.
inline constexpr int64_t kUsualDim = kUsualExtent;

/// One tensor or memory that a kernel reads or writes.
struct Transfer {
  std::string name; ///< the tensor's, or `workspace 0`
  bool is_write = false;
  int64_t bytes = 0;
};

struct KernelFacts {
  std::string name;
  ProgramKind program = ProgramKind::launch;
  std::vector<std::string> ops; ///< in the text language
  std::string source;           ///< matmul 1024x8192x8192, or the loaded rows and columns
  std::vector<std::string> reductions;
  std::vector<std::string> schedules; ///< of its variants, in the order in which launch tries them
  std::vector<Transfer> transfers;
  int64_t flops = 0;
  std::string tuned;    ///< what a tuner kept of it; empty: nothing
  KernelCost predicted; ///< on the device that the graph was compiled for

  int64_t bytes() const;
};

struct BoundaryFacts {
  std::string producer, consumer;  ///< kernels
  std::vector<std::string> values; ///< that cross; none: neighbours that exchange nothing
  std::string rule;
  std::string change; ///< the smallest one after which the rule would not keep them apart
};

/// Every tensor counts once per kernel that touches it, streamed rows once per walk over them, and
/// of a gather's table no more than is chosen, sums of parts of tiles as written and as read. Other
/// rereads, which caches absorb, do not count.
struct Explanation {
  std::string graph, family, arch, device;
  std::vector<KernelFacts> kernels;
  std::vector<BoundaryFacts> boundaries;
  std::vector<std::pair<std::string, int64_t>> dims; ///< sizes that the figures are for
  int64_t bytes = 0;                                 ///< of the launch program's kernels
  int64_t flops = 0;
  double predicted_seconds = 0; ///< of the same kernels, one behind the other
  int64_t unfused_bytes = 0;    ///< one kernel for each operator as written
  int64_t unfused_kernels = 0;
  int64_t prepared_bytes = 0, workspace_bytes = 0, state_bytes = 0;
};

/// Figures are for the given sizes of named dimensions; one that is not given counts as kUsualDim.
/// Errors: ErrorCode::invalid_argument for a name the graph lacks, or sizes whose figures overflow.
llvm::Expected<Explanation> explain(const Compilation& compilation, const DimBindings& dims = {});

std::string text_of(const Explanation& explanation);
llvm::json::Value json_of(const Explanation& explanation);
/// Kernels as boxes, boundaries as arrows with their rule: Graphviz's language, and SVG.
std::string dot_of(const Explanation& explanation);
std::string svg_of(const Explanation& explanation);

} // namespace ingot
