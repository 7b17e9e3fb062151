// SPDX-License-Identifier: Apache-2.0
// Errors, graphs and builders of the C interface. See include/ingot/ingot_c.h.
#include "src/api/internal.h"
#include "src/c_api/internal.h"

#include <unordered_map>

using namespace ingot;

struct ingot_error {
  Status status;
};
struct ingot_bytes {
  std::string text;
};

namespace ingot {

static_assert(static_cast<int>(StatusCode::out_of_memory) == INGOT_OUT_OF_MEMORY);
static_assert(static_cast<int>(ElementType::boolean) == INGOT_BOOL);

namespace {

constexpr char kOutOfMemory[] = "out of memory: the process got no more; free some, raise its "
                                "limit, or give less at once";

/// Represents the error "out of memory", which must need no memory itself. It is never
/// dereferenced.
ingot_error* out_of_memory_error() {
  static char place;
  return reinterpret_cast<ingot_error*>(&place);
}

} // namespace

ingot_code report(Status status, ingot_error** error) {
  const StatusCode code = status.code();
  if (code == StatusCode::ok || !error) return static_cast<ingot_code>(code);
  if (code != StatusCode::out_of_memory)
    *error = new (std::nothrow) ingot_error{std::move(status)};
  else
    *error = nullptr;
  if (*error) return static_cast<ingot_code>(code);
  *error = out_of_memory_error();
  return INGOT_OUT_OF_MEMORY;
}

OwnedBytes to_bytes(std::string text) {
  return {new ingot_bytes{std::move(text)}, ingot_bytes_free};
}

Status give_bytes(Result<std::string> text, ingot_bytes** bytes) {
  if (!text.ok()) return text.status();
  *bytes = to_bytes(std::move(*text)).release();
  return {};
}

std::vector<ingot_extent> to_c(const Extents& shape) {
  std::vector<ingot_extent> result;
  for (const Extent& extent : shape)
    result.push_back({extent.is_named() ? -1 : extent.value(),
                      extent.is_named() ? extent.name().c_str() : nullptr});
  return result;
}

namespace {

Status to_extents(const ingot_extent* shape, size_t rank, Extents& result) {
  constexpr size_t most = 64; // above any tensor's rank; the builder reports others
  if (rank > most) return invalid("shape: expected at most {} extents, got {}", most, rank);
  if (!shape && rank > 0) return invalid("shape: expected {} extents, got null", rank);
  for (size_t i = 0; i < rank; ++i)
    result.push_back(shape[i].name ? Extent(shape[i].name) : Extent(shape[i].number));
  return {};
}

Status to_type(int64_t given, ElementType& type) {
  if (given < INGOT_F32 || given > INGOT_BOOL)
    return invalid("{} is no ingot_type; expected INGOT_F32, F16, BF16, I32, I64 or BOOL", given);
  type = static_cast<ElementType>(given);
  return {};
}

/// A builder and its values. C refers to values by their index.
struct CBuilder {
  static constexpr HandleKind kKind = HandleKind::builder;
  explicit CBuilder(const char* name) : builder(name) {}
  GraphBuilder builder;
  std::vector<Var> values;
  /// The description of a value that C received. C keeps pointers into it.
  struct Described {
    TensorSpec spec;
    std::vector<ingot_extent> shape;
  };
  std::unordered_map<uint32_t, Described> described; ///< by the value's id

  /// Reserves room for further values: a value that the graph has must not get lost if memory runs
  /// out.
  void make_room(size_t count) {
    if (values.capacity() - values.size() < count)
      values.reserve(std::max(values.size() + count, 2 * values.capacity()));
  }
  ingot_value add(Var value) {
    values.push_back(value);
    return {static_cast<uint32_t>(values.size() - 1)};
  }
  /// An invalid value becomes a value of no builder.
  Var value(ingot_value value) const { return value.id < values.size() ? values[value.id] : Var(); }
};

/// Converts the arguments of one call. A list may contain itself, so depth and number are bounded.
class ArgumentReader {
public:
  explicit ArgumentReader(const CBuilder& builder) : builder_(builder) {}

