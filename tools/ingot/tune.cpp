// SPDX-License-Identifier: Apache-2.0
// `ingot tune`: the fastest schedules of a graph's kernels, measured and kept.
#include "src/reports/tune.h"

#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"
#include "tools/ingot/terminal.h"

#include "llvm/Support/FormatVariadic.h"

namespace ingot::cli {
namespace {

constexpr const char* kOverview =
    "Measures candidates for the schedule of each kernel of the graph in FILE on the first GPU,\n"
    "those that are predicted to be the fastest first, and keeps the winners in the cache of\n"
    "compiled kernels. Other commands and programs use them for the same kernels on such a card.\n"
    "Each candidate's results are compared with the f64 reference before it is measured.\n"
    "A kernel of named dimensions is measured at one size of each, and serves all.\n";

struct TuneArguments {
  GraphFile file;
  CompileFlags flags;
  PrecisionFlag precision;
  CountOption candidates{"candidates", "of each kernel, at most: from 1 to 1000 (default 24)", 1,
                         "24"};
  DimFlags dims;
  QuietFlag quiet;
  Switch json{"json", "print a JSON object with the same facts"};
};

llvm::Error tune_file(const TuneArguments& arguments) {
  TuneOptions options;
  auto precision = arguments.precision.read();
  if (!precision) return precision.takeError();
  auto candidates = arguments.candidates.read();
  if (!candidates) return candidates.takeError();
  options.candidates = *candidates;
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
  CacheSettings settings = CacheSettings::from_environment();
  settings.problems.clear(); // the service says them
  settings.warn = warn;
  TunedSchedules tuned(std::move(settings));
  Progress progress(arguments.quiet.quiet);
  auto report = tune_on_gpu(
      *graph, options, make_service(), tuned,
      [&](const std::string& what, size_t done, size_t all) { progress.say(what, done, all); });
  progress.finish();
  if (!report) return report.takeError();
  print(arguments.json ? llvm::formatv("{0:2}\n", json_of(*report)).str() : text_of(*report));
  return llvm::Error::success();
}

} // namespace

int tune(int argc, char** argv) { return run_command(argc, argv, kOverview, tune_file); }

} // namespace ingot::cli
