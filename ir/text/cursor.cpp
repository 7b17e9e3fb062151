// SPDX-License-Identifier: Apache-2.0
// See cursor.h.
#include "ir/text/cursor.h"

#include "ir/library.h"

namespace ingot {

namespace {

std::string describe(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the file";
  if (token.kind == TokenKind::text) return fmt::format("\"{}\"", token.spelling);
  return fmt::format("'{}'", token.spelling);
}

} // namespace

Cursor::Cursor(SourceText& source) : source_(source), lexer_(source.text()) {
  token_ = lexer_.next();
  ahead_ = lexer_.next();
}

Token Cursor::advance() {
  Token token = token_;
  token_ = ahead_;
  ahead_ = lexer_.next();
  return token;
}

bool Cursor::accept(TokenKind kind) {
  if (!is(kind)) return false;
  advance();
  return true;
}

bool Cursor::expect(TokenKind kind, llvm::StringRef what) {
  return accept(kind) || unexpected(what);
}

bool Cursor::expect_name(llvm::StringRef what, Token& name) {
  if (!is(TokenKind::identifier)) return unexpected(what);
  if (!is_identifier(token_.spelling))
    return error(token_.begin, "expected {}, got '{}', which is a word of the language", what,
                 token_.spelling);
  name = advance();
  return true;
}

bool Cursor::expect_close(TokenKind kind, const Token& open) {
  if (accept(kind)) return true;
  llvm::StringRef close = kind == TokenKind::right_paren     ? "')'"
                          : kind == TokenKind::right_bracket ? "']'"
                                                             : "'}'";
  unexpected(kind == TokenKind::right_brace ? close.str() : fmt::format("',' or {}", close));
  if (!is(TokenKind::invalid)) note(open.begin, fmt::format("opened here by '{}'", open.spelling));
  return false;
}

bool Cursor::unexpected(llvm::StringRef expected) {
  if (is(TokenKind::invalid)) return invalid_token();
  return error(token_.begin, "expected {}, got {}", expected, describe(token_));
}

bool Cursor::invalid_token() {
  if (token_.message != kUnexpectedCharacter) return error(token_.begin, "{}", token_.message);
  unsigned char c = token_.spelling.front();
  if (c < 0x20 || c >= 0x7f) return error(token_.begin, "{} 0x{:02x}", token_.message, c);
  return error(token_.begin, "{} '{}'", token_.message, token_.spelling);
}

bool Cursor::report(const char* at, ErrorCode code, const std::string& message) {
  if (!mistake_.empty()) return false;
  code_ = code == ErrorCode::type_error ? code : ErrorCode::parse_error;
  mistake_ = source_.diagnostic(at, llvm::SourceMgr::DK_Error, message);
  return false;
}

bool Cursor::report(const char* at, llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const LocatedError& e) {
        report(e.location().line ? source_.find(e.location()) : at, e.code(), e.text());
      },
      [&](const IngotError& e) { report(at, e.code(), e.text()); });
  return false;
}

void Cursor::note(const char* at, llvm::StringRef message) {
  mistake_ += '\n' + source_.diagnostic(at, llvm::SourceMgr::DK_Note, message);
}

} // namespace ingot
