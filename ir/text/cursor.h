// SPDX-License-Identifier: Apache-2.0
// The position of the parser: the current token, the next one, and the mistakes so far. Functions
// that report a mistake return false, so that a parsing function can return their result.
#pragma once

#include "ir/text/diagnostic.h"
#include "ir/text/lexer.h"

#include <vector>

namespace ingot {

/// A `//` comment on the line of a token that may end an operand.
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
  /// The text from `begin` to the end of the token before the current one.
  llvm::StringRef read_since(const char* begin) const;
  bool is(TokenKind kind) const { return token_.kind == kind; }
  bool is_word(llvm::StringRef word) const {
    return is(TokenKind::identifier) && token_.spelling == word;
  }
  /// Returns the current token and moves to the next.
  Token advance();
  bool accept(TokenKind kind);
  /// Reports a mistake unless the current token has this kind. The message calls it `what`.
  bool expect(TokenKind kind, llvm::StringRef what);
  bool expect_name(llvm::StringRef what, Token& name);
  /// Expects a closing bracket. The message says where it was opened.
  bool expect_close(TokenKind kind, const Token& open);

  /// Starts counting brackets and comments from zero.
  void begin_statement();
  /// The number of open round and square brackets in the statement.
  int open_brackets() const { return open_brackets_; }
  /// The comments of the statement.
  llvm::ArrayRef<TrailingComment> comments() const { return comments_; }

  template <typename... Args>
  bool error(const char* at, fmt::format_string<Args...> format, Args&&... args) {
    return report(at, ErrorCode::parse_error, fmt::format(format, std::forward<Args>(args)...));
  }
  /// Reports a mistake after which nothing is read, such as a limit of the language.
  template <typename... Args>
  bool stop(const char* at, fmt::format_string<Args...> format, Args&&... args) {
    error(at, format, std::forward<Args>(args)...);
    return stop();
  }
  /// Stops after the mistake just reported.
  bool stop() {
    stopped_ = true;
    return false;
  }
  /// Reports that the current token is not the expected one.
  bool unexpected(llvm::StringRef expected, llvm::StringRef hint = "");
  /// Reports an error of the graph or the library, at `at` or at the argument that the error names.
  bool report(const char* at, llvm::Error error);
  /// Adds a note to the mistake just reported.
  void note(const char* at, llvm::StringRef message);
  /// Removes the mistake just reported.
  void retract() { mistakes_.pop_back(); }
  /// Whether reading has stopped.
  bool stopped() const { return stopped_; }
  bool failed() const { return !mistakes_.empty(); }
  /// All mistakes as one error with the code of the first.
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
