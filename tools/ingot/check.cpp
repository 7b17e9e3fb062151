// SPDX-License-Identifier: Apache-2.0
// `ingot check`: the kernels of a graph against the f64 reference, on random inputs.
#include "src/reports/check.h"

#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"
#include "tools/ingot/terminal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::cli {
namespace {

constexpr const char* kOverview =
    R"(Draws random inputs, evaluates the graph in FILE in f64 with a bound on the error that each
element may have, and compares the kernels with it. Each kernel runs twice, into outputs full
of NaN; both runs must agree bit for bit, and wrong results planted into the outputs must be
refused. Exit status 0: passed, or nothing to compare; 1: failed; 2: undecided, because
the bounds admit anything.

error/bound is the largest error of an element divided by that element's own bound: up to 1
passes. Rounding alone brings an output of 16 bits near 1. An element is unproven where its
bound is larger than all values of the output, so that a wrong value would pass.

Inputs: params of a matmul are uniform in +-1/sqrt(K), other params normal, other inputs
uniform in [0, 1) (in [0.5, 1.5) under a root or a logarithm), their rows scaled by factors
between 1/4 and 2 so that no row passes for another, indices in range.
)";

struct CheckArguments {
  GraphFile file;
  CompileFlags flags;
  TextOption on{"on", "place",
                "gpu (default) or reference: without a GPU, only that the rewritten graph\n"
                "has the same results as the graph as given",
                "gpu"};
  llvm::cl::list<std::string> precisions{
      "matmul-precision", llvm::cl::CommaSeparated, llvm::cl::value_desc("names"),
      llvm::cl::desc("precisions to check, a list of pedantic, highest, high, medium (default:\n"
                     "all where the graph multiplies f32 matrices, else highest)"),
      llvm::cl::cat(category())};
  TextOption seed{"seed", "N", "of the random inputs (default 0)", "0"};
  DimFlags dims; ///< the others get small odd sizes
};

llvm::Expected<CheckOptions> read_options(const CheckArguments& arguments, Place place) {
  CheckOptions options;
  if (llvm::StringRef(arguments.seed).getAsInteger(10, options.seed))
    return make_error(ErrorCode::invalid_argument,
                      "--seed: expected a whole number from 0 to {}, got '{}'", UINT64_MAX,
                      arguments.seed.getValue());
  for (const std::string& text : arguments.precisions) {
    auto precision = choose_precision(text);
    if (!precision) return precision.takeError();
    if (!llvm::is_contained(options.precisions, *precision))
      options.precisions.push_back(*precision);
  }
  auto dims = arguments.dims.read();
  if (!dims) return dims.takeError();
  options.dims = std::move(*dims);
  auto compile = arguments.flags.options(place == Place::gpu ? Use::launch : Use::reports);
  if (!compile) return compile.takeError();
  options.compile = std::move(*compile);
  return options;
}

/// An exact result is off by the last step, to its 16-bit type, which the bound has room for.
std::string rounding_note(const OutputCheck& check) {
  if (check.comparison.max_bound_ratio <= 0.5 || !is_float(check.dtype) || size_of(check.dtype) > 2)
    return "";
  return fmt::format(", rounding of {}", spelling(check.dtype).str());
}

std::string verdict_of(const OutputCheck& check) {
  if (!check.problem.empty()) return "FAIL";
  if (check.is_undecided) return "undecided";
  const Comparison& c = check.comparison;
  if (c.count == 0) return "empty";
  if (c.unproven > 0 && c.unproven == c.count) return "unproven";
  std::string verdict = "pass" + rounding_note(check);
  if (c.unproven > 0) verdict += fmt::format(", {} of {} unproven", c.unproven, c.count);
  return verdict;
}

/// The elements of an output for which the comparison shows nothing, a line each.
std::string notes_of(const OutputCheck& check) {
  const Comparison& c = check.comparison;
  std::string notes;
  if (c.unproven > 0) {
    const std::string admits = c.unbounded == c.unproven
                                   ? "have no bound: any value was accepted there"
                                   : fmt::format("have a bound above {:.3g}, the largest value of "
                                                 "'{}': it shows nothing there",
                                                 c.max_value, check.output);
    notes += fmt::format("    {} of {} elements {}\n", c.unproven, c.count, admits);
  }
  if (c.count > 0 && c.nan == c.count)
    notes += fmt::format("    every element of '{}' is NaN, as the graph and these inputs demand\n",
                         check.output);
  return notes;
}

