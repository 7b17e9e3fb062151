// SPDX-License-Identifier: Apache-2.0
// A graph compiled ahead of time for several cards, as a bundle. Called by the public API and the
// command line.
#pragma once

#include "codegen/program/bundle.h"
#include "src/compiler.h"

namespace ingot {

/// One set of options for each card that `lists.target` and `lists.device` name, both of which may
/// be lists separated by commas; no device: every card that has a name. Errors: invalid_argument
/// for names that are none, or twice; unavailable for `native` without a GPU.
llvm::Expected<std::vector<CompileOptions>> bundle_options(const CompileOptions& lists);

/// Compiles `graph` with each of them: machine code for the card, and PTX for the family. The same
/// graph and options give the same bundle. Errors: what a stage or NVRTC reports.
llvm::Expected<Bundle> make_bundle(const Graph& graph, llvm::ArrayRef<CompileOptions> options,
                                   CompileService& service, const StageObserver& observer = {});

} // namespace ingot
