// SPDX-License-Identifier: Apache-2.0
// Measures the candidates for each kernel's schedule on the GPU that is present and keeps the
// fastest: what `ingot tune` does.
#pragma once

#include "codegen/schedule/candidates.h"
#include "ir/interpreter/evaluate.h"
#include "src/compiler.h"
#include "src/reports/stopwatch.h"

#include "llvm/Support/JSON.h"

namespace ingot {

struct TuneOptions {
  CompileOptions compile;      ///< what is already kept is not looked up
  DimBindings dims;            ///< from 0 on; choose_dims chooses those that are not given
  uint64_t seed = 0;           ///< of the inputs
  size_t candidates = 24;      ///< of each kernel, at most
  Duration each = {0.03, 0.1}; ///< of a candidate's measurement
};

/// One candidate as it ran.
struct Trial {
  ScheduleChoice choice; ///< empty: the schedule without a tuner
  std::string schedule;  ///< of the kernel's first variant
  double predicted_ms = 0;
  double measured_ms = 0; ///< median of a whole launch of the graph; 0: there is a problem
  std::string problem;    ///< why it is out: it does not compile, or a result is wrong
};

struct KernelTuning {
  std::string kernel;
  std::vector<Trial> trials; ///< the schedule without a tuner, then the others as predicted
  size_t winner = 0;         ///< in trials
  /// Spearman's coefficient between predicted and measured times of what ran.
  double rank_correlation = 0;
};

struct TuneReport {
  std::string graph, device, precision;
  std::vector<std::pair<std::string, int64_t>> dims;
  std::vector<KernelTuning> kernels;   ///< of the launch program
  double untuned_ms = 0, tuned_ms = 0; ///< of a launch, measured in turns at the end
  std::string problem;                 ///< why winners could not be kept; empty: they were
  std::string folder;                  ///< where winners are kept; empty: nowhere
};

std::string text_of(const TuneReport& report);
llvm::json::Value json_of(const TuneReport& report);

/// Hears of what begins, and how much of all is done.
using TuneObserver = std::function<void(const std::string& what, size_t done, size_t all)>;

/// Tunes kernel by kernel, each among the winners of those before it. A candidate is measured when
/// its results are within the f64 reference's bounds; one that wins by less than a hundredth, in
/// turns with the schedule without a tuner, does not replace it. Winners go to `tuned`.
/// Errors: what compiling or launching the untuned kernels reports; ErrorCode::launch_error of a
/// candidate's too, as the device may be lost; ErrorCode::invalid_argument for another device than
/// `native`; ErrorCode::unavailable without a GPU.
llvm::Expected<TuneReport> tune_on_gpu(const Graph& graph, const TuneOptions& options,
                                       const std::shared_ptr<CompileService>& service,
                                       TunedSchedules& tuned, const TuneObserver& observer = {});

/// The milliseconds of candidate i, alone and in turns with candidate 0.
using MeasureFunction = llvm::function_ref<llvm::Expected<double>(size_t i)>;
using InTurnsFunction = llvm::function_ref<llvm::Expected<std::pair<double, double>>(size_t i)>;

/// Tries all of `candidates`, the first of which is the schedule without a tuner. Errors: what that
/// one fails with; another one's are its problem.
llvm::Expected<KernelTuning> choose_fastest(llvm::ArrayRef<ScheduleCandidate> candidates,
                                            MeasureFunction measure, InTurnsFunction in_turns);

/// Spearman's rank correlation: 1 for the same order, 0 for none; 0 of fewer than 2 pairs.
double rank_correlation(llvm::ArrayRef<std::pair<double, double>> pairs);

} // namespace ingot
