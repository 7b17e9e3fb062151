// SPDX-License-Identifier: Apache-2.0
// Compiles a graph ahead of time for several cards, as a bundle. The public API and the command
// line call it.
#pragma once

#include "codegen/program/bundle.h"
#include "src/compiler.h"

namespace ingot {

/// One set of options for each card in `lists.target` and `lists.device`, which may be lists
/// separated by commas. An empty device means every named card that runs the target. Errors:
/// invalid_argument for unknown or repeated names; unavailable for `native` without a GPU.
llvm::Expected<std::vector<CompileOptions>> bundle_options(const CompileOptions& lists);

/// Compiles `graph` with each set of options: machine code for the card, and PTX for the family.
/// The same graph and options give the same bundle. Errors: those of the compiler's phases and of
/// NVRTC.
llvm::Expected<Bundle> make_bundle(const Graph& graph, llvm::ArrayRef<CompileOptions> options,
                                   CompileService& service, const PhaseObserver& observer = {});

} // namespace ingot
