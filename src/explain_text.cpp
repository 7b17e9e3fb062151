// SPDX-License-Identifier: Apache-2.0
// An Explanation as text and as JSON; see explain.h.
#include "src/explain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ingot {
namespace {

/// `137.4 G`.
std::string quantity(int64_t count) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  double value = static_cast<double>(count);
  size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < std::size(prefixes)) {
    value /= 1000;
    ++prefix;
  }
  return prefix == 0 ? fmt::format("{} ", count)
                     : fmt::format("{:.4g} {}", value, prefixes[prefix]);
}

std::string transfers_text(const KernelFacts& kernel, bool is_write) {
  std::string text;
  for (const Transfer& transfer : kernel.transfers)
    if (transfer.is_write == is_write)
      text += fmt::format("{}{} {}B", text.empty() ? "" : ", ", transfer.name,
                          quantity(transfer.bytes));
  return text.empty() ? "nothing" : text;
}

std::string text_of(const KernelFacts& kernel, size_t index) {
  std::string text =
      fmt::format("\nkernel {}: {}{}\n", index, kernel.name,
                  kernel.program == ProgramKind::prepare ? " (prepare program)" : "");
  text += fmt::format("  source    {}\n", kernel.source);
  for (size_t i = 0; i < kernel.ops.size(); ++i)
    text += fmt::format("  {:<9} {}\n", i == 0 ? "holds" : "", kernel.ops[i]);
  for (size_t i = 0; i < kernel.reductions.size(); ++i)
    text += fmt::format("  {:<9} {}\n", i == 0 ? "reduces" : "", kernel.reductions[i]);
  text += fmt::format("  reads     {}\n", transfers_text(kernel, false));
  text += fmt::format("  writes    {}\n", transfers_text(kernel, true));
  text +=
      fmt::format("  moves     {}B for {}FLOP\n", quantity(kernel.bytes()), quantity(kernel.flops));
  for (size_t i = 0; i < kernel.schedules.size(); ++i)
    text += fmt::format("  {:<9} {}\n", i == 0 ? "schedule" : "or", kernel.schedules[i]);
  if (!kernel.tuned.empty()) text += fmt::format("  tuned     {}\n", kernel.tuned);
  text += fmt::format("  predicts  {}\n", kernel.predicted.text());
  return text;
}

/// In milliseconds.
llvm::json::Value json_of(const KernelCost& cost) {
  return llvm::json::Object{
      {"ms", cost.seconds * 1e3},         {"products_ms", cost.products * 1e3},
      {"shared_ms", cost.shared * 1e3},   {"cache_ms", cost.cache * 1e3},
      {"memory_ms", cost.memory * 1e3},   {"stages_ms", cost.stages * 1e3},
      {"exposed_ms", cost.exposed * 1e3}, {"idle_ms", cost.idle * 1e3}};
}

llvm::json::Value json_of(const KernelFacts& kernel) {
  llvm::json::Array transfers;
  for (const Transfer& transfer : kernel.transfers)
    transfers.push_back(llvm::json::Object{{"name", transfer.name},
                                           {"direction", transfer.is_write ? "write" : "read"},
                                           {"bytes", transfer.bytes}});
  return llvm::json::Object{
      {"name", kernel.name},
      {"program", kernel.program == ProgramKind::prepare ? "prepare" : "launch"},
      {"source", kernel.source},
      {"ops", llvm::json::Array(kernel.ops)},
      {"reductions", llvm::json::Array(kernel.reductions)},
      {"schedules", llvm::json::Array(kernel.schedules)},
      {"tuned", kernel.tuned},
      {"predicted", json_of(kernel.predicted)},
      {"transfers", std::move(transfers)},
      {"bytes", kernel.bytes()},
      {"flops", kernel.flops}};
}

} // namespace

std::string text_of(const Explanation& explanation) {
  const auto launches = llvm::count_if(explanation.kernels, [](const KernelFacts& kernel) {
    return kernel.program == ProgramKind::launch;
  });
  std::string text =
      fmt::format("{}: {} {} for {} ({})\n", explanation.graph, launches,
                  launches == 1 ? "kernel" : "kernels", explanation.family, explanation.arch);
  for (const auto& [name, size] : explanation.dims)
    text += fmt::format("{} = {} (--dim {}=SIZE for another size)\n", name, size, name);
  for (size_t i = 0; i < explanation.kernels.size(); ++i)
    text += text_of(explanation.kernels[i], i);
  if (!explanation.boundaries.empty()) text += "\nboundaries\n";
  for (const BoundaryFacts& boundary : explanation.boundaries)
    text += fmt::format("  {} {} {}{}{}\n    {}\n    to fuse: {}\n", boundary.producer,
                        boundary.values.empty() ? "|" : "->", boundary.consumer,
                        boundary.values.empty() ? "" : " at ", llvm::join(boundary.values, ", "),
                        boundary.rule, boundary.change);
  text += fmt::format("\nfused     {}B moved, {}FLOP\n", quantity(explanation.bytes),
                      quantity(explanation.flops));
  text += fmt::format("predicted {:.4f} ms on {}\n", explanation.predicted_seconds * 1e3,
                      explanation.device);
  text += fmt::format("unfused   {}B moved by {} {}, one for each operator as written\n",
                      quantity(explanation.unfused_bytes), explanation.unfused_kernels,
                      explanation.unfused_kernels == 1 ? "kernel" : "kernels");
  text += fmt::format("memory    {}B prepared, {}B workspace, {}B state\n",
                      quantity(explanation.prepared_bytes), quantity(explanation.workspace_bytes),
                      quantity(explanation.state_bytes));
  return text;
}

llvm::json::Value json_of(const Explanation& explanation) {
  llvm::json::Array kernels, boundaries;
  for (const KernelFacts& kernel : explanation.kernels) kernels.push_back(json_of(kernel));
  for (const BoundaryFacts& boundary : explanation.boundaries)
    boundaries.push_back(llvm::json::Object{{"producer", boundary.producer},
                                            {"consumer", boundary.consumer},
                                            {"values", llvm::json::Array(boundary.values)},
                                            {"rule", boundary.rule},
                                            {"change", boundary.change}});
  llvm::json::Object dims;
  for (const auto& [name, size] : explanation.dims) dims[name] = size;
  return llvm::json::Object{
      {"graph", explanation.graph},
      {"dims", std::move(dims)},
      {"family", explanation.family},
      {"arch", explanation.arch},
      {"kernels", std::move(kernels)},
      {"boundaries", std::move(boundaries)},
      {"bytes", explanation.bytes},
      {"flops", explanation.flops},
      {"device", explanation.device},
      {"predicted_ms", explanation.predicted_seconds * 1e3},
      {"unfused", llvm::json::Object{{"kernels", explanation.unfused_kernels},
                                     {"bytes", explanation.unfused_bytes}}},
      {"memory", llvm::json::Object{{"prepared", explanation.prepared_bytes},
                                    {"workspace", explanation.workspace_bytes},
                                    {"state", explanation.state_bytes}}}};
}

} // namespace ingot
