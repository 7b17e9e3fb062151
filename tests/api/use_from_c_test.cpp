// SPDX-License-Identifier: Apache-2.0
// The C interface, as far as it goes without a GPU: graphs, builders, programs, questions, and the
// error of each call for bad use.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" // C leaves fields out

#include <dlpack/dlpack.h>

#include "ingot/ingot_c.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <malloc.h>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Frees the result of a call.
struct Error {
  ingot_error* error = nullptr;
  ~Error() { ingot_error_free(error); }
  ingot_error** operator&() { return &error; } // NOLINT(google-runtime-operator)
  std::string text() const { return ingot_error_message(error); }
};

const std::string kSpec = "graph chain(x: f32[m, 64], param w: f32[128, 64], param b: f32[128]) {\n"
                          "  return y = relu(linear(x, w, b)), s = sum(x, axis=1) }\n";

ingot_graph* parsed(const std::string& spec = kSpec) {
  ingot_graph* graph = nullptr;
  Error error;
  REQUIRE_MESSAGE(ingot_graph_parse(spec.data(), spec.size(), nullptr, &graph, &error) == INGOT_OK,
                  error.text());
  return graph;
}

ingot_program* compiled(const std::string& spec = kSpec) {
  ingot_graph* graph = parsed(spec);
  ingot_program* program = nullptr;
  Error error;
  const ingot_options options = {.struct_size = sizeof(options), .device = "a100"};
  REQUIRE_MESSAGE(ingot_compile(graph, &options, &program, &error) == INGOT_OK, error.text());
  ingot_graph_free(graph);
  return program;
}

} // namespace

TEST_CASE("c api: versions and names of codes") {
  CHECK(ingot_abi_version() == INGOT_ABI_VERSION);
  CHECK(std::string(ingot_version()).find('.') != std::string::npos);
  CHECK(ingot_code_name(INGOT_OK) == std::string("ok"));
  CHECK(ingot_code_name(INGOT_INTERNAL) == std::string("internal"));
  CHECK(ingot_code_name(INGOT_NOT_PREPARED) == std::string("not_prepared"));
  CHECK(ingot_code_name(12) == std::string("unknown"));
  CHECK(ingot_code_name(-1) == std::string("unknown"));
  CHECK(ingot_error_message(nullptr) == std::string());
  CHECK(ingot_error_code(nullptr) == INGOT_OK);
  ingot_error_free(nullptr);
  ingot_bytes_free(nullptr);
}

TEST_CASE("c api: a spec that does not read says where") {
  const std::string spec = "graph g(x: f32[4]) {\n  return relu(y) }";
  ingot_graph* graph = nullptr;
  Error error;
  CHECK(ingot_graph_parse(spec.data(), spec.size(), "my.ingot", &graph, &error) ==
        INGOT_PARSE_ERROR);
  CHECK(graph == nullptr);
  CHECK(ingot_error_code(error.error) == INGOT_PARSE_ERROR);
  CHECK(error.text().find("my.ingot:2:") == 0);
  // Who wants no message gives no place for it.
  CHECK(ingot_graph_parse(spec.data(), spec.size(), "my.ingot", &graph, nullptr) ==
        INGOT_PARSE_ERROR);
  CHECK(ingot_graph_parse(nullptr, 0, nullptr, &graph, nullptr) == INGOT_INVALID_ARGUMENT);
  CHECK(ingot_graph_parse_file("/nowhere/g.ingot", &graph, nullptr) == INGOT_IO_ERROR);
}

