// SPDX-License-Identifier: Apache-2.0
// Tokens of the text language, made on demand for the parser. The lexer never fails: text that is
// not a token becomes a token of kind `invalid` with a message.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// The maximum number of bytes of a name, a number or a text.
inline constexpr size_t kMaxWord = 255;

/// The message of an `invalid` token that is a single character.
inline constexpr llvm::StringLiteral kUnexpectedCharacter = "unexpected character";
/// The message of an `invalid` token that would be a name if all its characters were ASCII.
inline constexpr llvm::StringLiteral kForeignName = "names are of ASCII letters, digits and _";

enum class TokenKind : uint8_t {
  end,
  invalid,
  identifier,
  integer,
  real,
  text,
  left_paren,
  right_paren,
  left_bracket,
  right_bracket,
  left_brace,
  right_brace,
  comma,
  colon,
  assign,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  plus,
  minus,
  star,
  slash,
  percent,
  power,
  at,
  ampersand,
  bar,
  tilde,
  dot,
  ellipsis,
};

struct Token {
  TokenKind kind = TokenKind::end;
  llvm::StringRef spelling; ///< as written; for `text` without quotes
  const char* begin = nullptr;
  SourceLocation location; ///< place of `begin`
  llvm::StringRef message; ///< for `invalid`
  llvm::StringRef comment; ///< `//` comment before it, on the line of the previous token
};

/// An operator between two operands, other than the words `and` and `or`.
struct InfixOperator {
  TokenKind kind;
  int precedence; ///< the loosest one has 1
  llvm::StringLiteral function;
};
inline constexpr int kComparisonPrecedence = 4;
inline constexpr int kPowerPrecedence = 10;
/// Null if the token is no such operator.
const InfixOperator* find_infix(TokenKind kind);

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : text_(text), line_begin_(text.data()) {}
  /// The next token. After the end of the text, always `end`.
  Token next();
  /// The last `}` of the first comment behind the last token that has more `}` than `{`; nullptr if
  /// there is none.
  const char* commented_brace() const { return commented_brace_; }

private:
  /// Returns the first `//` comment, if it begins on this line.
  llvm::StringRef skip_blanks();
  llvm::StringRef take_comment();
  Token read();
  Token word();
  Token number();
  Token quoted();
  Token symbol();
  Token take(TokenKind kind, size_t size, llvm::StringRef message = {});

  llvm::StringRef text_; // the text not read yet
  uint32_t line_ = 1;
  const char* line_begin_;
  const char* commented_brace_ = nullptr;
};

} // namespace ingot
