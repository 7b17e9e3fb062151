// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the tokens; ops are appended as they are read, so there is no syntax tree.
// A mistake of syntax ends a statement or an input, and the next one is read.
#include "ir/text/parser.h"

#include "ir/text/comments.h"
#include "ir/text/expressions.h"
#include "ir/text/literals.h"
#include "ir/text/unused.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

namespace ingot {

namespace {

/// Graphs, inputs and statements.
class Parser : private Expressions {
public:
  using Expressions::Expressions;
  llvm::Expected<Graph> parse();
  /// Of the graph that parse() gave.
  std::vector<std::string> warnings();

private:
  void parse_file();
  bool parse_inputs();
  bool parse_input();
  bool recover_input(const char* begin);
  bool add_input(const Token& name, Type type, InputAttributes::Role role, const char* type_begin);
  bool parse_shape(Shape& shape);
  bool parse_extent(Dim& dim);
  bool parse_body(const Token& open);
  bool parse_statement();
  bool ends_body() const;
  bool starts_statement(const Token& first) const;
  bool parse_assignment();
  bool parse_names(llvm::SmallVectorImpl<Token>& names);
  bool parse_values(llvm::SmallVectorImpl<Expression>& values);
  void define(llvm::ArrayRef<Token> names, const Expression& right);
  void bind(const Token& name, const LibraryArgument& argument);
  bool parse_return();
  bool declare(const Token& name, LibraryArgument argument);
  std::string output_name(const Expression& expression, size_t index, bool is_only);
  void check_comments(const Token& first, bool was_read);
  void warn_of_unused();

