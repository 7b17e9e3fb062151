// SPDX-License-Identifier: Apache-2.0
// Random inputs, the f64 reference with its error bounds, and the kernels on the GPU compared with
// it: what `ingot check` does. Called by the command line and the GPU tests.
#pragma once

#include "ir/interpreter/compare.h"
#include "src/compiler.h"

#include <functional>

namespace ingot {

struct CheckOptions {
  CompileOptions compile;                  ///< its precision is not used
  std::vector<MatmulPrecision> precisions; ///< empty: all that the graph's types tell apart
  uint64_t seed = 0;
  DimBindings dims;       ///< sizes of named dimensions; choose_dims chooses the others
  StageObserver observer; ///< hears of the stages of every compile; may be empty
};

/// One output under one precision.
struct OutputCheck {
  std::string precision; ///< `high`; `rewrites` where no kernel ran
  std::string output;
  DType dtype = DType::f32; ///< of the output
  Comparison comparison;
  std::vector<PlantedError> planted;
  bool same_bits = true;         ///< a second run gave the same bytes
  bool surroundings_kept = true; ///< the bytes around the output are as they were
  std::string problem;           ///< why it fails; empty when it passes or is undecided
  /// No bound of any element refuses anything, so that a right result shows nothing.
  bool is_undecided = false;
};

struct CheckReport {
  std::string device; ///< the GPU's name; empty when none was used
  std::string arch;
  std::vector<std::pair<std::string, int64_t>> dims; ///< the sizes taken for named dimensions
  std::vector<OutputCheck> checks;
  bool pass = false;
  bool is_undecided = false; ///< nothing fails, but an output is undecided
};

/// How results are compared under the options of a compile.
CompareOptions compare_options(const CompileOptions& options);

bool same_bytes(const Tensor& a, const Tensor& b);

/// Hears of what begins, e.g. "reference in f64"; may be empty.
using ProgressObserver = std::function<void(const std::string&)>;

/// The precisions whose kernels may differ: all four where a matmul has f32 operands.
std::vector<MatmulPrecision> distinct_precisions(const Graph& graph);

/// The graph by which the kernels of `compilation` are to be judged.
struct JudgedGraph {
  Graph graph;
  /// Halves as kernels load them, rounded and perhaps overflown by the kernel that stored them.
  /// That kernel itself uses them unrounded: each is a value of its own.
  std::vector<ValueId> stored;
  bool is_given = false; ///< the graph as given
};

/// The graph as given, or, where the kernels round intermediates (halves that one stores and
/// another loads, computed operands of a matmul in a coarse precision), what the plan makes of the
/// rewritten one.
JudgedGraph judged_graph(const Compilation& compilation);

/// The outputs of the judged graph in f64. Errors: what `evaluate` reports; ErrorCode::internal
/// where the rewritten graph computes something else than the graph as given.
llvm::Expected<std::vector<Evaluated>> judged_references(const Compilation& compilation,
                                                         llvm::ArrayRef<const Tensor*> inputs,
                                                         EvaluateOptions evaluation,
                                                         const CompareOptions& comparison);

/// Draws inputs, evaluates `graph` as given in f64, and runs its kernels twice per precision on the
/// first GPU, with outputs and memories full of NaN before each run. A result passes when every
/// element is within the reference's bound, both runs agree bit for bit, nothing around an output
/// was written, and every wrong result planted into it is refused.
/// Errors: what compiling or launching reports; ErrorCode::unavailable without a GPU.
llvm::Expected<CheckReport> check_on_gpu(const Graph& graph, const CheckOptions& options,
                                         const std::shared_ptr<CompileService>& service,
                                         const ProgressObserver& progress = {});

/// What can be checked without a GPU: the rewritten graph, evaluated in f64, against the graph as
/// given. No kernel runs.
llvm::Expected<CheckReport> check_on_reference(const Graph& graph, const CheckOptions& options,
                                               const ProgressObserver& progress = {});

} // namespace ingot
