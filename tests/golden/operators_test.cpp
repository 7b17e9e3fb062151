// SPDX-License-Identifier: Apache-2.0
// The reference interpreter against PyTorch (operators/operators.json, made by make_goldens.py):
// values against its f64 results, error bounds against its f32 and 16-bit results.
#include "ir/interpreter/compare.h"
#include "ir/text/parser.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ingot;
namespace json = llvm::json;

namespace {

double number(const json::Value& value) {
  if (auto text = value.getAsString())
    return *text == "nan"   ? std::numeric_limits<double>::quiet_NaN()
           : *text == "inf" ? HUGE_VAL
                            : -HUGE_VAL;
  return *value.getAsNumber();
}

/// `key` names the list of values.
Tensor read_tensor(const json::Object& object, llvm::StringRef key) {
  llvm::SmallVector<int64_t, 4> extents;
  for (const json::Value& extent : *object.getArray("shape"))
    extents.push_back(*extent.getAsInteger());
  Tensor tensor(*parse_dtype(*object.getString("dtype")), extents);
  const json::Array& values = *object.getArray(key);
  REQUIRE(static_cast<int64_t>(values.size()) == tensor.count());
  for (size_t i = 0; i < values.size(); ++i) {
    auto at = static_cast<int64_t>(i);
    if (is_float(tensor.dtype()))
      tensor.set(at, number(values[i]));
    else
      tensor.set_integer(at, *values[i].getAsInteger());
  }
  return tensor;
}

struct Goldens {
  json::Value root = nullptr;
  std::map<std::string, Tensor> tensors;

  Goldens() {
    auto file =
        llvm::MemoryBuffer::getFile(INGOT_SOURCE_DIR "/tests/golden/operators/operators.json");
    REQUIRE(!file.getError());
    root = llvm::cantFail(json::parse((*file)->getBuffer()));
    for (const auto& [name, value] : *root.getAsObject()->getObject("tensors"))
      tensors.emplace(name.str(), read_tensor(*value.getAsObject(), "values"));
  }
  const json::Array& cases() const { return *root.getAsObject()->getArray("cases"); }
};

/// f64 evaluations of one formula differ by 2^-29 times the difference of f32 ones; 2^-24 leaves
/// room for library functions and for another order of summation.
bool agrees(double got, double expected, float bound, bool zero_signs) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return expected == got;
  if (expected == 0 && got == 0) return !zero_signs || std::signbit(expected) == std::signbit(got);
  double slack = bound == kAnything ? 0 : std::fabs(bound) * 0x1p-24;
  return std::fabs(got - expected) <= 1e-12 * std::fabs(expected) + slack;
}

void check_values(const Evaluated& result, const json::Object& golden, bool zero_signs) {
  const json::Array& wide = *golden.getArray("f64");
  for (size_t i = 0; i < wide.size(); ++i) {
    double expected = number(wide[i]);
    // A half output overflows where f64 does not.
    if (result.dtype != DType::f32 && std::isinf(result.reals()[i])) continue;
    float bound = result.bounds(0).empty() ? 0 : result.bounds(0)[i];
    INFO("element " << i << ": expected " << expected << ", got " << result.reals()[i] << " within "
                    << bound);
    CHECK(agrees(result.reals()[i], expected, bound, zero_signs));
  }
}

TEST_CASE("every operator gives PyTorch's values, NaN, infinities and signs of zero") {
  Goldens goldens;
  int64_t cases = 0;
  for (const json::Value& value : goldens.cases()) {
    const json::Object& golden = *value.getAsObject();
    std::string spec = golden.getString("spec")->str();
    CAPTURE(spec);
    auto graph = parse_graph(spec, "golden");
    if (!graph) FAIL(take_error(graph.takeError()).second);
    std::vector<const Tensor*> inputs;
    for (const json::Value& name : *golden.getArray("inputs"))
      inputs.push_back(&goldens.tensors.at(name.getAsString()->str()));
    EvaluateOptions options;
    options.precisions = {MatmulPrecision::pedantic};
    auto results = evaluate(*graph, inputs, options);
    if (!results) FAIL(take_error(results.takeError()).second);
    const json::Array& outputs = *golden.getArray("outputs");
    REQUIRE(results->size() == outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const json::Object& output = *outputs[i].getAsObject();
      const Evaluated& result = (*results)[i];
      Tensor own = read_tensor(output, is_float(result.dtype) ? "own" : "values");
      if (is_float(result.dtype)) check_values(result, output, *golden.getBoolean("zero_signs"));
      // PyTorch's result in the tensor's own type is one more implementation: it must lie within
      // the bounds.
      Comparison comparison = compare(result, own, 0);
      INFO(comparison.problem);
      CHECK(comparison.pass);
    }
    ++cases;
  }
  CHECK(cases > 150);
}

} // namespace
