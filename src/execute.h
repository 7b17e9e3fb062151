// SPDX-License-Identifier: Apache-2.0
// One run of a graph on host tensors: on the first GPU, or on the reference interpreter. Called by
// the command line.
#pragma once

#include "ir/tensor.h"
#include "src/compiler.h"

namespace ingot {

/// Inputs and params in the graph's order of declaration; results in the order of its outputs.
/// Errors: what binding dimensions, compiling or launching reports; ErrorCode::unavailable without
/// a GPU.
llvm::Expected<std::vector<Tensor>> execute_on_gpu(const Graph& graph,
                                                   const CompileOptions& options,
                                                   llvm::ArrayRef<const Tensor*> inputs,
                                                   std::shared_ptr<CompileService> service,
                                                   const StageObserver& observer = {});

/// The same in f64, rounded to the outputs' types.
llvm::Expected<std::vector<Tensor>> execute_on_reference(const Graph& graph,
                                                         llvm::ArrayRef<const Tensor*> inputs);

} // namespace ingot
