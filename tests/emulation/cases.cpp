// SPDX-License-Identifier: Apache-2.0
// See cases.h.
#include "tests/emulation/cases.h"

#include "ir/interpreter/compare.h"
#include "ir/random.h"
#include "ir/text/parser.h"
#include "src/reports/check.h"
#include "src/support/error.h"
#include "tests/support/random_chains.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace ingot::emulation {

CompileOptions options_of(const Case& one) {
  CompileOptions options;
  options.precision = one.precision;
  options.least_products = one.least_products;
  options.target = one.target;
  if (one.sm_count > 0) {
    options.native = llvm::cantFail(make_target(one.target, std::string())).device;
    options.native->sm_count = one.sm_count;
    options.device = "native";
  }
  return options;
}

namespace {

CompareOptions compare_options() {
  CompareOptions options;
  options.non_finite = CompareOptions::NonFinite::any_kind; // the promise of --math=relaxed
  return options;
}

/// A failure and its kind; both empty: none.
struct Problem {
  std::string kind, text;
};

Problem problem_of(llvm::Error error) {
  auto [code, text] = take_error(std::move(error));
  return {testing::failure_kind(code, text), text};
}

llvm::Expected<std::unique_ptr<Compilation>> compile(const Case& one, size_t number) {
  // Entries are named after the graph, and several cases share a library.
  std::string spec = one.spec;
  const size_t at = spec.find("graph ");
  INGOT_ASSERT(at != std::string::npos);
  spec.insert(at + 6, fmt::format("c{}_", number));
  auto graph = parse_graph(spec, "case");
  if (!graph) return graph.takeError();
  auto compilation = compile_graph(std::move(*graph), options_of(one));
  if (!compilation) return compilation.takeError();
  auto result = std::make_unique<Compilation>(std::move(*compilation));
  if (one.choice == ScheduleChoice()) return result;
  auto schedules = choose_schedules(schedule_site(*result, 0), one.choice);
  if (!schedules) return schedules.takeError();
  result->module = module_with(*result, 0, std::move(*schedules));
  return result;
}

void plant_non_finite(Tensor& tensor) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const int64_t last = tensor.count() - 1;
  if (last < 0) return;
  tensor.set(last / 5, std::numeric_limits<double>::quiet_NaN());
  tensor.set(last / 2, kInfinity);
  tensor.set(last, -kInfinity);
}

std::vector<Tensor> make_inputs(const Case& one, const Graph& graph, const DimBindings& dims) {
  std::vector<Tensor> inputs;
  for (ValueId id : graph.inputs()) {
    const Type& type = graph.type(id);
    const auto& input = graph.attributes<InputAttributes>(graph.producer(id));
    Tensor& tensor = inputs.emplace_back(type.dtype, evaluate_shape(type.shape, dims));
    fill_random(tensor, default_distribution(graph, id, tensor.extents()),
                random_key(input.name, 1));
    if (one.non_finite && is_float(type.dtype) && input.role == InputAttributes::Role::input)
      plant_non_finite(tensor);
  }
  return inputs;
}

std::vector<const Tensor*> pointers(llvm::ArrayRef<Tensor> tensors) {
  std::vector<const Tensor*> result;
  for (const Tensor& tensor : tensors) result.push_back(&tensor);
  return result;
}

std::string judge_outputs(const std::vector<Evaluated>& reference, const Outcome& outcome) {
  if (!outcome.problem.empty()) return outcome.problem;
  for (size_t i = 0; i < reference.size(); ++i) {
    const Comparison comparison = compare(reference[i], outcome.outputs[i], 0, compare_options());
    if (!comparison.pass)
      return fmt::format("{}: {} of {} elements fail: {}", reference[i].name, comparison.failures,
                         comparison.count, comparison.problem);
  }
  return "";
}

std::string unnoticed_errors(const std::vector<Evaluated>& reference, const Outcome& outcome) {
  std::string text;
  for (size_t i = 0; i < reference.size(); ++i)
    for (const PlantedError& planted :
         plant_errors(reference[i], outcome.outputs[i], 0, compare_options()))
      if (planted.applies && !planted.rejected)
        text += fmt::format(" {} of {} goes unnoticed;", planted.name, reference[i].name);
  return text;
}

} // namespace

