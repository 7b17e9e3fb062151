// SPDX-License-Identifier: Apache-2.0
// Places in a graph spec and the text of a message about one: `file:line:column: error: message`,
// the source line and a caret. Made by the parser and,
// for errors of later stages, by the compiler.
#pragma once

#include "ir/graph.h"

#include "llvm/Support/SourceMgr.h"

namespace ingot {

/// A spec being read.
class SourceText {
public:
  SourceText(llvm::StringRef text, llvm::StringRef file_name);

  llvm::StringRef text() const { return text_; }
  /// A place the lexer gave.
  const char* find(SourceLocation location) const;
  /// Message, line and caret; ends without a newline.
  std::string diagnostic(const char* at, llvm::SourceMgr::DiagKind kind,
                         llvm::StringRef message) const;

private:
  llvm::SourceMgr manager_;
  unsigned buffer_ = 0;
  llvm::StringRef text_;
};

/// `error` as a diagnostic of the spec that `graph` was parsed from, where both have one.
llvm::Error diagnose(llvm::Error error, const Graph& graph);

} // namespace ingot
