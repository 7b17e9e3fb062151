// SPDX-License-Identifier: Apache-2.0
// The C interface's errors, graphs and builders. See include/ingot/ingot_c.h.
#include "src/c_api_internal.h"

#include <deque>

using namespace ingot;

struct ingot_error {
  Status status;
};
struct ingot_bytes {
  std::string text;
};

namespace ingot {

static_assert(static_cast<int>(StatusCode::not_prepared) == INGOT_NOT_PREPARED);
static_assert(static_cast<int>(ElementType::boolean) == INGOT_BOOL);

ingot_code report(const Status& status, ingot_error** error) {
  if (!status.ok() && error) *error = new ingot_error{status};
  return static_cast<ingot_code>(status.code());
}

ingot_bytes* to_bytes(std::string text) { return new ingot_bytes{std::move(text)}; }

Status to_extents(const ingot_extent* shape, size_t rank, Extents& result) {
  constexpr size_t most = 64; // more than any tensor has; what has less is told by the builder
  if (rank > most) return invalid("shape: expected at most {} extents, got {}", most, rank);
  if (!shape && rank > 0) return invalid("shape: expected {} extents, got null", rank);
  for (size_t i = 0; i < rank; ++i)
    result.push_back(shape[i].name ? Extent(shape[i].name) : Extent(shape[i].number));
  return {};
}

std::vector<ingot_extent> to_c(const Extents& shape) {
  std::vector<ingot_extent> result;
  for (const Extent& extent : shape)
    result.push_back({extent.is_named() ? -1 : extent.value(),
                      extent.is_named() ? extent.name().c_str() : nullptr});
  return result;
}

Status to_dims(const ingot_dim* dims, size_t count, std::vector<DimRange>& result) {
  if (!dims && count > 0) return invalid("dims: expected {} of them, got null", count);
  for (size_t i = 0; i < count; ++i) {
    if (!dims[i].name) return invalid("dims[{}]: expected a name, got null", i);
    result.push_back({dims[i].name, dims[i].least, dims[i].most});
  }
  return {};
}

namespace {

Status to_type(int64_t given, ElementType& type) {
  if (given < INGOT_F32 || given > INGOT_BOOL)
    return invalid("{} is no ingot_type; expected INGOT_F32, F16, BF16, I32, I64 or BOOL", given);
  type = static_cast<ElementType>(given);
  return {};
}

/// A builder and the values it gave, which C knows by their places.
struct CBuilder {
  explicit CBuilder(const char* name) : builder(name) {}
  GraphBuilder builder;
  std::vector<Var> values;
  /// What C was told of values. A deque: C keeps pointers into it.
  struct Described {
    TensorSpec spec;
    std::vector<ingot_extent> shape;
  };
  std::deque<Described> described;

  ingot_value add(Var value) {
    values.push_back(value);
    return {static_cast<uint32_t>(values.size() - 1)};
  }
  /// A value that is none is that of no builder.
  Var value(ingot_value value) const { return value.id < values.size() ? values[value.id] : Var(); }
};

Status to_argument(const CBuilder& builder, const ingot_argument& given, Arg& result) {
  switch (given.kind) {
  case INGOT_ARGUMENT_NONE: return {};
  case INGOT_ARGUMENT_VALUE: result = builder.value(given.value); return {};
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
  case INGOT_ARGUMENT_LIST: {
    if (!given.list && given.list_size > 0)
      return invalid("expected a list of {}, got null", given.list_size);
    Arg::List list(given.list_size);
    for (size_t i = 0; i < given.list_size; ++i)
      if (Status status = to_argument(builder, given.list[i], list[i]); !status.ok()) return status;
    result = std::move(list);
    return {};
  }
  default: return invalid("{} is no ingot_argument_kind", given.kind);
  }
}

/// Adds what a call of C gives to the builder of a handle, and stores the value.
template <typename Add>
ingot_code add_value(ingot_builder* handle, ingot_value* value, ingot_error** error, Add add) {
  CBuilder* builder = nullptr;
  if (Status status = find(HandleKind::builder, handle, builder); !status.ok())
    return report(status, error);
  if (!value) return report(invalid("value: expected where to store it, got null"), error);
  Var result;
  if (Status status = add(*builder, result); !status.ok()) return report(status, error);
  *value = builder->add(result);
  return report(builder->builder.status(), error);
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
  for (size_t i = 0; i < count; ++i) {
    Arg argument;
    if (Status status = to_argument(builder, arguments[i], argument); !status.ok())
      return invalid("{}: argument {}: {}", op, i, status.message());
    if (arguments[i].name)
      named.push_back({arguments[i].name, std::move(argument)});
    else
      positional.push_back(std::move(argument));
  }
  results = builder.builder.call_all(op, positional, named);
  return builder.builder.status();
}

ingot_code give_graph(Result<GraphSpec> spec, ingot_graph** graph, ingot_error** error) {
  if (!spec.ok()) return report(spec.status(), error);
  return report(give(HandleKind::graph, std::move(*spec), graph), error);
}

} // namespace
} // namespace ingot

