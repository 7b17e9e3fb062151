// SPDX-License-Identifier: Apache-2.0
// A BenchReport as text and as JSON; see bench.h.
#include "src/reports/bench.h"

namespace ingot {
namespace {

std::string text_of(const Spread& spread) {
  return fmt::format("{:.4f} ms (p10 {:.4f}, p90 {:.4f} of {})", spread.median, spread.p10,
                     spread.p90, spread.count);
}

llvm::json::Object json_of(const Spread& spread) {
  return llvm::json::Object{{"median_ms", spread.median},
                            {"p10_ms", spread.p10},
                            {"p90_ms", spread.p90},
                            {"count", spread.count}};
}

} // namespace

std::string text_of(const BenchReport& report) {
  std::string text =
      fmt::format("{} on {} ({}), {}", report.graph, report.device, report.arch, report.precision);
  for (const auto& [name, size] : report.dims) text += fmt::format(", {} = {}", name, size);
  text += fmt::format("\n  launch    {}, {} {}, L2 flushed before each\n", text_of(report.launch),
                      report.kernels, report.kernels == 1 ? "kernel" : "kernels");
  if (report.rotated.count > 0)
    text += fmt::format("  in a row  {:.4f} ms each, on memory in turns\n", report.rotated.median);
  if (report.product.count > 0)
    text += fmt::format("  tail      {:.3f} times the {:.4f} ms of the product alone\n",
                        report.launch.median / report.product.median, report.product.median);
  text +=
      fmt::format("  host      {:.1f} us of the calling thread for a launch; {:.1f} us for a bare "
                  "one of an empty kernel\n",
                  report.host_microseconds, report.bare_microseconds);
  text += fmt::format("  memory    {:.3f} TB/s of {:.3f} TB/s that a copy does: {:.2f}\n",
                      report.bytes_per_second() / 1e12, report.copy_ceiling / 1e12,
                      report.bytes_per_second() / report.copy_ceiling);
  if (!report.unit.empty())
    text += fmt::format("  {:<9} {:.1f} TFLOP/s of {:.1f} TFLOP/s: {:.2f}\n", report.unit,
                        report.flops_per_second() / 1e12, report.unit_ceiling / 1e12,
                        report.flops_per_second() / report.unit_ceiling);
  if (report.prepare.count > 0)
    text +=
        fmt::format("  prepare   {}, {} bytes\n", text_of(report.prepare), report.prepared_bytes);
  return text + fmt::format("  workspace {} bytes\n", report.workspace_bytes);
}

llvm::json::Value json_of(const BenchReport& report) {
  llvm::json::Object dims;
  for (const auto& [name, size] : report.dims) dims[name] = size;
  llvm::json::Object result{{"graph", report.graph},
                            {"device", report.device},
                            {"arch", report.arch},
                            {"precision", report.precision},
                            {"dims", std::move(dims)},
                            {"kernels", report.kernels},
                            {"launch", json_of(report.launch)},
                            {"host_us", report.host_microseconds},
                            {"bare_host_us", report.bare_microseconds},
                            {"flops", report.flops},
                            {"bytes", report.bytes},
                            {"flops_per_second", report.flops_per_second()},
                            {"bytes_per_second", report.bytes_per_second()},
                            {"copy_ceiling", report.copy_ceiling},
                            {"prepared_bytes", report.prepared_bytes},
                            {"workspace_bytes", report.workspace_bytes}};
  if (!report.unit.empty()) {
    result["unit"] = report.unit;
    result["unit_ceiling"] = report.unit_ceiling;
  }
  if (report.prepare.count > 0) result["prepare"] = json_of(report.prepare);
  if (report.rotated.count > 0) result["rotated"] = json_of(report.rotated);
  if (report.product.count > 0) result["product"] = json_of(report.product);
  return result;
}

} // namespace ingot