namespace {

/// The place of a NaN that no operation makes and no input has: memory was filled with it. Only
/// f32 keeps enough of its bits. Rounding to 16 bits sets all bits of a NaN, poison has fewer.
std::string poisoned_output(const Outcome& outcome) {
  constexpr uint32_t kOfBf16 = 0x3f0000, kOfF16 = 0x3fe000;
  constexpr std::array<uint32_t, 4> kMade = {0, 0x3fffff, kOfBf16, kOfF16};
  for (size_t i = 0; i < outcome.outputs.size(); ++i) {
    const Tensor& tensor = outcome.outputs[i];
    for (int64_t k = 0; tensor.dtype() == DType::f32 && k < tensor.count(); ++k) {
      uint32_t bits;
      std::memcpy(&bits, tensor.bytes() + 4 * k, 4);
      const uint32_t payload = bits & 0x3fffff;
      if (std::isnan(tensor.real(k)) && !llvm::is_contained(kMade, payload))
        return fmt::format("output {} holds memory that nobody wrote: {:#x}", i, bits);
    }
  }
  return "";
}

} // namespace

std::string difference(const Outcome& a, const Outcome& b) {
  // Of two NaN a host adds, either stays, as its compiler commutes; a GPU has one NaN.
  auto same = [](const Tensor& x, const Tensor& y) {
    if (x.count() == 0 || std::memcmp(x.bytes(), y.bytes(), x.size_bytes()) == 0) return true;
    const auto size = static_cast<int64_t>(size_of(x.dtype()));
    for (int64_t at = 0; at < x.count(); ++at)
      if (std::memcmp(x.bytes() + at * size, y.bytes() + at * size, size) != 0 &&
          !(is_float(x.dtype()) && std::isnan(x.real(at)) && std::isnan(y.real(at))))
        return false;
    return true;
  };
  for (size_t i = 0; i < a.outputs.size(); ++i)
    if (!same(a.outputs[i], b.outputs[i]))
      return fmt::format("output {} differs from run to run", i);
  return "";
}

namespace {

std::string text_of(const DimBindings& dims) {
  std::string text;
  for (const auto& [name, size] : dims) text += fmt::format(" {}={}", name, size);
  return text;
}

llvm::Expected<std::vector<Evaluated>> evaluate_reference(const Compilation& compilation,
                                                          MatmulPrecision precision,
                                                          llvm::ArrayRef<const Tensor*> inputs) {
  EvaluateOptions options;
  options.precisions = {precision};
  options.threads = 1;
  return judged_references(compilation, inputs, std::move(options), compare_options());
}

/// All runs of one case at one size.
Problem check_sizes(const Case& one, const Compilation& compilation, const KernelLibrary& library,
                    const DimBindings& dims, std::set<std::string>& ran) {
  const std::vector<Tensor> inputs = make_inputs(one, compilation.graph, dims);
  auto reference = evaluate_reference(compilation, one.precision, pointers(inputs));
  if (!reference) return problem_of(reference.takeError());
  for (const Misaligned misaligned : {Misaligned::none, Misaligned::all, Misaligned::outputs}) {
    // Variants that map operands may still store to any address.
    if (misaligned == Misaligned::outputs && one.target == "sm_80") continue;
    const RunOptions first{{1, true}, "", misaligned};
    // Several rows of a cluster, or tiles of a block, follow one another in the second run.
    const RunOptions second{{2, one.choice.cluster > 0}, "", misaligned, 2};
    const Outcome outcome = run_module(compilation, library, pointers(inputs), first);
    for (const Launched& launched : outcome.launches) ran.insert(launched.entry);
    static const char* const names[] = {"aligned", "misaligned", "outputs misaligned"};
    const std::string where =
        fmt::format("{}{}: ", names[static_cast<size_t>(misaligned)], text_of(dims));
    if (const std::string problem = judge_outputs(*reference, outcome); !problem.empty())
      return {outcome.problem.empty() ? "values" : "execution", where + problem};
    if (const std::string problem = poisoned_output(outcome); !problem.empty())
      return {"unwritten", where + problem};
    const Outcome again = run_module(compilation, library, pointers(inputs), second);
    if (!again.problem.empty()) return {"execution", where + again.problem};
    if (const std::string problem = difference(outcome, again); !problem.empty())
      return {"bits", where + problem};
    // Once a case: results of nothing are zeros, in which no sign shows.
    if (misaligned != Misaligned::none || &dims != &one.sizes.front() ||
        one.depth == Case::Depth::results)
      continue;
    if (const std::string problem = unnoticed_errors(*reference, outcome); !problem.empty())
      return {"unnoticed", where + problem};
  }
  return {};
}

Problem check_case(const Case& one, const Compilation& compilation, const KernelLibrary& library) {
  std::set<std::string> ran;
  for (const DimBindings& dims : one.sizes)
    if (Problem problem = check_sizes(one, compilation, library, dims, ran); !problem.text.empty())
      return problem;
  if (one.depth == Case::Depth::results) return {};
  for (const KernelCode& kernel : compilation.module.kernels)
    for (const KernelVariant& variant : kernel.variants)
      if (!ran.count(variant.entry))
        return {"variant", fmt::format("variant {} never ran", variant.entry)};
  return {};
}

} // namespace

