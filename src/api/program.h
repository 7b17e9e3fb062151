// SPDX-License-Identifier: Apache-2.0
// The state of a Program that was compiled from a graph or loaded from a bundle. The files of
// src/api that compile or load share it.
#pragma once

#include "ingot/ingot.h"
#include "runtime/launchable.h"
#include "src/compiler.h"
#include "src/emission.h"

#include <functional>

namespace ingot {

/// The tensors of one role.
struct DeclaredTensors {
  explicit DeclaredTensors(const std::vector<TensorInfo>& tensors);
  std::vector<TensorSpec> specs;
  std::vector<std::optional<std::vector<int64_t>>> extents; ///< of tensors without named dimensions
};

struct Program::State {
  using Emit = std::function<llvm::Expected<Code>(CodeKind)>;

  /// `emit`: for Program::code. Its code may be for another family than launchable->module().
  State(std::unique_ptr<Launchable> the_launchable, Emit the_emit);

  const Module& module() const { return launchable->module(); }

  std::unique_ptr<Launchable> launchable;
  Emit emit;
  DeclaredTensors inputs, params, outputs;
};

/// The code of a module, with the manifest that describes it.
Code code_of(const Module& module, CodeKind kind, EmittedCode emitted);

/// The options of a compile. If no card is named, they use the card that is present, if any.
llvm::Expected<CompileOptions> to_compile_options(const Options& options);
/// The options without a search for a card: `device` as given.
llvm::Expected<CompileOptions> to_given_options(const Options& options);
/// Compiles a graph. INGOT_DUMP applies.
llvm::Expected<Compilation> compile_spec(const GraphSpec& graph, const CompileOptions& options);

} // namespace ingot
