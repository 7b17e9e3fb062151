// SPDX-License-Identifier: Apache-2.0
// See comments.h. In code, every name is defined and every bracket matches. Prose is different.
#include "ir/text/comments.h"

#include "ir/library.h"

namespace ingot {

namespace {

constexpr int kMaxDepth = 32;

class CommentReader {
public:
  CommentReader(llvm::StringRef code, IsDefined is_defined)
      : lexer_(code), is_defined_(is_defined) {
    token_ = lexer_.next();
    ahead_ = lexer_.next();
  }
  CommentKind read(int open_brackets, bool is_in_return);

private:
  Token advance() {
    Token token = token_;
    token_ = ahead_;
    ahead_ = lexer_.next();
    return token;
  }
  bool is(TokenKind kind) const { return token_.kind == kind; }
  bool accept(TokenKind kind) {
    if (!is(kind)) return false;
    advance();
    return true;
  }
  /// `and` and `or` are English words.
  bool is_operator() const { return find_infix(token_.kind) != nullptr; }
  bool is_number() const { return is(TokenKind::integer) || is(TokenKind::real); }
  bool ends_bound() const {
    return is(TokenKind::colon) || is(TokenKind::comma) || is(TokenKind::right_bracket);
  }
  bool is_divisor();
  bool expression(int depth);
  bool operand(int depth);
  bool postfix(int depth);
  bool items(TokenKind close, int depth);
  bool item(int depth);

  Lexer lexer_;
  IsDefined is_defined_;
  Token token_, ahead_;
};

bool CommentReader::operand(int depth) {
  if (depth > kMaxDepth) return false;
  while (accept(TokenKind::minus)) {
  }
  if (is_number()) {
    advance();
  } else if (accept(TokenKind::left_paren)) {
    if (!expression(depth + 1) || !accept(TokenKind::right_paren)) return false;
  } else if (is(TokenKind::identifier)) {
    Token name = advance();
    if (!is(TokenKind::left_paren)) {
      if (!is_defined_(name.spelling)) return false;
    } else {
      advance();
      if (!is_function(name.spelling) || !items(TokenKind::right_paren, depth + 1)) return false;
    }
  } else {
    return false;
  }
  return postfix(depth);
}

/// Reads indices, methods and attributes.
bool CommentReader::postfix(int depth) {
  for (;;) {
    if (accept(TokenKind::left_bracket)) {
      if (!items(TokenKind::right_bracket, depth + 1)) return false;
    } else if (is(TokenKind::dot) && ahead_.kind == TokenKind::identifier) {
      advance();
      advance();
      if (accept(TokenKind::left_paren) && !items(TokenKind::right_paren, depth + 1)) return false;
    } else {
      return true;
    }
  }
}

bool CommentReader::expression(int depth) {
  if (!operand(depth)) return false;
  while (is_operator()) {
    advance();
    if (!operand(depth)) return false;
  }
  return true;
}

/// Reads an argument, an element, an index or a result.
bool CommentReader::item(int depth) {
  if (depth > kMaxDepth) return false;
  if (is(TokenKind::identifier) && ahead_.kind == TokenKind::assign) {
    advance();
    advance();
  }
  if (accept(TokenKind::text)) return true;
  if (accept(TokenKind::left_bracket)) return items(TokenKind::right_bracket, depth + 1);
  if (!is(TokenKind::colon) && !expression(depth)) return false;
  while (accept(TokenKind::colon))
    if (!ends_bound() && !expression(depth)) return false;
  return true;
}

bool CommentReader::items(TokenKind close, int depth) {
  while (!is(close)) {
    if (!item(depth)) return false;
    if (!accept(TokenKind::comma)) break;
  }
  return accept(close);
}

/// Reads `2`, `-x`, `2 + 1`. A longer formula may explain the line, as in `1 / (1 + exp(-x))`.
bool CommentReader::is_divisor() {
  accept(TokenKind::minus);
  if (is(TokenKind::identifier)) {
    if (!is_defined_(advance().spelling)) return false;
  } else if (!is_number()) {
    return false;
  } else {
    advance();
  }
  if (accept(TokenKind::plus) || accept(TokenKind::minus)) {
    if (!is_number()) return false;
    advance();
  }
  return is(TokenKind::end);
}

CommentKind CommentReader::read(int open_brackets, bool is_in_return) {
  if (CommentReader(*this).is_divisor()) return CommentKind::divisor;
  if (!expression(0)) return CommentKind::prose;
  bool is_more = false;
  while (!is(TokenKind::end)) {
    if (open_brackets > 0 && (accept(TokenKind::right_paren) || accept(TokenKind::right_bracket))) {
      --open_brackets;
      if (!postfix(0)) return CommentKind::prose;
      if (is_operator()) {
        advance();
        if (!expression(0)) return CommentKind::prose;
      }
    } else if (open_brackets == 0 && !is_in_return) {
      return CommentKind::prose;
    } else if (!accept(TokenKind::comma) || !item(0)) {
      return CommentKind::prose;
    }
    is_more = true;
  }
  return is_more ? CommentKind::statement : CommentKind::prose;
}

} // namespace

CommentKind kind_of(const TrailingComment& comment, bool is_in_return, IsDefined is_defined) {
  llvm::StringRef code = comment.text.drop_front(2);
  const bool has_brace = closes_graph(comment);
  if (has_brace) code = code.rtrim().drop_back();
  const CommentKind kind =
      CommentReader(code, is_defined).read(comment.open_brackets, is_in_return);
  return has_brace && kind == CommentKind::divisor ? CommentKind::statement : kind;
}

bool closes_graph(const TrailingComment& comment) { return comment.text.rtrim().ends_with("}"); }

} // namespace ingot
