// SPDX-License-Identifier: Apache-2.0
// Parses the statements of a graph spec. Keeps their names and warnings for the Parser, which
// derives from it.
#pragma once

#include "ir/text/expressions.h"

#include <string>
#include <utility>
#include <vector>

namespace ingot {

class Statements : public Expressions {
public:
  using Expressions::Expressions;

  /// Up to the closing brace. Gives false where what follows cannot be read.
  bool parse_body(const Token& open);
  /// From here on the name means this, whatever it meant before.
  bool declare(const Token& name, LibraryArgument argument);
  /// The name for a value of the graph, with a number behind it where another one has it.
  std::string take_name(llvm::StringRef name);
  /// Names that got another meaning, with the one they had.
  llvm::ArrayRef<std::pair<std::string, Binding>> shadowed() const { return shadowed_; }
  void warn(const char* at, std::string message) { warnings_.emplace_back(at, std::move(message)); }
  /// As diagnostics, in the order of the text, and not too many.
  std::vector<std::string> warnings();

private:
  bool parse_statement();
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
  llvm::StringMap<uint32_t> taken_names_;                     // and how often each was asked for
  std::vector<std::pair<const char*, std::string>> warnings_; // place and message
};

} // namespace ingot
