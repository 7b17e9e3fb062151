// SPDX-License-Identifier: Apache-2.0
// Reports on graphs without a GPU, from C++ and from C: their tensors, explanations, reference
// runs, and the list of functions.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" // C leaves fields out

#include "ingot/ingot.h"
#include "ingot/ingot_c.h"

#include "llvm/Support/JSON.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace ingot;

namespace {

const std::string kSpec = "graph chain(x: f32[m, 2], param w: f32[3, 2], t: i64[2*m]) {\n"
                          "  return y = linear(x, w), n = t + 1, s = sum(x) }\n";

/// The message of a C call, whose code must be `expected`.
template <typename Call> std::string refusal(ingot_code expected, Call call) {
  ingot_error* error = nullptr;
  CHECK(call(&error) == expected);
  std::string text = ingot_error_message(error);
  ingot_error_free(error);
  return text;
}

struct CGraphOf {
  ingot_graph* graph = nullptr;
  explicit CGraphOf(const std::string& spec = kSpec) {
    REQUIRE(ingot_graph_parse(spec.data(), spec.size(), nullptr, &graph, nullptr) == INGOT_OK);
  }
  ~CGraphOf() { ingot_graph_free(graph); }
};

std::string text_of(ingot_bytes* bytes) {
  std::string text(ingot_bytes_data(bytes), ingot_bytes_size(bytes));
  ingot_bytes_free(bytes);
  return text;
}

template <typename T> std::vector<T> elements(const std::string& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

} // namespace

TEST_CASE("api: a graph tells its tensors") {
  const auto graph = parse(kSpec);
  REQUIRE(graph.ok());
  REQUIRE(graph->inputs().size() == 2);
  CHECK(graph->inputs()[1].name == "t");
  CHECK(graph->inputs()[1].type == ElementType::i64);
  CHECK(graph->inputs()[1].shape[0].name() == "2*m");
  REQUIRE(graph->params().size() == 1);
  CHECK(graph->params()[0].shape[0].value() == 3);
  REQUIRE(graph->outputs().size() == 3);
  CHECK(graph->outputs()[0].shape[0].name() == "m");
  CHECK(graph->outputs()[2].shape.empty());
}

TEST_CASE("c api: a graph tells its tensors") {
  const CGraphOf of;
  size_t count = 0;
  CHECK(ingot_graph_count(of.graph, INGOT_OUTPUT, &count, nullptr) == INGOT_OK);
  CHECK(count == 3);
  ingot_tensor_info info = {sizeof info};
  REQUIRE(ingot_graph_tensor(of.graph, INGOT_INPUT, 1, &info, nullptr) == INGOT_OK);
  CHECK(info.name == std::string("t"));
  CHECK(info.type == INGOT_I64);
  REQUIRE(info.rank == 1);
  CHECK(info.shape[0].name == std::string("2*m"));
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          return ingot_graph_tensor(of.graph, INGOT_PARAM, 1, &info, error);
        }) == "index: expected one of 1 tensors, got 1");
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          return ingot_graph_count(of.graph, 3, &count, error);
        }).find("role: 3 is no ingot_role") == 0);
}

TEST_CASE("api: explain follows the options and sizes") {
  const auto graph = parse(kSpec);
  const DimRange m[] = {{"m", 7, 7}};
  const auto text = explain(*graph, {.device = "h100"}, ExplainFormat::text, m);
  REQUIRE_MESSAGE(text.ok(), text.status().message());
  CHECK(text->find("sm_90") != std::string::npos);
  const auto json = explain(*graph, {.device = "a100"}, ExplainFormat::json, m);
  REQUIRE(json.ok());
  auto read = llvm::json::parse(*json);
  REQUIRE(bool(read));
  CHECK(read->getAsObject()->getObject("dims")->getInteger("m") == 7);
  CHECK(read->getAsObject()->getString("arch") == "sm_80");
  CHECK(explain(*graph, {}, ExplainFormat::dot)->find("digraph") != std::string::npos);
  CHECK(explain(*graph, {}, ExplainFormat::svg)->find("<svg") != std::string::npos);
}

TEST_CASE("api: explain refuses sizes, formats and devices that are none") {
  const auto graph = parse(kSpec);
  auto message = [&](const std::vector<DimRange>& dims, ExplainFormat format = ExplainFormat::text,
                     const char* device = "a100") {
    const auto text = explain(*graph, {.device = device}, format, dims);
    CHECK(text.status().code() == StatusCode::invalid_argument);
    return text.status().message();
  };
  CHECK(message({{"m", 1, 2}}) == "dimension 'm': expected one size of at least 0, got 1 to 2");
  CHECK(message({{"m", -1, -1}}) == "dimension 'm': expected one size of at least 0, got -1 to -1");
  CHECK(message({{"m", 1, 1}, {"m", 1, 1}}) == "dimension 'm' is given twice; give one size");
  CHECK(message({{"k", 1, 1}}) == "graph 'chain' has no named dimension 'k': expected m");
  CHECK(message({}, static_cast<ExplainFormat>(4)).find("4 is no ExplainFormat") !=
        std::string::npos);
  CHECK(message({}, ExplainFormat::text, "h900").find("h900") != std::string::npos);
}

