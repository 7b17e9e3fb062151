// SPDX-License-Identifier: Apache-2.0
// Graphs of the public API: parsed specs, and the builder. See include/ingot/ingot.h.
#include "src/api/internal.h"

#include "ir/library.h"
#include "ir/text/indexing.h"
#include "ir/text/lexer.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "src/support/files.h"
#include "src/version.h"

namespace ingot {

const char* version() { return kVersion; }

const Status& Status::success() {
  static const Status success;
  return success;
}

Status to_status(llvm::Error error) {
  if (!error) return {};
  auto [code, text] = take_error(std::move(error));
  return {static_cast<StatusCode>(code), std::move(text)};
}

static_assert(same_number(StatusCode::invalid_argument, ErrorCode::invalid_argument));
static_assert(same_number(StatusCode::parse_error, ErrorCode::parse_error));
static_assert(same_number(StatusCode::type_error, ErrorCode::type_error));
static_assert(same_number(StatusCode::unsupported, ErrorCode::unsupported));
static_assert(same_number(StatusCode::unavailable, ErrorCode::unavailable));
static_assert(same_number(StatusCode::io_error, ErrorCode::io_error));
static_assert(same_number(StatusCode::compile_error, ErrorCode::compile_error));
static_assert(same_number(StatusCode::launch_error, ErrorCode::launch_error));
static_assert(same_number(StatusCode::internal, ErrorCode::internal));
static_assert(same_number(StatusCode::not_prepared, ErrorCode::not_prepared));
static_assert(same_number(StatusCode::out_of_memory, ErrorCode::out_of_memory));
static_assert(same_number(ElementType::f32, DType::f32));
static_assert(same_number(ElementType::f16, DType::f16));
static_assert(same_number(ElementType::bf16, DType::bf16));
static_assert(same_number(ElementType::i32, DType::i32));
static_assert(same_number(ElementType::i64, DType::i64));
static_assert(same_number(ElementType::boolean, DType::boolean));

llvm::Expected<DType> to_dtype(ElementType type) {
  if (type <= ElementType::boolean) return static_cast<DType>(type);
  return make_error(ErrorCode::invalid_argument,
                    "{} is no ElementType; expected f32, f16, bf16, i32, i64 or boolean",
                    static_cast<int>(type));
}

ElementType to_element_type(DType dtype) { return static_cast<ElementType>(dtype); }

// ---- Specs --------------------------------------------------------------------------------------

TensorSpec to_spec(const std::string& name, const Type& type) {
  TensorSpec spec{name, to_element_type(type.dtype), {}};
  for (const Dim& dim : type.shape)
    spec.shape.push_back(dim.is_fixed() ? Extent(dim.fixed()) : Extent(dim.text()));
  return spec;
}

GraphSpec::State::State(Graph the_graph, std::vector<std::string> the_warnings)
    : graph(std::move(the_graph)), warnings(std::move(the_warnings)) {
  for (ValueId id : graph.inputs()) {
    const auto& input = graph.attributes<InputAttributes>(graph.producer(id));
    auto& list = input.role == InputAttributes::Role::param ? params : inputs;
    list.push_back(to_spec(input.name, input.type));
  }
  for (const GraphOutput& output : graph.outputs())
    outputs.push_back(to_spec(output.name, graph.type(output.value)));
}

std::string GraphSpec::text() const { return print_graph(state_->graph); }
const std::string& GraphSpec::name() const { return state_->graph.name(); }
const std::vector<TensorSpec>& GraphSpec::inputs() const { return state_->inputs; }
const std::vector<TensorSpec>& GraphSpec::params() const { return state_->params; }
const std::vector<TensorSpec>& GraphSpec::outputs() const { return state_->outputs; }
const std::vector<std::string>& GraphSpec::warnings() const { return state_->warnings; }

Result<GraphSpec> parse(std::string_view text, std::string_view file_name) {
  return guarded([&]() -> llvm::Expected<GraphSpec> {
    std::vector<std::string> warnings;
    auto graph = parse_graph(text, file_name, &warnings);
    if (!graph) return graph.takeError();
    return GraphSpec(std::make_shared<GraphSpec::State>(std::move(*graph), std::move(warnings)));
  });
}

Result<GraphSpec> parse_file(const std::string& path) {
  return guarded([&]() -> Result<GraphSpec> {
    auto text = read_file(path, kMaxSpecBytes);
    if (!text) return to_status(text.takeError());
    return parse(*text, path);
  });
}

// ---- Builder ------------------------------------------------------------------------------------

struct GraphBuilder::State {
  explicit State(const std::string& name) : graph(name) {}
  Graph graph;
  Status status;               ///< the first error
  bool is_error_final = false; ///< the error is in the graph's name