  Status read(const ingot_argument& given, Arg& result) {
    switch (given.kind) {
    case INGOT_ARGUMENT_NONE: return {};
    case INGOT_ARGUMENT_VALUE: result = builder_.value(given.value); return {};
    case INGOT_ARGUMENT_INTEGER: result = given.integer; return {};
    case INGOT_ARGUMENT_REAL: result = given.real; return {};
    case INGOT_ARGUMENT_BOOL: result = given.integer != 0; return {};
    case INGOT_ARGUMENT_TYPE: {
      ElementType type = ElementType::f32;
      if (Status status = to_type(given.integer, type); !status.ok()) return status;
      result = type;
      return {};
    }
    case INGOT_ARGUMENT_EXTENT:
    case INGOT_ARGUMENT_TEXT:
      if (!given.text) return invalid("expected a text, got null");
      if (given.kind == INGOT_ARGUMENT_TEXT)
        result = given.text;
      else
        result = Extent(given.text);
      return {};
    case INGOT_ARGUMENT_LIST: return read_list(given, result);
    default: return invalid("{} is no ingot_argument_kind", given.kind);
    }
  }

  /// Counts arguments before they are read.
  Status count(size_t arguments) {
    if (arguments > kMostArguments - counted_)
      return invalid("expected at most {} arguments, those in lists included", kMostArguments);
    counted_ += arguments;
    return {};
  }

private:
  static constexpr size_t kMostArguments = size_t{1} << 20;

  Status read_list(const ingot_argument& given, Arg& result) {
    if (!given.list && given.list_size > 0)
      return invalid("expected a list of {}, got null", given.list_size);
    if (depth_ == kMostNestedArguments)
      return invalid("expected lists nested at most {} deep", kMostNestedArguments);
    if (Status status = count(given.list_size); !status.ok()) return status;
    ++depth_;
    Arg::List list(given.list_size);
    for (size_t i = 0; i < given.list_size; ++i)
      if (Status status = read(given.list[i], list[i]); !status.ok()) return status;
    --depth_;
    result = std::move(list);
    return {};
  }

  const CBuilder& builder_;
  int depth_ = 0;
  size_t counted_ = 0;
};

/// Adds an input, a param or a constant to the builder of a handle, and stores the value.
template <typename Add>
ingot_code add_value(ingot_builder* handle, ingot_value* value, ingot_error** error, Add add) {
  return with<CBuilder>(handle, error, [&](CBuilder& builder) -> Status {
    if (!value) return invalid("value: expected where to store it, got null");
    builder.make_room(1);
    Var result;
    if (Status status = add(builder, result); !status.ok()) return status;
    *value = builder.add(result);
    return builder.builder.status();
  });
}

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
ingot_code add_tensor(ingot_builder* handle, const char* name, ingot_type type,
                      const ingot_extent* shape, size_t rank, ingot_value* value,
                      ingot_error** error,
                      Var (GraphBuilder::*add)(const std::string&, ElementType, const Extents&)) {
  return add_value(handle, value, error, [&](CBuilder& builder, Var& result) -> Status {
    if (!name) return invalid("name: expected a text, got null");
    Extents extents;
    if (Status status = to_extents(shape, rank, extents); !status.ok()) return status;
    ElementType element = ElementType::f32;
    if (Status status = to_type(type, element); !status.ok()) return status;
    result = (builder.builder.*add)(name, element, extents);
    return {};
  });
}

Status call_op(CBuilder& builder, const char* op, const ingot_argument* arguments, size_t count,
               std::vector<Var>& results) {
  if (!op) return invalid("op: expected a name, got null");
  if (!arguments && count > 0) return invalid("{}: expected {} arguments, got null", op, count);
  std::vector<Arg> positional;
  std::vector<NamedArg> named;
  ArgumentReader reader(builder);
  if (Status status = reader.count(count); !status.ok())
    return invalid("{}: {}", op, status.message());
  for (size_t i = 0; i < count; ++i) {
    Arg argument;
    if (Status status = reader.read(arguments[i], argument); !status.ok())
      return invalid("{}: argument {}: {}", op, i, status.message());
    if (arguments[i].name)
      named.push_back({arguments[i].name, std::move(argument)});
    else
      positional.push_back(std::move(argument));
  }
  results = builder.builder.call_all(op, positional, named);
  return builder.builder.status();
}

} // namespace
} // namespace ingot

const char* ingot_version(void) { return version(); }
int32_t ingot_abi_version(void) { return INGOT_ABI_VERSION; }

