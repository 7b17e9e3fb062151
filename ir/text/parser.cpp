// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the tokens; ops are appended as they are read, so there is no syntax tree.
// The first mistake ends the parse.
#include "ir/text/parser.h"

#include "ir/text/diagnostic.h"
#include "ir/text/lexer.h"
#include "ir/text/literals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <limits>

namespace ingot {

namespace {

/// What an expression stands for: an argument, or the results of a call that gives several.
struct Expression {
  LibraryArgument argument;
  llvm::SmallVector<ValueId, 2> results; ///< empty: `argument` is the value
  const char* begin = nullptr;
  llvm::StringRef name; ///< when the expression is just a name
};

/// A name in scope.
struct Binding {
  LibraryArgument argument;
  const char* declared;
};

struct InfixOperator {
  TokenKind kind;
  int precedence;
  llvm::StringRef function;
};

constexpr int kNotPrecedence = 3;
constexpr int kUnaryPrecedence = 7;
constexpr int kPowerPrecedence = 8;

class Parser {
public:
  explicit Parser(SourceText& source) : source_(source), lexer_(source.text()) {
    token_ = lexer_.next();
    ahead_ = lexer_.next();
  }

  llvm::Expected<Graph> parse();

private:
  using Parsed = std::optional<Expression>;

  // Every parsing function gives false or nullopt after a mistake, which error_ then holds.
  bool parse_graph();
  bool parse_input();
  bool parse_shape(Shape& shape);
  bool parse_extent(Dim& dim);
  bool parse_statement();
  bool parse_assignment();
  bool parse_return();
  Parsed parse_expression(int precedence = 1);
  Parsed parse_operand(int precedence);
  Parsed parse_prefix(const Token& op, llvm::StringRef function, int precedence);
  Parsed parse_infix(const InfixOperator& op, const Token& token, Expression left);
  Parsed parse_primary();
  Parsed parse_number_token();
  Parsed parse_name();
  Parsed parse_parentheses();
  Parsed parse_list();
  Parsed parse_call();
  bool parse_call_argument(std::vector<CallArgument>& arguments);

  Parsed call(llvm::StringRef function, const Token& at, llvm::ArrayRef<CallArgument> arguments);
  /// The single value of an expression as a value of the graph.
  std::optional<ValueId> value_of(const Expression& expression);
  bool single(const Expression& expression);
  bool declare(const Token& name, LibraryArgument argument);
  std::optional<std::string> output_name(const Expression& expression, size_t index, bool is_only);

  std::optional<InfixOperator> infix_operator() const;
  bool is_word(llvm::StringRef word) const {
    return token_.kind == TokenKind::identifier && token_.spelling == word;
  }
  bool is(TokenKind kind) const { return token_.kind == kind; }
  Token advance() {
    Token token = token_;
    token_ = ahead_;
    ahead_ = lexer_.next();
    return token;
  }
  bool accept(TokenKind kind) {
    if (!is(kind)) return false;
    advance();
    return true;
  }
  bool expect(TokenKind kind, llvm::StringRef what);
  bool expect_name(llvm::StringRef what, Token& name);
  bool expect_close(TokenKind kind, const Token& open);
  std::string describe(const Token& token) const;

  template <typename... Args>
  bool error(const char* at, fmt::format_string<Args...> format, Args&&... args) {
    return report(at, ErrorCode::parse_error, fmt::format(format, std::forward<Args>(args)...));
  }
  bool unexpected(llvm::StringRef expected) {
    if (is(TokenKind::invalid)) return invalid_token();
    return error(token_.begin, "expected {}, got {}", expected, describe(token_));
  }
  bool invalid_token() {
    unsigned char c = token_.spelling.front();
    if (!token_.message.ends_with("character")) return error(token_.begin, "{}", token_.message);
    if (c < 0x20 || c >= 0x7f) return error(token_.begin, "{} 0x{:02x}", token_.message, c);
    return error(token_.begin, "{} '{}'", token_.message, token_.spelling);
  }
  bool report(const char* at, ErrorCode code, const std::string& message);
  void note(const char* at, llvm::StringRef message);
  bool report(const char* at, llvm::Error error);