TEST_CASE("c api: the builder and the text language give the same graph") {
  ingot_builder* builder = nullptr;
  Error error;
  REQUIRE(ingot_builder_create("chain", &builder, &error) == INGOT_OK);
  ingot_value x, w, b, h, y, s;
  const ingot_extent x_shape[] = {{0, "m"}, {64, nullptr}}, w_shape[] = {{128}, {64}};
  CHECK(ingot_builder_input(builder, "x", INGOT_F32, x_shape, 2, &x, &error) == INGOT_OK);
  CHECK(ingot_builder_param(builder, "w", INGOT_F32, w_shape, 2, &w, &error) == INGOT_OK);
  CHECK(ingot_builder_param(builder, "b", INGOT_F32, w_shape, 1, &b, &error) == INGOT_OK);
  auto of = [](ingot_value value) {
    return ingot_argument{.kind = INGOT_ARGUMENT_VALUE, .value = value};
  };
  const ingot_argument linear[] = {of(x), of(w), of(b)};
  size_t count = 0;
  CHECK(ingot_builder_call(builder, "linear", linear, 3, &h, 1, &count, &error) == INGOT_OK);
  CHECK(count == 1);
  const ingot_argument relu[] = {of(h)};
  CHECK(ingot_builder_call(builder, "relu", relu, 1, &y, 1, nullptr, &error) == INGOT_OK);
  const ingot_argument sum[] = {of(x),
                                {.name = "axis", .kind = INGOT_ARGUMENT_INTEGER, .integer = 1}};
  CHECK(ingot_builder_call(builder, "sum", sum, 2, &s, 1, nullptr, &error) == INGOT_OK);
  ingot_tensor_info info = {sizeof info};
  REQUIRE(ingot_builder_describe(builder, y, &info, &error) == INGOT_OK);
  CHECK(info.type == INGOT_F32);
  REQUIRE(info.rank == 2);
  CHECK(std::string(info.shape[0].name) == "m");
  CHECK((info.shape[1].name == nullptr && info.shape[1].number == 128));
  CHECK(ingot_builder_describe(builder, ingot_value{99}, &info, &error) == INGOT_INVALID_ARGUMENT);
  CHECK(error.text().find("expected a value of graph 'chain'") == 0);
  CHECK(ingot_builder_output(builder, "y", y, &error) == INGOT_OK);
  CHECK(ingot_builder_output(builder, "s", s, &error) == INGOT_OK);
  ingot_graph* built = nullptr;
  REQUIRE_MESSAGE(ingot_builder_finish(builder, &built, &error) == INGOT_OK, error.text());
  ingot_builder_free(builder);

  ingot_graph* read = parsed();
  ingot_bytes *built_text = nullptr, *read_text = nullptr;
  CHECK(ingot_graph_text(built, &built_text, &error) == INGOT_OK);
  CHECK(ingot_graph_text(read, &read_text, &error) == INGOT_OK);
  CHECK(std::string(ingot_bytes_data(built_text)) == ingot_bytes_data(read_text));
  CHECK(ingot_bytes_size(built_text) == std::string(ingot_bytes_data(built_text)).size());
  ingot_bytes_free(built_text);
  ingot_bytes_free(read_text);
  ingot_graph_free(built);
  ingot_graph_free(read);
}

TEST_CASE("c api: a graph has the warnings of its spec") {
  ingot_graph* graph = parsed("graph g(x: f32[4], y: f32[4], param w: f32[4]) { return relu(x) }");
  size_t count = 0;
  Error error, role;
  REQUIRE(ingot_graph_warning_count(graph, &count, &error) == INGOT_OK);
  REQUIRE(count == 2);
  const char *first = nullptr, *second = nullptr;
  CHECK(ingot_graph_warning(graph, 0, &first, &error) == INGOT_OK);
  CHECK(ingot_graph_warning(graph, 1, &second, &error) == INGOT_OK);
  CHECK(std::string(first).find("<spec>:1:20: warning: no result needs the input 'y'") == 0);
  CHECK(std::string(second).find("<spec>:1:37: warning: no result needs the param 'w'") == 0);
  CHECK(ingot_graph_warning(graph, 2, &first, &error) == INGOT_INVALID_ARGUMENT);
  CHECK(error.text() == "index: expected one of 2 warnings, got 2");
  CHECK(ingot_graph_warning(graph, 0, nullptr, nullptr) == INGOT_INVALID_ARGUMENT);
  CHECK(ingot_graph_warning_count(graph, nullptr, nullptr) == INGOT_INVALID_ARGUMENT);
  ingot_graph_free(graph);
  CHECK(ingot_graph_warning_count(graph, &count, nullptr) == INGOT_INVALID_ARGUMENT);
}