const char* ingot_version(void) { return version(); }
int32_t ingot_abi_version(void) { return INGOT_ABI_VERSION; }

const char* ingot_code_name(ingot_code code) {
  static const char* const names[] = {
      "ok",       "invalid_argument", "parse_error",  "type_error", "unsupported", "unavailable",
      "io_error", "compile_error",    "launch_error", "internal",   "not_prepared"};
  return code >= 0 && code <= INGOT_NOT_PREPARED ? names[code] : "unknown";
}

const char* ingot_error_message(const ingot_error* error) {
  return error ? error->status.message().c_str() : "";
}
ingot_code ingot_error_code(const ingot_error* error) {
  return error ? static_cast<ingot_code>(error->status.code()) : INGOT_OK;
}
void ingot_error_free(ingot_error* error) { delete error; }

const char* ingot_bytes_data(const ingot_bytes* bytes) { return bytes ? bytes->text.c_str() : ""; }
size_t ingot_bytes_size(const ingot_bytes* bytes) { return bytes ? bytes->text.size() : 0; }
void ingot_bytes_free(ingot_bytes* bytes) { delete bytes; }

ingot_code ingot_graph_parse(const char* text, size_t size, const char* file_name,
                             ingot_graph** graph, ingot_error** error) {
  if (!text || !graph)
    return report(
        invalid("ingot_graph_parse: expected a text and where to store the graph, got null"),
        error);
  return give_graph(parse({text, size}, file_name ? file_name : "<spec>"), graph, error);
}

ingot_code ingot_graph_parse_file(const char* path, ingot_graph** graph, ingot_error** error) {
  if (!path || !graph)
    return report(
        invalid("ingot_graph_parse_file: expected a path and where to store the graph, got null"),
        error);
  return give_graph(parse_file(path), graph, error);
}

ingot_code ingot_graph_text(const ingot_graph* graph, ingot_bytes** text, ingot_error** error) {
  return with<GraphSpec>(HandleKind::graph, graph, error, [&](GraphSpec& spec) -> Status {
    if (!text) return invalid("text: expected where to store it, got null");
    *text = to_bytes(spec.text());
    return {};
  });
}

void ingot_graph_free(ingot_graph* graph) { free_object<GraphSpec>(HandleKind::graph, graph); }

ingot_code ingot_builder_create(const char* graph_name, ingot_builder** builder,
                                ingot_error** error) {
  if (!graph_name || !builder)
    return report(
        invalid("ingot_builder_create: expected a name and where to store the builder, got null"),
        error);
  // Not moved: values point to their builder.
  auto made = std::make_unique<CBuilder>(graph_name);
  if (Status status = made->builder.status(); !status.ok()) return report(status, error);
  *builder = static_cast<ingot_builder*>(add_handle(HandleKind::builder, made.get()));
  if (!*builder) return report(out_of_handles(), error);
  made.release();
  return INGOT_OK;
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
  CBuilder* builder = nullptr;
  if (Status status = find(HandleKind::builder, handle, builder); !status.ok())
    return report(status, error);
  if (!results && capacity > 0)
    return report(invalid("results: expected {} places, got null", capacity), error);
  std::vector<Var> values;
  if (Status status = call_op(*builder, op, arguments, num_arguments, values); !status.ok())
    return report(status, error);
  if (count) *count = values.size();
  for (size_t i = 0; i < std::min(values.size(), capacity); ++i)
    results[i] = builder->add(values[i]);
  return INGOT_OK;
}

ingot_code ingot_builder_describe(ingot_builder* handle, ingot_value value, ingot_tensor_info* info,
                                  ingot_error** error) {
  return with<CBuilder>(HandleKind::builder, handle, error, [&](CBuilder& builder) -> Status {
    auto spec = builder.builder.describe(builder.value(value));
    if (!spec.ok()) return spec.status();
    CBuilder::Described& kept = builder.described.emplace_back();
    kept.spec = std::move(*spec);
    kept.shape = to_c(kept.spec.shape);
    return write_struct(
        "ingot_tensor_info",
        ingot_tensor_info{0, kept.spec.name.c_str(), static_cast<ingot_type>(kept.spec.type),
                          static_cast<int32_t>(kept.shape.size()), kept.shape.data()},
        info);
  });
}

ingot_code ingot_builder_output(ingot_builder* handle, const char* name, ingot_value value,
                                ingot_error** error) {
  return with<CBuilder>(HandleKind::builder, handle, error, [&](CBuilder& builder) -> Status {
    if (!name) return invalid("name: expected a text, got null");
    builder.builder.output(name, builder.value(value));
    return builder.builder.status();
  });
}

ingot_code ingot_builder_finish(const ingot_builder* handle, ingot_graph** graph,
                                ingot_error** error) {
  CBuilder* builder = nullptr;
  if (Status status = find(HandleKind::builder, handle, builder); !status.ok())
    return report(status, error);
  if (!graph) return report(invalid("graph: expected where to store it, got null"), error);
  return give_graph(builder->builder.finish(), graph, error);
}

void ingot_builder_free(ingot_builder* builder) {
  free_object<CBuilder>(HandleKind::builder, builder);
}
