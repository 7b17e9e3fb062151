// SPDX-License-Identifier: Apache-2.0
// Parses the statements of a graph spec. It keeps their names and warnings for the Parser, which
// derives from it.
#pragma once

#include "ir/text/expressions.h"

#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ingot {

class Statements : public Expressions {
public:
  using Expressions::Expressions;

  /// Parses up to the closing brace. Returns false if the following text cannot be read.
  bool parse_body(const Token& open);
  /// From here on the name has this meaning, whatever it was before.
  bool declare(const Token& name, LibraryArgument argument);
  /// The name for a value of the graph. If another value has it, a number is appended.
  std::string take_name(llvm::StringRef name);
  /// Names that got another meaning, with their former one.
  llvm::ArrayRef<std::pair<std::string, Binding>> shadowed() const { return shadowed_; }
  void warn(const char* at, std::string message) { warnings_.emplace_back(at, std::move(message)); }
  /// The warnings as diagnostics in the order of the text, up to a limit.
  std::vector<std::string> warnings();

private:
  bool parse_statement();
  void skip();
  Lexer lexer_from(const char* begin) const;
  bool opens_block();
  bool return_follows() const;
  bool ends_body() const;
  bool starts_statement(const Token& first) const;
  llvm::StringRef python_hint() const;
  bool refuse_python(llvm::StringRef hint);
  bool is_update(const Token& op) const;
  bool refuse_update(const Token& name);
  bool parse_assignment();
  bool parse_names(llvm::SmallVectorImpl<Token>& names);
  bool parse_values(llvm::SmallVectorImpl<Expression>& values);
  void define(llvm::ArrayRef<Token> names, const Expression& right);
  void bind(const Token& name, const LibraryArgument& argument);
  bool refuse_dictionary();
  bool parse_return();
  std::string output_name(const Expression& expression, size_t index, bool is_only);
  void check_comments(const Token& first, bool was_read);

  std::vector<std::pair<std::string, Binding>> shadowed_;
  std::optional<std::unordered_set<const char*>> blocks_;     // see opens_block
  llvm::StringMap<uint32_t> taken_names_;                     // and how often each was requested
  std::vector<std::pair<const char*, std::string>> warnings_; // place and message
};

} // namespace ingot