TEST_CASE("c api: explain") {
  const CGraphOf of;
  const ingot_dim m = {"m", 7, 7};
  const ingot_options options = {.struct_size = sizeof options, .device = "h100"};
  ingot_bytes* text = nullptr;
  REQUIRE(ingot_explain(of.graph, &options, INGOT_EXPLAIN_TEXT, &m, 1, &text, nullptr) == INGOT_OK);
  CHECK(text_of(text).find("m = 7") != std::string::npos);
  REQUIRE(ingot_explain(of.graph, nullptr, INGOT_EXPLAIN_SVG, nullptr, 0, &text, nullptr) ==
          INGOT_OK);
  CHECK(text_of(text).find("<svg") != std::string::npos);
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          return ingot_explain(of.graph, nullptr, 4, nullptr, 0, &text, error);
        }).find("format: 4 is no ingot_explain_format") == 0);
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [&](ingot_error** error) {
          return ingot_explain(of.graph, nullptr, 0, nullptr, 0, nullptr, error);
        }) == "text: expected where to store it, got null");
}

TEST_CASE("api: a reference run rounds f64 once") {
  const auto graph = parse(kSpec);
  // The sum of x in f32, in any order, is 0 or 2^25; in f64 it is 2.
  std::vector<float> x = {33554432.0F, 1.0F, -33554432.0F, 1.0F};
  std::vector<float> w = {1, 0, 0, 1, 1, 1};
  std::vector<int64_t> t = {std::numeric_limits<int64_t>::max(), 2, 3, 4};
  const int64_t x_extents[] = {2, 2}, t_extents[] = {4};
  const TensorView inputs[] = {{x.data(), x_extents}, {t.data(), t_extents}};
  const TensorView params[] = {{w.data()}};
  const auto results = reference(*graph, inputs, params);
  REQUIRE_MESSAGE(results.ok(), results.status().message());
  REQUIRE(results->size() == 3);
  const HostTensor& y = (*results)[0];
  CHECK(y.name == "y");
  CHECK(y.extents == std::vector<int64_t>{2, 3});
  CHECK(elements<float>(y.bytes) ==
        std::vector<float>{33554432.0F, 1, 33554432.0F, -33554432.0F, 1, -33554432.0F});
  CHECK((*results)[1].type == ElementType::i64);
  CHECK(elements<int64_t>((*results)[1].bytes)[0] == std::numeric_limits<int64_t>::min());
  CHECK((*results)[2].extents.empty());
  CHECK(elements<float>((*results)[2].bytes) == std::vector<float>{2});
}

TEST_CASE("api: a reference run of NaN, booleans, 16-bit types and no rows") {
  const auto graph = parse("graph g(h: bf16[m, 2], b: bool[2]) {\n"
                           "  return y = relu(h), c = not(b) }");
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  std::vector<uint16_t> h = {0x7fc0, 0xbf80, 0x3f80, 0x7f80}; // NaN, -1, 1, infinity
  std::vector<uint8_t> b = {0, 2};                            // any byte but 0 is true
  int64_t extents[] = {2, 2};
  auto results = reference(*graph, std::vector<TensorView>{{h.data(), extents}, {b.data()}});
  REQUIRE_MESSAGE(results.ok(), results.status().message());
  const auto y = elements<uint16_t>((*results)[0].bytes);
  CHECK((y[0] & 0x7fff) > 0x7f80);
  CHECK(std::vector<uint16_t>(y.begin() + 1, y.end()) == std::vector<uint16_t>{0, 0x3f80, 0x7f80});
  CHECK(elements<uint8_t>((*results)[1].bytes) == std::vector<uint8_t>{1, 0});
  extents[0] = 0;
  results = reference(*graph, std::vector<TensorView>{{nullptr, extents}, {b.data()}});
  REQUIRE_MESSAGE(results.ok(), results.status().message());
  CHECK((*results)[0].bytes.empty());
  CHECK((*results)[0].extents == std::vector<int64_t>{0, 2});
}

