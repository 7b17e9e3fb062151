// SPDX-License-Identifier: Apache-2.0
// Where the parser stands: the current token, the one after it, and the first mistake. Functions
// that report a mistake give false, so that a parsing function can return them.
#pragma once

#include "ir/text/diagnostic.h"
#include "ir/text/lexer.h"

namespace ingot {

class Cursor {
public:
  explicit Cursor(SourceText& source);

  const Token& token() const { return token_; }
  const Token& ahead() const { return ahead_; }
  bool is(TokenKind kind) const { return token_.kind == kind; }
  bool is_word(llvm::StringRef word) const {
    return is(TokenKind::identifier) && token_.spelling == word;
  }
  /// Gives the current token and moves to the next.
  Token advance();
  bool accept(TokenKind kind);
  /// `what` is what the message says was expected.
  bool expect(TokenKind kind, llvm::StringRef what);
  bool expect_name(llvm::StringRef what, Token& name);
  /// A closing bracket; the message says where it was opened.
  bool expect_close(TokenKind kind, const Token& open);

  template <typename... Args>
  bool error(const char* at, fmt::format_string<Args...> format, Args&&... args) {
    return report(at, ErrorCode::parse_error, fmt::format(format, std::forward<Args>(args)...));
  }
  /// The current token is not what was expected.
  bool unexpected(llvm::StringRef expected);
  /// An error of the graph or the library; `at` unless it blames an argument.
  bool report(const char* at, llvm::Error error);
  /// Adds to the mistake just reported.
  void note(const char* at, llvm::StringRef message);
  /// The first mistake.
  llvm::Error take_mistake() { return llvm::make_error<IngotError>(code_, std::move(mistake_)); }

private:
  bool report(const char* at, ErrorCode code, const std::string& message);
  bool invalid_token();

  SourceText& source_;
  Lexer lexer_;
  Token token_, ahead_;
  ErrorCode code_ = ErrorCode::parse_error;
  std::string mistake_;
};

} // namespace ingot
