// SPDX-License-Identifier: Apache-2.0
// Compares the kernels on the GPU with the f64 reference and its error bounds, on random inputs:
// `ingot check`. The command line and the GPU tests call it.
#pragma once

#include "ir/interpreter/compare.h"
#include "src/compiler.h"

#include <functional>

namespace ingot {

struct CheckOptions {
  CompileOptions compile;                  ///< its precision is not used
  std::vector<MatmulPrecision> precisions; ///< empty: all that differ for the graph's types
  uint64_t seed = 0;
  DimBindings dims;       ///< sizes of named dimensions; choose_dims chooses the others
  PhaseObserver observer; ///< receives the artefacts of every compile; may be empty
};

/// One output under one precision.
struct OutputCheck {
  std::string precision; ///< `high`; `rewrites` if no kernel ran
  std::string output;
  DType dtype = DType::f32; ///< of the output
  Comparison comparison;
  std::vector<PlantedError> planted;
  bool same_bits = true;         ///< a second run gave the same bytes
  bool surroundings_kept = true; ///< the bytes around the output did not change
  std::string problem;           ///< reason of a failure; empty if it passes or is undecided
  /// The bound of every element accepts any value, so a passing result proves nothing.
  bool is_undecided = false;
};

struct CheckReport {
  std::string device; ///< the GPU's name; empty if none was used
  std::string arch;
  std::vector<std::pair<std::string, int64_t>> dims; ///< sizes of named dimensions
  std::vector<OutputCheck> checks;
  bool pass = false;
  bool is_undecided = false; ///< nothing fails, but some output is undecided
};

/// The options to compare results under the options of a compile.
CompareOptions compare_options(const CompileOptions& options);

/// Receives the name of each step at its start, e.g. "reference in f64".
using ProgressObserver = llvm::function_ref<void(const std::string&)>;
inline void no_progress(const std::string&) {}

/// The precisions whose kernels may differ: all four if a matmul has f32 operands.
std::vector<MatmulPrecision> distinct_precisions(const Graph& graph);

/// The graph that serves as the reference for the kernels of `compilation`.
struct JudgedGraph {
  Graph graph;
  /// 16-bit intermediates as kernels load them: rounded, and perhaps infinite, by the kernel that
  /// stored them. The storing kernel itself uses the unrounded value, so the two are separate
  /// values.
  std::vector<ValueId> stored{};
  /// Others that a kernel rounds about a running maximum (EvaluateOptions::rescaled).
  std::vector<ValueId> rescaled{};
  bool is_given = false; ///< it is the caller's graph
};

/// The caller's graph. If kernels round intermediates, it is instead the rewritten graph with the
/// roundings of the plan. Kernels round 16-bit values between kernels, and computed operands of a
/// matmul in a coarse precision.
JudgedGraph judged_graph(const Compilation& compilation);

/// The outputs of the judged graph in f64. Errors: those of `evaluate`; ErrorCode::internal if the
/// rewritten graph computes something else than the caller's graph.
llvm::Expected<std::vector<Evaluated>> judged_references(const Compilation& compilation,
                                                         llvm::ArrayRef<const Tensor*> inputs,
                                                         EvaluateOptions evaluation,
                                                         const CompareOptions& comparison);

/// Draws inputs, evaluates the caller's graph in f64, and runs its kernels twice per precision on
/// the first GPU. Outputs and memories are full of NaN before each run. A result passes if every
/// element is within the bound of the reference, both runs agree bit for bit, no byte around an
/// output changed, and every planted error is rejected. Errors: those of compiling and launching;
/// ErrorCode::unavailable without a GPU.
llvm::Expected<CheckReport> check_on_gpu(const Graph& graph, const CheckOptions& options,
                                         const std::shared_ptr<CompileService>& service,
                                         ProgressObserver progress = no_progress);

/// The checks that need no GPU: compares the rewritten graph with the caller's graph in f64. No
/// kernel runs.
llvm::Expected<CheckReport> check_on_reference(const Graph& graph, const CheckOptions& options,
                                               ProgressObserver progress = no_progress);

} // namespace ingot
