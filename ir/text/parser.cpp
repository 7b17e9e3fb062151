// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the tokens. Ops are appended while they are read, so there is no syntax
// tree. A syntax mistake ends a statement or an input, and the next one is read.
#include "ir/text/parser.h"

#include "ir/library/meanings.h"
#include "ir/text/literals.h"
#include "ir/text/statements.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

namespace ingot {

namespace {

/// Parses the graph's header and inputs.
class Parser : private Statements {
public:
  using Statements::Statements;
  llvm::Expected<Graph> parse();
  /// Warnings about the graph that parse() returned.
  using Statements::warnings;

private:
  void parse_file();
  bool find_body();
  bool parse_inputs();
  bool parse_input();
  bool refuse_type();
  bool recover_input(const char* begin);
  bool add_input(const Token& name, Type type, InputAttributes::Role role, const char* type_begin);
  bool parse_shape(Shape& shape);
  bool parse_extent(Dim& dim);
  bool parse_product(LibraryArgument& product);
  void warn_of_unused();
};

llvm::Expected<Graph> Parser::parse() {
  parse_file();
  if (failed()) return take_mistakes();
  warn_of_unused();
  return std::move(graph());
}

void Parser::parse_file() {
  if (!is_word("graph")) {
    const bool is_function = is_word("def") && ahead().kind == TokenKind::identifier;
    return (void)unexpected(
        "'graph'", is_function ? fmt::format("; write graph {}(x: f32[m, 8]) {{ return relu(x) }}",
                                             ahead().spelling)
                               : "");
  }
  advance();
  Token name;
  if (!expect_name("the graph's name", name)) return;
  graph() = Graph(name.spelling.str());
  if (!parse_inputs()) return;
  if (!find_body()) return;
  Token open = advance();
  if (!parse_body(open)) return;
  if (is_word("graph")) {
    error(token().begin, "a second graph; a file holds one");
    note(name.begin, "the first is here");
  } else if (!is(TokenKind::end)) {
    unexpected("the end of the file");
  } else if (!failed()) {
    if (auto error = verify(graph())) report(name.begin, std::move(error));
  }
}

/// Moves to the brace that opens the body, but not to that of another graph.
bool Parser::find_body() {
  if (is(TokenKind::left_brace)) return true;
  unexpected("'{'", is(TokenKind::colon) ? "; the body of a graph stands in braces" : "");
  while (!is(TokenKind::left_brace) && !is(TokenKind::end) && !is_word("graph")) advance();
  return is(TokenKind::left_brace);
}

bool Parser::parse_inputs() {
  Token open = token();
  if (!expect(TokenKind::left_paren, "'('")) return false;
  while (!is(TokenKind::right_paren)) {
    const char* begin = token().begin;
    if (parse_input()) {
      if (accept(TokenKind::comma)) continue;
      if (is(TokenKind::right_paren)) break;
      expect_close(TokenKind::right_paren, open);
    }
    if (stopped() || !recover_input(begin)) return false;
    if (is(TokenKind::left_brace)) return true;
  }
  advance();
  return true;
}

/// Moves to the next input, to the end of the inputs or to the brace behind them. Skipped names may
/// have been meant as inputs and dimensions, so they are poisoned.
bool Parser::recover_input(const char* begin) {
  auto starts_input = [&] {
    if (token().begin == begin || !is(TokenKind::identifier)) return false;
    return ahead().kind == TokenKind::colon ||
           (is_word("param") && ahead().kind == TokenKind::identifier);
  };
  while (!starts_input() && !is(TokenKind::left_brace)) {
    if (is(TokenKind::right_paren) && ahead().kind == TokenKind::left_brace) break;
    if (is(TokenKind::end) || is(TokenKind::right_brace) || is_word("return")) return false;
    advance();
  }
  Lexer skipped({begin, static_cast<size_t>(token().begin - begin)});
  for (Token word = skipped.next(); word.kind != TokenKind::end; word = skipped.next())
    if (word.kind == TokenKind::identifier) poison(word.spelling);
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
  if (!dtype) return refuse_type();
  type.dtype = *dtype;
  const char* type_begin = advance().begin;
  return parse_shape(type.shape) && add_input(name, std::move(type), role, type_begin);
}

/// Reports `float32`, `torch.float32`, or a token that is no name.
bool Parser::refuse_type() {
  constexpr llvm::StringLiteral kExpected = "an element type: f32, f16, bf16, i32, i64 or bool";
  if (!is(TokenKind::identifier)) return unexpected(kExpected);
  const char* begin = token().begin;
  while (ahead().kind == TokenKind::dot) {
    advance();
    advance();
    if (!is(TokenKind::identifier)) return unexpected(kExpected);
  }
  const llvm::StringRef name = advance().spelling;
  return error(begin, "expected {}, got '{}'{}", kExpected, read_since(begin),
               parse_dtype(name) ? fmt::format("; write {}", name) : hint_by_type(name));
}

bool Parser::add_input(const Token& name, Type type, InputAttributes::Role role,
                       const char* type_begin) {
  for (const Dim& dim : type.shape)
    for (const std::string& dim_name : dim.names())
      if (auto found = scope().find(dim_name); found != scope().end()) {
        error(type_begin, "dimension '{}' has the name of an input", dim_name);
        note(found->second.declared, "the input is declared here");
        return false;
      }
  if (auto found = scope().find(name.spelling); found != scope().end()) {
    error(name.begin, "two inputs are named '{}'; give each a name of its own", name.spelling);
    note(found->second.declared, "the first is declared here");
    return false;
  }
  if (!declare(name, {None{}})) return false;
  if (graph().ops().size() >= kMaxOps)
    return stop(name.begin, "more than {} inputs and operations in one graph", kMaxOps);
  auto value = graph().add_input(name.spelling, std::move(type), role, name.location);
  if (value) {
    take_name(name.spelling);
    scope().find(name.spelling)->second.argument = {*value};
    return true;
  }
  scope().erase(name.spelling);
  report(type_begin, value.takeError());
  return graph().dim_names().size() == kMaxDimNames ? stop() : false;
}

bool Parser::parse_shape(Shape& shape) {
  Token open = token();
  if (!expect(TokenKind::left_bracket, "'[' and the extents, or '[]' for a scalar")) return false;
  while (!is(TokenKind::right_bracket)) {
    Dim dim;
    if (!parse_extent(dim)) return false;
    if (static_cast<int64_t>(shape.size()) == kMaxRank)
      return stop(open.begin, "more than {} dimensions", kMaxRank);
    shape.push_back(dim);
    if (!accept(TokenKind::comma)) break;
  }
  return expect_close(TokenKind::right_bracket, open);
}

/// Parses `2*m + n - 1`.
bool Parser::parse_extent(Dim& dim) {
  const char* at = token().begin;
  if (is(TokenKind::minus))
    return error(at, "negative extent; expected a positive number or a name");
  LibraryArgument sum{int64_t{0}};
  TokenKind sign = TokenKind::plus;
  do {
    LibraryArgument product{int64_t{1}};
    if (!parse_product(product)) return false;
    auto folded = fold(sign, sum, product);
    if (!folded) return report(at, folded.takeError());
    sum = *folded;
    sign = token().kind;
  } while (accept(TokenKind::plus) || accept(TokenKind::minus));
  auto* number = std::get_if<int64_t>(&sum.value);
  if (number && *number < 1) return error(at, "extent {}, expected at least 1", *number);
  dim = number ? Dim(*number) : std::get<Dim>(sum.value);
  return true;
}

bool Parser::parse_product(LibraryArgument& product) {
  do {
    const char* at = token().begin;
    LibraryArgument factor;
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
  return true;
}

void add_names(const Shape& shape, llvm::StringSet<>& names) {
  for (const Dim& dim : shape)
    for (const std::string& name : dim.names()) names.insert(name);
}

/// The names in types of needed values and in shapes whose elements are counted.
llvm::StringSet<> needed_dims(const Graph& graph, const std::vector<bool>& is_needed) {
  llvm::StringSet<> names;
  for (uint32_t i = 0; i < is_needed.size(); ++i) {
    if (!is_needed[i]) continue;
    add_names(graph.type({i}).shape, names);
    const Op& op = graph.producer({i});
    if (op.kind == OpKind::extent) add_names(graph.attributes<ExtentAttributes>(op).shape, names);
  }
  return names;
}

/// For each value of the graph, whether a result needs it. An input is needed too if a named
/// dimension of a needed value gets its size only from it.
std::vector<bool> needed_values(const Graph& graph) {
  std::vector<bool> is_needed(graph.values().size());
  for (const GraphOutput& output : graph.outputs()) is_needed[output.value.index] = true;
  for (const Op& op : llvm::reverse(graph.ops())) {
    if (llvm::none_of(op.results, [&](ValueId result) { return is_needed[result.index]; }))
      continue;
    for (ValueId operand : op.operands) is_needed[operand.index] = true;
  }
  for (const auto& dim : needed_dims(graph, is_needed)) {
    llvm::SmallVector<ValueId, 2> givers;
    for (ValueId input : graph.inputs())
      if (llvm::is_contained(graph.type(input).shape, Dim::named(dim.getKey())))
        givers.push_back(input);
    if (llvm::none_of(givers, [&](ValueId giver) { return is_needed[giver.index]; }))
      is_needed[givers.front().index] = true;
  }
  return is_needed;
}

void Parser::warn_of_unused() {
  const std::vector<bool> is_needed = needed_values(graph());
  auto check = [&](llvm::StringRef name, const Binding& binding) {
    auto* value = std::get_if<ValueId>(&binding.argument.value);
    const Op* op = value ? &graph().producer(*value) : nullptr;
    const auto* input = op ? std::get_if<InputAttributes>(&op->attributes) : nullptr;
    if (input && input->name != name) input = nullptr; // a second name of an input
    if (name.starts_with("_") ||
        ((input || binding.is_used) && (!value || is_needed[value->index])))
      return;
    const char* what = !input                                        ? "value"
                       : input->role == InputAttributes::Role::param ? "param"
                                                                     : "input";
    warn(binding.declared,
         fmt::format("no result needs the {} '{}'; remove it, or let its name begin with '_'", what,
                     name.str()));
  };
  for (const auto& [name, binding] : scope()) check(name, binding);
  for (const auto& [name, binding] : shadowed()) check(name, binding);
}

} // namespace

llvm::Expected<Graph> parse_graph(llvm::StringRef text, llvm::StringRef file_name,
                                  std::vector<std::string>* warnings) {
  if (text.size() > kMaxSpecBytes)
    return make_error(ErrorCode::parse_error,
                      "{}: error: the file has {} bytes; a graph spec has at most {} (16 MiB)",
                      file_name, text.size(), kMaxSpecBytes);
  text.consume_front("\xEF\xBB\xBF"); // the byte order mark of some editors
  SourceText source(text, file_name);
  size_t bad_byte = 0;
  if (!llvm::json::isUTF8(source.text(), &bad_byte)) {
    const char* at = source.text().data() + bad_byte;
    return llvm::make_error<IngotError>(
        ErrorCode::parse_error, source.diagnostic(at, llvm::SourceMgr::DK_Error,
                                                  fmt::format("byte 0x{:02x} is not UTF-8",
                                                              static_cast<unsigned char>(*at))));
  }
  Parser parser(source);
  auto graph = parser.parse();
  if (!graph) return graph;
  if (warnings) *warnings = parser.warnings();
  graph->set_spec(std::make_shared<const Spec>(Spec{source.text().str(), file_name.str()}));
  return graph;
}

} // namespace ingot