TEST_CASE("c api: an index is a position, a range, a new axis or an ellipsis") {
  ingot_builder* builder = nullptr;
  REQUIRE(ingot_builder_create("g", &builder, nullptr) == INGOT_OK);
  const ingot_extent shape[] = {{4}, {6}, {0, "m"}};
  ingot_value x, y;
  REQUIRE(ingot_builder_input(builder, "x", INGOT_F32, shape, 3, &x, nullptr) == INGOT_OK);
  auto number = [](int64_t n) {
    return ingot_argument{.kind = INGOT_ARGUMENT_INTEGER, .integer = n};
  };
  const ingot_argument ends[] = {number(1), {}, number(2)}; // 1::2
  const ingot_argument items[] = {{.kind = INGOT_ARGUMENT_LIST, .list = ends, .list_size = 3},
                                  {},
                                  number(-1),
                                  {.kind = INGOT_ARGUMENT_TEXT, .text = "..."}};
  Error error;
  REQUIRE_MESSAGE(ingot_builder_index(builder, x, items, 4, &y, &error) == INGOT_OK, error.text());
  ingot_tensor_info info = {sizeof info};
  REQUIRE(ingot_builder_describe(builder, y, &info, nullptr) == INGOT_OK);
  REQUIRE(info.rank == 3);
  CHECK((info.shape[0].number == 2 && info.shape[1].number == 1));
  CHECK(info.shape[2].name == std::string("m"));
  CHECK(ingot_builder_index(builder, x, nullptr, 1, &y, nullptr) == INGOT_INVALID_ARGUMENT);
  CHECK(ingot_builder_index(builder, x, items, 4, nullptr, nullptr) == INGOT_INVALID_ARGUMENT);
  CHECK(ingot_builder_index(builder, x, items, SIZE_MAX, &y, nullptr) == INGOT_INVALID_ARGUMENT);
  // None of that was added: the builder goes on, until an index is refused.
  REQUIRE(ingot_builder_index(builder, x, nullptr, 0, &y, nullptr) == INGOT_OK);
  const ingot_argument outside[] = {number(4)};
  CHECK(ingot_builder_index(builder, x, outside, 1, &y, &error) == INGOT_TYPE_ERROR);
  CHECK(error.text() == "index 4 on axis 0 of f32[4, 6, m], expected -4 to 3");
  ingot_builder_free(builder);
}

TEST_CASE("c api: a value that is described again takes no further memory") {
  ingot_builder* builder = nullptr;
  REQUIRE(ingot_builder_create("g", &builder, nullptr) == INGOT_OK);
  const ingot_extent shape[] = {{0, "m"}, {30}};
  ingot_value x;
  REQUIRE(ingot_builder_input(builder, "x", INGOT_F32, shape, 2, &x, nullptr) == INGOT_OK);
  ingot_tensor_info first = {sizeof first};
  REQUIRE(ingot_builder_describe(builder, x, &first, nullptr) == INGOT_OK);
  const auto used = [] { return static_cast<int64_t>(mallinfo2().uordblks); };
  const int64_t before = used();
  for (int i = 0; i < 1000; ++i) {
    ingot_tensor_info info = {sizeof info};
    REQUIRE(ingot_builder_describe(builder, x, &info, nullptr) == INGOT_OK);
    CHECK((info.shape == first.shape && info.name == first.name));
    CHECK(ingot_builder_describe(builder, x, nullptr, nullptr) == INGOT_INVALID_ARGUMENT);
  }
  CHECK(used() - before < 10000);
  ingot_builder_free(builder);
}

