// SPDX-License-Identifier: Apache-2.0
// See statements.h.
#include "ir/text/statements.h"

#include "ir/text/comments.h"
#include "ir/text/parser.h"
#include "ir/text/python_words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ingot {

bool Statements::declare(const Token& name, LibraryArgument argument) {
  if (llvm::is_contained(graph().dim_names(), name.spelling)) {
    poison(name.spelling);
    return error(name.begin, "'{}' is already the name of a dimension", name.spelling);
  }
  Binding binding{std::move(argument), name.begin, name.begin};
  auto [entry, is_new] = scope().try_emplace(name.spelling, binding);
  if (!is_new) {
    binding.first_declared = entry->second.first_declared;
    shadowed_.emplace_back(name.spelling.str(), std::exchange(entry->second, binding));
  }
  heal(name.spelling);
  return true;
}

std::string Statements::take_name(llvm::StringRef name) {
  std::string result = name.str();
  while (!taken_names_.try_emplace(result, 1).second)
    result = fmt::format("{}_{}", name.str(), ++taken_names_[name]);
  return result;
}

bool Statements::parse_body(const Token& open) {
  bool all_read = true; // otherwise the return may be in the part that was not
  for (bool has_returned = false; !has_returned;) {
    if (is(TokenKind::right_brace)) {
      if (return_follows()) {
        error(token().begin, "this '}}' ends the graph before its 'return'; leave it out");
        advance();
        all_read = false;
        continue;
      }
      if (all_read)
        error(token().begin, "graph '{}' returns nothing; expected 'return' before '}}'",
              graph().name());
      break;
    }
    if (is(TokenKind::end)) return expect_close(TokenKind::right_brace, open);
    const Token first = token();
    has_returned = is_word("return");
    begin_statement();
    const bool was_read = parse_statement();
    check_comments(first, was_read);
    if (stopped()) return false;
    if (was_read) continue;
    all_read = false;
    poison(first.spelling);
    // Line ends mean nothing. A statement that lacks a bracket therefore ends where another line
    // begins that is not indented further.
    if (token().begin == first.begin) skip();
    while (!ends_body() && (has_returned || !starts_statement(first))) skip();
    if (has_returned && is(TokenKind::end)) return false;
  }
  if (is(TokenKind::identifier) && !is_word("graph") &&
      token().location.line > previous().location.line)
    return unexpected("'}'", "; 'return' is the last statement of a graph");
  return expect_close(TokenKind::right_brace, open);
}

/// Reads the text from `begin` on, apart from the cursor.
Lexer Statements::lexer_from(const char* begin) const {
  return Lexer({begin, static_cast<size_t>(source().text().end() - begin)});
}

/// True at a brace that does not end the graph, because its return stands before the next brace.
bool Statements::return_follows() const {
  Lexer rest = lexer_from(token().spelling.end());
  for (Token next = rest.next(); next.kind != TokenKind::end; next = rest.next()) {
    if (next.kind == TokenKind::left_brace || next.kind == TokenKind::right_brace) return false;
    if (next.spelling == "return") return true;
  }
  return false;
}

/// Skips a token, or a block from its brace to the closing one, such as that of a loop. Names that
/// get values in a block are poisoned.
void Statements::skip() {
  if (!opens_block()) {
    advance();
    return;
  }
  llvm::SmallVector<llvm::StringRef, 4> names; // of `a, b`, so far
  int depth = 0;
  do {
    if (is(TokenKind::left_brace)) ++depth;
    if (is(TokenKind::right_brace)) --depth;
    if (is(TokenKind::assign)) {
      for (llvm::StringRef name : names) poison(name);
      names.clear();
    }
    if (!is(TokenKind::comma) && previous().kind != TokenKind::comma) names.clear();
    if (is(TokenKind::identifier)) names.push_back(token().spelling);
    advance();
  } while (depth > 0 && !is(TokenKind::end));
}

/// True at the brace of a block. A brace is a slip if the one that would close it is the last one
/// of its graph. The first call looks at all braces behind it.
bool Statements::opens_block() {
  if (!is(TokenKind::left_brace)) return false;
  if (!blocks_) {
    blocks_.emplace();
    Lexer rest = lexer_from(token().begin);
    llvm::SmallVector<const char*, 8> open;
    const char* last = nullptr; // closed by the last brace
    for (Token next = rest.next(); next.kind != TokenKind::end; next = rest.next()) {
      if (next.spelling == "graph") {
        open.clear();
        last = nullptr;
      }
      if (next.kind == TokenKind::left_brace) open.push_back(next.begin);
      if (next.kind != TokenKind::right_brace) continue;
      if (last) blocks_->insert(last);
      last = open.empty() ? nullptr : open.pop_back_val();
    }
  }
  return blocks_->count(token().begin) > 0;
}