  void fail(Status error) {
    if (status.ok()) status = std::move(error);
  }
  void fail(llvm::Error error) { fail(to_status(std::move(error))); }

  /// Appends to the graph. If the action returns an error, the graph does not change.
  void append(llvm::function_ref<llvm::Error()> action) {
    if (!status.ok()) return;
    const Graph::Mark before = graph.mark();
    fail(guarded(action));
    if (!status.ok()) graph.rewind(before);
  }
  /// Appends one value. Returns a value of no graph after an error.
  Var append_value(GraphBuilder* builder, llvm::function_ref<llvm::Expected<ValueId>()> action) {
    Var result(builder, UINT32_MAX);
    append([&]() -> llvm::Error {
      auto value = action();
      if (!value) return value.takeError();
      result = Var(builder, value->index);
      return llvm::Error::success();
    });
    return result;
  }
  Var add_input(GraphBuilder* builder, const std::string& name, const Extents& extents,
                ElementType type, InputAttributes::Role role);
};

namespace {

/// Reads a number, or a product of names and positive numbers such as `2*m`.
std::optional<Dim> to_product(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 4> factors;
  text.split(factors, '*');
  std::optional<Dim> dim = Dim(1);
  for (llvm::StringRef factor : factors) {
    factor = factor.trim(' ');
    int64_t number = 0;
    const bool is_number = !factor.getAsInteger(10, number);
    const bool is_name = factor.size() <= kMaxWord && is_identifier(factor);
    if (is_number ? number < 1 : !is_name) return std::nullopt;
    dim = checked_multiply(*dim, is_number ? Dim(number) : Dim::named(factor));
    if (!dim) return std::nullopt;
  }
  return dim;
}

/// Reads `2*m + n - 1`.
std::optional<Dim> to_dim(const Extent& extent) {
  if (!extent.is_named()) return Dim(extent.value());
  std::optional<Dim> sum = Dim(0);
  llvm::StringRef text = extent.name();
  for (char sign = '+'; sum;) {
    const size_t end = text.find_first_of("+-");
    const auto product = to_product(text.take_front(end));
    if (!product) return std::nullopt;
    sum = sign == '+' ? checked_add(*sum, *product) : checked_subtract(*sum, *product);
    if (end == llvm::StringRef::npos) break;
    sign = text[end];
    text = text.drop_front(end + 1);
  }
  return sum;
}

llvm::Expected<Shape> to_shape(const std::string& tensor, const Extents& extents) {
  Shape shape;
  for (const Extent& extent : extents) {
    const auto dim = to_dim(extent);
    if (!dim || (!extent.is_named() && extent.value() < 1))
      return make_error(ErrorCode::invalid_argument,
                        "tensor '{}': expected extents of at least 1, names, or their products and "
                        "sums such as '2*m + 1', got '{}'",
                        tensor, extent.is_named() ? extent.name() : std::to_string(extent.value()));
    shape.push_back(*dim);
  }
  return shape;
}

} // namespace

GraphBuilder::GraphBuilder(std::string name) : state_(std::make_unique<State>(name)) {
  if (!is_identifier(name))
    state_->fail(make_error(ErrorCode::invalid_argument,
                            "graph '{}': expected a name of letters, digits and _ that is no word "
                            "of the language",
                            name));
  state_->is_error_final = !state_->status.ok();
}

GraphBuilder::~GraphBuilder() = default;

Var GraphBuilder::State::add_input(GraphBuilder* builder, const std::string& name,
                                   const Extents& extents, ElementType type,
                                   InputAttributes::Role role) {
  return append_value(builder, [&]() -> llvm::Expected<ValueId> {
    auto shape = to_shape(name, extents);
    if (!shape) return shape.takeError();
    auto dtype = to_dtype(type);
    if (!dtype) return dtype.takeError();
    return graph.add_input(name, Type{*dtype, std::move(*shape)}, role);
  });
}

Var GraphBuilder::input(const std::string& name, ElementType type, const Extents& shape) {
  return state_->add_input(this, name, shape, type, InputAttributes::Role::input);
}

Var GraphBuilder::param(const std::string& name, ElementType type, const Extents& shape) {
  return state_->add_input(this, name, shape, type, InputAttributes::Role::param);
}

Var GraphBuilder::constant(ElementType type, double value) {
  return state_->append_value(this, [&]() -> llvm::Expected<ValueId> {
    auto dtype = to_dtype(type);
    if (!dtype) return dtype.takeError();
    return state_->graph.add_constant(*dtype, value);
  });
}

/// Converts arguments for the operator library. Keeps the first argument that fits no graph as the
/// problem.
struct GraphBuilder::ArgumentReader {
  const GraphBuilder* builder;
  std::string problem;
  int depth = 0; ///< nesting depth of the current list