TEST_CASE("c api: the first mistake of a builder sticks") {
  ingot_builder* builder = nullptr;
  REQUIRE(ingot_builder_create("g", &builder, nullptr) == INGOT_OK);
  const ingot_extent shape[] = {{4}, {30}};
  ingot_value x, y;
  CHECK(ingot_builder_input(builder, "x", INGOT_F32, shape, 2, &x, nullptr) == INGOT_OK);
  const ingot_argument arguments[] = {
      {.kind = INGOT_ARGUMENT_VALUE, .value = x},
      {.name = "groups", .kind = INGOT_ARGUMENT_INTEGER, .integer = 7}};
  Error call, finish;
  CHECK(ingot_builder_call(builder, "group_norm", arguments, 2, &y, 1, nullptr, &call) != INGOT_OK);
  ingot_graph* graph = nullptr;
  CHECK(ingot_builder_finish(builder, &graph, &finish) != INGOT_OK);
  CHECK(call.text() == finish.text());
  CHECK(finish.text().find("group_norm") == 0);
  // The builder goes on as it was before, and the value of no call is told.
  Error output;
  y.id = 77;
  CHECK(ingot_builder_forget_error(builder, nullptr) == INGOT_OK);
  CHECK(ingot_builder_output(builder, "z", y, &output) == INGOT_INVALID_ARGUMENT);
  CHECK(output.text().find("output 'z'") == 0);
  CHECK(ingot_builder_forget_error(builder, nullptr) == INGOT_OK);
  CHECK(ingot_builder_call(builder, "relu", arguments, 1, &y, 1, nullptr, nullptr) == INGOT_OK);
  CHECK(ingot_builder_output(builder, "z", y, nullptr) == INGOT_OK);
  CHECK(ingot_builder_finish(builder, &graph, nullptr) == INGOT_OK);
  ingot_graph_free(graph);
  CHECK(ingot_builder_forget_error(nullptr, nullptr) == INGOT_INVALID_ARGUMENT);
  ingot_builder_free(builder);
}

TEST_CASE("c api: a builder refuses text that is no name, type, value or argument, and quotes it") {
  ingot_builder* builder = nullptr;
  Error name, type, argument, constant;
  CHECK(ingot_builder_create("no name", &builder, &name) == INGOT_INVALID_ARGUMENT);
  CHECK(builder == nullptr);
  CHECK(name.text().find("no name") != std::string::npos);
  REQUIRE(ingot_builder_create("g", &builder, nullptr) == INGOT_OK);
  const ingot_extent shape[] = {{4}};
  ingot_value x;
  CHECK(ingot_builder_input(builder, "x", 256, shape, 1, &x, &type) == INGOT_INVALID_ARGUMENT);
  CHECK(type.text().find("256 is no ingot_type") == 0);
  CHECK(ingot_builder_constant(builder, -1, 0, &x, &constant) == INGOT_INVALID_ARGUMENT);
  CHECK(ingot_builder_input(builder, "x", INGOT_F32, shape, 1, nullptr, nullptr) ==
        INGOT_INVALID_ARGUMENT);
  CHECK(ingot_builder_input(builder, "x", INGOT_F32, nullptr, 1, &x, nullptr) ==
        INGOT_INVALID_ARGUMENT);
  const ingot_argument wrong[] = {{.kind = 9}};
  CHECK(ingot_builder_call(builder, "relu", wrong, 1, &x, 1, nullptr, &argument) ==
        INGOT_INVALID_ARGUMENT);
  CHECK(argument.text() == "relu: argument 0: 9 is no ingot_argument_kind");
  // None of that was added: the builder goes on.
  CHECK(ingot_builder_input(builder, "x", INGOT_F32, shape, 1, &x, nullptr) == INGOT_OK);
  ingot_value y;
  const ingot_argument foreign[] = {{.kind = INGOT_ARGUMENT_VALUE, .value = {77}}};
  CHECK(ingot_builder_call(builder, "relu", foreign, 1, &y, 1, nullptr, nullptr) ==
        INGOT_INVALID_ARGUMENT);
  ingot_builder_free(builder);
}