  std::vector<std::pair<const char*, std::string>> warnings_; // place and message
};

llvm::Expected<Graph> Parser::parse() {
  parse_file();
  if (failed()) return take_mistakes();
  warn_of_unused();
  return std::move(graph());
}

void Parser::parse_file() {
  if (!is_word("graph")) return (void)unexpected("'graph'");
  advance();
  Token name;
  if (!expect_name("the graph's name", name)) return;
  graph() = Graph(name.spelling.str());
  if (!parse_inputs()) return;
  Token open = token();
  if (!expect(TokenKind::left_brace, "'{'") || !parse_body(open)) return;
  if (is_word("graph")) {
    error(token().begin, "a second graph; a file holds one");
    note(name.begin, "the first is here");
  } else if (!is(TokenKind::end)) {
    unexpected("the end of the file");
  } else if (!failed()) {
    if (auto error = verify(graph())) report(name.begin, std::move(error));
  }
}

bool Parser::parse_inputs() {
  Token open = token();
  if (!expect(TokenKind::left_paren, "'('")) return false;
  while (!is(TokenKind::right_paren)) {
    const char* begin = token().begin;
    if (parse_input()) {
      if (accept(TokenKind::comma)) continue;
      if (is(TokenKind::right_paren)) break;
      expect_close(TokenKind::right_paren, open);
    }
    if (stopped() || !recover_input(begin)) return false;
    if (is(TokenKind::left_brace)) return true;
  }
  advance();
  return true;
}

/// Moves to the next input, to the end of the inputs or to the brace behind them. What was skipped
/// may have been meant to name inputs and dimensions.
bool Parser::recover_input(const char* begin) {
  auto starts_input = [&] {
    if (token().begin == begin || !is(TokenKind::identifier)) return false;
    return ahead().kind == TokenKind::colon ||
           (is_word("param") && ahead().kind == TokenKind::identifier);
  };
  while (!starts_input() && !is(TokenKind::left_brace)) {
    if (is(TokenKind::right_paren) && ahead().kind == TokenKind::left_brace) break;
    if (is(TokenKind::end) || is(TokenKind::right_brace) || is_word("return")) return false;
    advance();
  }
  Lexer skipped({begin, static_cast<size_t>(token().begin - begin)});
  for (Token word = skipped.next(); word.kind != TokenKind::end; word = skipped.next())
    if (word.kind == TokenKind::identifier) poison(word.spelling);
  return true;
}

bool Parser::parse_input() {
  auto role = InputAttributes::Role::input;
  if (is_word("param")) {
    advance();
    role = InputAttributes::Role::param;
  }
  Token name;
  if (!expect_name("an input's name", name)) return false;
  if (!expect(TokenKind::colon, "':' and a type such as f32[1024, 8192]")) return false;
  Type type;
  auto dtype = is(TokenKind::identifier) ? parse_dtype(token().spelling) : std::nullopt;
  if (!dtype) return unexpected("an element type: f32, f16, bf16, i32, i64 or bool");
  type.dtype = *dtype;
  const char* type_begin = advance().begin;
  return parse_shape(type.shape) && add_input(name, std::move(type), role, type_begin);
}

bool Parser::add_input(const Token& name, Type type, InputAttributes::Role role,
                       const char* type_begin) {
  for (const Dim& dim : type.shape)
    for (const std::string& dim_name : dim.names())
      if (auto found = scope().find(dim_name); found != scope().end()) {
        error(type_begin, "dimension '{}' has the name of an input", dim_name);
        note(found->second.declared, "the input is declared here");
        return false;
      }
  if (!declare(name, {None{}})) return false;
  if (graph().ops().size() >= kMaxOps)
    return stop(name.begin, "more than {} inputs and operations in one graph", kMaxOps);
  auto value = graph().add_input(name.spelling, std::move(type), role, name.location);
  if (value) {
    scope().find(name.spelling)->second.argument = {*value};
    return true;
  }
  scope().erase(name.spelling);
  report(type_begin, value.takeError());
  return graph().dim_names().size() == kMaxDimNames ? stop() : false;
}

bool Parser::parse_shape(Shape& shape) {
  Token open = token();
  if (!expect(TokenKind::left_bracket, "'[' and the extents, or '[]' for a scalar")) return false;
  while (!is(TokenKind::right_bracket)) {
    Dim dim;
    if (!parse_extent(dim)) return false;
    if (static_cast<int64_t>(shape.size()) == kMaxRank)
      return stop(open.begin, "more than {} dimensions", kMaxRank);
    shape.push_back(dim);
    if (!accept(TokenKind::comma)) break;
  }
  return expect_close(TokenKind::right_bracket, open);
}

bool Parser::parse_extent(Dim& dim) {
  LibraryArgument product{int64_t{1}};
  do {
    const char* at = token().begin;
    LibraryArgument factor;
    if (is(TokenKind::minus))
      return error(at, "negative extent; expected a positive number or a name");
    if (is(TokenKind::integer)) {
      int64_t number = 0;
      Token token = advance();
      if (token.spelling.getAsInteger(10, number))
        return error(at, "extent {} does not fit 64 bits", token.spelling);
      if (number == 0)
        return error(at, "extent 0; a named dimension may be 0, a number is 1 or more");
      factor = {number};
    } else {
      Token name;
      if (!expect_name("an extent: a positive number or a name", name)) return false;
      factor = {Dim::named(name.spelling)};
    }
    auto folded = fold(TokenKind::star, product, factor);
    if (!folded) return report(at, folded.takeError());
    product = *folded;
  } while (accept(TokenKind::star));
  auto* number = std::get_if<int64_t>(&product.value);
  dim = number ? Dim(*number) : std::get<Dim>(product.value);
  return true;
}

bool Parser::declare(const Token& name, LibraryArgument argument) {
  if (llvm::is_contained(graph().dim_names(), name.spelling)) {
    poison(name.spelling);
    return error(name.begin, "'{}' is already the name of a dimension", name.spelling);
  }
  auto [entry, is_new] =
      scope().try_emplace(name.spelling, Binding{std::move(argument), name.begin});
  if (is_new) {
    heal(name.spelling);
    return true;
  }
  error(name.begin, "'{}' is already defined; a name is given once", name.spelling);
  note(entry->second.declared, "it is defined here");
  return false;
}

/// Gives false where what follows cannot be read.
bool Parser::parse_body(const Token& open) {
  for (bool has_returned = false; !has_returned;) {
    if (is(TokenKind::right_brace)) {
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
    poison(first.spelling);
    // Line ends mean nothing, so a statement that lacks a bracket ends where a line no farther to
    // the right than its own begins another.
    if (token().begin == first.begin) advance();
    while (!ends_body() && (has_returned || !starts_statement(first))) advance();
    if (has_returned && is(TokenKind::end)) return false;
  }
  return expect_close(TokenKind::right_brace, open);
}

/// A brace in open brackets is taken for a slip, unless nothing follows it.
bool Parser::ends_body() const {
  if (!is(TokenKind::right_brace)) return is(TokenKind::end);
  return open_brackets() == 0 || ahead().kind == TokenKind::end || ahead().spelling == "graph";
}

bool Parser::starts_statement(const Token& first) const {
  if (is_word("return")) return true;
  if (!is(TokenKind::identifier)) return false;
  const bool is_line = token().location.line > previous().location.line;
  const bool is_inside = open_brackets() > 0 || previous().kind == TokenKind::comma;
  if (ahead().kind == TokenKind::assign)
    return !is_inside || (is_line && token().location.column <= first.location.column);
  return ahead().kind == TokenKind::comma && !is_inside && is_line;
}

bool Parser::parse_statement() {
  if (is_word("return")) return parse_return();
  if (is(TokenKind::identifier) && ahead().kind == TokenKind::left_paren)
    return error(token().begin, "a call alone does nothing; assign its result or return it");
  return parse_assignment();
}

/// The function of a call that stands there, maybe in parentheses.
static llvm::StringRef called(const char* begin) {
  return llvm::StringRef(begin).ltrim("( \n\t").take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

bool Parser::parse_assignment() {
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
    error(names[0].begin, "{} names for {} values; give as many", names.size(), values.size());
  }
  for (const Token& name : names) poison(name.spelling);
  return false;
}

bool Parser::parse_names(llvm::SmallVectorImpl<Token>& names) {
  do {
    Token name;
    if (!expect_name(names.empty() ? "a statement: 'name = ...' or 'return ...'" : "a name", name))
      return false;
    names.push_back(name);
    if (names.size() > kMaxListElements)
      return stop(name.begin, "more than {} names", kMaxListElements);
  } while (accept(TokenKind::comma));
  return expect(TokenKind::assign, "'='");
}

bool Parser::parse_values(llvm::SmallVectorImpl<Expression>& values) {
  do {
    if (values.size() == kMaxListElements)
      return stop(token().begin, "more than {} values", kMaxListElements);
    auto value = parse_expression();
    if (!value) return false;
    values.push_back(std::move(*value));
  } while (accept(TokenKind::comma));
  return true;
}

/// The names of what one expression gives. After a mistake they stand for anything.
void Parser::define(llvm::ArrayRef<Token> names, const Expression& right) {
  size_t count = right.results.empty() ? 1 : right.results.size();
  if (right.is_poisoned) {
    // Said already.
  } else if (std::holds_alternative<ArgumentList>(right.argument.value)) {
    error(right.begin, "a list cannot be assigned; write it where it is used");
  } else if (count > 1 && count != names.size()) { // only a call gives several
    error(names[0].begin, "{} gives {} results, got {} name{} for them; give {}",
          called(right.begin), count, names.size(), names.size() == 1 ? "" : "s", count);
  } else if (count != names.size()) {
    error(names[0].begin, "{} names for 1 result; give one", names.size());
  } else {
    for (size_t i = 0; i < names.size(); ++i)
      bind(names[i], right.results.empty() ? right.argument : LibraryArgument{right.results[i]});
    return;
  }
  for (const Token& name : names) poison(name.spelling);
}

void Parser::bind(const Token& name, const LibraryArgument& argument) {
  if (!declare(name, argument)) return;
  if (auto* value = std::get_if<ValueId>(&argument.value))
    if (graph().value(*value).name.empty()) graph().set_name(*value, name.spelling);
}

std::string Parser::output_name(const Expression& expression, size_t index, bool is_only) {
  bool is_input = llvm::any_of(graph().inputs(), [&](ValueId input) {
    return graph().value(input).name == expression.name;
  });
  if (!expression.name.empty() && !is_input) return expression.name.str();
  return is_only ? "output" : fmt::format("output{}", index);
}

bool Parser::parse_return() {
  advance();
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

std::vector<std::string> Parser::warnings() {
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

/// Where `//` was meant to divide, the rest of its line is lost. Where that is the rest of the
/// statement, what failed behind it failed for that.
void Parser::check_comments(const Token& first, bool was_read) {
  auto is_defined = [&](llvm::StringRef name) {
    if (auto found = scope().find(name); found != scope().end())
      return found->second.declared < first.begin;
    return is_poisoned(name) || llvm::is_contained(graph().dim_names(), name);
  };
  for (const TrailingComment& comment : comments()) {
    const CommentKind kind = kind_of(comment, first.spelling == "return", is_defined);
    if (kind == CommentKind::prose) continue;
    const std::string message =
        fmt::format("'//' begins a comment, so '{0}' is not read; write floor(a / b) to divide and "
                    "round down, or '# {0}' for a remark",
                    comment.text.drop_front(2).trim());
    const char* at = comment.text.begin();
    if (kind == CommentKind::divisor) {
      if (warnings_.size() <= kMaxWarnings) warnings_.emplace_back(at, message);
      continue;
    }
    if (!was_read && !stopped()) retract();
    error(at, "{}", message);
    return;
  }
}

void Parser::warn_of_unused() {
  const std::vector<bool> is_needed = needed_values(graph());
  for (const auto& [name, binding] : scope()) {
    auto* value = std::get_if<ValueId>(&binding.argument.value);
    const Op* op = value ? &graph().producer(*value) : nullptr;
    const auto* input = op ? std::get_if<InputAttributes>(&op->attributes) : nullptr;
    if (input && input->name != name) input = nullptr; // a second name of an input
    if (name.starts_with("_") ||
        ((input || binding.is_used) && (!value || is_needed[value->index])))
      continue;
    const char* what = !input                                        ? "value"
                       : input->role == InputAttributes::Role::param ? "param"
                                                                     : "input";
    warnings_.emplace_back(
        binding.declared,
        fmt::format("no result needs the {} '{}'; remove it, or let its name begin with '_'", what,
                    name.str()));
  }
}

} // namespace

llvm::Expected<Graph> parse_graph(llvm::StringRef text, llvm::StringRef file_name,
                                  std::vector<std::string>* warnings) {
  if (text.size() > kMaxSpecBytes)
    return make_error(ErrorCode::parse_error,
                      "{}: error: the file has {} bytes; a graph spec has at most {} (16 MiB)",
                      file_name, text.size(), kMaxSpecBytes);
  SourceText source(text, file_name);
  size_t bad_byte = 0;
  if (!llvm::json::isUTF8(source.text(), &bad_byte)) {
    const char* at = source.text().data() + bad_byte;
    return llvm::make_error<IngotError>(
        ErrorCode::parse_error, source.diagnostic(at, llvm::SourceMgr::DK_Error,
                                                  fmt::format("byte 0x{:02x} is not UTF-8",
                                                              static_cast<unsigned char>(*at))));
  }
  Parser parser(source);
  auto graph = parser.parse();
  if (!graph) return graph;
  if (warnings) *warnings = parser.warnings();
  graph->set_spec(std::make_shared<const Spec>(Spec{source.text().str(), file_name.str()}));
  return graph;
}

} // namespace ingot
