// SPDX-License-Identifier: Apache-2.0
// `ingot explain`: the kernels of a graph and the reasons for them.
#include "src/reports/explain.h"

#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"
#include "tools/ingot/terminal.h"

namespace ingot::cli {
namespace {

using Format = std::string (*)(const Explanation&);

std::string coloured_text(const Explanation& explanation) {
  return text_of(explanation, has_colour(llvm::outs()));
}

constexpr Choice<Format> kFormats[] = {
    {"text", coloured_text}, {"json", json_of}, {"dot", dot_of}, {"svg", svg_of}};

constexpr const char* kOverview =
    R"(Predicts the time of the kernels of the graph in FILE and the bytes that they move, beside
the same operators one by one. Then shows the kernels in the order in which they run: their
ops, the tensors that they read and write, and why they are several. Needs no GPU.
)";

struct ExplainArguments {
  GraphFile file;
  CompileFlags flags;
  PrecisionFlag precision;
  CountOption candidates{"candidates",
                         "other schedules of each kernel to show: up to 1000 (default 0)", 0, "0"};
  DimFlags dims;
  TextOption format{"format", "kind",
                    "text (default), json with the same facts, or a drawing of the kernels and\n"
                    "their boundaries: dot for Graphviz, or svg",
                    "text"};
};

llvm::Error explain_file(const ExplainArguments& arguments) {
  auto precision = arguments.precision.read();
  if (!precision) return precision.takeError();
  auto format = choose("--format", arguments.format, kFormats);
  if (!format) return format.takeError();
  auto options = arguments.flags.options(Use::reports);
  if (!options) return options.takeError();
  options->precision = *precision;
  auto candidates = arguments.candidates.read();
  if (!candidates) return candidates.takeError();
  auto dims = arguments.dims.read();
  if (!dims) return dims.takeError();
  auto dump = arguments.flags.dump();
  if (!dump) return dump.takeError();
  auto graph = arguments.file.read();
  if (!graph) return graph.takeError();
  auto compilation = compile_graph(std::move(*graph), *options, dump->observer());
  if (!compilation) return llvm::joinErrors(compilation.takeError(), dump->finish());
  auto explanation = ingot::explain(*compilation, *dims, *candidates);
  if (!explanation) return explanation.takeError();
  if (auto error = dump->finish()) return error;
  print((*format)(*explanation));
  return llvm::Error::success();
}

} // namespace

int explain(int argc, char** argv) { return run_command(argc, argv, kOverview, explain_file); }

} // namespace ingot::cli
