// SPDX-License-Identifier: Apache-2.0
// An Explanation as JSON; see explain.h.
#include "src/reports/explain.h"

#include "src/support/json_text.h"

namespace ingot {
namespace {

using llvm::json::OStream;

void write(OStream& json, llvm::StringRef name, const std::vector<std::string>& texts) {
  json.attributeArray(name, [&] {
    for (const std::string& text : texts) json.value(text);
  });
}

/// Writes times in milliseconds.
void write(OStream& json, const KernelCost& cost) {
  json.attribute("ms", cost.seconds * 1e3);
  json.attribute("products_ms", cost.products * 1e3);
  json.attribute("shared_ms", cost.shared * 1e3);
  json.attribute("cache_ms", cost.cache * 1e3);
  json.attribute("memory_ms", cost.memory * 1e3);
  json.attribute("stages_ms", cost.stages * 1e3);
  json.attribute("exposed_ms", cost.exposed * 1e3);
  json.attribute("idle_ms", cost.idle * 1e3);
}

void write(OStream& json, const Transfer& transfer) {
  json.attribute("name", transfer.name());
  json.attribute("direction", transfer.is_write ? "write" : "read");
  json.attribute("value", transfer.memory.value);
  json.attribute("type", transfer.memory.type);
  json.attribute("bytes", transfer.bytes);
}

void write(OStream& json, const KernelFacts& kernel) {
  json.attribute("name", kernel.name);
  json.attribute("program", kernel.program == ProgramKind::prepare ? "prepare" : "launch");
  json.attribute("packs_operand", kernel.packs.has_value());
  json.attribute("source", kernel.source);
  write(json, "ops", kernel.op_texts());
  write(json, "reductions", kernel.reductions);
  write(json, "schedules", kernel.schedules);
  json.attribute("tuned", kernel.tuned);
  json.attributeObject("predicted", [&] { write(json, kernel.predicted); });
  json.attributeArray("others", [&] {
    for (const OtherSchedule& other : kernel.others)
      json.object([&] {
        json.attribute("schedule", other.text);
        json.attribute("ms", other.seconds * 1e3);
      });
  });
  json.attributeArray("transfers", [&] {
    for (const Transfer& transfer : kernel.transfers) json.object([&] { write(json, transfer); });
  });
  json.attribute("bytes", kernel.bytes());
  json.attribute("flops", kernel.flops);
}

void write(OStream& json, const OtherPlan& plan) {
  json.attribute("kernels", plan.kernels);
  json.attribute("bytes", plan.bytes);
  json.attribute("predicted_ms", plan.seconds * 1e3);
}

void write(OStream& json, const BoundaryFacts& boundary, const std::vector<KernelFacts>& kernels) {
  json.attribute("producer", kernels[boundary.producer].name);
  json.attribute("consumer", kernels[boundary.consumer].name);
  write(json, "values", boundary.values);
  json.attribute("rule", boundary.rule);
  json.attribute("change", boundary.change);
}

void write(OStream& json, const Explanation& explanation) {
  json.attribute("graph", explanation.graph);
  json.attributeObject("dims", [&] {
    for (const auto& [name, size] : explanation.dims) json.attribute(name, size);
  });
  json.attribute("family", explanation.family);
  json.attribute("arch", explanation.arch);
  json.attribute("device", explanation.device);
  json.attributeArray("kernels", [&] {
    for (const KernelFacts& kernel : explanation.kernels) json.object([&] { write(json, kernel); });
  });
  json.attributeArray("boundaries", [&] {
    for (const BoundaryFacts& boundary : explanation.boundaries)
      json.object([&] { write(json, boundary, explanation.kernels); });
  });
  json.attribute("bytes", explanation.bytes);
  json.attribute("flops", explanation.flops);
  json.attribute("predicted_ms", explanation.predicted_seconds * 1e3);
  json.attributeObject("unfused", [&] { write(json, explanation.unfused); });
  if (explanation.pedantic)
    json.attributeObject("pedantic", [&] { write(json, *explanation.pedantic); });
  json.attributeObject("memory", [&] {
    json.attribute("prepared", explanation.prepared_bytes);
    json.attribute("workspace", explanation.workspace_bytes);
    json.attribute("state", explanation.state_bytes);
  });
}

} // namespace

std::string json_of(const Explanation& explanation) {
  return json_text([&](OStream& json) { json.object([&] { write(json, explanation); }); });
}

} // namespace ingot
