// SPDX-License-Identifier: Apache-2.0
// See cursor.h.
#include "ir/text/cursor.h"

#include "ir/library.h"
#include "ir/text/characters.h"
#include "ir/text/python_words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ingot {

namespace {

/// Further mistakes follow from earlier ones, or nobody reads them.
constexpr size_t kMaxMistakes = 20;

/// Whether an operand may end with this token, so that an operator may follow.
bool may_end_operand(const Token& token) {
  const TokenKind kind = token.kind;
  if (kind == TokenKind::identifier) return is_identifier(token.spelling);
  return kind == TokenKind::integer || kind == TokenKind::real || kind == TokenKind::right_paren ||
         kind == TokenKind::right_bracket;
}

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
  previous_ = token_;
  token_ = ahead_;
  ahead_ = lexer_.next();
  const TokenKind kind = previous_.kind;
  if (kind == TokenKind::left_paren || kind == TokenKind::left_bracket) ++open_brackets_;
  if (kind == TokenKind::right_paren || kind == TokenKind::right_bracket)
    open_brackets_ = std::max(open_brackets_ - 1, 0);
  if (!token_.comment.empty() && may_end_operand(previous_))
    comments_.push_back({token_.comment, open_brackets_});
  return previous_;
}

llvm::StringRef Cursor::read_since(const char* begin) const {
  const char* end = previous_.spelling.end();
  if (previous_.kind == TokenKind::text) ++end; // the closing quote
  return {begin, static_cast<size_t>(end - begin)};
}

void Cursor::begin_statement() {
  open_brackets_ = 0;
  comments_.clear();
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
  if (is(TokenKind::invalid)) return false;
  note(open.begin, fmt::format("opened here by '{}'", open.spelling));
  if (const char* brace = lexer_.commented_brace();
      brace && kind == TokenKind::right_brace && is(TokenKind::end))
    note(brace, "this '}' is part of a comment; # and // begin one, up to the end of the line");
  return false;
}

bool Cursor::unexpected(llvm::StringRef expected, llvm::StringRef hint) {
  if (is(TokenKind::invalid)) return invalid_token();
  std::string what_to_do = hint.str();
  if (hint.empty() && is(TokenKind::identifier))
    if (llvm::StringRef text = hint_of_python(token_.spelling); !text.empty())
      what_to_do = "; " + text.str();
  return error(token_.begin, "expected {}, got {}{}", expected, describe(token_), what_to_do);
}

bool Cursor::invalid_token() {
  const llvm::StringRef text = token_.spelling;
  const bool is_character = token_.message == kUnexpectedCharacter;
  const auto is_foreign = [](char c) { return !llvm::isASCII(c); };
  const char* at = llvm::find_if(text, is_foreign);
  if (at != text.end() && (is_character || token_.message == kForeignName))
    return error(token_.begin, "{}{} {}", token_.message, is_character ? "" : ", not",
                 describe_character(text.drop_front(at - text.begin())));
  if (!is_character) return error(token_.begin, "{}", token_.message);
  const unsigned char c = text.front();
  if (c < 0x20 || c == 0x7f) return error(token_.begin, "{} 0x{:02x}", token_.message, c);
  return error(token_.begin, "{} '{}'", token_.message, text);
}

bool Cursor::report(const char* at, ErrorCode code, const std::string& message) {
  if (stopped_) return false;
  if (mistakes_.empty() && code == ErrorCode::type_error) code_ = code;
  if (mistakes_.size() == kMaxMistakes) {
    mistakes_.push_back(
        source_.diagnostic(at, llvm::SourceMgr::DK_Note,
                           fmt::format("{} errors are shown, and no more", kMaxMistakes)));
    stopped_ = true;
    return false;
  }
  mistakes_.push_back(source_.diagnostic(at, llvm::SourceMgr::DK_Error, message));
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
  if (!stopped_)
    mistakes_.back() += '\n' + source_.diagnostic(at, llvm::SourceMgr::DK_Note, message);
}

llvm::Error Cursor::take_mistakes() {
  return llvm::make_error<IngotError>(code_, llvm::join(mistakes_, "\n"));
}

} // namespace ingot
