// SPDX-License-Identifier: Apache-2.0
// The chains of tests/chains at full size: all become CUDA source without a GPU, in how many launch
// steps, beside how many are asked for, and which rule keeps their kernels apart.
#include "src/compiler.h"
#include "src/reports/explain.h"

#include "ir/text/parser.h"
#include "tests/support/golden.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <doctest/doctest.h>

#include <ctime>

#include <set>

using namespace ingot;

namespace {

/// The most launch steps a chain may take. 0: none is asked.
size_t steps_asked(llvm::StringRef chain) {
  static const std::pair<llvm::StringRef, size_t> asked[] = {
      {"12_gemm", 1},   {"14_gemm", 2},   {"18_matmul_sum", 2}, {"22_matmul", 2}, {"28_bmm", 2},
      {"30_gemm", 2},   {"37_matmul", 1}, {"39_gemm", 3},       {"45_gemm", 3},   {"56_matmul", 2},
      {"75_gemm", 2},   {"80_gemm", 2},   {"84_gemm", 3},       {"94_gemm", 1},   {"95_matmul", 1},
      {"98_matmul", 2}, {"99_matmul", 2},
  };
  for (const auto& [prefix, steps] : asked)
    if (chain.starts_with(prefix)) return steps;
  return 0;
}

/// Files of tests/chains in the order of their numbers.
std::vector<std::string> chain_files() {
  std::vector<std::string> files;
  std::error_code error;
  const std::string folder = std::string(INGOT_SOURCE_DIR) + "/tests/chains";
  for (llvm::sys::fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (llvm::sys::path::extension(entry->path()) == ".ingot") files.push_back(entry->path());
  REQUIRE(!error);
  llvm::sort(files, [](llvm::StringRef a, llvm::StringRef b) { return a.compare_numeric(b) < 0; });
  return files;
}

Compilation compile(const std::string& file, MatmulPrecision precision) {
  CAPTURE(file);
  auto buffer = llvm::MemoryBuffer::getFile(file);
  REQUIRE(bool(buffer));
  auto graph = parse_graph((*buffer)->getBuffer(), file);
  if (!graph) FAIL(take_error(graph.takeError()).second);
  CompileOptions options;
  options.precision = precision;
  auto compilation = compile_graph(std::move(*graph), options);
  if (!compilation) FAIL(take_error(compilation.takeError()).second);
  return std::move(*compilation);
}

/// Launch steps that make halves of operands, beside those of the plan's groups.
size_t halving_steps(const Compilation& compilation) {
  return llvm::count_if(compilation.module.launch.steps, [&](const Step& step) {
    return step.kernel >= compilation.plan.groups.size();
  });
}

/// One line: the chain, its steps, the number asked for, and the steps that make halves of
/// operands; then a line for each pair of kernels and rule.
std::string row(llvm::StringRef chain, const Compilation& compilation) {
  const size_t halving = halving_steps(compilation);
  const size_t steps = compilation.module.launch.steps.size() - halving;
  const size_t asked = steps_asked(chain);
  std::string text = fmt::format(
      "{:<62}{:>2}  {:>2}{}{}\n", chain.str(), steps, asked == 0 ? "-" : std::to_string(asked),
      halving > 0 ? fmt::format("  + {} for halves", halving) : std::string(),
      asked != 0 && steps > asked ? "  more than asked" : "");
  std::set<std::string> seen;
  for (const Boundary& boundary : compilation.plan.boundaries) {
    const std::string line = fmt::format("  kernels {} | {}: {}\n", boundary.producer,
                                         boundary.consumer, boundary.reason.rule);
    if (seen.insert(line).second) text += line;
  }
  return text;
}

} // namespace

TEST_CASE("launch steps of the chains") {
  std::string text = fmt::format("{:<60}{} {}\n", "chain", "steps", "asked");
  for (const std::string& file : chain_files())
    text += row(llvm::sys::path::stem(file), compile(file, MatmulPrecision::highest));
  testing::check_golden("chains.txt", text);
}

TEST_CASE("the picture of a chain") {
  const Compilation compilation =
      compile(std::string(INGOT_SOURCE_DIR) + "/tests/chains/39_gemm_scale_batchnorm.ingot",
              MatmulPrecision::highest);
  testing::check_golden("39_gemm_scale_batchnorm.svg",
                        svg_of(llvm::cantFail(explain(compilation))));
}

TEST_CASE("the chains become CUDA source, in as many steps at every precision") {
  const std::vector<std::string> files = chain_files();
  CHECK(files.size() == 27);
  for (const std::string& file : files) {
    CAPTURE(file);
    const Compilation highest = compile(file, MatmulPrecision::highest);
    const size_t steps = highest.module.launch.steps.size() - halving_steps(highest);
    for (const MatmulPrecision precision :
         {MatmulPrecision::pedantic, MatmulPrecision::high, MatmulPrecision::medium}) {
      const Compilation compilation = compile(file, precision);
      CHECK(compilation.module.launch.steps.size() == steps);
      const std::string source = module_source(compilation.module);
      for (const KernelCode& kernel : compilation.module.kernels)
        for (const KernelVariant& variant : kernel.variants)
          CHECK(llvm::StringRef(source).contains("\n" + variant.entry + "("));
    }
  }
}

TEST_CASE("a chain of 2000 ops is source in less than a second") {
  constexpr int kOps = 2000;
  std::string spec = "graph chain(x: f32[1024, 1024]) {\n  v0 = x\n";
  const char* const ops[] = {"exp", "tanh", "relu"};
  for (int i = 0; i < kOps; ++i) spec += fmt::format("  v{} = {}(v{})\n", i + 1, ops[i % 3], i);
  spec += fmt::format("  return v{}\n}}\n", kOps);
  const std::clock_t start = std::clock(); // of this process alone, however busy the machine is
  auto compilation = compile_graph(llvm::cantFail(parse_graph(spec, "test")), {});
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  REQUIRE(bool(compilation));
  CHECK(compilation->module.kernels.size() == 8); // of at most 256 ops
  CHECK(seconds < 1);
}
