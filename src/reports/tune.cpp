// SPDX-License-Identifier: Apache-2.0
// See tune.h. The text of its report is in tune_text.cpp.
#include "src/reports/tune.h"

#include "ir/interpreter/compare.h"
#include "src/gpu_run.h"
#include "src/reports/check.h"
#include "src/reports/explain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <cmath>

namespace ingot {
namespace {

/// The least gain of a winner. A smaller gain is within the difference of repeated measurements.
constexpr double kLeastGain = 0.01;
constexpr int kTurns = 40;

/// The tuning of one graph on one GPU.
class Tuner {
public:
  Tuner(const Graph& graph, const TuneOptions& options, const TuneObserver& observer,
        std::shared_ptr<CompileService> service, const driver_api::Functions& driver)
      : graph_(graph), options_(options), observer_(observer), service_(std::move(service)),
        driver_(driver) {}

  llvm::Error open(const TunedSchedules& tuned);
  llvm::Error run(TuneReport& report, TunedSchedules& tuned);

private:
  using Schedules = std::vector<std::vector<Schedule>>;

  void say(const std::string& what) const {
    if (observer_) observer_(what, done_, all_);
  }
  void list_candidates(const TunedSchedules& tuned);
  void compile(size_t kernel) const;
  llvm::Expected<GpuRun> start(const Schedules& schedules) const;
  llvm::Expected<std::vector<GpuRun::Twice>> checked_outputs(GpuRun& run) const;
  llvm::Expected<bool> is_undecided() const;
  llvm::Expected<double> measure(const Schedules& schedules) const;
  llvm::Expected<std::pair<double, double>> compare_in_turns(const Schedules& a,
                                                             const Schedules& b) const;
  llvm::Expected<KernelTuning> tune(size_t kernel);
  Schedules with(size_t kernel, const std::vector<Schedule>& schedules) const {
    Schedules result = best_;
    result[kernel] = schedules;
    return result;
  }

