// SPDX-License-Identifier: Apache-2.0
// `ingot bench`: how long the kernels of a graph take.
#include "src/reports/bench.h"

#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"

#include "llvm/Support/FormatVariadic.h"

namespace ingot::cli {
namespace {

constexpr const char* kOverview =
    R"(Launches the kernels of the graph in FILE on the first GPU, on random inputs, until its
clocks have settled, then measures launch by launch, each with an L2 cache that holds
nothing of it: median and spread on the GPU, time of the calling thread for a launch, bytes
and operations a second as shares of the most that the same GPU does in the same run, and
the time of prepare. Results are not looked at: `ingot check` does that.
)";

struct BenchArguments {
  GraphFile file;
  CompileFlags flags;
  PrecisionFlag precision;
  DimFlags dims;
  Switch json{"json", "print a JSON object with the same facts"};
};

llvm::Error bench_file(const BenchArguments& arguments) {
  BenchOptions options;
  auto precision = arguments.precision.read();
  if (!precision) return precision.takeError();
  auto dims = arguments.dims.read();
  if (!dims) return dims.takeError();
  options.dims = std::move(*dims);
  // Before any step that needs a GPU, so that errors of the file show on machines without one.
  auto graph = arguments.file.read();
  if (!graph) return graph.takeError();
  auto compile = arguments.flags.options(Use::launch);
  if (!compile) return compile.takeError();
  options.compile = std::move(*compile);
  options.compile.precision = *precision;
  auto dump = arguments.flags.dump();
  if (!dump) return dump.takeError();
  options.observer = dump->observer();
  auto report = bench_on_gpu(*graph, options, make_service());
  if (auto error = dump->finish()) return llvm::joinErrors(report.takeError(), std::move(error));
  if (!report) return report.takeError();
  print(arguments.json ? llvm::formatv("{0:2}\n", json_of(*report)).str() : text_of(*report));
  return llvm::Error::success();
}

} // namespace

int bench(int argc, char** argv) { return run_command(argc, argv, kOverview, bench_file); }

} // namespace ingot::cli
