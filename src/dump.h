// SPDX-License-Identifier: Apache-2.0
// Every stage's artefact as a numbered file in a folder: what --dump and INGOT_DUMP ask for.
// Called by the public API and the command line.
#pragma once

#include "src/compiler.h"

#include <string>
#include <vector>

namespace ingot {

/// Which artefacts are wanted and where they go.
struct DumpSettings {
  std::vector<std::string> stages; ///< words of dump_words(); empty: nothing is written
  std::string folder = "ingot-dump";

  /// Reads a comma-separated list. Errors: ErrorCode::invalid_argument for a word that is none,
  /// listing those there are; `option` is what the message calls the list.
  static llvm::Expected<DumpSettings> parse(llvm::StringRef option, llvm::StringRef words);
  /// INGOT_DUMP and INGOT_DUMP_DIR.
  static llvm::Expected<DumpSettings> from_environment();
};

/// all, graph, passes, plan, source, code, manifest.
llvm::ArrayRef<llvm::StringRef> dump_words();

/// Writes artefacts as they are made. Numbers count every stage that ran, written or not, so that a
/// file keeps its name when fewer stages are asked for.
class Dump {
public:
  explicit Dump(DumpSettings settings) : settings_(std::move(settings)) {}

  /// Hears of the stages of compile_graph; empty when nothing is wanted. Refers to this object.
  StageObserver observer();
  /// One artefact; `stage` is a word, or `passes/NAME`. `suffix` has its dot.
  void add(llvm::StringRef stage, llvm::StringRef suffix, llvm::StringRef bytes);
  /// The first file that could not be written.
  llvm::Error finish();

private:
  bool wants(llvm::StringRef word) const;

  DumpSettings settings_;
  unsigned number_ = 0;
  std::string problem_;
};

} // namespace ingot