std::string text_of(const OutputCheck& check) {
  const Comparison& c = check.comparison;
  const auto planted = llvm::count_if(check.planted, [](const auto& p) { return p.applies; });
  const auto refused =
      llvm::count_if(check.planted, [](const auto& p) { return p.applies && p.rejected; });
  std::string line =
      fmt::format("  {:<9} {:<12} {:>10.3e} {:>10.3e} {:>11.4f} {:>10.3e} {:>5}/{:<4} {}\n",
                  check.precision, check.output, c.max_error, c.max_bound, c.max_bound_ratio,
                  c.rms_error, refused, planted, verdict_of(check));
  if (!check.problem.empty())
    line += fmt::format("    {} ({} of {} elements outside their bound)\n", check.problem,
                        c.failures, c.count);
  return line + notes_of(check);
}

constexpr const char* kSmallerBounds =
    "try other sizes (--dim), other inputs (--seed), or a precision with smaller bounds\n"
    "(--matmul-precision). Adding large numbers widens bounds: write where(mask, x, -inf)\n";

/// Of outputs that nothing was compared of: "'y' has no elements".
std::string text_of_empty(const CheckReport& report) {
  llvm::SmallVector<std::string, 4> names;
  for (const OutputCheck& check : report.checks)
    if (const std::string name = "'" + check.output + "'";
        check.comparison.count == 0 && !llvm::is_contained(names, name))
      names.push_back(name);
  if (names.empty()) return "";
  return fmt::format("nothing to compare: {} {} no elements", llvm::join(names, ", "),
                     names.size() == 1 ? "has" : "have");
}

/// The last lines: the result of all checks together.
std::string summary_of(const CheckReport& report) {
  const bool is_unproven = llvm::any_of(
      report.checks, [](const OutputCheck& check) { return check.comparison.unproven > 0; });
  if (report.is_undecided)
    return fmt::format("undecided: an output's bounds admit any value;\n{}", kSmallerBounds);
  if (!report.pass) return "FAILED\n";
  const std::string empty = text_of_empty(report);
  if (llvm::all_of(report.checks, [](const auto& check) { return check.comparison.count == 0; }))
    return empty + "\n";
  if (!empty.empty())
    return fmt::format("passed; of some outputs there was {}\n{}", empty,
                       is_unproven ? "of unproven elements nothing is known\n" : "");
  if (!is_unproven) return "passed\n";
  return fmt::format("passed; of unproven elements nothing is known:\n{}", kSmallerBounds);
}

std::string text_of(const CheckReport& report, const Graph& graph, const CheckOptions& options) {
  std::string text = report.device.empty()
                         ? fmt::format("{} on the reference, no kernel was run", graph.name())
                         : fmt::format("{} on {} ({})", graph.name(), report.device, report.arch);
  text += fmt::format(", seed {}", options.seed);
  for (const auto& [name, size] : report.dims) text += fmt::format(", {} = {}", name, size);
  text +=
      "\n  precision output        max error  max bound error/bound  rms error planted  result\n";
  for (const OutputCheck& check : report.checks) text += text_of(check);
  if (report.device.empty())
    text +=
        "checked: the rewritten graph equals the graph as given, in f64, within the bound of a\n"
        "kernel. Kernels are not checked: that needs a GPU and --on=gpu\n";
  return text + summary_of(report);
}

/// The exit status.
llvm::Expected<int> check_file(const CheckArguments& arguments) {
  auto place = parse_place(arguments.on);
  if (!place) return place.takeError();
  // Before any step that needs a GPU, so that errors of the file show on machines without one.
  auto graph = arguments.file.read();
  if (!graph) return graph.takeError();
  auto options = read_options(arguments, *place);
  if (!options) return options.takeError();
  auto dump = arguments.flags.dump();
  if (!dump) return dump.takeError();
  options->observer = dump->observer();
  Progress progress;
  auto say = [&](const std::string& what) { progress.say(what); };
  auto report = *place == Place::gpu ? check_on_gpu(*graph, *options, make_service(), say)
                                     : check_on_reference(*graph, *options, say);
  progress.finish();
  if (auto error = dump->finish()) return llvm::joinErrors(report.takeError(), std::move(error));
  if (!report) return report.takeError();
  print(text_of(*report, *graph, *options));
  return report->pass ? 0 : report->is_undecided ? 2 : 1;
}

} // namespace

int check(int argc, char** argv) { return run_command(argc, argv, kOverview, check_file); }

} // namespace ingot::cli
