// SPDX-License-Identifier: Apache-2.0
// A TuneReport as text and as JSON; see tune.h.
#include "src/reports/tune.h"

namespace ingot {
namespace {

std::string text_of(const KernelTuning& tuning) {
  std::string text = fmt::format("\n{}: {} candidates, rank correlation {:.2f}\n", tuning.kernel,
                                 tuning.trials.size(), tuning.rank_correlation);
  text += "  predicted   measured\n";
  for (size_t i = 0; i < tuning.trials.size(); ++i) {
    const Trial& trial = tuning.trials[i];
    const std::string choice = trial.choice.text();
    const std::string outcome =
        trial.problem.empty()
            ? fmt::format("{:8.4f} ms", trial.measured_ms)
            : fmt::format("out: {}", llvm::StringRef(trial.problem).split('\n').first.str());
    text +=
        fmt::format("{} {:8.4f} {}  {}{}\n", i == tuning.winner ? "*" : " ", trial.predicted_ms,
                    outcome, trial.schedule, choice.empty() ? " (untuned)" : " (" + choice + ")");
  }
  return text;
}

llvm::json::Value json_of(const KernelTuning& tuning) {
  llvm::json::Array trials;
  for (const Trial& trial : tuning.trials) {
    llvm::json::Object object{{"choice", trial.choice.text()},
                              {"schedule", trial.schedule},
                              {"predicted_ms", trial.predicted_ms}};
    if (trial.problem.empty())
      object["measured_ms"] = trial.measured_ms;
    else
      object["problem"] = trial.problem;
    trials.push_back(std::move(object));
  }
  return llvm::json::Object{{"kernel", tuning.kernel},
                            {"winner", tuning.winner},
                            {"rank_correlation", tuning.rank_correlation},
                            {"trials", std::move(trials)}};
}

} // namespace

std::string text_of(const TuneReport& report) {
  std::string text = fmt::format("{} on {}, {}", report.graph, report.device, report.precision);
  for (const auto& [name, size] : report.dims) text += fmt::format(", {} = {}", name, size);
  text += "; times of a launch, * the kept schedule\n";
  for (const KernelTuning& tuning : report.kernels) text += text_of(tuning);
  text += fmt::format("\nuntuned {:.4f} ms, tuned {:.4f} ms: {:.3f} times as fast\n",
                      report.untuned_ms, report.tuned_ms, report.untuned_ms / report.tuned_ms);
  if (!report.problem.empty()) return text + "not kept: " + report.problem + "\n";
  return text + (report.folder.empty() ? "nothing is kept: name a folder in INGOT_CACHE_DIR "
                                         "and leave INGOT_CACHE unset\n"
                                       : fmt::format("kept in {}\n", report.folder));
}

llvm::json::Value json_of(const TuneReport& report) {
  llvm::json::Object dims;
  for (const auto& [name, size] : report.dims) dims[name] = size;
  llvm::json::Array kernels;
  for (const KernelTuning& tuning : report.kernels) kernels.push_back(json_of(tuning));
  return llvm::json::Object{{"graph", report.graph},         {"device", report.device},
                            {"precision", report.precision}, {"dims", std::move(dims)},
                            {"kernels", std::move(kernels)}, {"untuned_ms", report.untuned_ms},
                            {"tuned_ms", report.tuned_ms},   {"problem", report.problem},
                            {"folder", report.folder}};
}

} // namespace ingot
