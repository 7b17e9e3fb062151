// SPDX-License-Identifier: Apache-2.0
// Places in a graph spec, and messages about them: `file:line:column: error: message`, the source
// line and a caret. The parser makes them; the compiler makes them for errors of later phases.
#pragma once

#include "ir/graph.h"

#include "llvm/Support/SourceMgr.h"

namespace ingot {

/// The text of a spec.
class SourceText {
public:
  SourceText(llvm::StringRef text, llvm::StringRef file_name);

  llvm::StringRef text() const { return text_; }
  /// The address of a place from the lexer.
  const char* find(SourceLocation location) const;
  /// Message, line and caret, without a newline at the end.
  std::string diagnostic(const char* at, llvm::SourceMgr::DiagKind kind,
                         llvm::StringRef message) const;

private:
  llvm::SourceMgr manager_;
  unsigned buffer_ = 0;
  llvm::StringRef text_;
};

/// `error` as a diagnostic of the spec of `graph`, if both have a place.
llvm::Error diagnose(llvm::Error error, const Graph& graph);

} // namespace ingot
