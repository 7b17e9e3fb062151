// SPDX-License-Identifier: Apache-2.0
// See expressions.h.
#include "ir/text/expressions.h"

#include "ir/text/literals.h"
#include "ir/text/parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <limits>

namespace ingot {

namespace {

constexpr int kNotPrecedence = 3;
constexpr int kUnaryPrecedence = 9;

} // namespace

const InfixOperator* Expressions::infix_operator() const {
  static constexpr InfixOperator kOr{TokenKind::identifier, 1, "or"};
  static constexpr InfixOperator kAnd{TokenKind::identifier, 2, "and"};
  return is_word("or") ? &kOr : is_word("and") ? &kAnd : find_infix(token().kind);
}

Expressions::Parsed Expressions::parse_expression(int precedence) {
  if (++depth_ > kMaxNesting) {
    stop(token().begin, "expressions nest deeper than {} levels", kMaxNesting);
    return std::nullopt;
  }
  auto leave = llvm::make_scope_exit([&] { --depth_; });
  const char* begin = token().begin;
  llvm::StringRef compared; // the right operand of the last comparison
  Parsed left = parse_operand(precedence);
  while (left) {
    const InfixOperator* op = infix_operator();
    if (!op || op->precedence < precedence) break;
    Token token = advance();
    const bool is_comparison = op->precedence == kComparisonPrecedence;
    const bool is_chain = is_comparison && !compared.empty() && !left->is_poisoned;
    const char* right = this->token().begin;
    left->is_poisoned |= is_chain;
    left = parse_infix(*op, token, std::move(*left));
    if (left && is_chain) refuse_chain(token, begin, compared);
    compared = is_comparison ? read_since(right) : "";
  }
  return left;
}

/// Refuses `a < b < c`. `op` is the second operator and `middle` is b.
void Expressions::refuse_chain(const Token& op, const char* begin, llvm::StringRef middle) {
  constexpr size_t kLongest = 60;
  llvm::StringRef first(begin, middle.end() - begin), last = read_since(op.begin);
  const bool is_short = first.size() + middle.size() + last.size() <= kLongest &&
                        !first.contains('\n') && !last.contains('\n');
  error(op.begin, "comparisons do not chain; write {}",
        is_short ? fmt::format("({}) and ({} {})", first, middle, last) : "(a < b) and (b < c)");
}

Expressions::Parsed Expressions::parse_infix(const InfixOperator& op, const Token& token,
                                             Expression left) {
  // ** binds to the right, and a sign may follow it. The others bind to the left.
  Parsed right =
      parse_expression(op.kind == TokenKind::power ? kUnaryPrecedence : op.precedence + 1);
  if (!right) return std::nullopt;
  make_single(left);
  make_single(*right);
  if (left.is_poisoned || right->is_poisoned) return poisoned(left.begin);
  if (folds(op.kind, left.argument, right->argument)) {
    auto folded = fold(op.kind, left.argument, right->argument);
    if (!folded) {
      report(token.begin, folded.takeError());
      return poisoned(left.begin);
    }
    folded->location = left.argument.location;
    return Expression{*folded, {}, left.begin, {}};
  }
  auto result = call(op.function, token,
                     {CallArgument{"", std::move(left.argument), {}},
                      CallArgument{"", std::move(right->argument), {}}},
                     left.begin);
  const bool is_sign = op.kind == TokenKind::ampersand || op.kind == TokenKind::bar;
  if (is_sign && result && result->is_poisoned)
    note(token.begin,
         "& and | take bools, and bind tighter than comparisons; write (a > 0) & (b < 1)");
  return result;
}

Expressions::Parsed Expressions::parse_operand(int precedence) {
  if (is(TokenKind::minus)) return parse_prefix(advance(), "neg", kUnaryPrecedence);
  if (is(TokenKind::tilde)) return parse_prefix(advance(), "not", kUnaryPrecedence);
  if (is_word("not") && precedence <= kNotPrecedence)
    return parse_prefix(advance(), "not", kNotPrecedence);
  return parse_postfix();
}

Expressions::Parsed Expressions::parse_prefix(const Token& op, llvm::StringRef function,
                                              int precedence) {
  // This is the one integer whose magnitude is no int64.
  if (function == "neg" && is(TokenKind::integer) && token().spelling == "9223372036854775808") {
    advance();
    return Expression{{std::numeric_limits<int64_t>::min(), op.location}, {}, op.begin, {}};
  }
  Parsed operand = parse_expression(precedence);
  if (!operand) return std::nullopt;
  make_single(*operand);
  if (operand->is_poisoned) return poisoned(op.begin);
  if (auto folded = fold_negation(operand->argument); folded && function == "neg") {
    folded->location = op.location;
    return Expression{*folded, {}, op.begin, {}};
  }
  return call(function, op, {CallArgument{"", std::move(operand->argument), {}}}, op.begin);
}

Expressions::Parsed Expressions::parse_postfix() {
  Parsed value = parse_primary();
  while (value) {
    if (is(TokenKind::dot)) {
      value = parse_attribute(*value);
    } else if (is(TokenKind::left_bracket)) {
      value = parse_index(*value);
    } else if (is(TokenKind::left_paren) && token().location.line == previous().location.line) {
      if (!value->is_poisoned)
        error(token().begin, "a value is not called; to multiply, write * before '('");
      value = parse_parentheses() ? poisoned(value->begin) : std::nullopt;
    } else {
      break;
    }
  }
  return value;
}

Expressions::Parsed Expressions::parse_primary() {
  if (is(TokenKind::integer) || is(TokenKind::real)) return parse_number_token();
  if (is(TokenKind::identifier)) {
    const bool is_lambda = is_word("lambda") && (ahead().kind == TokenKind::identifier ||
                                                 ahead().kind == TokenKind::colon);
    if (is_lambda) {
      unexpected("an expression");
      return std::nullopt;
    }
    if (ahead().kind == TokenKind::left_paren && token().spelling != "return") return parse_call();
    return parse_name();
  }
  if (is(TokenKind::left_paren)) return parse_parentheses();
  if (is(TokenKind::left_bracket)) return parse_list();
  if (is(TokenKind::text)) {
    Token token = advance();
    return Expression{{token.spelling.str(), token.location}, {}, token.begin, {}};
  }
  unexpected("an expression", is(TokenKind::plus) ? "; leave the sign + out" : "");
  return std::nullopt;
}

Expressions::Parsed Expressions::parse_number_token() {
  Token token = advance();
  auto number = parse_number(token);
  if (!number) {
    report(token.begin, number.takeError());
    return poisoned(token.begin);
  }
  number->location = token.location;
  return Expression{*number, {}, token.begin, {}};
}

/// `(x)` is x. `()`, `(x,)` and `(x, y)` are lists.
Expressions::Parsed Expressions::parse_parentheses() {
  Token open = advance();
  Expression list{{ArgumentList(), open.location}, {}, open.begin, {}};
  if (!is(TokenKind::right_paren)) {
    Parsed inner = parse_expression();
    if (!inner) return std::nullopt;
    if (!accept(TokenKind::comma)) {
      if (!expect_close(TokenKind::right_paren, open)) return std::nullopt;
      inner->begin = open.begin;
      return inner;
    }
    make_single(*inner);
    list.is_poisoned = inner->is_poisoned;
    std::get<ArgumentList>(list.argument.value).push_back(std::move(inner->argument));
  }
  if (!parse_list_items(TokenKind::right_paren, list)) return std::nullopt;
  if (!expect_close(TokenKind::right_paren, open)) return std::nullopt;
  return list;
}

Expressions::Parsed Expressions::parse_list() {
  Token open = advance();
  Expression list{{ArgumentList(), open.location}, {}, open.begin, {}};
  if (!parse_list_items(TokenKind::right_bracket, list)) return std::nullopt;
  if (!expect_close(TokenKind::right_bracket, open)) return std::nullopt;
  return list;
}

bool Expressions::parse_list_items(TokenKind close, Expression& list) {
  auto& items = std::get<ArgumentList>(list.argument.value);
  while (!is(close)) {
    if (items.size() == kMaxListElements)
      return stop(token().begin, "more than {} elements in a list", kMaxListElements);
    Parsed item = parse_expression();
    if (!item) return false;
    make_single(*item);
    list.is_poisoned |= item->is_poisoned;
    items.push_back(std::move(item->argument));
    if (!accept(TokenKind::comma)) break;
  }
  return true;
}

/// Whether the current token is a word in the place of a text: `approximate=tanh`.
bool Expressions::lacks_quotes(llvm::StringRef function, const CallArgument& argument,
                               size_t position) const {
  const TokenKind next = ahead().kind;
  if (!is(TokenKind::identifier) || (next != TokenKind::comma && next != TokenKind::right_paren))
    return false;
  const llvm::StringRef word = token().spelling;
  const LibraryFunction* called = find_function(function);
  const bool is_defined = !is_identifier(word) || scope_.contains(word) || is_poisoned(word) ||
                          llvm::is_contained(graph_.dim_names(), word) || word == "True" ||
                          word == "False" || word == "None";
  if (!called || is_defined) return false;
  const std::optional<size_t> index =
      argument.name.empty() ? position : called->find_parameter(argument.name);
  return index && *index < called->parameters.size() &&
         called->parameters[*index].kind == ParameterKind::text;
}

bool Expressions::parse_call_argument(llvm::StringRef function,
                                      std::vector<CallArgument>& arguments, bool& is_poisoned) {
  CallArgument argument;
  if (is(TokenKind::identifier) && ahead().kind == TokenKind::assign) {
    Token name = advance();
    advance();
    argument.name = name.spelling.str();
    argument.location = name.location;
  }
  if (arguments.size() == kMaxListElements)
    return stop(token().begin, "more than {} arguments", kMaxListElements);
  if (lacks_quotes(function, argument, arguments.size())) {
    const Token word = advance();
    error(word.begin, "a text stands in quotes; write {}'{}'",
          argument.name.empty() ? "" : argument.name + "=", word.spelling);
    is_poisoned = true;
    return !stopped();
  }
  Parsed value = parse_expression();
  if (!value) return false;
  make_single(*value);
  is_poisoned |= value->is_poisoned;
  argument.value = std::move(value->argument);
  arguments.push_back(std::move(argument));
  return true;
}

/// Parses `f(...)`, or the part after the dot of `receiver.f(...)`. The receiver is the first
/// argument.
Expressions::Parsed Expressions::parse_call(const Expression* receiver) {
  Token name = advance();
  Token open = advance();
  const char* begin = receiver ? receiver->begin : name.begin;
  std::vector<CallArgument> arguments;
  bool is_poisoned = false;
  if (receiver) {
    is_poisoned = receiver->is_poisoned;
    arguments.push_back({"", receiver->argument, {}});
  }
  while (!is(TokenKind::right_paren)) {
    if (!parse_call_argument(name.spelling, arguments, is_poisoned)) return std::nullopt;
    if (!accept(TokenKind::comma)) break;
  }
  if (!expect_close(TokenKind::right_paren, open)) return std::nullopt;
  const bool is_known = is_function(name.spelling);
  if (!is_known && !receiver && scope_.contains(name.spelling)) {
    error(name.begin,
          "'{0}' is a value, not a function; write {0}[...] to index, {0} * (...) to "
          "multiply",
          name.spelling);
    return poisoned(name.begin);
  }
  if (is_known ? is_poisoned : this->is_poisoned(name.spelling)) return poisoned(begin);
  return call(name.spelling, name, arguments, begin);
}

Expressions::Parsed Expressions::call(llvm::StringRef function, const Token& at,
                                      llvm::ArrayRef<CallArgument> arguments, const char* begin) {
  if (auto number = value_of_numbers(function, arguments)) {
    number->location = at.location;
    return Expression{*number, {}, begin, {}};
  }
  return given(ingot::call(graph_, function, arguments, at.location), at, begin);
}

Expressions::Parsed Expressions::given(llvm::Expected<llvm::SmallVector<ValueId, 2>> results,
                                       const Token& at, const char* begin) {
  if (!results) {
    report(at.begin, results.takeError());
    return poisoned(begin);
  }
  if (graph_.ops().size() > kMaxOps) {
    stop(at.begin, "more than {} inputs and operations in one graph", kMaxOps);
    return std::nullopt;
  }
  Expression expression{{None{}, at.location}, {}, begin, {}};
  if (results->size() == 1) {
    expression.argument.value = results->front();
  } else {
    expression.results = std::move(*results);
    expression.name = at.spelling;
  }
  return expression;
}

Expressions::Parsed Expressions::poisoned(const char* begin) const {
  if (stopped()) return std::nullopt;
  Expression expression;
  expression.begin = begin;
  expression.is_poisoned = true;
  return expression;
}

void Expressions::make_single(Expression& expression) {
  if (expression.results.empty()) return;
  error(expression.begin,
        "a call with {} results stands where one value is expected; assign them first, or take "
        "one, as in max(x, 1)[0]",
        expression.results.size());
  expression.results.clear();
  expression.is_poisoned = true;
}

std::optional<ValueId> Expressions::value_of(Expression expression) {
  make_single(expression);
  if (expression.is_poisoned) return std::nullopt;
  const auto& value = expression.argument.value;
  auto literal = [&](DType dtype, double number) -> std::optional<ValueId> {
    auto id = graph_.add_constant(dtype, number);
    if (id) return *id;
    report(expression.begin, id.takeError());
    return std::nullopt;
  };
  if (auto* id = std::get_if<ValueId>(&value)) return *id;
  if (auto* truth = std::get_if<bool>(&value)) return literal(DType::boolean, *truth);
  if (auto* real = std::get_if<double>(&value)) return literal(DType::f32, *real);
  if (auto* integer = std::get_if<int64_t>(&value))
    return literal(DType::f32, static_cast<double>(*integer));
  if (std::holds_alternative<ArgumentList>(value))
    error(expression.begin, "a list stands where one value is expected; write 'return a, b'");
  else
    error(expression.begin, "expected a tensor or a number");
  return std::nullopt;
}

} // namespace ingot
