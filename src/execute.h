// SPDX-License-Identifier: Apache-2.0
// Runs a graph once on host tensors: on the first GPU, or on the reference interpreter. The command
// line calls it.
#pragma once

#include "ir/tensor.h"
#include "src/compiler.h"

namespace ingot {

/// Inputs and params are in the graph's order of declaration, results in the order of its outputs.
/// Errors: those of binding dimensions, compiling and launching; ErrorCode::unavailable without a
/// GPU.
llvm::Expected<std::vector<Tensor>> execute_on_gpu(const Graph& graph,
                                                   const CompileOptions& options,
                                                   llvm::ArrayRef<const Tensor*> inputs,
                                                   std::shared_ptr<CompileService> service,
                                                   const PhaseObserver& observer = {});

/// Runs the graph in f64 and rounds to the types of the outputs.
llvm::Expected<std::vector<Tensor>> execute_on_reference(const Graph& graph,
                                                         llvm::ArrayRef<const Tensor*> inputs);

} // namespace ingot
