// SPDX-License-Identifier: Apache-2.0
// See lexer.h.
#include "ir/text/lexer.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace ingot {

namespace {

/// Names and numbers; what is longer is a mistake and would swell messages.

bool is_word_char(char c) { return llvm::isAlnum(c) || c == '_'; }

size_t digits_at(llvm::StringRef text, size_t from) {
  size_t end = std::min(text.find_first_not_of("0123456789", from), text.size());
  return end - std::min(from, end);
}

} // namespace

llvm::StringRef Lexer::skip_blanks() {
  llvm::StringRef comment;
  const char* line = line_begin_;
  while (!text_.empty()) {
    if (text_.starts_with("//") || text_.front() == '#') {
      const size_t size = std::min(text_.find('\n'), text_.size());
      if (comment.empty() && line == line_begin_ && text_.front() == '/')
        comment = text_.take_front(size);
      text_ = text_.drop_front(size);
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
  while (size < text_.size() && is_word_char(text_[size])) ++size;
  if (size < text_.size() && !llvm::isASCII(text_[size])) {
    auto is_inside = [](char c) { return is_word_char(c) || !llvm::isASCII(c); };
    while (size < text_.size() && is_inside(text_[size])) ++size;
    return take(TokenKind::invalid, size, "names are of ASCII letters, digits and _");
  }
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
    return take(TokenKind::invalid, size + 1, "letter after a number");
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
  static constexpr struct {
    llvm::StringLiteral spelling;
    TokenKind kind;
  } kSymbols[] = {
      // Longer ones first.
      {"==", TokenKind::equal},        {"!=", TokenKind::not_equal},
      {"<=", TokenKind::less_equal},   {">=", TokenKind::greater_equal},
      {"**", TokenKind::power},        {"(", TokenKind::left_paren},
      {")", TokenKind::right_paren},   {"[", TokenKind::left_bracket},
      {"]", TokenKind::right_bracket}, {"{", TokenKind::left_brace},
      {"}", TokenKind::right_brace},   {",", TokenKind::comma},
      {":", TokenKind::colon},         {"=", TokenKind::assign},
      {"<", TokenKind::less},          {">", TokenKind::greater},
      {"+", TokenKind::plus},          {"-", TokenKind::minus},
      {"*", TokenKind::star},          {"/", TokenKind::slash},
      {"%", TokenKind::percent},       {"@", TokenKind::at},
      {"&", TokenKind::ampersand},     {"|", TokenKind::bar},
      {"~", TokenKind::tilde},         {"...", TokenKind::ellipsis},
      {".", TokenKind::dot},
  };
  for (const auto& symbol : kSymbols)
    if (text_.starts_with(symbol.spelling)) return take(symbol.kind, symbol.spelling.size());
  return take(TokenKind::invalid, 1, kUnexpectedCharacter);
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
  if (is_word_char(c)) return word();
  if (c == '"' || c == '\'') return quoted();
  return symbol();
}

} // namespace ingot
