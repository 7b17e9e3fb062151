// SPDX-License-Identifier: Apache-2.0
// Names that users give to tensors and values meet those of the languages, of CUDA and of the
// device library in generated code: none may hide or repeat another.
#include "codegen/program/device_headers.h"
#include "tests/emulation/cases.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

using namespace ingot;
using namespace ingot::emulation;

namespace {

/// Words of C++ and CUDA, macros of their libraries, and names close to those that are generated.
const std::vector<std::string> kNasty = {

    "and_eq",    "bitor",    "catch",   "char8_t",  "co_await", "decltype",   "final",
    "goto",      "nullptr",  "signed",  "typeid",   "union",    "wchar_t",    "xor",
    "dim3",      "warpSize", "gridDim", "uint3",    "float4",   "clock",      "printf",
    "main",      "assert",   "NULL",    "INFINITY", "NAN",      "EOF",        "errno",
    "linux",     "unix",     "INT_MAX", "isnan",    "FLT_MAX",  "std",        "memcpy",
    "size_t",    "uint32_t", "stdout",  "LoadX",    "MapX",     "SumReducer", "LaneRowLayout",
    "TileGrid",  "_",        "__x",     "_X",       "x__y",     "in_c0_g_0",  "c0_g_0",
    "x_",        "x_2",      "v_x",     "vX",       "X",        "Sum",        "SumInput",
    "ReduceMax", "e",        "E1"};

/// Every word of the device library.
std::vector<std::string> library_names() {
  std::set<std::string> names;
  for (const DeviceHeader& header : device_headers()) {
    std::string word;
    for (char c : header.text.str() + " ") {
      if (llvm::isAlnum(c) || c == '_') {
        word += c;
        continue;
      }
      if (is_identifier(word)) names.insert(word);
      word.clear();
    }
  }
  return {names.begin(), names.end()};
}

/// The names of inputs, of intermediate values and of outputs: name k in place (k + shift) % 3.
Case case_of(llvm::ArrayRef<std::string> names, size_t shift) {
  std::string inputs = "first_input: f32[7]", chain, outputs, last = "first_input", sum = last;
  for (size_t k = 0; k < names.size(); ++k) {
    const std::string& name = names[k];
    switch ((k + shift) % 3) {
    case 0:
      inputs += fmt::format(", {}: f32[7]", name);
      sum += " + " + name;
      break;
    case 1:
      chain += fmt::format("  {} = tanh({} + 0.5)\n", name, last);
      last = name;
      break;
    default: outputs += fmt::format(", {}=first_input * {}.0", name, k + 3); break;
    }
  }
  return {fmt::format("graph g({}) {{\n{}  return last_output={} * ({}){} }}", inputs, chain, last,
                      sum, outputs)};
}

} // namespace

TEST_CASE("emulation: no name of a user collides with generated code") {
  std::vector<Case> cases;
  for (size_t shift : {0, 1, 2}) cases.push_back(case_of(kNasty, shift));
  const std::vector<std::string> names = library_names();
  CHECK(names.size() > 400);
  for (llvm::ArrayRef<std::string> rest = names; !rest.empty();) {
    const size_t count = std::min<size_t>(rest.size(), 120);
    cases.push_back(case_of(rest.take_front(count), cases.size()));
    rest = rest.drop_front(count);
  }
  CHECK(check_cases(cases) == "");
}

TEST_CASE("emulation: derived names do not collide with each other") {
  CHECK(check_cases({
            {"graph g(x_value: f32[4]) { load_x = relu(x_value) return load_x }"},
            {"graph g(x_output: f32[4]) { load_x = relu(x_output) return load_x }"},
            {"graph g(x: f32[4, 8], dim_m: f32[m], m_: f32[m]) {\n"
             "  sum_ = sum(x, 1) return sum_input=sum_, sum_partial=dim_m + m_ }",
             {{{"m", 4}}}},
            {"graph g(held: f32[4, 8], streamed: f32[8], Kernel: f32[4, 1]) {\n"
             "  return softmax(held + streamed * Kernel, axis=1) }"},
            {"graph g(a: f32[4], a_: f32[4], a_2: f32[4], A: f32[4], vA: f32[4]) {\n"
             "  return y=a - a_ * a_2, Y=A - vA }"},
        }) == "");
}

TEST_CASE("emulation: a value may have the name of the code that computes its index") {
  CHECK(check_cases({
            {"graph g(t: f32[8, 4], i: i32[5, 4]) {\n"
             "  gathered = gather(t, i, axis=0) return y=exp(gathered) }"},
            {"graph g(x: f32[33, m]) {\n"
             "  nonzero = iota(i32, [33, m], axis=0) return y=x * cast(nonzero + 1, f32) }",
             {{{"m", 5}}, {{"m", 8}}}},
            {"graph g(x: i32[2, 4]) {\n"
             "  within = iota(i32, [3, 4], axis=0) return y=concat([within, x], axis=0) + 1 }"},
        }) == "");
}