  SourceText& source_;
  Lexer lexer_;
  Token token_, ahead_;
  Graph graph_;
  llvm::StringMap<Binding> scope_;
  int depth_ = 0;
  ErrorCode code_ = ErrorCode::parse_error;
  std::string error_;
};

// Diagnostics.

bool Parser::report(const char* at, ErrorCode code, const std::string& message) {
  if (!error_.empty()) return false;
  code_ = code == ErrorCode::type_error ? code : ErrorCode::parse_error;
  error_ = source_.diagnostic(at, llvm::SourceMgr::DK_Error, message);
  return false;
}

void Parser::note(const char* at, llvm::StringRef message) {
  error_ += '\n' + source_.diagnostic(at, llvm::SourceMgr::DK_Note, message);
}

bool Parser::report(const char* at, llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const ArgumentError& e) {
        report(e.location().line ? source_.find(e.location()) : at, e.code(), e.text());
      },
      [&](const IngotError& e) { report(at, e.code(), e.text()); });
  return false;
}

std::string Parser::describe(const Token& token) const {
  if (token.kind == TokenKind::end) return "the end of the file";
  if (token.kind == TokenKind::text) return fmt::format("\"{}\"", token.spelling);
  return fmt::format("'{}'", token.spelling);
}

bool Parser::expect(TokenKind kind, llvm::StringRef what) {
  return accept(kind) || unexpected(what);
}

bool Parser::expect_name(llvm::StringRef what, Token& name) {
  if (!is(TokenKind::identifier)) return unexpected(what);
  if (!is_identifier(token_.spelling))
    return error(token_.begin, "expected {}, got '{}', which is a word of the language", what,
                 token_.spelling);
  name = advance();
  return true;
}

bool Parser::expect_close(TokenKind kind, const Token& open) {
  if (accept(kind)) return true;
  llvm::StringRef close = kind == TokenKind::right_paren     ? "')'"
                          : kind == TokenKind::right_bracket ? "']'"
                                                             : "'}'";
  bool is_token = !is(TokenKind::invalid);
  unexpected(kind == TokenKind::right_brace ? close.str() : fmt::format("',' or {}", close));
  if (is_token) note(open.begin, fmt::format("opened here by '{}'", open.spelling));
  return false;
}

// Declarations and statements.

llvm::Expected<Graph> Parser::parse() {
  if (!parse_graph()) return llvm::make_error<IngotError>(code_, error_);
  return std::move(graph_);
}

bool Parser::parse_graph() {
  if (!is_word("graph")) return unexpected("'graph'");
  advance();
  Token name;
  if (!expect_name("the graph's name", name)) return false;
  graph_ = Graph(name.spelling.str());
  Token open = token_;
  if (!expect(TokenKind::left_paren, "'('")) return false;
  if (!is(TokenKind::right_paren)) {
    do {
      if (!parse_input()) return false;
    } while (accept(TokenKind::comma) && !is(TokenKind::right_paren));
  }
  if (!expect_close(TokenKind::right_paren, open)) return false;
  open = token_;
  if (!expect(TokenKind::left_brace, "'{'")) return false;
  while (graph_.outputs().empty()) {
    if (is(TokenKind::right_brace))
      return error(token_.begin, "graph '{}' returns nothing; expected 'return' before '}}'",
                   graph_.name());
    if (is(TokenKind::end)) return expect_close(TokenKind::right_brace, open);
    if (!parse_statement()) return false;
  }
  if (!expect_close(TokenKind::right_brace, open)) return false;
  if (is_word("graph")) {
    error(token_.begin, "a second graph; a file holds one");
    note(name.begin, "the first is here");
    return false;
  }
  if (!is(TokenKind::end)) return unexpected("the end of the file");
  if (auto error = verify(graph_)) return report(name.begin, std::move(error));
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
  auto dtype = is(TokenKind::identifier) ? parse_dtype(token_.spelling) : std::nullopt;
  if (!dtype) return unexpected("an element type: f32, f16, bf16, i32, i64 or bool");
  type.dtype = *dtype;
  const char* type_begin = advance().begin;
  if (!parse_shape(type.shape)) return false;
  for (const Dim& dim : type.shape)
    for (const std::string& dim_name : dim.names())
      if (auto found = scope_.find(dim_name); found != scope_.end()) {
        error(type_begin, "dimension '{}' has the name of an input", dim_name);
        note(found->second.declared, "the input is declared here");
        return false;
      }
  if (!declare(name, {None{}})) return false;
  if (graph_.ops().size() >= kMaxOps)
    return error(name.begin, "more than {} inputs and operations in one graph", kMaxOps);
  auto value = graph_.add_input(name.spelling, type, role, name.location);
  if (!value) return report(type_begin, value.takeError());
  scope_.find(name.spelling)->second.argument = {*value};
  return true;
}

