// SPDX-License-Identifier: Apache-2.0
// See lexer.h.
#include "ir/text/lexer.h"

#include "ir/text/characters.h"
#include "src/support/utf8.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace ingot {

namespace {

bool is_word_char(char c) { return llvm::isAlnum(c) || c == '_'; }

size_t digits_at(llvm::StringRef text, size_t from) {
  size_t end = std::min(text.find_first_not_of("0123456789", from), text.size());
  return end - std::min(from, end);
}

struct Symbol {
  llvm::StringLiteral spelling;
  TokenKind kind;
  llvm::StringLiteral message = ""; ///< for signs of other languages
};

// Longer symbols come first.
constexpr Symbol kSymbols[] = {
    {"...", TokenKind::ellipsis},
    {"==", TokenKind::equal},
    {"!=", TokenKind::not_equal},
    {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal},
    {"**", TokenKind::power},
    {"&&", TokenKind::invalid, "unexpected '&&'; write a and b"},
    {"||", TokenKind::invalid, "unexpected '||'; write a or b"},
    {"<<", TokenKind::invalid, "unexpected '<<'; no operator works on bits; write x * 2 ** n"},
    {">>", TokenKind::invalid,
     "unexpected '>>'; no operator works on bits; write div(x, 2 ** n, rounding_mode='floor')"},
    {"->", TokenKind::invalid,
     "unexpected '->'; a graph declares no types of results; leave out the '->' and the types"},
    {":=", TokenKind::invalid, "unexpected ':='; write y = ... on a line of its own"},
    {"(", TokenKind::left_paren},
    {")", TokenKind::right_paren},
    {"[", TokenKind::left_bracket},
    {"]", TokenKind::right_bracket},
    {"{", TokenKind::left_brace},
    {"}", TokenKind::right_brace},
    {",", TokenKind::comma},
    {":", TokenKind::colon},
    {"=", TokenKind::assign},
    {"<", TokenKind::less},
    {">", TokenKind::greater},
    {"+", TokenKind::plus},
    {"-", TokenKind::minus},
    {"*", TokenKind::star},
    {"/", TokenKind::slash},
    {"%", TokenKind::percent},
    {"@", TokenKind::at},
    {"&", TokenKind::ampersand},
    {"|", TokenKind::bar},
    {"~", TokenKind::tilde},
    {".", TokenKind::dot},
    {"!", TokenKind::invalid, "unexpected '!'; write not x"},
    {"^", TokenKind::invalid,
     "unexpected '^'; a power is x ** 2, an exclusive or of bools is a != b"},
    {"?", TokenKind::invalid,
     "unexpected '?'; write where(condition, a, b), or m for an extent that varies"},
    {";", TokenKind::invalid,
     "unexpected ';'; leave it out: a statement ends where the next begins"},
    {"\\", TokenKind::invalid, "unexpected '\\'; leave it out: line breaks do not matter"},
};

constexpr InfixOperator kInfixOperators[] = {
    {TokenKind::equal, kComparisonPrecedence, "equal"},
    {TokenKind::not_equal, kComparisonPrecedence, "not_equal"},
    {TokenKind::less, kComparisonPrecedence, "less"},
    {TokenKind::less_equal, kComparisonPrecedence, "less_equal"},
    {TokenKind::greater, kComparisonPrecedence, "greater"},
    {TokenKind::greater_equal, kComparisonPrecedence, "greater_equal"},
    {TokenKind::bar, 5, "or"},
    {TokenKind::ampersand, 6, "and"},
    {TokenKind::plus, 7, "add"},
    {TokenKind::minus, 7, "sub"},
    {TokenKind::star, 8, "mul"},
    {TokenKind::slash, 8, "div"},
    {TokenKind::percent, 8, "remainder"},
    {TokenKind::at, 8, "matmul"},
    {TokenKind::power, kPowerPrecedence, "power"},
};

} // namespace

const InfixOperator* find_infix(TokenKind kind) {
  const auto* found =
      llvm::find_if(kInfixOperators, [&](const InfixOperator& op) { return op.kind == kind; });
  return found == std::end(kInfixOperators) ? nullptr : found;
}

/// Skips a comment up to the end of its line and returns its text.
llvm::StringRef Lexer::take_comment() {
  const llvm::StringRef comment = text_.take_front(text_.find('\n'));
  if (!commented_brace_ && comment.count('}') > comment.count('{'))
    commented_brace_ = comment.data() + comment.rfind('}');
  text_ = text_.drop_front(comment.size());
  return comment;
}

