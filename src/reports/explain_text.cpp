// SPDX-License-Identifier: Apache-2.0
// An Explanation as text: the verdict, the kernels in launch order, and the reasons for their
// boundaries. See explain.h.
#include "src/reports/explain.h"

#include "src/support/quantities.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {
namespace {

using llvm::raw_ostream;

class ExplanationText {
public:
  ExplanationText(const Explanation& explanation, bool colour) : e_(explanation), out_(text_) {
    out_.enable_colors(colour);
  }

  std::string run() {
    print_verdict();
    for (size_t i = 0; i < e_.kernels.size(); ++i) {
      const bool begins = i == 0 || e_.kernels[i - 1].program != e_.kernels[i].program;
      if (begins && e_.kernels[i].program == ProgramKind::prepare)
        heading("\nprepare, once for a set of params\n");
      else if (begins && i > 0)
        heading("\neach launch\n");
      print_kernel(e_.kernels[i], i + 1);
    }
    print_boundaries();
    out_ << "\nmemory    " << bytes_text(e_.prepared_bytes) << " prepared, "
         << bytes_text(e_.workspace_bytes) << " workspace, " << bytes_text(e_.state_bytes)
         << " state\n";
    return std::move(text_);
  }

private:
  void print_verdict();
  void print_kernel(const KernelFacts& kernel, size_t number);
  void print_boundaries();

  void heading(const std::string& text) {
    out_.changeColor(raw_ostream::SAVEDCOLOR, true);
    out_ << text;
    out_.resetColor();
  }
  /// Prints lines under a label; nothing without lines.
  void list(const char* label, llvm::ArrayRef<std::string> lines) {
    for (size_t i = 0; i < lines.size(); ++i)
      out_ << fmt::format("  {:<9} {}\n", i == 0 ? label : "", lines[i]);
  }

  const Explanation& e_;
  std::string text_;
  llvm::raw_string_ostream out_;
};

/// The verdict on a plan, and whether it is good.
std::pair<std::string, bool> verdict_of(const Explanation& e) {
  constexpr double kAlike = 0.02; // the model cannot tell a smaller share from zero
  const double ratio = e.predicted_seconds > 0 ? e.unfused.seconds / e.predicted_seconds : 1;
  const int64_t more = e.bytes - e.unfused.bytes;
  if (ratio < 1 - kAlike)
    return {fmt::format(
                "fusing is WORSE here than one Ingot kernel per operator: it takes {} as long{}",
                times_text(1 / ratio),
                more > 0 ? fmt::format(" and moves {} more", bytes_text(more)) : ""),
            false};
  const bool is_alike = ratio <= 1 + kAlike;
  if (is_alike && e.launches() == e.unfused.kernels && more == 0)
    return {"nothing to fuse: one Ingot kernel per operator does the same", true};
  const std::string gain =
      is_alike ? "as fast as one Ingot kernel per operator"
               : fmt::format("{} as fast as one Ingot kernel per operator", times_text(ratio));
  if (more > 0) return {fmt::format("{}, though it moves {} more", gain, bytes_text(more)), true};
  return {more < 0 ? fmt::format("{}, and moves {} less", gain, bytes_text(-more)) : gain, true};
}

void ExplanationText::print_verdict() {
  heading(fmt::format("{}: {} for {} ({}), {} predicted on {}\n", e_.graph,
                      count_text(e_.launches(), "kernel"), e_.family, e_.arch,
                      seconds_text(e_.predicted_seconds), e_.device));
  const auto [verdict, is_good] = verdict_of(e_);
  out_.changeColor(is_good ? raw_ostream::GREEN : raw_ostream::RED, true);
  out_ << verdict << "\n";
  out_.resetColor();
  auto row = [&](const char* label, const OtherPlan& plan, const std::string& rest) {
    out_ << fmt::format("  {:<9} {}, {}, {} moved, {}\n", label, count_text(plan.kernels, "kernel"),
                        seconds_text(plan.seconds), bytes_text(plan.bytes), rest);
  };
  row("fused", {e_.launches(), e_.bytes, e_.predicted_seconds}, flops_text(e_.flops));
  row("unfused", e_.unfused, "each operator alone");
  if (e_.pedantic) row("pedantic", *e_.pedantic, "fused, f32 products by FMA");
  for (const auto& [name, size] : e_.dims)
    out_ << (e_.given_dims.count(name)
                 ? fmt::format("  {} = {} (given)\n", name, size)
                 : fmt::format("  {} = {} (--dim {}=SIZE for another size)\n", name, size, name));
}

std::string transfers_text(const KernelFacts& kernel, bool is_write) {
  std::string text;
  for (const Transfer& transfer : kernel.transfers) {
    if (transfer.is_write != is_write) continue;
    const bool is_tensor = is_callers(transfer.memory.argument.kind);
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", transfer.memory.value,
                        bytes_text(transfer.bytes),
                        is_tensor ? "" : fmt::format(" ({})", transfer.name()));
  }
  return text.empty() ? "nothing" : text;
}

void ExplanationText::print_kernel(const KernelFacts& kernel, size_t number) {
  heading(fmt::format("\nkernel {}: {}, {}\n", number, kernel.source,
                      seconds_text(kernel.predicted.seconds)));
  list("reads", transfers_text(kernel, false));
  list("computes", kernel.op_texts());
  list("reduces", kernel.reductions);
  list("writes", transfers_text(kernel, true));
  list("moves", fmt::format("{}, {}", bytes_text(kernel.bytes()), flops_text(kernel.flops)));
  list("predicts", kernel.predicted.text());
  for (size_t i = 0; i < kernel.schedules.size(); ++i)
    list(i == 0 ? "schedule" : "or", kernel.schedules[i]);
  if (!kernel.tuned.empty()) list("tuned", kernel.tuned);
  std::vector<std::string> others;
  for (const OtherSchedule& other : kernel.others)
    others.push_back(fmt::format("{}: {}", seconds_text(other.seconds), other.text));
  if (!others.empty()) list("other", others);
  list("entry", kernel.name);
}

void ExplanationText::print_boundaries() {
  // Boundaries with the same reason are printed together.
  std::vector<std::pair<const BoundaryFacts*, std::vector<std::string>>> reasons;
  for (const BoundaryFacts& boundary : e_.boundaries) {
    const std::string values = llvm::join(boundary.values, ", ");
    std::string ends =
        fmt::format("{} {} {}{}", boundary.producer + 1, values.empty() ? "|" : "->",
                    boundary.consumer + 1, values.empty() ? "" : fmt::format(" ({})", values));
    auto known = llvm::find_if(reasons, [&](const auto& reason) {
      return reason.first->rule == boundary.rule && reason.first->change == boundary.change;
    });
    if (known == reasons.end())
      reasons.push_back({&boundary, {std::move(ends)}});
    else
      known->second.push_back(std::move(ends));
  }
  if (!reasons.empty()) heading("\nwhy they are apart\n");
  for (const auto& [boundary, ends] : reasons)
    out_ << fmt::format("  kernels {}\n    {}\n    {}\n", llvm::join(ends, ", "), boundary->rule,
                        change_text(boundary->change));
}

} // namespace

std::string text_of(const Explanation& explanation, bool colour) {
  return ExplanationText(explanation, colour).run();
}

} // namespace ingot
