// SPDX-License-Identifier: Apache-2.0
// Calls of the C interface that the header does not allow: sizes out of range, lists and files
// without an end. Each gives a status.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" // C leaves fields out

#include "ingot/ingot.h"
#include "ingot/ingot_c.h"
#include "tests/support/temporary_folder.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace ingot;

namespace {

/// The message of a call, whose code must be that one.
template <typename Call> std::string refusal(ingot_code expected, Call call) {
  ingot_error* error = nullptr;
  const ingot_code code = call(&error);
  CHECK(code == expected);
  std::string text = ingot_error_message(error);
  ingot_error_free(error);
  return text;
}

struct CProgramOf {
  ingot_graph* graph = nullptr;
  ingot_program* program = nullptr;

  explicit CProgramOf(const std::string& spec) {
    const ingot_options options = {sizeof(options), nullptr, "h100"};
    REQUIRE(ingot_graph_parse(spec.data(), spec.size(), nullptr, &graph, nullptr) == INGOT_OK);
    REQUIRE(ingot_compile(graph, &options, &program, nullptr) == INGOT_OK);
  }
  ~CProgramOf() {
    ingot_program_free(program);
    ingot_graph_free(graph);
  }
};

struct CBuilderOf {
  ingot_builder* builder = nullptr;
  ingot_value x = {};

  CBuilderOf() {
    const ingot_extent shape = {4, nullptr};
    REQUIRE(ingot_builder_create("g", &builder, nullptr) == INGOT_OK);
    REQUIRE(ingot_builder_input(builder, "x", INGOT_F32, &shape, 1, &x, nullptr) == INGOT_OK);
  }
  ~CBuilderOf() { ingot_builder_free(builder); }

  std::string refusal_of(const ingot_argument& list) {
    ingot_argument arguments[2] = {};
    arguments[0].kind = INGOT_ARGUMENT_VALUE;
    arguments[0].value = x;
    arguments[1] = list;
    return refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
      ingot_value result;
      return ingot_builder_call(builder, "reshape", arguments, 2, &result, 1, nullptr, error);
    });
  }
};

ingot_argument list_of(const ingot_argument* list, size_t size) {
  ingot_argument result = {};
  result.kind = INGOT_ARGUMENT_LIST;
  result.list = list;
  result.list_size = size;
  return result;
}

} // namespace

TEST_CASE("c: a struct_size that no struct has is refused") {
  const CProgramOf of("graph g(x: f32[4]) { return y = relu(x) }");
  for (size_t size : {size_t{0}, size_t{7}, size_t{513}, size_t{1} << 40, SIZE_MAX}) {
    ingot_options options = {size};
    CHECK(refusal(INGOT_INVALID_ARGUMENT,
                  [&](ingot_error** error) {
                    ingot_program* program = nullptr;
                    return ingot_compile(of.graph, &options, &program, error);
                  }) == "ingot_options: struct_size is " + std::to_string(size) +
                            "; expected sizeof(ingot_options)");
    ingot_memory memory = {size};
    CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
            return ingot_program_memory(of.program, nullptr, 0, &memory, error);
          }) == "ingot_memory: expected a struct whose struct_size is sizeof(ingot_memory)");
    ingot_launch_arguments launch = {size};
    CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
            return ingot_program_launch(of.program, &launch, error);
          }).find("struct_size is ") != std::string::npos);
  }
}

TEST_CASE("c: counts of tensors and dims that are none are refused before they are read") {
  const CProgramOf of("graph g(x: f32[m]) { return y = relu(x) }");
  const ingot_tensor tensor = {};
  ingot_launch_arguments launch = {sizeof(launch), &tensor, SIZE_MAX};
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          return ingot_program_launch(of.program, &launch, error);
        }) == "expected 1 input tensors, got 18446744073709551615");
  const ingot_dim dim = {"m", 3, 3};
  int64_t extent = 0;
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          return ingot_program_shape(of.program, INGOT_INPUT, 0, &dim, SIZE_MAX, &extent, 1, error);
        }) == "dims: expected at most 1024, got 18446744073709551615");
}

