// SPDX-License-Identifier: Apache-2.0
// Expressions of a graph spec: calls, infix operators, literals, lists. Their ops are appended to
// the graph as they are read. The parser of graphs is built on it.
#pragma once

#include "ir/library.h"
#include "ir/text/cursor.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace ingot {

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

/// Every parsing function gives false or nullopt after a mistake, which the cursor then holds.
class Expressions : public Cursor {
public:
  using Cursor::Cursor;
  using Parsed = std::optional<Expression>;

  /// An expression of operators that bind at least as tightly as `precedence`.
  Parsed parse_expression(int precedence = 1);
  /// The expression as one value of the graph.
  std::optional<ValueId> value_of(const Expression& expression);
  /// Refuses a call with several results.
  bool single(const Expression& expression);

  Graph& graph() { return graph_; }
  llvm::StringMap<Binding>& scope() { return scope_; }

private:
  struct InfixOperator {
    TokenKind kind;
    int precedence;
    llvm::StringRef function;
  };

  std::optional<InfixOperator> infix_operator() const;
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

  Graph graph_;
  llvm::StringMap<Binding> scope_;
  int depth_ = 0;
};

} // namespace ingot
