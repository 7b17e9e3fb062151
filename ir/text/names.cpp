// SPDX-License-Identifier: Apache-2.0
// Names in expressions: their meaning, and hints for undefined names.
#include "ir/library/meanings.h"
#include "ir/text/expressions.h"
#include "ir/text/parser.h"
#include "ir/text/python_words.h"
#include "src/support/words.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

namespace ingot {

namespace {

constexpr const char* kStandAlone = "; functions stand alone, as in relu(x)";

} // namespace

Expressions::Parsed Expressions::parse_name() {
  Token token = advance();
  llvm::StringRef name = token.spelling;
  Expression result{{None{}, token.location}, {}, token.begin, {}};
  auto& value = result.argument.value;
  if (poisoned_names_.contains(name)) return poisoned(token.begin);
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
    found->second.is_used = true;
    result.name = name;
  } else if (llvm::is_contained(graph_.dim_names(), name)) {
    value = Dim::named(name);
  } else if (name == "True" || name == "False") { // Python's spelling
    value = name == "True";
  } else if (name == "None") {
    value = None{};
  } else {
    return undefined(token);
  }
  return result;
}

/// A hint for an undefined name.
std::string Expressions::hint_for(llvm::StringRef name) const {
  if (is_foreign_module(name)) return kStandAlone;
  std::string hint = hint_by_meaning(name);
  if (!hint.empty()) return hint;
  std::vector<llvm::StringRef> names(graph_.dim_names().begin(), graph_.dim_names().end());
  for (const auto& entry : scope_) names.push_back(entry.getKey());
  llvm::sort(names);
  const auto nearest = nearest_word(name, names);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

Expressions::Parsed Expressions::undefined(const Token& token) {
  llvm::StringRef name = token.spelling;
  if (!is_identifier(name)) {
    error(token.begin, "expected an expression, got '{}'", name);
    return std::nullopt;
  }
  const bool is_module = is(TokenKind::dot) && is_foreign_module(name);
  if (is_module && ahead().kind == TokenKind::identifier) return parse_qualified(token);
  if (const LibraryFunction* function = find_function(name)) {
    if (is_argument_of(token)) {
      error(token.begin, "'{0}' is a function; write {0}({1})", name, this->token().spelling);
      return std::nullopt;
    }
    error(token.begin, "'{}' is a function; call it, as in {}", name, function->signature());
  } else if (is_foreign_type(name)) {
    error(token.begin, "'{}' is no element type: expected f32, f16, bf16, i32, i64 or bool{}", name,
          hint_by_type(name));
  } else {
    error(token.begin, "'{}' is not defined{}", name, hint_for(name));
  }
  poison(name);
  return poisoned(token.begin);
}

/// Whether the current token is an operand behind a function's name on the same line: `relu x`.
bool Expressions::is_argument_of(const Token& function) const {
  if (token().location.line != function.location.line) return false;
  if (is(TokenKind::integer) || is(TokenKind::real)) return true;
  return is(TokenKind::identifier) && is_identifier(token().spelling) &&
         hint_of_python(token().spelling).empty();
}

/// Parses the part after a module's name: `torch.nn.functional.relu(x)`, `torch.float32`.
Expressions::Parsed Expressions::parse_qualified(const Token& module) {
  llvm::StringRef name;
  while (is(TokenKind::dot) && ahead().kind == TokenKind::identifier) {
    advance();
    name = token().spelling;
    if (ahead().kind != TokenKind::left_paren) {
      advance();
      continue;
    }
    const llvm::StringRef written(module.begin, name.end() - module.begin);
    // The call itself reports an unknown function.
    if (is_function(name))
      error(module.begin, "'{}': functions stand alone; write {}(...)", written, name);
    Parsed result = parse_call();
    if (result) result->begin = module.begin;
    return result;
  }
  const bool is_word = parse_dtype(name) || name == "inf" || name == "nan";
  std::string hint = is_word ? fmt::format("; write {}", name) : hint_by_type(name);
  if (hint.empty()) hint = hint_by_meaning(name);
  if (const LibraryFunction* function = find_function(name); function && hint.empty())
    hint = fmt::format("; functions stand alone: {}", function->signature());
  if (hint.empty()) hint = kStandAlone;
  error(module.begin, "'{}' is not defined{}", read_since(module.begin), hint);
  return poisoned(module.begin);
}

} // namespace ingot