TEST_CASE("c: a dim that is given twice is refused") {
  const CProgramOf of("graph g(x: f32[m]) { return y = relu(x) }");
  const ingot_dim dims[] = {{"m", 3, 3}, {"m", 5, 5}};
  int64_t extent = 0;
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          return ingot_program_shape(of.program, INGOT_INPUT, 0, dims, 2, &extent, 1, error);
        }) == "shape of 'x': dimension 'm' is given twice; give one size");
  ingot_memory memory = {sizeof(memory)};
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          return ingot_program_memory(of.program, dims, 2, &memory, error);
        }) == "dimension 'm' of 'g' is given twice; give one range");
}

TEST_CASE("c: a list that holds itself, and deep and long ones, are refused") {
  const std::string too_deep = "reshape: argument 1: expected lists nested at most 8 deep";
  ingot_argument itself[2];
  itself[0] = itself[1] = list_of(itself, 2);
  CHECK(CBuilderOf().refusal_of(itself[0]) == too_deep);

  std::vector<ingot_argument> chain(200'000);
  for (size_t i = 0; i + 1 < chain.size(); ++i) chain[i] = list_of(&chain[i + 1], 1);
  chain.back() = list_of(nullptr, 0);
  CHECK(CBuilderOf().refusal_of(chain.front()) == too_deep);

  const ingot_argument one = {};
  CHECK(CBuilderOf().refusal_of(list_of(&one, SIZE_MAX)) ==
        "reshape: argument 1: expected at most 1048576 arguments, those in lists included");
  std::vector<ingot_argument> wide(1000, list_of(&one, 1)), wider(1000), widest(1000);
  std::fill(wider.begin(), wider.end(), list_of(wide.data(), wide.size()));
  std::fill(widest.begin(), widest.end(), list_of(wider.data(), wider.size()));
  CHECK(CBuilderOf().refusal_of(list_of(widest.data(), widest.size())) ==
        "reshape: argument 1: expected at most 1048576 arguments, those in lists included");
}

TEST_CASE("api: lists of the builder nested too deep are refused") {
  GraphBuilder g("g");
  Arg::List list;
  for (int i = 0; i < 100; ++i) {
    Arg::List outer(1);
    outer[0].value = std::move(list);
    list = std::move(outer);
  }
  g.call("reshape", {g.input("x", ElementType::f32, {4}), Arg(std::move(list))});
  CHECK(g.status().message() == "reshape: expected lists nested at most 8 deep");
}

TEST_CASE("c: a bundle is a regular file of bounded size") {
  const ingot::testing::TemporaryFolder folder;
  const std::string pipe = folder / "pipe", sparse = folder / "sparse";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int file = open(sparse.c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(ftruncate(file, off_t{20} << 30) == 0);
  close(file);
  auto load = [](const std::string& path) {
    return refusal(INGOT_IO_ERROR, [&](ingot_error** error) {
      ingot_program* program = nullptr;
      return ingot_program_load_file(path.c_str(), &program, error);
    });
  };
  for (const std::string& path :
       {pipe, std::string("/dev/zero"), std::string("/dev/stdin/../null")})
    CHECK(load(path).find("cannot read '" + path + "': ") == 0);
  CHECK(load("/dev/zero").find("expected a regular file") != std::string::npos);
  CHECK(load(sparse) ==
        "cannot read '" + sparse + "': expected at most 1073741824 bytes, got 21474836480");
  CHECK(load(folder.path()).find("Is a directory") != std::string::npos);
}

TEST_CASE("c: messages hold no control characters of quoted text") {
  const std::string text = refusal(INGOT_IO_ERROR, [&](ingot_error** error) {
    ingot_graph* graph = nullptr;
    return ingot_graph_parse_file("/nowhere/\x1b[31m\xff\u202e.ingot", &graph, error);
  });
  CHECK(text == "cannot read '/nowhere/\\x1b[31m\\xff\\u202e.ingot': No such file or directory");
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          ingot_builder* builder = nullptr;
          return ingot_builder_create("a\rb", &builder, error);
        }).find("graph 'a\\x0db': ") == 0);
}
