// SPDX-License-Identifier: Apache-2.0
// Random chains on the GPU against the f64 reference: ingot_random_chains --seed N --count N. A
// failing chain is made small and printed as a spec that `ingot check` takes. Exit status 1 when
// any failed, 2 at the first that the device did not survive. With --on=reference only the rewrites
// are judged; with --on=plan chains are only compiled to source.
#include "ir/text/printer.h"
#include "src/device.h"
#include "src/reports/check.h"
#include "tests/support/random_chains.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace ingot;
using namespace ingot::testing;

namespace {

llvm::cl::opt<uint64_t> first("seed", llvm::cl::desc("first seed"), llvm::cl::init(1));
llvm::cl::opt<uint64_t> count("count", llvm::cl::desc("number of chains"), llvm::cl::init(20));
llvm::cl::opt<bool> prints("print", llvm::cl::desc("print every chain"));
llvm::cl::opt<bool> is_small("small", llvm::cl::desc("sizes around the edges of tiles"));
llvm::cl::opt<std::string> place("on", llvm::cl::desc("gpu (default), reference or plan"),
                                 llvm::cl::init("gpu"));
llvm::cl::opt<std::string> target("target", llvm::cl::desc("sm_80 or sm_90a; default: the card's"));

/// The result of one chain.
struct Verdict {
  /// lost: a kernel broke the process's context, and nothing more can run in it.
  enum class Kind : uint8_t { passed, failed, unsupported, lost } kind = Kind::passed;
  std::string text;
  std::string failure;               ///< the kind of it, for shrink; empty unless it failed
  int64_t judged = 0, unbounded = 0; ///< elements
};

Verdict verdict_of(llvm::Error error) {
  auto [code, text] = take_error(std::move(error));
  const auto kind = code == ErrorCode::unsupported    ? Verdict::Kind::unsupported
                    : code == ErrorCode::launch_error ? Verdict::Kind::lost
                                                      : Verdict::Kind::failed;
  return {kind, text, kind == Verdict::Kind::failed ? failure_kind(code, text) : "", 0, 0};
}

class Runner {
public:
  Runner() {
    compile_.target = target;
    if (place != "gpu") return;
    compile_.device = "native";
    compile_.native = llvm::cantFail(native_device_spec());
    context_.emplace(
        llvm::cantFail(PrimaryContext::retain(*llvm::cantFail(open_driver()), /*ordinal=*/0)));
  }

  Verdict run(const Graph& graph, const DimBindings& sizes, MatmulPrecision precision) {
    if (place == "plan") {
      CompileOptions options = compile_;
      options.precision = precision;
      auto compilation = compile_graph(graph, options);
      return compilation ? Verdict{} : verdict_of(compilation.takeError());
    }
    CheckOptions options;
    options.compile = compile_;
    options.precisions = {precision};
    options.dims = sizes;
    auto report = place == "gpu" ? check_on_gpu(graph, options, service_)
                                 : check_on_reference(graph, options);
    if (!report) return verdict_of(report.takeError());
    Verdict verdict;
    for (const OutputCheck& check : report->checks) {
      verdict.judged += check.comparison.count - check.comparison.unbounded;
      verdict.unbounded += check.comparison.unbounded;
      if (check.comparison.pass && check.same_bits && check.surroundings_kept) continue;
      verdict.kind = Verdict::Kind::failed;
      verdict.text = check.output + ": " + check.problem;
      verdict.failure = !check.comparison.pass ? "values" : !check.same_bits ? "bits" : "around";
    }
    return verdict;
  }

private:
  CompileOptions compile_;
  /// Held for the whole run: making one takes longer than a chain, and stops every process on the
  /// GPU.
  std::optional<PrimaryContext> context_;
  std::shared_ptr<CompileService> service_ =
      std::make_shared<CompileService>(CompileService::options_from_environment({}));
};

/// Named dims that a smaller graph has lost need no size.
DimBindings sizes_for(const Graph& graph, const DimBindings& sizes) {
  DimBindings result;
  for (const std::string& name : graph.dim_names())
    if (auto size = sizes.find(name); size != sizes.end()) result.insert(*size);
  return result;
}

} // namespace

int main(int argc, char** argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv, "Random chains on the GPU.\n");
  Runner runner;
  std::map<std::string, uint64_t> features;
  uint64_t passed = 0, failed = 0, unsupported = 0, combined = 0;
  int64_t judged = 0, unbounded = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const RandomChain chain =
        random_chain(seed, is_small ? ChainScale::small() : ChainScale::large());
    if (prints) llvm::outs() << "seed " << seed << "\n" << print_graph(chain.graph);
    for (Feature feature : chain.features) ++features[spelling(feature)];
    combined += chain.has_combination();
    const MatmulPrecision precision = all_matmul_precisions()[seed % 4];
    const Verdict verdict = runner.run(chain.graph, chain.sizes, precision);
    judged += verdict.judged;
    unbounded += verdict.unbounded;
    passed += verdict.kind == Verdict::Kind::passed;
    if (verdict.kind == Verdict::Kind::unsupported) {
      ++unsupported;
      llvm::outs() << "seed " << seed << " unsupported: " << verdict.text << "\n";
    }
    if (verdict.kind == Verdict::Kind::lost) {
      llvm::outs() << "seed " << seed << " LOST in " << ingot::spelling(precision) << ": "
                   << verdict.text << "\n"
                   << print_graph(chain.graph);
      return 2;
    }
    if (verdict.kind != Verdict::Kind::failed) continue;
    ++failed;
    const Graph small = shrink(chain.graph, [&](const Graph& graph) {
      return runner.run(graph, sizes_for(graph, chain.sizes), precision).failure;
    });
    llvm::outs() << "seed " << seed << " FAILED in " << ingot::spelling(precision) << ": "
                 << runner.run(small, sizes_for(small, chain.sizes), precision).text << "\n"
                 << print_graph(small);
    for (const auto& [name, size] : sizes_for(small, chain.sizes))
      llvm::outs() << "--dim " << name << "=" << size << "\n";
    llvm::outs().flush();
  }
  llvm::outs() << passed << " passed, " << failed << " failed, " << unsupported
               << " without kernels; " << judged << " elements judged, " << unbounded
               << " unbounded\n";
  llvm::outs() << "  " << combined << " with a fed-back reduction, a reshape and several outputs\n";
  for (const auto& [name, number] : features) llvm::outs() << "  " << number << " " << name << "\n";
  return failed > 0;
}
