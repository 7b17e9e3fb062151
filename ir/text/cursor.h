// SPDX-License-Identifier: Apache-2.0
// Where the parser stands: the current token, the one after it, and the mistakes so far. Functions
// that report a mistake give false, so that a parsing function can return them.
#pragma once

#include "ir/text/diagnostic.h"
#include "ir/text/lexer.h"

#include <vector>

namespace ingot {

/// A `//` comment that stands on the line of a token which may end an operand.
struct TrailingComment {
  llvm::StringRef text; ///< from the slashes to the end of the line
  int open_brackets = 0;
};

class Cursor {
public:
  explicit Cursor(SourceText& source);

  const Token& token() const { return token_; }
  const Token& ahead() const { return ahead_; }
  /// The token before the current one; `end` at the beginning.
  const Token& previous() const { return previous_; }
  /// The text from there to the end of the token before the current one.
  llvm::StringRef read_since(const char* begin) const;
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

  /// From here on brackets and comments are counted anew.
  void begin_statement();
  /// Round and square brackets of the statement that are open.
  int open_brackets() const { return open_brackets_; }
  /// Comments of the statement.
  llvm::ArrayRef<TrailingComment> comments() const { return comments_; }

  template <typename... Args>
  bool error(const char* at, fmt::format_string<Args...> format, Args&&... args) {
    return report(at, ErrorCode::parse_error, fmt::format(format, std::forward<Args>(args)...));
  }
  /// A mistake behind which nothing is read: a limit of the language.
  template <typename... Args>
  bool stop(const char* at, fmt::format_string<Args...> format, Args&&... args) {
    error(at, format, std::forward<Args>(args)...);
    return stop();
  }
  /// The same of the mistake just reported.
  bool stop() {
    stopped_ = true;
    return false;
  }
  /// The current token is not what was expected.
  bool unexpected(llvm::StringRef expected, llvm::StringRef hint = "");
  /// An error of the graph or the library; `at` unless it blames an argument.
  bool report(const char* at, llvm::Error error);
  /// Adds to the mistake just reported.
  void note(const char* at, llvm::StringRef message);
  /// Takes back the mistake just reported.
  void retract() { mistakes_.pop_back(); }
  /// Nothing more is read or reported.
  bool stopped() const { return stopped_; }
  bool failed() const { return !mistakes_.empty(); }
  /// All mistakes as one error, whose code is that of the first.
  llvm::Error take_mistakes();

protected:
  const SourceText& source() const { return source_; }

private:
  bool report(const char* at, ErrorCode code, const std::string& message);
  bool invalid_token();

  SourceText& source_;
  Lexer lexer_;
  Token token_, ahead_, previous_;
  int open_brackets_ = 0;
  std::vector<TrailingComment> comments_;
  ErrorCode code_ = ErrorCode::parse_error;
  std::vector<std::string> mistakes_;
  bool stopped_ = false;
};

} // namespace ingot
