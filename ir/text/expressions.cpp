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

/// Element types of other systems, which a spec may name by habit.
bool is_foreign_type(llvm::StringRef name) {
  return llvm::is_contained({"f64",     "f8",       "i8",    "i16",   "u8",    "u16",     "u32",
                             "u64",     "double",   "float", "half",  "int",   "float64", "float32",
                             "float16", "bfloat16", "int64", "int32", "int16", "int8",    "uint8"},
                            name);
}

// Beside those of infix_operator.
constexpr int kNotPrecedence = 3;
constexpr int kUnaryPrecedence = 7;
constexpr int kPowerPrecedence = 8;

} // namespace

std::optional<Expressions::InfixOperator> Expressions::infix_operator() const {
  switch (token().kind) {
  case TokenKind::equal: return InfixOperator{token().kind, 4, "equal"};
  case TokenKind::not_equal: return InfixOperator{token().kind, 4, "not_equal"};
  case TokenKind::less: return InfixOperator{token().kind, 4, "less"};
  case TokenKind::less_equal: return InfixOperator{token().kind, 4, "less_equal"};
  case TokenKind::greater: return InfixOperator{token().kind, 4, "greater"};
  case TokenKind::greater_equal: return InfixOperator{token().kind, 4, "greater_equal"};
  case TokenKind::plus: return InfixOperator{token().kind, 5, "add"};
  case TokenKind::minus: return InfixOperator{token().kind, 5, "sub"};
  case TokenKind::star: return InfixOperator{token().kind, 6, "mul"};
  case TokenKind::slash: return InfixOperator{token().kind, 6, "div"};
  case TokenKind::at: return InfixOperator{token().kind, 6, "matmul"};
  case TokenKind::power: return InfixOperator{token().kind, kPowerPrecedence, "power"};
  default: break;
  }
  if (is_word("or")) return InfixOperator{token().kind, 1, "or"};
  if (is_word("and")) return InfixOperator{token().kind, 2, "and"};
  return std::nullopt;
}

Expressions::Parsed Expressions::parse_expression(int precedence) {
  if (++depth_ > kMaxNesting) {
    error(token().begin, "expressions nest deeper than {} levels", kMaxNesting);
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

Expressions::Parsed Expressions::parse_infix(const InfixOperator& op, const Token& token,
                                             Expression left) {
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

Expressions::Parsed Expressions::parse_operand(int precedence) {
  if (is(TokenKind::minus)) return parse_prefix(advance(), "neg", kUnaryPrecedence);
  if (is_word("not") && precedence <= kNotPrecedence)
    return parse_prefix(advance(), "not", kNotPrecedence);
  return parse_primary();
}

Expressions::Parsed Expressions::parse_prefix(const Token& op, llvm::StringRef function,
                                              int precedence) {
  // The one integer whose magnitude is no integer.
  if (function == "neg" && is(TokenKind::integer) && token().spelling == "9223372036854775808") {
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

Expressions::Parsed Expressions::parse_primary() {
  if (is(TokenKind::integer) || is(TokenKind::real)) return parse_number_token();
  if (is(TokenKind::identifier)) {
    if (ahead().kind == TokenKind::left_paren && token().spelling != "return") return parse_call();
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

Expressions::Parsed Expressions::parse_number_token() {
  Token token = advance();
  auto number = parse_number(token);
  if (!number) {
    report(token.begin, number.takeError());
    return std::nullopt;
  }
  number->location = token.location;
  return Expression{*number, {}, token.begin, {}};
}

Expressions::Parsed Expressions::parse_name() {
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
  } else if (is_foreign_type(name)) {
    error(token.begin, "'{}' is no element type: expected f32, f16, bf16, i32, i64 or bool", name);
    return std::nullopt;
  } else {
    error(token.begin, "'{}' is not defined", name);
    return std::nullopt;
  }
  return result;
}

Expressions::Parsed Expressions::parse_parentheses() {
  Token open = advance();
  Parsed inner = parse_expression();
  if (!inner) return std::nullopt;
  if (!expect_close(TokenKind::right_paren, open)) return std::nullopt;
  inner->begin = open.begin;
  return inner;
}

Expressions::Parsed Expressions::parse_list() {
  Token open = advance();
  ArgumentList list;
  while (!is(TokenKind::right_bracket)) {
    if (list.size() == kMaxListElements) {
      error(token().begin, "more than {} elements in a list", kMaxListElements);
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

bool Expressions::parse_call_argument(std::vector<CallArgument>& arguments) {
  CallArgument argument;
  if (is(TokenKind::identifier) && ahead().kind == TokenKind::assign) {
    Token name = advance();
    advance();
    argument.name = name.spelling.str();
    argument.location = name.location;
  }
  if (arguments.size() == kMaxListElements)
    return error(token().begin, "more than {} arguments", kMaxListElements);
  Parsed value = parse_expression();
  if (!value || !single(*value)) return false;
  argument.value = std::move(value->argument);
  arguments.push_back(std::move(argument));
  return true;
}

Expressions::Parsed Expressions::parse_call() {
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

Expressions::Parsed Expressions::call(llvm::StringRef function, const Token& at,
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

bool Expressions::single(const Expression& expression) {
  if (expression.results.empty()) return true;
  return error(expression.begin,
               "a call with {} results stands where one value is expected; assign them first",
               expression.results.size());
}

std::optional<ValueId> Expressions::value_of(const Expression& expression) {
  if (!single(expression)) return std::nullopt;
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
  error(expression.begin, "expected a tensor or a number");
  return std::nullopt;
}

} // namespace ingot