bool Parser::parse_shape(Shape& shape) {
  Token open = token_;
  if (!expect(TokenKind::left_bracket, "'[' and the extents, or '[]' for a scalar")) return false;
  while (!is(TokenKind::right_bracket)) {
    Dim dim;
    if (!parse_extent(dim)) return false;
    if (static_cast<int64_t>(shape.size()) == kMaxRank)
      return error(open.begin, "more than {} dimensions", kMaxRank);
    shape.push_back(dim);
    if (!accept(TokenKind::comma)) break;
  }
  return expect_close(TokenKind::right_bracket, open);
}

bool Parser::parse_extent(Dim& dim) {
  LibraryArgument product{int64_t{1}};
  do {
    const char* at = token_.begin;
    LibraryArgument factor;
    if (is(TokenKind::minus))
      return error(at, "negative extent; expected a positive number or a name");
    if (is(TokenKind::integer)) {
      int64_t number = 0;
      Token token = advance();
      if (token.spelling.getAsInteger(10, number))
        return error(at, "extent {} does not fit 64 bits", token.spelling);
      if (number == 0) return error(at, "extent 0; tensors have at least one element");
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
  if (llvm::is_contained(graph_.dim_names(), name.spelling))
    return error(name.begin, "'{}' is already the name of a dimension", name.spelling);
  auto [entry, is_new] = scope_.try_emplace(name.spelling, Binding{argument, name.begin});
  if (is_new) return true;
  error(name.begin, "'{}' is already defined; a name is given once", name.spelling);
  note(entry->second.declared, "it is defined here");
  return false;
}

bool Parser::parse_statement() {
  if (is_word("return")) return parse_return();
  if (is(TokenKind::identifier) && ahead_.kind == TokenKind::left_paren)
    return error(token_.begin, "a call alone does nothing; assign its result or return it");
  return parse_assignment();
}

bool Parser::parse_assignment() {
  llvm::SmallVector<Token, 3> names;
  do {
    Token name;
    if (!expect_name(names.empty() ? "a statement: 'name = ...' or 'return ...'" : "a name", name))
      return false;
    names.push_back(name);
    if (names.size() > kMaxListElements)
      return error(name.begin, "more than {} names", kMaxListElements);
  } while (accept(TokenKind::comma));
  if (!expect(TokenKind::assign, "'='")) return false;
  auto right = parse_expression();
  if (!right) return false;
  if (std::holds_alternative<ArgumentList>(right->argument.value))
    return error(right->begin, "a list cannot be assigned; write it where it is used");
  size_t count = right->results.empty() ? 1 : right->results.size();
  if (count != names.size())
    return error(names[0].begin, "{} name{} for {} result{}", names.size(),
                 names.size() == 1 ? "" : "s", count, count == 1 ? "" : "s");
  for (size_t i = 0; i < names.size(); ++i) {
    LibraryArgument argument = right->results.empty() ? right->argument : LibraryArgument{right->results[i]};
    if (!declare(names[i], argument)) return false;
    if (auto* value = std::get_if<ValueId>(&argument.value))
      if (graph_.value(*value).name.empty()) graph_.set_name(*value, names[i].spelling);
  }
  return true;
}

std::optional<std::string> Parser::output_name(const Expression& expression, size_t index,
                                               bool is_only) {
  bool is_input = llvm::any_of(
      graph_.inputs(), [&](ValueId input) { return graph_.value(input).name == expression.name; });
  if (!expression.name.empty() && !is_input) return expression.name.str();
  return is_only ? "output" : fmt::format("output{}", index);
}

bool Parser::parse_return() {
  advance();
  struct Item {
    std::string name;
    Expression expression;
    ValueId value;
  };
  std::vector<Item> items;
  do {
    Item item;
    if (is(TokenKind::identifier) && ahead_.kind == TokenKind::assign) {
      Token name;
      if (!expect_name("an output's name", name)) return false;
      item.name = name.spelling.str();
      advance();
    }
    const char* begin = token_.begin;
    auto expression = parse_expression();
    if (!expression) return false;
    auto value = value_of(*expression);
    if (!value) return false;
    item.expression = *expression;
    item.expression.begin = begin;
    item.value = *value;
    items.push_back(std::move(item));
    if (items.size() > kMaxListElements)
      return error(begin, "more than {} outputs", kMaxListElements);
  } while (accept(TokenKind::comma));
  for (size_t i = 0; i < items.size(); ++i) {
    Item& item = items[i];
    if (item.name.empty()) item.name = *output_name(item.expression, i, items.size() == 1);
    if (auto failed = graph_.add_output(item.name, item.value)) {
      auto [code, text] = take_error(std::move(failed));
      return error(item.expression.begin, "{}: 'return other_name = ...'", text);
    }
  }
  return true;
}

// Expressions.

std::optional<InfixOperator> Parser::infix_operator() const {
  switch (token_.kind) {
  case TokenKind::equal: return InfixOperator{token_.kind, 4, "equal"};
  case TokenKind::not_equal: return InfixOperator{token_.kind, 4, "not_equal"};
  case TokenKind::less: return InfixOperator{token_.kind, 4, "less"};
  case TokenKind::less_equal: return InfixOperator{token_.kind, 4, "less_equal"};
  case TokenKind::greater: return InfixOperator{token_.kind, 4, "greater"};
  case TokenKind::greater_equal: return InfixOperator{token_.kind, 4, "greater_equal"};
  case TokenKind::plus: return InfixOperator{token_.kind, 5, "add"};
  case TokenKind::minus: return InfixOperator{token_.kind, 5, "sub"};
  case TokenKind::star: return InfixOperator{token_.kind, 6, "mul"};
  case TokenKind::slash: return InfixOperator{token_.kind, 6, "div"};
  case TokenKind::power: return InfixOperator{token_.kind, kPowerPrecedence, "power"};
  default: break;
  }
  if (is_word("or")) return InfixOperator{token_.kind, 1, "or"};
  if (is_word("and")) return InfixOperator{token_.kind, 2, "and"};
  return std::nullopt;
}

Parser::Parsed Parser::parse_expression(int precedence) {
  if (++depth_ > kMaxNesting) {
    error(token_.begin, "expressions nest deeper than {} levels", kMaxNesting);
    return std::nullopt;
  }
  auto leave = llvm::make_scope_exit([&] { --depth_; });
  Parsed left = parse_operand(precedence);
  while (left) {
    auto op = infix_operator();
    if (!op || op->precedence < precedence) break;
    Token token = advance();
    left = parse_infix(*op, token, std::move(*left));
  }
  return left;
}

Parser::Parsed Parser::parse_infix(const InfixOperator& op, const Token& token, Expression left) {
  // ** binds to the right and lets a sign follow; the others bind to the left.
  Parsed right =
      parse_expression(op.kind == TokenKind::power ? kUnaryPrecedence : op.precedence + 1);
  if (!right || !single(left) || !single(*right)) return std::nullopt;
  if (folds(op.kind, left.argument, right->argument)) {
    auto folded = fold(op.kind, left.argument, right->argument);
    if (!folded) {
      report(token.begin, folded.takeError());
      return std::nullopt;
    }
    folded->location = left.argument.location;
    return Expression{*folded, {}, left.begin, {}};
  }
  const char* begin = left.begin;
  auto result = call(op.function, token,
                     {CallArgument{"", std::move(left.argument), {}},
                      CallArgument{"", std::move(right->argument), {}}});
  if (result) result->begin = begin;
  return result;
}

Parser::Parsed Parser::parse_operand(int precedence) {
  if (is(TokenKind::minus)) return parse_prefix(advance(), "neg", kUnaryPrecedence);
  if (is_word("not") && precedence <= kNotPrecedence)
    return parse_prefix(advance(), "not", kNotPrecedence);
  return parse_primary();
}

Parser::Parsed Parser::parse_prefix(const Token& op, llvm::StringRef function, int precedence) {
  // The one integer whose magnitude is no integer.
  if (function == "neg" && is(TokenKind::integer) && token_.spelling == "9223372036854775808") {
    advance();
    return Expression{{std::numeric_limits<int64_t>::min(), op.location}, {}, op.begin, {}};
  }
  Parsed operand = parse_expression(precedence);
  if (!operand || !single(*operand)) return std::nullopt;
  if (auto folded = fold_negation(operand->argument); folded && function == "neg") {
    folded->location = op.location;
    return Expression{*folded, {}, op.begin, {}};
  }
  return call(function, op, {CallArgument{"", std::move(operand->argument), {}}});
}

Parser::Parsed Parser::parse_primary() {
  if (is(TokenKind::integer) || is(TokenKind::real)) return parse_number_token();
  if (is(TokenKind::identifier)) {
    if (ahead_.kind == TokenKind::left_paren && token_.spelling != "return") return parse_call();
    return parse_name();
  }
  if (is(TokenKind::left_paren)) return parse_parentheses();
  if (is(TokenKind::left_bracket)) return parse_list();
  if (is(TokenKind::text)) {
    Token token = advance();
    return Expression{{token.spelling.str(), token.location}, {}, token.begin, {}};
  }
  unexpected("an expression");
  return std::nullopt;
}

Parser::Parsed Parser::parse_number_token() {
  Token token = advance();
  auto number = parse_number(token);
  if (!number) {
    report(token.begin, number.takeError());
    return std::nullopt;
  }
  number->location = token.location;
  return Expression{*number, {}, token.begin, {}};
}

Parser::Parsed Parser::parse_name() {
  Token token = advance();
  llvm::StringRef name = token.spelling;
  Expression result{{None{}, token.location}, {}, token.begin, {}};
  auto& value = result.argument.value;
  if (auto dtype = parse_dtype(name)) {
    value = *dtype;
  } else if (name == "true" || name == "false") {
    value = name == "true";
  } else if (name == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (name == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (name == "none") {
    value = None{};
  } else if (auto found = scope_.find(name); found != scope_.end()) {
    value = found->second.argument.value;
    result.name = name;
  } else if (llvm::is_contained(graph_.dim_names(), name)) {
    value = Dim::named(name);
  } else if (!is_identifier(name)) {
    error(token.begin, "expected an expression, got '{}'", name);
    return std::nullopt;
  } else {
    error(token.begin, "'{}' is not defined", name);
    return std::nullopt;
  }
  return result;
}

Parser::Parsed Parser::parse_parentheses() {
  Token open = advance();
  Parsed inner = parse_expression();
  if (!inner) return std::nullopt;
  if (!expect_close(TokenKind::right_paren, open)) return std::nullopt;
  inner->begin = open.begin;
  return inner;
}

Parser::Parsed Parser::parse_list() {
  Token open = advance();
  ArgumentList list;
  while (!is(TokenKind::right_bracket)) {
    if (list.size() == kMaxListElements) {
      error(token_.begin, "more than {} elements in a list", kMaxListElements);
      return std::nullopt;
    }
    Parsed item = parse_expression();
    if (!item || !single(*item)) return std::nullopt;
    list.push_back(std::move(item->argument));
    if (!accept(TokenKind::comma)) break;
  }
  if (!expect_close(TokenKind::right_bracket, open)) return std::nullopt;
  return Expression{{std::move(list), open.location}, {}, open.begin, {}};
}

bool Parser::parse_call_argument(std::vector<CallArgument>& arguments) {
  CallArgument argument;
  if (is(TokenKind::identifier) && ahead_.kind == TokenKind::assign) {
    Token name = advance();
    advance();
    argument.name = name.spelling.str();
    argument.location = name.location;
  }
  if (arguments.size() == kMaxListElements)
    return error(token_.begin, "more than {} arguments", kMaxListElements);
  Parsed value = parse_expression();
  if (!value || !single(*value)) return false;
  argument.value = std::move(value->argument);
  arguments.push_back(std::move(argument));
  return true;
}

Parser::Parsed Parser::parse_call() {
  Token name = advance();
  Token open = advance();
  std::vector<CallArgument> arguments;
  while (!is(TokenKind::right_paren)) {
    if (!parse_call_argument(arguments)) return std::nullopt;
    if (!accept(TokenKind::comma)) break;
  }
  if (!expect_close(TokenKind::right_paren, open)) return std::nullopt;
  return call(name.spelling, name, arguments);
}

Parser::Parsed Parser::call(llvm::StringRef function, const Token& at,
                            llvm::ArrayRef<CallArgument> arguments) {
  SourceLocation where = at.location;
  auto results = ingot::call(graph_, function, arguments, where);
  if (!results) {
    report(at.begin, results.takeError());
    return std::nullopt;
  }
  if (graph_.ops().size() > kMaxOps) {
    error(at.begin, "more than {} inputs and operations in one graph", kMaxOps);
    return std::nullopt;
  }
  Expression expression{{None{}, where}, {}, at.begin, {}};
  if (results->size() == 1) {
    expression.argument.value = results->front();
  } else {
    expression.results = std::move(*results);
  }
  return expression;
}

bool Parser::single(const Expression& expression) {
  if (expression.results.empty()) return true;
  return error(expression.begin,
               "a call with {} results stands where one value is expected; assign them first",
               expression.results.size());
}

std::optional<ValueId> Parser::value_of(const Expression& expression) {
  if (!single(expression)) return std::nullopt;
  const auto& value = expression.argument.value;
  if (auto* id = std::get_if<ValueId>(&value)) return *id;
  if (auto* truth = std::get_if<bool>(&value)) return graph_.add_constant(DType::boolean, *truth);
  if (auto* real = std::get_if<double>(&value)) return graph_.add_constant(DType::f32, *real);
  if (auto* integer = std::get_if<int64_t>(&value))
    return graph_.add_constant(DType::f32, static_cast<double>(*integer));
  error(expression.begin, "expected a tensor or a number");
  return std::nullopt;
}

} // namespace

llvm::Expected<Graph> parse_graph(llvm::StringRef text, llvm::StringRef file_name) {
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
  return Parser(source).parse();
}

} // namespace ingot