  LibraryArgument read(const Arg& argument) {
    LibraryArgument result{None{}};
    std::visit([&](const auto& value) { store(value, result); }, argument.value);
    return result;
  }

  void fail(std::string text) {
    if (problem.empty()) problem = std::move(text);
  }

  static std::string problem_of(const Var& value, const char* what) {
    if (!value.lost_at_) return fmt::format("{} belongs to no or another graph", what);
    return fmt::format(
        "{} belongs to no graph: it was made by '{}' of a value that no builder gave", what,
        value.lost_at_);
  }

  void store(Arg::Absent, LibraryArgument&) {}
  void store(const Var& value, LibraryArgument& result) {
    if (value.builder_ == builder && value.id_ != UINT32_MAX)
      result.value = ValueId{value.id_};
    else
      fail(problem_of(value, "an operand"));
  }
  void store(ElementType value, LibraryArgument& result) {
    auto dtype = to_dtype(value);
    if (dtype)
      result.value = *dtype;
    else
      fail(take_error(dtype.takeError()).second);
  }
  void store(const Extent& value, LibraryArgument& result) {
    const auto dim = to_dim(value);
    if (!dim)
      fail(fmt::format("expected an extent such as 4, m or 2*m + 1, got '{}'", value.name()));
    else if (dim->is_fixed())
      result.value = dim->fixed();
    else
      result.value = *dim;
  }
  void store(const Arg::List& list, LibraryArgument& result) {
    if (depth == kMostNestedArguments)
      return fail(fmt::format("expected lists nested at most {} deep", kMostNestedArguments));
    ++depth;
    ArgumentList values;
    for (const Arg& argument : list) values.push_back(read(argument));
    --depth;
    result.value = std::move(values);
  }
  template <typename T> void store(const T& value, LibraryArgument& result) {
    result.value = value;
  }
};

Var GraphBuilder::call(const std::string& name, const std::vector<Arg>& arguments,
                       const std::vector<NamedArg>& named) {
  std::vector<Var> results = call_all(name, arguments, named);
  return results.empty() ? Var(this, UINT32_MAX) : results.front();
}

std::vector<Var> GraphBuilder::call_all(const std::string& name, const std::vector<Arg>& arguments,
                                        const std::vector<NamedArg>& named) {
  std::vector<Var> results;
  state_->append([&]() -> llvm::Error {
    ArgumentReader reader{this, {}};
    std::vector<CallArgument> list;
    list.reserve(arguments.size() + named.size());
    for (const Arg& argument : arguments) list.push_back({"", reader.read(argument)});
    for (const NamedArg& argument : named) {
      LibraryArgument value = reader.read(argument.value);
      if (!std::holds_alternative<None>(value.value))
        list.push_back({argument.name, std::move(value)});
    }
    if (!reader.problem.empty())
      return make_error(ErrorCode::invalid_argument, "{}: {}", name, reader.problem);
    auto values = ingot::call(state_->graph, name, list);
    if (!values) return values.takeError();
    results.reserve(values->size());
    for (ValueId value : *values) results.push_back({this, value.index});
    return llvm::Error::success();
  });
  return results;
}

namespace {

/// One item of an index, for the text language. Errors: a list that is no range.
llvm::Expected<IndexItem> to_index_item(LibraryArgument argument) {
  IndexItem item;
  auto* text = std::get_if<std::string>(&argument.value);
  if (auto* range = std::get_if<ArgumentList>(&argument.value)) {
    if (range->size() > 3)
      return make_error(ErrorCode::invalid_argument,
                        "index: expected a range of start, stop and step, got a list of {}",
                        range->size());
    range->resize(3, LibraryArgument{None{}});
    item.start = std::move((*range)[0]);
    item.stop = std::move((*range)[1]);
    item.step = std::move((*range)[2]);
    return item;
  }
  if (std::holds_alternative<None>(argument.value))
    item.kind = IndexItem::Kind::new_axis;
  else if (text && *text == "...")
    item.kind = IndexItem::Kind::ellipsis;
  else
    item.kind = IndexItem::Kind::position;
  item.start = std::move(argument);
  return item;
}

} // namespace

Var GraphBuilder::index(Var x, const std::vector<Arg>& items) {
  return state_->append_value(this, [&]() -> llvm::Expected<ValueId> {
    ArgumentReader reader{this, {}};
    const LibraryArgument of = reader.read(x);
    std::vector<IndexItem> list;
    for (const Arg& argument : items) {
      auto item = to_index_item(reader.read(argument));
      if (!item) return item.takeError();
      list.push_back(std::move(*item));
    }
    if (!reader.problem.empty())
      return make_error(ErrorCode::invalid_argument, "index: {}", reader.problem);
    Builder builder(state_->graph);
    const Term value = ingot::index(builder, builder.term(std::get<ValueId>(of.value)), list);
    if (builder.failed()) return builder.take_error();
    return value.id();
  });
}

void GraphBuilder::output(const std::string& name, Var value) {
  state_->append([&]() -> llvm::Error {
    if (value.builder_ != this || value.id_ == UINT32_MAX)
      return make_error(ErrorCode::invalid_argument, "output '{}': {}", name,
                        ArgumentReader::problem_of(value, "the value"));
    return state_->graph.add_output(name, ValueId{value.id_});
  });
}

std::string GraphBuilder::type_of(Var value) const {
  if (value.builder_ != this || value.id_ == UINT32_MAX) return "";
  return state_->graph.type(ValueId{value.id_}).text();
}

Result<TensorSpec> GraphBuilder::describe(Var value) const {
  return guarded([&]() -> Result<TensorSpec> {
    if (!state_->status.ok()) return state_->status;
    if (value.builder_ != this || value.id_ == UINT32_MAX)
      return Status(StatusCode::invalid_argument,
                    "expected a value of graph '" + state_->graph.name() + "', got one of another");
    return to_spec("", state_->graph.type(ValueId{value.id_}));
  });
}

const Status& GraphBuilder::status() const { return state_->status; }

void GraphBuilder::forget_error() {
  if (!state_->is_error_final) state_->status = Status();
}

Result<GraphSpec> GraphBuilder::finish() const {
  return guarded([&]() -> Result<GraphSpec> {
    if (!state_->status.ok()) return state_->status;
    if (state_->graph.outputs().empty())
      return to_status(make_error(ErrorCode::invalid_argument,
                                  "graph '{}' has no output: declare one with output()",
                                  state_->graph.name()));
    if (auto error = verify(state_->graph)) return to_status(std::move(error));
    return GraphSpec(std::make_shared<GraphSpec::State>(state_->graph));
  });
}

} // namespace ingot
