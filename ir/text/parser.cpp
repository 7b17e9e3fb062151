// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the tokens; ops are appended as they are read, so there is no syntax tree.
// The first mistake ends the parse.
#include "ir/text/parser.h"

#include "ir/text/expressions.h"
#include "ir/text/literals.h"

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

private:
  bool parse_declaration();
  bool parse_input();
  bool parse_shape(Shape& shape);
  bool parse_extent(Dim& dim);
  bool parse_statement();
  bool parse_assignment();
  bool parse_return();
  bool declare(const Token& name, LibraryArgument argument);
  std::string output_name(const Expression& expression, size_t index, bool is_only);
};

llvm::Expected<Graph> Parser::parse() {
  if (!parse_declaration()) return take_mistake();
  return std::move(graph());
}

bool Parser::parse_declaration() {
  if (!is_word("graph")) return unexpected("'graph'");
  advance();
  Token name;
  if (!expect_name("the graph's name", name)) return false;
  graph() = Graph(name.spelling.str());
  Token open = token();
  if (!expect(TokenKind::left_paren, "'('")) return false;
  if (!is(TokenKind::right_paren)) {
    do {
      if (!parse_input()) return false;
    } while (accept(TokenKind::comma) && !is(TokenKind::right_paren));
  }
  if (!expect_close(TokenKind::right_paren, open)) return false;
  open = token();
  if (!expect(TokenKind::left_brace, "'{'")) return false;
  while (graph().outputs().empty()) {
    if (is(TokenKind::right_brace))
      return error(token().begin, "graph '{}' returns nothing; expected 'return' before '}}'",
                   graph().name());
    if (is(TokenKind::end)) return expect_close(TokenKind::right_brace, open);
    if (!parse_statement()) return false;
  }
  if (!expect_close(TokenKind::right_brace, open)) return false;
  if (is_word("graph")) {
    error(token().begin, "a second graph; a file holds one");
    note(name.begin, "the first is here");
    return false;
  }
  if (!is(TokenKind::end)) return unexpected("the end of the file");
  if (auto error = verify(graph())) return report(name.begin, std::move(error));
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
  if (!parse_shape(type.shape)) return false;
  for (const Dim& dim : type.shape)
    for (const std::string& dim_name : dim.names())
      if (auto found = scope().find(dim_name); found != scope().end()) {
        error(type_begin, "dimension '{}' has the name of an input", dim_name);
        note(found->second.declared, "the input is declared here");
        return false;
      }
  if (!declare(name, {None{}})) return false;
  if (graph().ops().size() >= kMaxOps)
    return error(name.begin, "more than {} inputs and operations in one graph", kMaxOps);
  auto value = graph().add_input(name.spelling, type, role, name.location);
  if (!value) return report(type_begin, value.takeError());
  scope().find(name.spelling)->second.argument = {*value};
  return true;
}

bool Parser::parse_shape(Shape& shape) {
  Token open = token();
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
  if (llvm::is_contained(graph().dim_names(), name.spelling))
    return error(name.begin, "'{}' is already the name of a dimension", name.spelling);
  auto [entry, is_new] =
      scope().try_emplace(name.spelling, Binding{std::move(argument), name.begin});
  if (is_new) return true;
  error(name.begin, "'{}' is already defined; a name is given once", name.spelling);
  note(entry->second.declared, "it is defined here");
  return false;
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
  if (count > 1 && count != names.size()) // only a call gives several
    return error(names[0].begin, "{} gives {} results, got {} name{} for them; give {}",
                 called(right->begin), count, names.size(), names.size() == 1 ? "" : "s", count);
  if (count != names.size())
    return error(names[0].begin, "{} names for 1 result; give one", names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    LibraryArgument argument =
        right->results.empty() ? right->argument : LibraryArgument{right->results[i]};
    if (!declare(names[i], argument)) return false;
    if (auto* value = std::get_if<ValueId>(&argument.value))
      if (graph().value(*value).name.empty()) graph().set_name(*value, names[i].spelling);
  }
  return true;
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
    ValueId value;
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
    if (item.name.empty()) item.name = output_name(item.expression, i, items.size() == 1);
    if (auto failed = graph().add_output(item.name, item.value)) {
      auto [code, text] = take_error(std::move(failed));
      return error(item.expression.begin, "{}: 'return other_name = ...'", text);
    }
  }
  return true;
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
  auto graph = Parser(source).parse();
  if (graph)
    graph->set_spec(std::make_shared<const Spec>(Spec{source.text().str(), file_name.str()}));
  return graph;
}

} // namespace ingot
