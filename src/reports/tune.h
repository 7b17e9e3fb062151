// SPDX-License-Identifier: Apache-2.0
// Measures the candidates for each kernel's schedule on the GPU of this machine and keeps the
// fastest. `ingot tune` calls it.
#pragma once

#include "codegen/schedule/candidates.h"
#include "src/compiler.h"
#include "src/reports/stopwatch.h"

#include "llvm/Support/JSON.h"

namespace ingot {

struct TuneOptions {
  CompileOptions compile;      ///< schedules that are already kept are not looked up
  DimBindings dims;            ///< at least 0; choose_dims chooses the missing ones
  uint64_t seed = 0;           ///< seed of the inputs
  size_t candidates = 24;      ///< most candidates per kernel
  Duration each = {0.03, 0.1}; ///< duration of a candidate's measurement
};

/// The result of one candidate.
struct Trial {
  ScheduleChoice choice; ///< empty: the schedule without a tuner
  std::string schedule;  ///< text of the kernel's first variant
  double predicted_ms = 0;
  double measured_ms = 0; ///< median of a whole launch of the graph; 0: there is a problem
  std::string problem;    ///< why it is excluded: it does not compile, or a result is wrong
};

struct KernelTuning {
  std::string kernel;
  std::vector<Trial> trials; ///< the schedule without a tuner, then the others in predicted order
  size_t winner = 0;         ///< index in trials
  /// Spearman's coefficient between predicted and measured times of the trials that ran.
  double rank_correlation = 0;
};

struct TuneReport {
  std::string graph, device, precision;
  std::vector<std::pair<std::string, int64_t>> dims;
  std::vector<KernelTuning> kernels;   ///< kernels of the launch program
  double untuned_ms = 0, tuned_ms = 0; ///< times of a launch, measured in turns at the end
  std::string problem;                 ///< why winners could not be kept; empty: they were kept
  std::string folder;                  ///< the folder of kept winners; empty: none
};

std::string text_of(const TuneReport& report);
llvm::json::Value json_of(const TuneReport& report);

/// Receives the name of the step that begins, and how much of all is done.
using TuneObserver = std::function<void(const std::string& what, size_t done, size_t all)>;

/// Tunes kernel by kernel, each with the winners of the kernels before it. A candidate is measured
/// if its results are within the f64 reference's bounds. It must win by at least a hundredth,
/// measured in turns with the schedule without a tuner, to replace that schedule. Winners go to
/// `tuned`.
/// Errors: those of compiling or launching the untuned kernels; ErrorCode::launch_error of a
/// candidate, because the device may be lost; ErrorCode::invalid_argument for a device other than
/// `native`; ErrorCode::unavailable without a GPU.
llvm::Expected<TuneReport> tune_on_gpu(const Graph& graph, const TuneOptions& options,
                                       const std::shared_ptr<CompileService>& service,
                                       TunedSchedules& tuned, const TuneObserver& observer = {});

/// The milliseconds of candidate i, alone and in turns with candidate 0.
using MeasureFunction = llvm::function_ref<llvm::Expected<double>(size_t i)>;
using InTurnsFunction = llvm::function_ref<llvm::Expected<std::pair<double, double>>(size_t i)>;

/// Tries all of `candidates`, the first of which is the schedule without a tuner. Errors: those of
/// the first candidate. An error of another candidate becomes its problem.
llvm::Expected<KernelTuning> choose_fastest(llvm::ArrayRef<ScheduleCandidate> candidates,
                                            MeasureFunction measure, InTurnsFunction in_turns);

/// Spearman's rank correlation: 1 for the same order, 0 for none; 0 for fewer than 2 pairs.
double rank_correlation(llvm::ArrayRef<std::pair<double, double>> pairs);

} // namespace ingot
