// SPDX-License-Identifier: Apache-2.0
// What is behind a Program, however it was made: compiled from a graph, or loaded from a bundle.
// Shared by the api_*.cpp that compile or load.
#pragma once

#include "ingot/ingot.h"
#include "runtime/launchable.h"
#include "src/compiler.h"
#include "src/emission.h"

#include <functional>

namespace ingot {

/// A tensor as the public API describes it, with its extents where all of them are fixed.
struct DeclaredTensor {
  TensorSpec spec;
  std::vector<int64_t> extents;
  bool is_fixed = true;
};

struct Program::State {
  using Emit = std::function<llvm::Expected<EmittedCode>(CodeKind)>;

  /// `emit` gives the code of launchable->module(), for Program::code.
  State(std::unique_ptr<Launchable> the_launchable, Emit the_emit);

  const Module& module() const { return launchable->module(); }

  std::unique_ptr<Launchable> launchable;
  Emit emit;
  std::vector<DeclaredTensor> inputs, params, outputs;
  std::vector<TensorSpec> input_specs, param_specs, output_specs;
};

/// The options of a compile. The card present where none is named and there is one.
llvm::Expected<CompileOptions> to_compile_options(const Options& options);
/// The same without looking for a card: `device` as given.
llvm::Expected<CompileOptions> to_given_options(const Options& options);
/// Compiles a graph; INGOT_DUMP has its effect.
llvm::Expected<Compilation> compile_spec(const GraphSpec& graph, const CompileOptions& options);

} // namespace ingot