const char* ingot_code_name(ingot_code code) {
  static const char* const names[] = {"ok",         "invalid_argument", "parse_error",
                                      "type_error", "unsupported",      "unavailable",
                                      "io_error",   "compile_error",    "launch_error",
                                      "internal",   "not_prepared",     "out_of_memory"};
  return code >= 0 && code <= INGOT_OUT_OF_MEMORY ? names[code] : "unknown";
}

const char* ingot_error_message(const ingot_error* error) {
  if (error == out_of_memory_error()) return kOutOfMemory;
  return error ? error->status.message().c_str() : "";
}
ingot_code ingot_error_code(const ingot_error* error) {
  if (error == out_of_memory_error()) return INGOT_OUT_OF_MEMORY;
  return error ? static_cast<ingot_code>(error->status.code()) : INGOT_OK;
}
void ingot_error_free(ingot_error* error) {
  if (error != out_of_memory_error()) delete error;
}

const char* ingot_bytes_data(const ingot_bytes* bytes) { return bytes ? bytes->text.c_str() : ""; }
size_t ingot_bytes_size(const ingot_bytes* bytes) { return bytes ? bytes->text.size() : 0; }
void ingot_bytes_free(ingot_bytes* bytes) { delete bytes; }

ingot_code ingot_graph_parse(const char* text, size_t size, const char* file_name,
                             ingot_graph** graph, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!text || !graph)
      return invalid("ingot_graph_parse: expected a text and where to store the graph, got null");
    return give<CGraph>(parse({text, size}, file_name ? file_name : "<spec>"), graph);
  });
}

ingot_code ingot_graph_parse_file(const char* path, ingot_graph** graph, ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!path || !graph)
      return invalid(
          "ingot_graph_parse_file: expected a path and where to store the graph, got null");
    return give<CGraph>(parse_file(path), graph);
  });
}

ingot_code ingot_graph_text(const ingot_graph* graph, ingot_bytes** text, ingot_error** error) {
  return with<CGraph>(graph, error, [&](CGraph& from) -> Status {
    if (!text) return invalid("text: expected where to store it, got null");
    return give_bytes(from.spec.text(), text);
  });
}

void ingot_graph_free(ingot_graph* graph) { free_object<CGraph>(graph); }

ingot_code ingot_graph_count(const ingot_graph* graph, ingot_role role, size_t* count,
                             ingot_error** error) {
  return with<CGraph>(graph, error, [&](CGraph& of) { return of.tensors.count(role, count); });
}

ingot_code ingot_graph_tensor(const ingot_graph* graph, ingot_role role, size_t index,
                              ingot_tensor_info* info, ingot_error** error) {
  return with<CGraph>(graph, error,
                      [&](CGraph& of) { return of.tensors.describe(role, index, info); });
}

ingot_code ingot_graph_warning_count(const ingot_graph* graph, size_t* count, ingot_error** error) {
  return with<CGraph>(graph, error, [&](CGraph& of) -> Status {
    if (!count) return invalid("count: expected where to store it, got null");
    *count = of.spec.warnings().size();
    return {};
  });
}

ingot_code ingot_graph_warning(const ingot_graph* graph, size_t index, const char** text,
                               ingot_error** error) {
  return with<CGraph>(graph, error, [&](CGraph& of) -> Status {
    if (!text) return invalid("text: expected where to store it, got null");
    const auto& warnings = of.spec.warnings();
    if (index >= warnings.size())
      return invalid("index: expected one of {} warnings, got {}", warnings.size(), index);
    *text = warnings[index].c_str();
    return {};
  });
}

ingot_code ingot_builder_create(const char* graph_name, ingot_builder** builder,
                                ingot_error** error) {
  return answer(error, [&]() -> Status {
    if (!graph_name || !builder)
      return invalid(
          "ingot_builder_create: expected a name and where to store the builder, got null");
    // The builder cannot move, because its values point to it.
    auto made = std::make_unique<CBuilder>(graph_name);
    if (Status status = made->builder.status(); !status.ok()) return status;
    return give(std::move(made), builder);
  });
}

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
ingot_code ingot_builder_input(ingot_builder* builder, const char* name, ingot_type type,
                               const ingot_extent* shape, size_t rank, ingot_value* value,
                               ingot_error** error) {
  return add_tensor(builder, name, type, shape, rank, value, error, &GraphBuilder::input);
}

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
ingot_code ingot_builder_param(ingot_builder* builder, const char* name, ingot_type type,
                               const ingot_extent* shape, size_t rank, ingot_value* value,
                               ingot_error** error) {
  return add_tensor(builder, name, type, shape, rank, value, error, &GraphBuilder::param);
}