std::string reduced_spec(const std::string& file, const Replacements& replacements) {
  auto buffer = llvm::MemoryBuffer::getFile(std::string(INGOT_SOURCE_DIR) + "/" + file);
  INGOT_ASSERT(bool(buffer));
  std::string text = (*buffer)->getBuffer().str();
  for (const auto& [from, to] : replacements) {
    INGOT_ASSERT(text.find(from) != std::string::npos);
    size_t at = 0;
    while ((at = text.find(from, at)) != std::string::npos) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return text;
}

std::string check_cases(llvm::ArrayRef<Case> cases) {
  std::string failures;
  auto fail = [&](const Case& one, const std::string& problem) {
    failures += fmt::format("{}\n  {}\n", one.spec, problem);
  };
  std::vector<std::pair<const Case*, std::unique_ptr<Compilation>>> compiled;
  std::vector<const Module*> modules;
  for (size_t i = 0; i < cases.size(); ++i) {
    auto compilation = compile(cases[i], i);
    if (!compilation) {
      fail(cases[i], take_error(compilation.takeError()).second);
      continue;
    }
    modules.push_back(&(*compilation)->module);
    compiled.emplace_back(&cases[i], std::move(*compilation));
  }
  auto library = KernelLibrary::build(modules);
  if (!library) return failures + take_error(library.takeError()).second;
  for (const auto& [one, compilation] : compiled)
    if (const Problem problem = check_case(*one, *compilation, **library); !problem.text.empty())
      fail(*one, problem.text);
  return failures;
}

std::string schedules_of(const Case& one) {
  const auto compilation = llvm::cantFail(compile(one, 0));
  std::string text;
  for (const KernelCode& kernel : compilation->module.kernels)
    text += kernel.variants.front().schedule + "\n";
  return text;
}

std::string failure_of(const Case& one) {
  auto compilation = compile(one, 0);
  if (!compilation) return problem_of(compilation.takeError()).kind;
  auto library = KernelLibrary::build({&(*compilation)->module});
  if (!library) return problem_of(library.takeError()).kind;
  return check_case(one, **compilation, **library).kind;
}

BuiltCase BuiltCase::make(const Case& built) {
  BuiltCase result;
  result.compilation_ = llvm::cantFail(compile(built, 0));
  result.library_ = llvm::cantFail(KernelLibrary::build({&result.compilation_->module}));
  result.inputs_ = make_inputs(built, result.compilation_->graph, built.sizes.front());
  result.reference_ = llvm::cantFail(
      evaluate_reference(*result.compilation_, built.precision, pointers(result.inputs_)));
  return result;
}

Outcome BuiltCase::run(const RunOptions& options) const {
  return run_module(*compilation_, *library_, pointers(inputs_), options);
}

std::string BuiltCase::judge(const Outcome& outcome) const {
  return judge_outputs(reference_, outcome);
}

double BuiltCase::excess(const Outcome& outcome) const {
  const llvm::ArrayRef<double> exact = reference_.front().reals();
  double errors = 0, squares = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    errors += (outcome.outputs.front().real(static_cast<int64_t>(i)) - exact[i]) * exact[i];
    squares += exact[i] * exact[i];
  }
  return errors / squares;
}

double BuiltCase::largest_error(const Outcome& outcome) const {
  const llvm::ArrayRef<double> exact = reference_.front().reals();
  double largest = 0;
  for (size_t i = 0; i < exact.size(); ++i)
    largest = std::max(largest,
                       std::abs(outcome.outputs.front().real(static_cast<int64_t>(i)) - exact[i]));
  return largest;
}

} // namespace ingot::emulation
