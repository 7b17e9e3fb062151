// SPDX-License-Identifier: Apache-2.0
// See check.h.
#include "src/reports/check.h"

#include "ir/interpreter/memory.h"
#include "ir/random.h"
#include "src/dim_sizes.h"
#include "src/gpu_run.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

struct Sample {
  DimBindings dims;
  std::vector<std::pair<std::string, int64_t>> chosen_dims;
  std::vector<Tensor> tensors; ///< one per graph input
  std::vector<const Tensor*> pointers;
};

/// Multiplies the rows of a matrix by factors between 1/4 and 2. Without that, a chain that reduces
/// its rows would give nearly the same value for all of them, and a wrong row would pass.
void scale_rows(Tensor& tensor, uint64_t seed) {
  if (!is_float(tensor.dtype()) || tensor.extents().size() < 2 || tensor.count() == 0) return;
  const int64_t columns = tensor.extents().back();
  for (int64_t row = 0; row < tensor.count() / columns; ++row) {
    const uint64_t bits = random_key("row " + std::to_string(row), seed);
    const double factor = 0.25 + 1.75 * static_cast<double>(bits >> 11) * 0x1p-53;
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
      tensor.set(i, tensor.real(i) * factor);
  }
}

/// `precisions` is the number of precisions of the reference.
llvm::Expected<Sample> draw_inputs(const Graph& graph, const CheckOptions& options,
                                   size_t precisions) {
  Sample sample;
  auto dims = choose_dims(graph, options.dims, DimSizes::odd);
  if (!dims) return dims.takeError();
  sample.dims = std::move(*dims);
  for (const std::string& name : graph.dim_names())
    sample.chosen_dims.emplace_back(name, sample.dims.at(name));
  if (auto error = check_memory(graph, sample.dims, precisions)) {
    auto [code, text] = take_error(std::move(error));
    return make_error(code, "{}: give {}", text,
                      graph.dim_names().empty() ? "smaller extents" : "a smaller --dim");
  }
  auto tensors = draw_tensors(graph, sample.dims, options.seed);
  if (!tensors) return tensors.takeError();
  sample.tensors = std::move(*tensors);
  for (auto [id, tensor] : llvm::zip_equal(graph.inputs(), sample.tensors))
    if (graph.attributes<InputAttributes>(graph.producer(id)).role == InputAttributes::Role::input)
      scale_rows(tensor, options.seed);
  sample.pointers = pointers_to(sample.tensors);
  return sample;
}

/// Compares, and plants errors. Fills everything except the facts of a GPU run.
OutputCheck judge(const Evaluated& reference, const Tensor& result, size_t precision,
                  const CompareOptions& options) {
  OutputCheck check;
  check.output = reference.name;
  check.dtype = result.dtype();
  check.comparison = compare(reference, result, precision, options);
  if (!check.comparison.pass) {
    check.problem = check.comparison.problem;
    return check;
  }
  check.planted = plant_errors(reference, result, precision, options);
  for (const PlantedError& planted : check.planted)
    if (planted.applies && !planted.rejected)
      check.problem = "the comparison accepts a planted wrong result: " + planted.name;
  check.is_undecided = result.count() > 0 && llvm::none_of(check.planted, [](const auto& p) {
                         return p.applies && p.is_finite;
                       });
  return check;
}

/// Launches twice and compares every output.
llvm::Error check_outputs(GpuRun& run, llvm::ArrayRef<Evaluated> references, size_t precision,
                          const CompareOptions& options, CheckReport& report) {
  auto results = run.launch_twice();
  if (!results) return results.takeError();
  for (const auto& [reference, result] : llvm::zip_equal(references, *results)) {
    OutputCheck check = judge(reference, result.tensor, precision, options);
    check.precision = spelling(reference.precisions[precision]).str();
    check.same_bits = result.same_bits;
    check.surroundings_kept = result.surroundings_kept;
    if (!check.same_bits) check.problem = "two runs differ in their bits";
    if (!check.surroundings_kept) check.problem = "bytes around the output were written";
    report.checks.push_back(std::move(check));
  }
  return llvm::Error::success();
}