/// A brace within open brackets is taken for a slip, unless nothing follows it.
bool Statements::ends_body() const {
  if (!is(TokenKind::right_brace)) return is(TokenKind::end);
  return open_brackets() == 0 || ahead().kind == TokenKind::end || ahead().spelling == "graph";
}

bool Statements::starts_statement(const Token& first) const {
  if (is_word("return")) return true;
  if (!is(TokenKind::identifier)) return false;
  const bool is_line = token().location.line > previous().location.line;
  const bool is_inside = open_brackets() > 0 || previous().kind == TokenKind::comma ||
                         previous().kind == TokenKind::colon;
  if (is_line && !is_inside && (is_update(ahead()) || !python_hint().empty())) return true;
  if (ahead().kind == TokenKind::assign)
    return !is_inside || (is_line && token().location.column <= first.location.column);
  const bool is_name = ahead().kind == TokenKind::comma || ahead().kind == TokenKind::colon;
  return is_name && !is_inside && is_line;
}

bool Statements::parse_statement() {
  if (is_word("return")) return parse_return();
  if (llvm::StringRef hint = python_hint(); !hint.empty()) return refuse_python(hint);
  if (is(TokenKind::identifier) && ahead().kind == TokenKind::left_paren)
    return error(token().begin, "a call alone does nothing; assign its result or return it");
  return parse_assignment();
}

/// The replacement for a line of Python that begins with the current token; empty if it is none.
llvm::StringRef Statements::python_hint() const {
  const TokenKind next = ahead().kind;
  if (next == TokenKind::assign || next == TokenKind::comma) return "";
  return is(TokenKind::identifier) ? hint_of_python(token().spelling) : "";
}

/// Whether the token behind a name is the operator of `y += 1`, or of `y //= 2`, which begins a
/// comment.
bool Statements::is_update(const Token& op) const {
  if (op.comment.starts_with("//=")) return true;
  const InfixOperator* infix = find_infix(op.kind);
  const char* end = op.spelling.end();
  return infix && infix->precedence > kComparisonPrecedence && end != source().text().end() &&
         *end == '=';
}

/// Refuses a line of Python. The line may have been meant to define its names.
bool Statements::refuse_python(llvm::StringRef hint) {
  const Token word = token();
  error(word.begin, "'{}': {}", word.spelling, hint);
  // The body of a function or a class is no part of this graph.
  if (word.spelling == "def" || word.spelling == "class") return stop();
  while (token().location.line == word.location.line && !ends_body()) {
    if (is(TokenKind::identifier)) poison(token().spelling);
    skip();
  }
  return false;
}