ingot_code ingot_builder_constant(ingot_builder* builder, ingot_type type, double number,
                                  ingot_value* value, ingot_error** error) {
  return add_value(builder, value, error, [&](CBuilder& of, Var& result) -> Status {
    ElementType element = ElementType::f32;
    if (Status status = to_type(type, element); !status.ok()) return status;
    result = of.builder.constant(element, number);
    return {};
  });
}

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
ingot_code ingot_builder_call(ingot_builder* handle, const char* op,
                              const ingot_argument* arguments, size_t num_arguments,
                              ingot_value* results, size_t capacity, size_t* count,
                              ingot_error** error) {
  return with<CBuilder>(handle, error, [&](CBuilder& builder) -> Status {
    if (!results && capacity > 0) return invalid("results: expected {} places, got null", capacity);
    // An operator whose results C does not receive must not stay in the graph. Few have more
    // results.
    constexpr size_t most_usual = 256;
    builder.make_room(std::min(capacity, most_usual));
    std::vector<Var> values;
    if (Status status = call_op(builder, op, arguments, num_arguments, values); !status.ok())
      return status;
    const size_t kept = std::min(values.size(), capacity);
    builder.make_room(kept);
    if (count) *count = values.size();
    for (size_t i = 0; i < kept; ++i) results[i] = builder.add(values[i]);
    return {};
  });
}

// NOLINTNEXTLINE(readability-function-size): C passes them one by one
ingot_code ingot_builder_index(ingot_builder* handle, ingot_value x, const ingot_argument* items,
                               size_t num_items, ingot_value* result, ingot_error** error) {
  return add_value(handle, result, error, [&](CBuilder& builder, Var& value) -> Status {
    if (!items && num_items > 0) return invalid("items: expected {} of them, got null", num_items);
    std::vector<Arg> list;
    ArgumentReader reader(builder);
    if (Status status = reader.count(num_items); !status.ok()) return status;
    for (size_t i = 0; i < num_items; ++i)
      if (Status status = reader.read(items[i], list.emplace_back()); !status.ok())
        return invalid("index {}: {}", i, status.message());
    value = builder.builder.index(builder.value(x), list);
    return {};
  });
}

ingot_code ingot_builder_describe(ingot_builder* handle, ingot_value value, ingot_tensor_info* info,
                                  ingot_error** error) {
  return with<CBuilder>(handle, error, [&](CBuilder& builder) -> Status {
    if (Status status = check_struct("ingot_tensor_info", info); !status.ok()) return status;
    auto spec = builder.builder.describe(builder.value(value));
    if (!spec.ok()) return spec.status();
    if (!builder.described.count(value.id)) {
      CBuilder::Described made{std::move(*spec), {}};
      made.shape = to_c(made.spec.shape);
      builder.described.emplace(value.id, std::move(made));
    }
    const CBuilder::Described& kept = builder.described.at(value.id);
    return describe(kept.spec, kept.shape, info);
  });
}

ingot_code ingot_builder_output(ingot_builder* handle, const char* name, ingot_value value,
                                ingot_error** error) {
  return with<CBuilder>(handle, error, [&](CBuilder& builder) -> Status {
    if (!name) return invalid("name: expected a text, got null");
    builder.builder.output(name, builder.value(value));
    return builder.builder.status();
  });
}

ingot_code ingot_builder_forget_error(ingot_builder* handle, ingot_error** error) {
  return with<CBuilder>(handle, error, [&](CBuilder& builder) -> Status {
    builder.builder.forget_error();
    return {};
  });
}

ingot_code ingot_builder_finish(const ingot_builder* handle, ingot_graph** graph,
                                ingot_error** error) {
  return with<CBuilder>(handle, error, [&](CBuilder& builder) -> Status {
    if (!graph) return invalid("graph: expected where to store it, got null");
    return give<CGraph>(builder.builder.finish(), graph);
  });
}

void ingot_builder_free(ingot_builder* builder) { free_object<CBuilder>(builder); }