TEST_CASE("c api: a program tells its tensors, shapes, memory, kernels and code") {
  ingot_program* program = compiled();
  size_t count = 0;
  Error error;
  CHECK(ingot_program_count(program, INGOT_PARAM, &count, &error) == INGOT_OK);
  CHECK(count == 2);
  ingot_tensor_info info = {.struct_size = sizeof(info)};
  CHECK(ingot_program_tensor(program, INGOT_INPUT, 0, &info, &error) == INGOT_OK);
  CHECK(info.name == std::string("x"));
  CHECK(info.type == INGOT_F32);
  REQUIRE(info.rank == 2);
  CHECK(info.shape[0].name == std::string("m"));
  CHECK(info.shape[0].number == -1);
  CHECK(info.shape[1].name == nullptr);
  CHECK(info.shape[1].number == 64);
  CHECK(ingot_program_tensor(program, INGOT_OUTPUT, 2, &info, &error) == INGOT_INVALID_ARGUMENT);

  const ingot_dim dims[] = {{"m", 100, 100}};
  int64_t extents[2] = {};
  CHECK(ingot_program_shape(program, INGOT_OUTPUT, 0, dims, 1, extents, 2, nullptr) == INGOT_OK);
  CHECK(extents[0] == 100);
  CHECK(extents[1] == 128);
  Error missing, rank;
  CHECK(ingot_program_shape(program, INGOT_OUTPUT, 0, nullptr, 0, extents, 2, &missing) ==
        INGOT_INVALID_ARGUMENT);
  CHECK(missing.text() == "shape of 'y': expected one size of 'm', of at least 0");
  CHECK(ingot_program_shape(program, INGOT_OUTPUT, 1, dims, 1, extents, 2, &rank) ==
        INGOT_INVALID_ARGUMENT);
  CHECK(rank.text() == "rank: expected 1, got 2");

  ingot_memory memory = {.struct_size = sizeof(memory), .workspace = -1};
  CHECK(ingot_program_memory(program, dims, 1, &memory, nullptr) == INGOT_OK);
  CHECK(memory.workspace >= 0);
  int32_t kernels = 0;
  CHECK(ingot_program_kernels(program, &kernels, nullptr) == INGOT_OK);
  CHECK(kernels >= 1);
  ingot_bytes *code = nullptr, *manifest = nullptr;
  REQUIRE(ingot_program_code(program, INGOT_CUDA, &code, &manifest, nullptr) == INGOT_OK);
  CHECK(std::string(ingot_bytes_data(code)).find("__global__") != std::string::npos);
  CHECK(ingot_bytes_data(manifest)[0] == '{');
  ingot_bytes_free(code);
  ingot_bytes_free(manifest);
  ingot_program_free(program);
}

TEST_CASE("c api: handles that were freed, of another kind, or none at all, are told") {
  ingot_graph* graph = parsed();
  ingot_program* program = compiled();
  ingot_bytes* text = nullptr;
  Error freed, kind, null;
  auto* as_graph = reinterpret_cast<ingot_graph*>(program);
  CHECK(ingot_graph_text(as_graph, &text, &kind) == INGOT_INVALID_ARGUMENT);
  CHECK(kind.text() == "expected a graph, got a handle that was freed or is none of that kind");
  CHECK(ingot_graph_text(nullptr, &text, &null) == INGOT_INVALID_ARGUMENT);
  CHECK(null.text() == "expected a graph, got null");
  int on_the_stack = 0;
  CHECK(ingot_graph_text(reinterpret_cast<ingot_graph*>(&on_the_stack), &text, nullptr) ==
        INGOT_INVALID_ARGUMENT);
  ingot_graph_free(graph);
  CHECK(ingot_graph_text(graph, &text, &freed) == INGOT_INVALID_ARGUMENT);
  ingot_graph_free(graph); // again: nothing
  ingot_graph_free(nullptr);
  ingot_graph_free(as_graph); // of another kind: nothing
  // Its place is given to another one, which the old handle is not.
  ingot_graph* next = parsed();
  CHECK(next != graph);
  CHECK(ingot_graph_text(graph, &text, nullptr) == INGOT_INVALID_ARGUMENT);
  size_t count = 0;
  CHECK(ingot_program_count(program, INGOT_INPUT, &count, nullptr) == INGOT_OK);
  ingot_graph_free(next);
  ingot_program_free(program);
}

