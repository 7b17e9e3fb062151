// SPDX-License-Identifier: Apache-2.0
// Random legal graphs: their text reads back as the same graph, and rewrites keep their results.
#include "ir/interpreter/compare.h"
#include "ir/passes/passes.h"
#include "ir/random.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tests/support/equivalence.h"
#include "tests/support/fuzz_graphs.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

namespace {

using namespace ingot;

[[noreturn]] void fail(const Graph& graph, const Graph& rewritten, const std::string& problem) {
  std::fprintf(stderr, "%s\n%s\n%s\n", problem.c_str(), print_graph(graph).c_str(),
               print_graph(rewritten).c_str());
  std::abort();
}

void check_round_trip(const Graph& graph) {
  std::string text = print_graph(graph);
  auto again = parse_graph(text, "printed");
  if (!again) fail(graph, graph, take_error(again.takeError()).second);
  if (!equivalent(graph, *again) || print_graph(*again) != text)
    fail(graph, *again, "the text reads back as another graph");
}

std::vector<Tensor> draw_inputs(const Graph& graph) {
  DimBindings dims;
  for (const std::string& name : graph.dim_names()) dims[name] = 5;
  std::vector<Tensor> inputs;
  for (ValueId id : graph.inputs()) {
    const Type& type = graph.type(id);
    Tensor& tensor = inputs.emplace_back(type.dtype, evaluate_shape(type.shape, dims));
    fill_random(tensor, {Distribution::Kind::uniform, -1, 1}, id.index);
    if (type.dtype == DType::f32) continue;
    for (int64_t i = 0; i < tensor.count(); ++i) tensor.set_integer(i, (i * 7 + 1) % 3);
  }
  return inputs;
}

std::vector<Evaluated> evaluated(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs) {
  EvaluateOptions options;
  options.threads = 1;
  return llvm::cantFail(evaluate(graph, inputs, options));
}

void check_rewrite(const Graph& graph, MathMode mode) {
  Graph rewritten = llvm::cantFail(run_passes(graph, {mode}));
  if (auto error = verify(rewritten)) fail(graph, rewritten, take_error(std::move(error)).second);
  check_round_trip(rewritten);
  std::vector<Tensor> tensors = draw_inputs(graph);
  std::vector<const Tensor*> inputs;
  for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
  std::vector<Evaluated> expected = evaluated(graph, inputs), got = evaluated(rewritten, inputs);
  CompareOptions options;
  const bool is_strict = mode == MathMode::strict;
  if (!is_strict) options.non_finite = CompareOptions::NonFinite::any_kind;
  for (size_t i = 0; i < expected.size(); ++i) {
    Comparison comparison = compare(expected[i], got[i].to_tensor(), 0, options);
    if (!comparison.pass)
      fail(graph, rewritten,
           (is_strict ? "strict: " : "relaxed: ") + expected[i].name + ": " + comparison.problem);
  }
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Graph graph = testing::random_graph({data, size});
  llvm::cantFail(verify(graph));
  check_round_trip(graph);
  check_rewrite(graph, MathMode::strict);
  check_rewrite(graph, MathMode::relaxed);
  return 0;
}