llvm::StringRef Lexer::skip_blanks() {
  llvm::StringRef comment;
  const char* line = line_begin_;
  if (!text_.empty()) commented_brace_ = nullptr;
  while (!text_.empty()) {
    if (text_.starts_with("//") || text_.front() == '#') {
      const bool is_first = comment.empty() && line == line_begin_ && text_.front() == '/';
      const llvm::StringRef taken = take_comment();
      if (is_first) comment = taken;
    } else if (text_.front() == '\n') {
      text_ = text_.drop_front();
      ++line_;
      line_begin_ = text_.data();
    } else {
      llvm::StringRef rest = text_.ltrim(" \t\r");
      if (rest.size() == text_.size()) break;
      text_ = rest;
    }
  }
  return comment;
}

Token Lexer::take(TokenKind kind, size_t size, llvm::StringRef message) {
  auto column = static_cast<uint32_t>(text_.begin() - line_begin_ + 1);
  Token token{kind, text_.take_front(size), text_.begin(), {line_, column}, message, {}};
  text_ = text_.drop_front(size);
  return token;
}

Token Lexer::word() {
  size_t size = 0;
  bool is_foreign = false;
  while (size < text_.size()) {
    const bool is_ascii = llvm::isASCII(text_[size]);
    if (is_ascii && !is_word_char(text_[size])) break;
    if (!is_ascii && begins_with_foreign_sign(text_.drop_front(size))) break;
    is_foreign |= !is_ascii;
    size += first_character(text_.drop_front(size)).size;
  }
  if (is_foreign) return take(TokenKind::invalid, size, kForeignName);
  if (size > kMaxWord) return take(TokenKind::invalid, size, "name longer than 255 characters");
  return take(TokenKind::identifier, size);
}

Token Lexer::number() {
  size_t size = digits_at(text_, 0);
  bool is_real = false;
  if (size < text_.size() && text_[size] == '.') {
    is_real = true;
    size += 1 + digits_at(text_, size + 1);
  }
  if (size < text_.size() && (text_[size] == 'e' || text_[size] == 'E')) {
    size_t exponent = size + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    size_t digits = digits_at(text_, exponent);
    if (digits == 0) return take(TokenKind::invalid, exponent, "exponent without digits");
    is_real = true;
    size = exponent + digits;
  }
  if (size < text_.size() && is_word_char(text_[size]))
    return take(TokenKind::invalid, size + 1,
                text_[size] == '_' ? "'_' in a number; write its digits without it"
                                   : "letter after a number; write 2 * x to multiply, and numbers "
                                     "in decimal");
  if (size > kMaxWord) return take(TokenKind::invalid, size, "number longer than 255 characters");
  return take(is_real ? TokenKind::real : TokenKind::integer, size);
}

Token Lexer::quoted() {
  const char marks[] = {text_.front(), '\n'};
  size_t end = text_.find_first_of(llvm::StringRef(marks, 2), 1);
  if (end == llvm::StringRef::npos || text_[end] == '\n')
    return take(TokenKind::invalid, std::min(end, text_.size()), "no closing quote on this line");
  if (end > kMaxWord) return take(TokenKind::invalid, end + 1, "text longer than 255 characters");
  Token token = take(TokenKind::text, end + 1);
  token.spelling = token.spelling.drop_front().drop_back();
  return token;
}

Token Lexer::symbol() {
  for (const Symbol& symbol : kSymbols)
    if (text_.starts_with(symbol.spelling))
      return take(symbol.kind, symbol.spelling.size(), symbol.message);
  return take(TokenKind::invalid, first_character(text_).size, kUnexpectedCharacter);
}

Token Lexer::next() {
  llvm::StringRef comment = skip_blanks();
  Token token = read();
  token.comment = comment;
  return token;
}

Token Lexer::read() {
  if (text_.empty()) return take(TokenKind::end, 0);
  char c = text_.front();
  if (llvm::isDigit(c) || (c == '.' && digits_at(text_, 1) > 0)) return number();
  const bool is_letter = !llvm::isASCII(c) && !begins_with_foreign_sign(text_);
  if (is_word_char(c) || is_letter) return word();
  if (c == '"' || c == '\'') return quoted();
  return symbol();
}

} // namespace ingot
