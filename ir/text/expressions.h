// SPDX-License-Identifier: Apache-2.0
// Expressions of a graph spec: calls, operators, literals, lists, indices. They append their ops to
// the graph while they are read. The parser of graphs builds on this class.
#pragma once

#include "ir/library.h"
#include "ir/text/cursor.h"
#include "ir/text/indexing.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace ingot {

/// The meaning of an expression: an argument, or the results of a call with several results.
struct Expression {
  LibraryArgument argument;
  llvm::SmallVector<ValueId, 2> results; ///< empty: `argument` is the value
  const char* begin = nullptr;
  llvm::StringRef name;     ///< set if the expression is only a name; with results, the function
  bool is_poisoned = false; ///< it contains a reported mistake and fits anywhere
};

/// A name in scope.
struct Binding {
  LibraryArgument argument;
  const char* declared;
  const char* first_declared; ///< the place of the name's first definition
  bool is_used = false;
};

/// Parsing functions return false or nullopt after a syntax mistake, which the cursor then holds.
/// Other mistakes poison the expression, so that the rest of the statement is still read.
class Expressions : public Cursor {
public:
  using Cursor::Cursor;
  using Parsed = std::optional<Expression>;

  /// An expression of operators whose precedence is at least `precedence`.
  Parsed parse_expression(int precedence = 1);
  /// Reports a mistake if the expression is a call with several results.
  void make_single(Expression& expression);
  /// The expression as one value of the graph; nullopt after a mistake.
  std::optional<ValueId> value_of(Expression expression);

  Graph& graph() { return graph_; }
  llvm::StringMap<Binding>& scope() { return scope_; }
  /// Makes the name fit anywhere, so that its uses cause no further mistakes.
  void poison(llvm::StringRef name) { poisoned_names_.insert(name); }
  bool is_poisoned(llvm::StringRef name) const { return poisoned_names_.contains(name); }
  /// Ends the poisoning of a name that has a definition after all.
  void heal(llvm::StringRef name) { poisoned_names_.erase(name); }

private:
  /// The operator at the current token, `and` and `or` included; null if there is none.
  const InfixOperator* infix_operator() const;
  Parsed parse_operand(int precedence);
  Parsed parse_prefix(const Token& op, llvm::StringRef function, int precedence);
  Parsed parse_infix(const InfixOperator& op, const Token& token, Expression left);
  void refuse_chain(const Token& op, const char* begin, llvm::StringRef middle);
  Parsed parse_postfix();
  Parsed parse_primary();
  Parsed parse_number_token();
  Parsed parse_name();
  Parsed undefined(const Token& name);
  bool is_argument_of(const Token& function) const;
  Parsed parse_qualified(const Token& module);
  std::string hint_for(llvm::StringRef name) const;
  Parsed parse_parentheses();
  Parsed parse_list();
  bool parse_list_items(TokenKind close, Expression& list);
  Parsed parse_call(const Expression* receiver = nullptr);
  bool parse_call_argument(llvm::StringRef function, std::vector<CallArgument>& arguments,
                           bool& is_poisoned);
  bool lacks_quotes(llvm::StringRef function, const CallArgument& argument, size_t position) const;
  Parsed parse_attribute(Expression of);
  Parsed parse_index(Expression of);
  Parsed one_of(const Expression& of, llvm::ArrayRef<IndexItem> items, const Token& open);
  bool parse_index_item(IndexItem& item, bool& is_poisoned);
  bool parse_bound(LibraryArgument& bound, bool& is_poisoned);
  /// A call whose mistakes are reported at `at`, in an expression that starts at `begin`.
  Parsed call(llvm::StringRef function, const Token& at, llvm::ArrayRef<CallArgument> arguments,
              const char* begin);
  /// The parsed form of a call's results.
  Parsed given(llvm::Expected<llvm::SmallVector<ValueId, 2>> results, const Token& at,
               const char* begin);
  Parsed poisoned(const char* begin) const;

  Graph graph_;
  llvm::StringMap<Binding> scope_;
  llvm::StringSet<> poisoned_names_;
  int depth_ = 0;
};

} // namespace ingot
