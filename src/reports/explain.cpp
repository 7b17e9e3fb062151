// SPDX-License-Identifier: Apache-2.0
// See explain.h. Compares the kernels of the graph with those of its operators compiled one by one.
#include "src/reports/explain.h"

#include "ir/text/printer.h"
#include "src/dim_sizes.h"
#include "src/reports/explain_kernels.h"
#include "src/reports/operator_graphs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>

namespace ingot {
namespace {

llvm::Expected<OtherPlan> cost_of(const Graph& graph, const CompileOptions& options,
                                  const DimBindings& sizes) {
  auto compilation = compile_graph(graph, options);
  if (!compilation) return compilation.takeError();
  auto facts = explain_kernels(*compilation, sizes);
  if (!facts) return facts.takeError();
  return OtherPlan{facts->launches(), facts->bytes, facts->predicted_seconds};
}

llvm::Expected<OtherPlan> cost_unfused(const Compilation& compilation, const DimBindings& sizes) {
  OtherPlan sum;
  std::map<std::string, OtherPlan> known; // equal operators are compiled once
  for (const Graph& graph : operator_graphs(compilation.graph)) {
    const std::string text = print_graph(graph);
    auto found = known.find(text);
    if (found == known.end()) {
      auto alone = cost_of(graph, compilation.options, sizes);
      if (!alone) return alone.takeError();
      found = known.emplace(text, *alone).first;
    }
    sum.kernels += found->second.kernels;
    sum.seconds += found->second.seconds;
    if (llvm::AddOverflow(sum.bytes, found->second.bytes, sum.bytes)) sum.bytes = INT64_MAX;
  }
  return sum;
}

} // namespace

int64_t KernelFacts::bytes() const {
  int64_t sum = 0;
  for (const Transfer& transfer : transfers)
    if (llvm::AddOverflow(sum, transfer.bytes, sum)) return INT64_MAX;
  return sum;
}

int64_t Explanation::launches() const {
  return llvm::count_if(
      kernels, [](const KernelFacts& kernel) { return kernel.program == ProgramKind::launch; });
}

llvm::Expected<Explanation> explain(const Compilation& compilation, const DimBindings& dims) {
  auto sizes = choose_dims(compilation.graph, dims, DimSizes::usual);
  if (!sizes) return sizes.takeError();
  auto result = explain_kernels(compilation, *sizes);
  if (!result) return result;
  auto unfused = cost_unfused(compilation, *sizes);
  if (!unfused) return unfused.takeError();
  result->unfused = *unfused;
  for (const auto& [name, size] : dims) result->given_dims.insert(name);
  if (llvm::any_of(result->kernels, [](const KernelFacts& k) { return k.makes_halves; })) {
    CompileOptions options = compilation.options;
    options.halves_from = INT64_MAX;
    auto plain = cost_of(compilation.graph, options, *sizes);
    if (!plain) return plain.takeError();
    result->without_halves = *plain;
  }
  return result;
}

} // namespace ingot