TEST_CASE("c api: structs of other versions") {
  ingot_graph* graph = parsed();
  ingot_program* program = nullptr;
  // An older caller's ends behind `target`.
  ingot_options options = {.struct_size = offsetof(ingot_options, device), .device = "nonsense"};
  CHECK(ingot_compile(graph, &options, &program, nullptr) == INGOT_OK);
  ingot_program_free(program);
  Error unset, newer;
  options.struct_size = 0;
  CHECK(ingot_compile(graph, &options, &program, &unset) == INGOT_INVALID_ARGUMENT);
  CHECK(unset.text() == "ingot_options: struct_size is 0; expected sizeof(ingot_options)");
  // A newer caller's has something behind it, which is used or not.
  struct {
    ingot_options options;
    int64_t more;
  } longer = {{.struct_size = sizeof(longer), .device = "a100"}, 0};
  CHECK(ingot_compile(graph, &longer.options, &program, nullptr) == INGOT_OK);
  ingot_program_free(program);
  longer.more = 1;
  CHECK(ingot_compile(graph, &longer.options, &program, &newer) == INGOT_INVALID_ARGUMENT);
  CHECK(newer.text().find("does not know") != std::string::npos);
  options = {.struct_size = sizeof(options), .precision = 9};
  CHECK(ingot_compile(graph, &options, &program, nullptr) == INGOT_INVALID_ARGUMENT);
  ingot_graph_free(graph);
}

TEST_CASE("c api: DLPack tensors are checked before anything is launched") {
  ingot_program* program = compiled("graph g(x: f32[4, 8]) { return relu(x) }");
  int64_t shape[] = {4, 8}, strides[] = {1, 4};
  DLTensor x = {};
  x.device.device_type = kDLCUDA;
  x.ndim = 2;
  x.dtype = {kDLFloat, 32, 1};
  x.shape = shape;
  DLTensor y = x;
  auto message = [&](size_t outputs = 1) {
    const DLTensor* const given[] = {&x, &y};
    ingot_dlpack_arguments arguments = {.struct_size = sizeof(arguments),
                                        .inputs = &given[0],
                                        .num_inputs = 1,
                                        .outputs = &given[1],
                                        .num_outputs = outputs};
    Error error;
    CHECK(ingot_program_launch_dlpack(program, &arguments, &error) != INGOT_OK);
    return error.text();
  };
  CHECK(message(0) == "expected 1 output tensors, got 0");
  x.dtype = {kDLBfloat, 16, 1};
  CHECK(message() == "input 'x': expected elements of float32, got bfloat16");
  x.dtype = {kDLFloat, 32, 4};
  CHECK(message() == "input 'x': expected elements of float32, got float32 with 4 lanes");
  x.dtype = {kDLUInt, 8, 2};
  CHECK(message() == "input 'x': expected elements of float32, got uint8 with 2 lanes");
  x.dtype = {6, 8, 1};
  CHECK(message() == "input 'x': expected elements of float32, got bool");
  x.dtype = {10, 8, 1};
  CHECK(message() == "input 'x': expected elements of float32, got float8_e4m3fn");
  x.dtype = {99, 8, 1};
  CHECK(message() == "input 'x': expected elements of float32, got a type that Ingot does not know "
                     "(code 99 of DLPack, 8 bits)");
  x.dtype = {kDLFloat, 32, 1};
  x.strides = strides;
  CHECK(message() == "input 'x': expected dense row-major elements, got shape [4, 8] with strides "
                     "[1, 4]; make it contiguous");
  x.strides = nullptr;
  y.device.device_type = kDLCPU;
  CHECK(message() == "output 'output': expected a tensor in CUDA memory, got one in CPU memory");
  y.device.device_type = static_cast<DLDeviceType>(99);
  CHECK(message() == "output 'output': expected a tensor in CUDA memory, got one in memory of a "
                     "device that Ingot does not know (type 99 of DLPack)");
  ingot_program_free(program);
}

TEST_CASE("c api: threads ask one program while others make and free their own") {
  ingot_program* program = compiled();
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        ingot_graph* graph = nullptr;
        size_t count = 0;
        failures +=
            ingot_graph_parse(kSpec.data(), kSpec.size(), nullptr, &graph, nullptr) != INGOT_OK;
        failures += ingot_program_count(program, INGOT_PARAM, &count, nullptr) != INGOT_OK;
        failures += count != 2;
        ingot_graph_free(graph);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  ingot_program_free(program);
}
