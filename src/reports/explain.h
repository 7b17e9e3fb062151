// SPDX-License-Identifier: Apache-2.0
// What a compilation decided, as facts and as text: kernels, what they hold and move, why they end
// where they do, and what running op by op would have moved. Called by the command line.
#pragma once

#include "codegen/schedule/cost_model.h"
#include "ir/interpreter/evaluate.h"
#include "src/compiler.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <set>

namespace ingot {

/// One tensor or memory that a kernel reads or writes.
struct Transfer {
  std::string name; ///< the tensor's, or `workspace 0`
  bool is_write = false;
  int64_t bytes = 0;
  std::string value{}; ///< what lies there: `h`, `halves of x`; of a tensor its name
  std::string type{};  ///< `f32[1024, 8192]`; empty for what is no value of the graph
};

struct KernelFacts {
  std::string name;
  ProgramKind program = ProgramKind::launch;
  bool makes_halves = false;    ///< of an operand, for the kernel of a product
  std::vector<std::string> ops; ///< in the text language
  std::string source;           ///< `matmul [1024, 8192] over K = 64`, or the rows that it reads
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
  std::string change; ///< after which the rule would not keep them apart; empty: none would
};

/// The launches of another plan for the same graph.
struct OtherPlan {
  int64_t kernels = 0, bytes = 0;
  double seconds = 0; ///< predicted, one kernel behind the other
};

/// Every tensor counts once per kernel that touches it, streamed rows once per walk over them, and
/// of a gather's table no more than is chosen, sums of parts of tiles as written and as read. Other
/// rereads, which caches absorb, do not count.
struct Explanation {
  std::string graph, family, arch, device;
  std::vector<KernelFacts> kernels; ///< in the order in which they run, prepare's first
  std::vector<BoundaryFacts> boundaries;
  std::vector<std::pair<std::string, int64_t>> dims; ///< sizes that the figures are for
  std::set<std::string> given_dims;                  ///< whose sizes were given; others were chosen
  int64_t bytes = 0;                                 ///< of the launch program's kernels
  int64_t flops = 0;
  double predicted_seconds = 0; ///< of the same kernels, one behind the other
  OtherPlan unfused;            ///< each operator as written, compiled alone with the same options
  std::optional<OtherPlan> without_halves; ///< none where this plan makes none
  int64_t prepared_bytes = 0, workspace_bytes = 0, state_bytes = 0;

  int64_t launches() const; ///< kernels of the launch program
};

/// Figures are for the given sizes of named dimensions; choose_dims chooses the others.
/// Errors: ErrorCode::invalid_argument for a name the graph lacks, or sizes whose figures overflow.
llvm::Expected<Explanation> explain(const Compilation& compilation, const DimBindings& dims = {});

/// With `colour`, in the escape sequences of terminals.
std::string text_of(const Explanation& explanation, bool colour = false);
std::string json_of(const Explanation& explanation);
/// Kernels as boxes, boundaries as arrows with their rule, in Graphviz's language.
std::string dot_of(const Explanation& explanation);
/// A picture: kernels, tensors between them, times and bytes; rules where a pointer rests on a
/// tensor.
std::string svg_of(const Explanation& explanation);

} // namespace ingot