TEST_CASE("api: a reference run refuses tensors that are not the graph's") {
  const auto graph = parse("graph g(x: f32[m, 2], z: f32[m]) { return y = relu(x), w = z }");
  REQUIRE_MESSAGE(graph.ok(), graph.status().message());
  std::vector<float> x(8);
  auto message = [&](const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                     void* data = nullptr) {
    const TensorView inputs[] = {{data ? data : x.data(), a}, {x.data(), b}};
    return reference(*graph, inputs).status().message();
  };
  CHECK(message({2, 2}, {2}).empty());
  CHECK(message({2, 2}, {3}).find("z") != std::string::npos);
  CHECK(message({2, 3}, {2}).find("expected f32[m, 2], got f32[2, 3]") != std::string::npos);
  CHECK(message({4}, {2}).find("expected f32[m, 2], got f32[4]") != std::string::npos);
  CHECK(message({-1, 2}, {2}).find("expected extents of at least 0") != std::string::npos);
  CHECK(message({int64_t{1} << 62, 2}, {2}).find("memory can hold") != std::string::npos);
  const int64_t extents[] = {2, 2}, one[] = {2};
  CHECK(reference(*graph, std::vector<TensorView>{{nullptr, extents}, {x.data(), one}})
            .status()
            .message() == "tensor 'x': expected 4 elements in host memory, got null");
  CHECK(
      reference(*graph, std::vector<TensorView>{{x.data()}, {x.data(), one}}).status().message() ==
      "tensor 'x' has a named dimension: give its extents");
  CHECK(reference(*graph, {}).status().message() == "expected 2 input tensors, got 0");
  CHECK(reference(*graph, std::vector<TensorView>{{x.data(), extents}, {x.data(), one}},
                  std::vector<TensorView>{{x.data(), one}})
            .status()
            .message() == "expected 0 param tensors, got 1");
}

TEST_CASE("c api: a reference run") {
  const CGraphOf of("graph g(x: f32[m, 2], param w: f32[2]) { return y = x * w, s = sum(x) }");
  float x[] = {1, 2, 3, 4}, w[] = {2, 3};
  const int64_t extents[] = {2, 2};
  const ingot_tensor input = {x, extents, 2}, param = {w};
  ingot_bytes* outputs[2] = {};
  int64_t y_shape[2] = {};
  int64_t* shapes[] = {y_shape, nullptr}; // the other has no extents
  ingot_reference_arguments arguments = {sizeof arguments, &input, 1, &param, 1,
                                         outputs,          shapes, 2};
  auto run = [&](ingot_error** error) { return ingot_reference(of.graph, &arguments, error); };
  REQUIRE(run(nullptr) == INGOT_OK);
  CHECK(elements<float>(text_of(outputs[0])) == std::vector<float>{2, 6, 6, 12});
  CHECK(elements<float>(text_of(outputs[1])) == std::vector<float>{10});
  CHECK((y_shape[0] == 2 && y_shape[1] == 2));
  arguments.shapes = nullptr; // not wanted
  REQUIRE(run(nullptr) == INGOT_OK);
  for (ingot_bytes* output : outputs) ingot_bytes_free(output);

  shapes[0] = nullptr;
  arguments.shapes = shapes;
  CHECK(refusal(INGOT_INVALID_ARGUMENT, run) == "shapes[0]: expected 2 places, got null");
  arguments.outputs = nullptr;
  CHECK(refusal(INGOT_INVALID_ARGUMENT, run) == "outputs: expected 2 places, got null");
  arguments.num_outputs = SIZE_MAX;
  CHECK(refusal(INGOT_INVALID_ARGUMENT, run) ==
        "expected 2 output tensors, got 18446744073709551615");
  arguments.num_inputs = SIZE_MAX;
  CHECK(refusal(INGOT_INVALID_ARGUMENT, run) ==
        "expected 1 input tensors, got 18446744073709551615");
  arguments.struct_size = 0;
  CHECK(refusal(INGOT_INVALID_ARGUMENT, run).find("struct_size is 0") != std::string::npos);
}

TEST_CASE("c api: the list of functions has parameters, defaults and summaries") {
  ingot_bytes* bytes = nullptr;
  REQUIRE(ingot_functions(&bytes, nullptr) == INGOT_OK);
  auto list = llvm::json::parse(text_of(bytes));
  REQUIRE(bool(list));
  const llvm::json::Object* softmax = nullptr;
  const llvm::json::Object* clamp = nullptr;
  std::string last;
  for (const llvm::json::Value& value : *list->getAsArray()) {
    const auto& function = *value.getAsObject();
    const std::string name = function.getString("name")->str();
    CHECK(last < name);
    last = name;
    if (name == "softmax") softmax = &function;
    if (name == "clamp") clamp = &function;
  }
  REQUIRE((softmax && clamp));
  CHECK(softmax->getString("summary")->starts_with("exp(x - max)"));
  const llvm::json::Array& parameters = *softmax->getArray("parameters");
  CHECK(parameters[0].getAsObject()->getString("kind") == "tensor");
  CHECK(!parameters[0].getAsObject()->get("default"));
  CHECK(parameters[1].getAsObject()->getInteger("default") == -1);
  const auto* least = (*clamp->getArray("parameters"))[1].getAsObject();
  CHECK(least->get("default")->getAsNull());
  CHECK(refusal(INGOT_INVALID_ARGUMENT, [](ingot_error** error) {
          return ingot_functions(nullptr, error);
        }) == "json: expected where to store it, got null");
}
