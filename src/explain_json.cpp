// SPDX-License-Identifier: Apache-2.0
// An Explanation as JSON; see explain.h.
#include "src/explain.h"

namespace ingot {
namespace {

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
                                           {"value", transfer.value},
                                           {"type", transfer.type},
                                           {"bytes", transfer.bytes}});
  return llvm::json::Object{
      {"name", kernel.name},
      {"program", kernel.program == ProgramKind::prepare ? "prepare" : "launch"},
      {"makes_halves", kernel.makes_halves},
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

llvm::json::Value json_of(const OtherPlan& plan) {
  return llvm::json::Object{
      {"kernels", plan.kernels}, {"bytes", plan.bytes}, {"predicted_ms", plan.seconds * 1e3}};
}

} // namespace

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
  llvm::json::Object result{
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
      {"unfused", json_of(explanation.unfused)},
      {"memory", llvm::json::Object{{"prepared", explanation.prepared_bytes},
                                    {"workspace", explanation.workspace_bytes},
                                    {"state", explanation.state_bytes}}}};
  if (explanation.without_halves) result["without_halves"] = json_of(*explanation.without_halves);
  return result;
}

} // namespace ingot
