// SPDX-License-Identifier: Apache-2.0
// See literals.h.
#include "ir/text/literals.h"

#include "ir/interpreter/evaluate.h"
#include "src/support/expr.h"

#include "llvm/ADT/STLExtras.h"

#include <charconv>
#include <cmath>

namespace ingot {

namespace {

llvm::Error overflow() {
  return make_error(ErrorCode::parse_error, "the result does not fit 64 bits");
}

/// nullopt if the power is no integer or is near the limits of 64 bits.
std::optional<int64_t> power_of_integers(int64_t base, int64_t exponent) {
  const double real = std::pow(static_cast<double>(base), static_cast<double>(exponent));
  if (exponent < 0 || !(std::fabs(real) < 0x1p62)) return std::nullopt;
  if (base >= -1 && base <= 1) return static_cast<int64_t>(real);
  // The exponent is below 62.
  int64_t power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= base;
  return power;
}

llvm::Error no_remainder() {
  return make_error(ErrorCode::parse_error,
                    "a division by 0 leaves no remainder; expected another divisor behind %");
}

llvm::Expected<LibraryArgument> applied(Expr::Kind kind, int64_t a, int64_t b) {
  const std::optional<int64_t> result = Expr::apply(kind, a, b);
  if (!result) return overflow();
  return LibraryArgument{*result};
}

llvm::Expected<LibraryArgument> fold_integers(TokenKind op, int64_t a, int64_t b) {
  switch (op) {
  case TokenKind::plus: return applied(Expr::Kind::add, a, b);
  case TokenKind::minus: return applied(Expr::Kind::sub, a, b);
  case TokenKind::star: return applied(Expr::Kind::mul, a, b);
  case TokenKind::percent: {
    if (b == 0) return no_remainder();
    if (b == -1) return LibraryArgument{int64_t{0}}; // the quotient INT64_MIN / -1 overflows
    const int64_t rest = a % b;
    return LibraryArgument{rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest};
  }
  default: break;
  }
  INGOT_ASSERT(op == TokenKind::slash);
  // INT64_MIN / -1 overflows. The real quotient below reports it.
  if (b != 0 && b != -1 && a % b == 0) return LibraryArgument{a / b};
  return LibraryArgument{static_cast<double>(a) / static_cast<double>(b)};
}

/// The remainder of a / b rounded down, with the sign of b.
double remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

double value_of(TokenKind op, double a, double b) {
  switch (op) {
  case TokenKind::percent: return remainder(a, b);
  case TokenKind::plus: return a + b;
  case TokenKind::minus: return a - b;
  case TokenKind::star: return a * b;
  case TokenKind::slash: return a / b;
  default: return std::pow(a, b);
  }
}

llvm::Expected<LibraryArgument> fold_reals(TokenKind op, double a, double b) {
  if (op == TokenKind::percent && b == 0) return no_remainder();
  const double value = value_of(op, a, b);
  // 1 / 0 and 0 ** -1 are infinite without overflow.
  const bool is_pole = op == TokenKind::slash ? b == 0 : op == TokenKind::power && a == 0;
  if (std::isinf(value) && std::isfinite(a) && std::isfinite(b) && !is_pole)
    return make_error(ErrorCode::parse_error,
                      "the result is outside the range of 64-bit floats, -1.8e308 to 1.8e308; "
                      "write inf for infinity");
  return LibraryArgument{value};
}

std::optional<Dim> computed(TokenKind op, const Dim& a, const Dim& b) {
  switch (op) {
  case TokenKind::plus: return checked_add(a, b);
  case TokenKind::minus: return checked_subtract(a, b);
  case TokenKind::star: return checked_multiply(a, b);
  default: return a.divided_by(b);
  }
}

llvm::Expected<LibraryArgument> fold_dims(TokenKind op, const LibraryArgument& a,
                                          const LibraryArgument& b) {
  std::optional<Dim> left = as_dim(a), right = as_dim(b);
  if (!left || !right || op == TokenKind::power || op == TokenKind::percent)
    return make_error(ErrorCode::parse_error,
                      "a dimension can only be added to, subtracted from, multiplied with and "
                      "divided by integers and dimensions");
  auto result = computed(op, *left, *right);
  if (!result && op != TokenKind::slash) return overflow();
  if (!result)
    return make_error(ErrorCode::parse_error, "{} is not divisible by {} for every size",
                      left->text(), right->text());
  if (!is_short(*result))
    return make_error(ErrorCode::parse_error,
                      "more than {} names in a product of an extent, or products in its sum",
                      kMaxTerms);
  if (result->is_fixed()) return LibraryArgument{result->fixed()};
  return LibraryArgument{*result};
}

bool is_known(const CallArgument& argument) {
  const auto& value = argument.value.value;
  return is_number(argument.value) || std::holds_alternative<bool>(value) ||
         std::holds_alternative<std::string>(value) || std::holds_alternative<None>(value);
}

bool is_real(const CallArgument& argument) {
  return std::holds_alternative<double>(argument.value.value);
}

/// Evaluates the call with its numbers in one element type.
std::optional<LibraryArgument> computed_in(DType numbers, llvm::StringRef function,
                                           llvm::ArrayRef<CallArgument> arguments) {
  Graph graph("numbers");
  auto results = call(graph, function, arguments, {}, numbers);
  if (!results) {
    llvm::consumeError(results.takeError());
    return std::nullopt;
  }
  // Without extents, nothing takes memory or time.
  const bool is_scalar =
      llvm::all_of(graph.values(), [](const Value& value) { return value.type.rank() == 0; });
  if (results->size() != 1 || !is_scalar) return std::nullopt;
  llvm::cantFail(graph.add_output("value", results->front()));
  auto values = evaluate(graph, {}, {.precisions = {}, .stored = {}, .threads = 1});
  if (!values) {
    llvm::consumeError(values.takeError());
    return std::nullopt;
  }
  const Evaluated& value = values->front();
  if (value.dtype == DType::boolean) return LibraryArgument{value.booleans()[0] != 0};
  if (is_integer(value.dtype)) return LibraryArgument{value.integers()[0]};
  return LibraryArgument{value.reals()[0]};
}

} // namespace

llvm::Expected<LibraryArgument> parse_number(const Token& token) {
  const char* begin = token.spelling.begin();
  const char* end = token.spelling.end();
  if (token.kind == TokenKind::integer) {
    int64_t value = 0;
    if (std::from_chars(begin, end, value).ec != std::errc())
      return make_error(ErrorCode::parse_error,
                        "{} does not fit 64 bits; as a real number, write {}.0", token.spelling,
                        token.spelling);
    return LibraryArgument{value};
  }
  double value = 0;
  if (std::from_chars(begin, end, value).ec != std::errc())
    return make_error(ErrorCode::parse_error,
                      "{} is outside the range of 64-bit floats, 4.9e-324 to 1.8e308",
                      token.spelling);
  return LibraryArgument{value};
}

bool folds(TokenKind op, const LibraryArgument& a, const LibraryArgument& b) {
  bool is_arithmetic = op == TokenKind::plus || op == TokenKind::minus || op == TokenKind::star ||
                       op == TokenKind::slash || op == TokenKind::percent || op == TokenKind::power;
  auto is_known = [](const LibraryArgument& x) {
    return is_number(x) || std::holds_alternative<Dim>(x.value);
  };
  return is_arithmetic && is_known(a) && is_known(b);
}

llvm::Expected<LibraryArgument> fold(TokenKind op, const LibraryArgument& a,
                                     const LibraryArgument& b) {
  if (!is_number(a) || !is_number(b)) return fold_dims(op, a, b);
  auto* left = std::get_if<int64_t>(&a.value);
  auto* right = std::get_if<int64_t>(&b.value);
  if (left && right && op != TokenKind::power) return fold_integers(op, *left, *right);
  if (left && right)
    if (auto power = power_of_integers(*left, *right)) return LibraryArgument{*power};
  return fold_reals(op, real_of(a), real_of(b));
}

std::optional<LibraryArgument> fold_negation(const LibraryArgument& x) {
  if (auto* value = std::get_if<int64_t>(&x.value)) {
    // Integer tokens are not negative, and folding reports overflow, so only INT64_MIN is special.
    if (*value == INT64_MIN) return LibraryArgument{0x1p63};
    return LibraryArgument{-*value};
  }
  if (auto* value = std::get_if<double>(&x.value)) return LibraryArgument{-*value};
  if (auto* dim = std::get_if<Dim>(&x.value)) {
    const auto negative = checked_multiply(*dim, -1);
    return negative ? std::optional(LibraryArgument{*negative}) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<LibraryArgument> value_of_numbers(llvm::StringRef function,
                                                llvm::ArrayRef<CallArgument> arguments) {
  if (arguments.empty() || !llvm::all_of(arguments, is_known) || !is_function(function))
    return std::nullopt;
  auto result = computed_in(DType::f32, function, arguments);
  const double* real = result ? std::get_if<double>(&result->value) : nullptr;
  if (!real || llvm::any_of(arguments, is_real)) return result;
  // Integer functions may round towards zero where real ones do not.
  const auto exact = computed_in(DType::i64, function, arguments);
  const int64_t* integer = exact ? std::get_if<int64_t>(&exact->value) : nullptr;
  return integer && static_cast<double>(*integer) == *real ? exact : result;
}

} // namespace ingot