/// Reports such an operator at the current token.
bool Statements::refuse_update(const Token& name) {
  const bool is_floor = token().comment.starts_with("//=");
  const char* at = is_floor ? token().comment.begin() : token().begin;
  const llvm::StringRef op(at, is_floor ? 3 : token().spelling.size() + 1);
  constexpr size_t kLongest = 60;
  llvm::StringRef value = llvm::StringRef(op.end(), source().text().end() - op.end());
  value = value.take_until([](char c) { return c == '\n' || c == '#' || c == '}'; });
  value = value.split("//").first.split(" return ").first.trim();
  const bool is_word =
      llvm::all_of(value, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  const bool is_whole = !value.empty() && value.size() <= kLongest &&
                        value.count('(') == value.count(')') &&
                        value.count('[') == value.count(']');
  const std::string operand = !is_whole ? "..."
                              : is_word ? value.str()
                                        : fmt::format("({})", value);
  const std::string update = is_floor
                                 ? fmt::format("div({}, {}, rounding_mode='floor')", name.spelling,
                                               is_whole ? value : "...")
                                 : fmt::format("{} {} {}", name.spelling, op.drop_back(), operand);
  return error(at, "'{}': values do not change, a name is given anew; write {} = {}", op,
               name.spelling, update);
}

bool Statements::parse_assignment() {
  llvm::SmallVector<Token, 3> names;
  llvm::SmallVector<Expression, 3> values;
  if (parse_names(names) && parse_values(values)) {
    if (values.size() == 1) {
      define(names, values.front());
      return true;
    }
    if (values.size() == names.size()) {
      for (auto [name, value] : llvm::zip_equal(names, values)) {
        make_single(value);
        define(name, value);
      }
      return true;
    }
    error(names[0].begin, "{} name{} for {} values; give as many", names.size(),
          names.size() == 1 ? "" : "s", values.size());
  }
  for (const Token& name : names) poison(name.spelling);
  return false;
}

bool Statements::parse_names(llvm::SmallVectorImpl<Token>& names) {
  if (is(TokenKind::text)) return unexpected("a statement", "; a remark begins with #");
  do {
    Token name;
    if (!expect_name(names.empty() ? "a statement: 'name = ...' or 'return ...'" : "a name", name))
      return false;
    names.push_back(name);
    if (names.size() > kMaxListElements)
      return stop(name.begin, "more than {} names", kMaxListElements);
  } while (accept(TokenKind::comma));
  if (is_update(token())) return refuse_update(names.back());
  if (is(TokenKind::left_bracket))
    return unexpected("'='", "; a graph writes to no part of a tensor: cat([a, b], dim) appends, "
                             "where(mask, new, x) replaces");
  const llvm::StringRef name = names.back().spelling;
  if (is(TokenKind::dot))
    return unexpected("'='", fmt::format("; values do not change: write {0} = {0}.f(...)", name));
  if (is(TokenKind::colon))
    return unexpected("'='", fmt::format("; a value has the type of its formula: {} = ...", name));
  if (!expect(TokenKind::assign, "'=', as in y = x + 1")) return false;
  if (!is(TokenKind::identifier) || ahead().kind != TokenKind::assign) return true;
  if (token().location.line > previous().location.line) return unexpected("a value");
  names.push_back(token()); // poisoned with the others
  return error(token().begin, "a line has one '='; write {0} = ..., then {1} = {0}",
               token().spelling, name);
}

bool Statements::parse_values(llvm::SmallVectorImpl<Expression>& values) {
  do {
    if (values.size() == kMaxListElements)
      return stop(token().begin, "more than {} values", kMaxListElements);
    auto value = parse_expression();
    if (!value) return false;
    values.push_back(std::move(*value));
  } while (accept(TokenKind::comma));
  return true;
}

/// Defines the names for the results of one expression. After a mistake they fit anywhere.
void Statements::define(llvm::ArrayRef<Token> names, const Expression& right) {
  size_t count = right.results.empty() ? 1 : right.results.size();
  if (right.is_poisoned) {
    // This mistake was already reported.
  } else if (std::holds_alternative<ArgumentList>(right.argument.value)) {
    error(right.begin, "a list cannot be assigned; write it where it is used");
  } else if (count > 1 && count != names.size()) { // only a call has several results
    error(names[0].begin, "{} gives {} results, got {} name{} for them; give {}{}", right.name,
          count, names.size(), names.size() == 1 ? "" : "s", count,
          names.size() == 1 ? ", or take one by [0] behind the call" : "");
  } else if (count != names.size()) {
    error(names[0].begin, "{} names for 1 result; give one", names.size());
  } else {
    for (size_t i = 0; i < names.size(); ++i)
      bind(names[i], right.results.empty() ? right.argument : LibraryArgument{right.results[i]});
    return;
  }
  for (const Token& name : names) poison(name.spelling);
}

void Statements::bind(const Token& name, const LibraryArgument& argument) {
  if (!declare(name, argument)) return;
  if (auto* value = std::get_if<ValueId>(&argument.value))
    if (graph().value(*value).name.empty()) graph().set_name(*value, take_name(name.spelling));
}

std::string Statements::output_name(const Expression& expression, size_t index, bool is_only) {
  bool is_input = llvm::any_of(graph().inputs(), [&](ValueId input) {
    return graph().value(input).name == expression.name;
  });
  if (!expression.name.empty() && !is_input) return expression.name.str();
  return is_only ? "output" : fmt::format("output{}", index);
}

/// Refuses `return {"z": z}`, as a module of PyTorch may have it.
bool Statements::refuse_dictionary() {
  const Token open = token();
  std::string outputs;
  const char* copied = open.begin + 1; // end of the copied text
  int depth = 0;
  do {
    if (depth == 1 && is(TokenKind::text) && ahead().kind == TokenKind::colon) {
      outputs += llvm::StringRef(copied, token().begin - copied).trim("\t ");
      outputs += outputs.empty() ? "" : " ";
      outputs += token().spelling.trim("'\"").str() + "=";
      advance();
      copied = token().begin + 1;
    }
    depth += is(TokenKind::left_brace) - is(TokenKind::right_brace);
    if (depth > 0) advance();
  } while (depth > 0 && !is(TokenKind::end));
  outputs += llvm::StringRef(copied, token().begin - copied).trim();
  advance();
  constexpr size_t kLongest = 80;
  const bool is_shown = !outputs.empty() && outputs.size() <= kLongest &&
                        llvm::StringRef(outputs).find_first_of("\n:{") == llvm::StringRef::npos;
  return error(open.begin, "outputs are named by '=', without braces; write return {}",
               is_shown ? outputs : "z=z");
}

bool Statements::parse_return() {
  advance();
  if (is(TokenKind::left_brace)) return refuse_dictionary();
  struct Item {
    std::string name;
    Expression expression;
    std::optional<ValueId> value;
  };
  std::vector<Item> items;
  do {
    Item item;
    if (is(TokenKind::identifier) && ahead().kind == TokenKind::assign) {
      Token name;
      if (!expect_name("an output's name", name)) return false;
      item.name = name.spelling.str();
      advance();
    }
    const char* begin = token().begin;
    auto expression = parse_expression();
    if (!expression) return false;
    item.expression = *expression;
    item.expression.begin = begin;
    item.value = value_of(item.expression);
    items.push_back(std::move(item));
    if (items.size() > kMaxListElements)
      return stop(begin, "more than {} outputs", kMaxListElements);
  } while (accept(TokenKind::comma));
  for (size_t i = 0; i < items.size(); ++i) {
    Item& item = items[i];
    if (!item.value) continue;
    if (item.name.empty()) item.name = output_name(item.expression, i, items.size() == 1);
    if (auto failed = graph().add_output(item.name, *item.value)) {
      auto [code, text] = take_error(std::move(failed));
      error(item.expression.begin, "{}: 'return other_name = ...'", text);
    }
  }
  return true;
}

// ---- Warnings -----------------------------------------------------------------------------------

constexpr size_t kMaxWarnings = 20;

std::vector<std::string> Statements::warnings() {
  llvm::sort(warnings_);
  std::vector<std::string> texts;
  for (const auto& [at, message] : warnings_) {
    const bool is_shown = texts.size() < kMaxWarnings;
    texts.push_back(source().diagnostic(
        at, is_shown ? llvm::SourceMgr::DK_Warning : llvm::SourceMgr::DK_Note,
        is_shown ? message : fmt::format("{} warnings are shown, and no more", kMaxWarnings)));
    if (!is_shown) break;
  }
  return texts;
}

/// If `//` was meant as a division, the rest of its line is lost. If that is the rest of the
/// statement, it also explains a failure behind it.
void Statements::check_comments(const Token& first, bool was_read) {
  auto is_defined = [&](llvm::StringRef name) {
    if (auto found = scope().find(name); found != scope().end())
      return found->second.first_declared < first.begin;
    return is_poisoned(name) || llvm::is_contained(graph().dim_names(), name);
  };
  for (const TrailingComment& comment : comments()) {
    const CommentKind kind = kind_of(comment, first.spelling == "return", is_defined);
    if (kind == CommentKind::prose) continue;
    const llvm::StringRef text = comment.text.drop_front(2).trim();
    const bool ends_text = is(TokenKind::end) && closes_graph(comment);
    std::string message = fmt::format("'//' begins a comment, so '{}' is not read; write div(a, b, "
                                      "rounding_mode='floor') to divide and round down{}",
                                      text, comment.open_brackets > 0 ? ", m / 2 in a shape" : "");
    message += ends_text ? ", and '}' on a line of its own"
                         : fmt::format(", or '# {}' for a remark", text);
    const char* at = comment.text.begin();
    if (kind == CommentKind::divisor) {
      if (warnings_.size() <= kMaxWarnings) warn(at, message);
      continue;
    }
    if (!was_read && !stopped()) retract();
    error(at, "{}", message);
    if (ends_text) stop(); // the missing brace was reported
    return;
  }
}

} // namespace ingot