void conclude(CheckReport& report) {
  auto fails = [](const OutputCheck& check) { return !check.problem.empty(); };
  auto is_undecided = [](const OutputCheck& check) { return check.is_undecided; };
  report.is_undecided =
      llvm::none_of(report.checks, fails) && llvm::any_of(report.checks, is_undecided);
  report.pass =
      !report.checks.empty() && llvm::none_of(report.checks, fails) && !report.is_undecided;
}

} // namespace

CompareOptions compare_options(const CompileOptions& options) {
  CompareOptions result;
  if (options.math != MathMode::strict) result.non_finite = CompareOptions::NonFinite::any_kind;
  return result;
}

std::vector<MatmulPrecision> distinct_precisions(const Graph& graph) {
  for (const Op& op : graph.ops())
    if (op.kind == OpKind::matmul && graph.type(op.operands[0]).dtype == DType::f32)
      return all_matmul_precisions().vec();
  return {MatmulPrecision::highest};
}

llvm::Expected<CheckReport> check_on_gpu(const Graph& graph, const CheckOptions& options,
                                         const std::shared_ptr<CompileService>& service,
                                         ProgressObserver progress) {
  auto gpu = OpenGpu::open();
  if (!gpu) return gpu.takeError();

  CheckReport report;
  report.device = gpu->properties.name;
  auto precisions = options.precisions.empty() ? distinct_precisions(graph) : options.precisions;
  progress("drawing inputs");
  auto sample = draw_inputs(graph, options, precisions.size());
  if (!sample) return sample.takeError();
  report.dims = sample->chosen_dims;

  std::vector<Compilation> compilations;
  EvaluateOptions evaluation;
  evaluation.precisions = precisions;
  for (MatmulPrecision precision : precisions) {
    CompileOptions compile = options.compile;
    compile.precision = precision;
    auto compilation = compile_graph(graph, compile, options.observer);
    if (!compilation) return compilation.takeError();
    compilations.push_back(std::move(*compilation));
  }
  report.arch = compilations.front().module.arch;
  progress("evaluating the reference in f64");
  auto references = judged_references(compilations.front(), sample->pointers, evaluation,
                                      compare_options(options.compile));
  if (!references) return references.takeError();

  auto inputs = GpuInputs::upload(*gpu->driver, graph, sample->pointers);
  if (!inputs) return inputs.takeError();
  for (size_t i = 0; i < precisions.size(); ++i) {
    progress(fmt::format("running {}", spelling(precisions[i]).str()));
    auto executable = load_executable(compilations[i], service);
    if (!executable) return executable.takeError();
    auto run = GpuRun::create(*gpu->driver, std::move(*executable), graph, *inputs, sample->dims);
    if (!run) return run.takeError();
    if (auto error = check_outputs(*run, *references, i, compare_options(options.compile), report))
      return error;
  }
  conclude(report);
  return report;
}

llvm::Expected<CheckReport> check_on_reference(const Graph& graph, const CheckOptions& options,
                                               ProgressObserver progress) {
  CheckReport report;
  progress("drawing inputs");
  auto sample = draw_inputs(graph, options, 1);
  if (!sample) return sample.takeError();
  report.dims = sample->chosen_dims;
  auto rewritten = run_passes(graph, PassContext{options.compile.math});
  if (!rewritten) return rewritten.takeError();
  EvaluateOptions evaluation;
  evaluation.precisions = {MatmulPrecision::pedantic};
  progress("evaluating the graph as given");
  auto references = evaluate(graph, sample->pointers, evaluation);
  if (!references) return references.takeError();
  evaluation.precisions.clear();
  progress("evaluating the rewritten graph");
  auto results = evaluate(*rewritten, sample->pointers, evaluation);
  if (!results) return results.takeError();
  for (size_t i = 0; i < references->size(); ++i) {
    OutputCheck check =
        judge((*references)[i], (*results)[i].to_tensor(), 0, compare_options(options.compile));
    check.precision = "rewrites";
    report.checks.push_back(std::move(check));
  }
  conclude(report);
  return report;
}

} // namespace ingot
