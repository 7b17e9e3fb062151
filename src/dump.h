// SPDX-License-Identifier: Apache-2.0
// Writes the artefact of every phase as a numbered file, for --dump and INGOT_DUMP. The public API
// and the command line call it.
#pragma once

#include "src/compiler.h"

#include <string>
#include <vector>

namespace ingot {

/// The wanted artefacts and their folder.
struct DumpSettings {
  std::vector<std::string> phases; ///< words of dump_words(); empty: no files
  std::string folder = "ingot-dump";

  /// Reads a comma-separated list. The message calls the list `option`. Errors:
  /// ErrorCode::invalid_argument for an unknown word, with the list of known words.
  static llvm::Expected<DumpSettings> parse(llvm::StringRef option, llvm::StringRef words);
  /// Reads INGOT_DUMP and INGOT_DUMP_DIR.
  static llvm::Expected<DumpSettings> from_environment();
};

/// The words: all, graph, passes, plan, kernels, source, code, manifest.
llvm::ArrayRef<llvm::StringRef> dump_words();

/// Writes artefacts as they are made. The number counts every phase that ran, even without a file,
/// so that a file keeps its name if fewer phases are selected.
class Dump {
public:
  explicit Dump(DumpSettings settings) : settings_(std::move(settings)) {}

  /// An observer for compile_graph; empty if nothing is wanted. It refers to this object.
  PhaseObserver observer();
  /// Adds one artefact. `phase` is a word, or `passes/NAME`. `suffix` includes its dot.
  void add(llvm::StringRef phase, llvm::StringRef suffix, llvm::StringRef bytes);
  /// The error of the first file that could not be written.
  llvm::Error finish();

private:
  bool wants(llvm::StringRef word) const;

  DumpSettings settings_;
  unsigned number_ = 0;
  std::string problem_;
};

} // namespace ingot