  const Graph& graph_;
  const TuneOptions& options_;
  const TuneObserver& observer_;
  const std::shared_ptr<CompileService> service_;
  const driver_api::Functions& driver_;
  std::optional<Compilation> compilation_;
  DimBindings dims_;
  std::optional<GpuInputs> inputs_;
  std::vector<Evaluated> references_;
  std::vector<std::vector<ScheduleCandidate>> candidates_; ///< by kernel; none for prepare's
  Schedules best_;
  size_t done_ = 0, all_ = 0;
};

llvm::Error Tuner::open(const TunedSchedules& tuned) {
  CompileOptions compile = options_.compile;
  compile.tuned = nullptr;
  auto compilation = compile_graph(graph_, compile);
  if (!compilation) return compilation.takeError();
  compilation_ = std::move(*compilation);
  best_ = compilation_->schedules;
  auto facts = explain(*compilation_, options_.dims);
  if (!facts) return facts.takeError();
  dims_ = DimBindings(facts->dims.begin(), facts->dims.end());
  list_candidates(tuned);
  auto tensors = draw_tensors(graph_, dims_, options_.seed);
  if (!tensors) return tensors.takeError();
  auto inputs = GpuInputs::upload(driver_, graph_, pointers_to(*tensors));
  if (!inputs) return inputs.takeError();
  inputs_ = std::move(*inputs);
  say("evaluating the reference in f64");
  EvaluateOptions evaluation;
  evaluation.precisions = {options_.compile.precision};
  auto references = judged_references(*compilation_, pointers_to(*tensors), evaluation,
                                      compare_options(options_.compile));
  if (!references) return references.takeError();
  references_ = std::move(*references);
  return llvm::Error::success();
}

/// Lists the candidates in predicted order, and the schedule that was kept before, so that a
/// shorter list does not lose it.
void Tuner::list_candidates(const TunedSchedules& tuned) {
  for (const Group& group : compilation_->plan.groups) {
    auto& list = candidates_.emplace_back();
    if (group.program == ProgramKind::prepare) continue;
    const ScheduleSite site = schedule_site(*compilation_, candidates_.size() - 1);
    list = candidates(site, dims_);
    const auto kept = tuned.find(site.graph, group, site.device, site.options);
    if (kept)
      std::stable_partition(list.begin() + 1, list.end(),
                            [&](const ScheduleCandidate& c) { return c.choice == *kept; });
    if (list.size() > options_.candidates) list.resize(options_.candidates);
    all_ += list.size();
  }
}

/// Fills the service's cache, on all cores. A candidate that does not compile reports it when it is
/// started.
void Tuner::compile(size_t kernel) const {
  llvm::DefaultThreadPool pool;
  for (const ScheduleCandidate& candidate : candidates_[kernel])
    pool.async([this, kernel, &candidate] {
      const KernelCode code = kernel_with(*compilation_, kernel, candidate.schedules);
      const KernelVariant& variant = code.variants.front();
      auto compiled = service_->compile(
          {variant.entry + ".cu", variant_source(code, variant), compilation_->module.arch, {}});
      if (!compiled) llvm::consumeError(compiled.takeError());
    });
  pool.wait();
}

llvm::Expected<GpuRun> Tuner::start(const Schedules& schedules) const {
  auto executable = Executable::create(module_with(*compilation_, schedules), service_);
  if (!executable) return executable.takeError();
  return GpuRun::create(driver_, std::move(*executable), graph_, *inputs_, dims_);
}

/// Launches twice and checks the results, as `ingot check` does. is_undecided plants errors, once
/// for all candidates.
llvm::Expected<std::vector<GpuRun::Twice>> Tuner::checked_outputs(GpuRun& run) const {
  auto results = run.launch_twice();
  if (!results) return results;
  for (const auto& [reference, result] : llvm::zip_equal(references_, *results)) {
    if (!result.surroundings_kept)
      return make_error(ErrorCode::internal, "bytes around output '{}' were written",
                        reference.name);
    if (!result.same_bits)
      return make_error(ErrorCode::internal, "two runs differ in the bits of output '{}'",
                        reference.name);
    const Comparison comparison =
        compare(reference, result.tensor, 0, compare_options(options_.compile));
    if (!comparison.pass)
      return make_error(ErrorCode::internal, "a wrong result: {}", comparison.problem);
  }
  return results;
}

llvm::Expected<double> Tuner::measure(const Schedules& schedules) const {
  auto run = start(schedules);
  if (!run) return run.takeError();
  if (auto outputs = checked_outputs(*run); !outputs) return outputs.takeError();
  auto stopwatch = Stopwatch::create(driver_, run->stream());
  if (!stopwatch) return stopwatch.takeError();
  auto spread = stopwatch->spread(options_.each, [&] { return run->enqueue(); });
  if (!spread) return spread.takeError();
  return spread->median;
}

/// The medians of both, measured in turns, so that changes of the clocks affect both.
llvm::Expected<std::pair<double, double>> Tuner::compare_in_turns(const Schedules& a,
                                                                  const Schedules& b) const {
  std::vector<double> times[2];
  auto first = start(a), second = start(b);
  if (!first) return llvm::joinErrors(first.takeError(), second.takeError());
  if (!second) return second.takeError();
  GpuRun* const runs[] = {&*first, &*second};
  std::vector<Stopwatch> watches;
  for (GpuRun* run : runs) {
    auto watch = Stopwatch::create(driver_, run->stream());
    if (!watch) return watch.takeError();
    watches.push_back(std::move(*watch));
  }
  for (int turn = 0; turn < kTurns; ++turn)
    for (size_t i : {0, 1}) {
      auto time = watches[i].milliseconds([&] { return runs[i]->enqueue(); });
      if (!time) return time.takeError();
      if (turn > 0) times[i].push_back(*time);
    }
  return std::pair(spread_of(std::move(times[0])).median, spread_of(std::move(times[1])).median);
}

llvm::Expected<KernelTuning> Tuner::tune(size_t kernel) {
  const std::vector<ScheduleCandidate>& list = candidates_[kernel];
  const std::string& name = compilation_->module.kernels[kernel].name;
  say(fmt::format("compiling {} candidates of {}", list.size(), name));
  compile(kernel);
  auto result = choose_fastest(
      list,
      [&](size_t i) {
        say("measuring " + list[i].schedules.front().text());
        ++done_;
        return measure(with(kernel, list[i].schedules));
      },
      [&](size_t i) { return compare_in_turns(best_, with(kernel, list[i].schedules)); });
  if (!result) return result.takeError();
  result->kernel = name;
  best_ = with(kernel, list[result->winner].schedules);
  return result;
}

/// True if the bounds of an output refuse no value. Then no candidate's results are known to be
/// right.
llvm::Expected<bool> Tuner::is_undecided() const {
  auto run = start(best_);
  if (!run) return run.takeError();
  auto outputs = checked_outputs(*run);
  if (!outputs) return outputs.takeError();
  for (const auto& [reference, output] : llvm::zip_equal(references_, *outputs)) {
    const auto planted =
        plant_errors(reference, output.tensor, 0, compare_options(options_.compile));
    if (llvm::none_of(planted,
                      [](const PlantedError& p) { return p.applies && p.is_finite && p.rejected; }))
      return true;
  }
  return false;
}

llvm::Error Tuner::run(TuneReport& report, TunedSchedules& tuned) {
  report.graph = graph_.name();
  report.precision = spelling(options_.compile.precision).str();
  report.dims.assign(dims_.begin(), dims_.end());
  report.folder = tuned.folder();
  auto undecided = is_undecided();
  if (!undecided) return undecided.takeError();
  if (*undecided) report.problem = "no wrong result would be noticed: an output's bounds admit it";
  for (size_t kernel = 0; kernel < candidates_.size(); ++kernel) {
    if (candidates_[kernel].empty()) continue;
    auto tuning = tune(kernel);
    if (!tuning) return tuning.takeError();
    report.kernels.push_back(std::move(*tuning));
    const KernelTuning& last = report.kernels.back();
    const Trial& winner = last.trials[last.winner];
    if (tuned.folder().empty() || !report.problem.empty()) continue;
    // The schedule without a tuner is kept too: it is the best known schedule for this card.
    if (auto error =
            tuned.keep(compilation_->rewritten, compilation_->plan.groups[kernel],
                       compilation_->target.device, schedule_site(*compilation_, kernel).options,
                       {winner.choice, winner.measured_ms, last.trials.front().measured_ms, dims_}))
      report.problem = take_error(std::move(error)).second;
  }
  say("measuring the tuned graph");
  auto times = compare_in_turns(compilation_->schedules, best_);
  if (!times) return times.takeError();
  std::tie(report.untuned_ms, report.tuned_ms) = *times;
  return llvm::Error::success();
}

/// Ranks from 0. Equal values share the mean of their ranks.
std::vector<double> ranks_of(llvm::ArrayRef<double> values) {
  std::vector<double> ranks;
  for (double value : values) {
    const auto below = llvm::count_if(values, [&](double v) { return v < value; });
    const auto equal = llvm::count(values, value);
    ranks.push_back(static_cast<double>(below) + static_cast<double>(equal - 1) / 2);
  }
  return ranks;
}

} // namespace

llvm::Expected<KernelTuning> choose_fastest(llvm::ArrayRef<ScheduleCandidate> candidates,
                                            MeasureFunction measure, InTurnsFunction in_turns) {
  KernelTuning result;
  std::vector<std::pair<double, double>> pairs;
  for (size_t i = 0; i < candidates.size(); ++i) {
    auto time = measure(i);
    if (!time && i == 0) return time.takeError();
    Trial& trial = result.trials.emplace_back();
    trial.choice = candidates[i].choice;
    trial.schedule = candidates[i].schedules.front().text();
    trial.predicted_ms = candidates[i].cost.seconds * 1e3;
    if (!time) {
      auto [code, text] = take_error(time.takeError());
      // The device may be lost, and further measurements on it are worthless.
      if (code == ErrorCode::launch_error)
        return make_error(code, "{} ({}): {}", trial.schedule, trial.choice.text(), text);
      trial.problem = text;
      continue;
    }
    trial.measured_ms = *time;
    pairs.emplace_back(trial.predicted_ms, *time);
    if (*time < result.trials[result.winner].measured_ms) result.winner = i;
  }
  result.rank_correlation = rank_correlation(pairs);
  if (result.winner == 0) return result;
  auto times = in_turns(result.winner);
  if (!times) return times.takeError();
  if (times->second > times->first * (1 - kLeastGain)) result.winner = 0;
  return result;
}

double rank_correlation(llvm::ArrayRef<std::pair<double, double>> pairs) {
  if (pairs.size() < 2) return 0;
  const std::vector<double> a = ranks_of(llvm::to_vector(llvm::make_first_range(pairs)));
  const std::vector<double> b = ranks_of(llvm::to_vector(llvm::make_second_range(pairs)));
  const double mean = static_cast<double>(pairs.size() - 1) / 2;
  double covariance = 0, spread_a = 0, spread_b = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    covariance += (a[i] - mean) * (b[i] - mean);
    spread_a += (a[i] - mean) * (a[i] - mean);
    spread_b += (b[i] - mean) * (b[i] - mean);
  }
  const double scale = std::sqrt(spread_a * spread_b);
  return scale > 0 ? covariance / scale : 0;
}

llvm::Expected<TuneReport> tune_on_gpu(const Graph& graph, const TuneOptions& options,
                                       const std::shared_ptr<CompileService>& service,
                                       TunedSchedules& tuned, const TuneObserver& observer) {
  auto gpu = OpenGpu::open();
  if (!gpu) return gpu.takeError();
  if (options.compile.device != "native")
    return make_error(ErrorCode::invalid_argument,
                      "--device: tune measures on the card that is present, {}; expected native, "
                      "got '{}'",
                      gpu->properties.name, options.compile.device);
  TuneReport report;
  report.device = gpu->properties.name;
  Tuner tuner(graph, options, observer, service, *gpu->driver);
  if (auto error = tuner.open(tuned)) return error;
  if (auto error = tuner.run(report, tuned)) return error;
  return report;
}

} // namespace ingot
