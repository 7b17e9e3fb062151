// SPDX-License-Identifier: Apache-2.0
// See manifest.h. This file writes; manifest_reader.cpp reads.
#include "codegen/program/manifest.h"

#include "codegen/program/manifest_words.h"
#include "src/support/error.h"
#include "src/support/json_text.h"

namespace ingot {

namespace {

using llvm::json::OStream;
using llvm::json::Value;

/// A number for a constant expression, else its text.
Value expr_json(const Expr& expr) {
  if (auto value = expr.constant()) return *value;
  return expr.text();
}

template <typename Range> void write_exprs(OStream& json, const char* key, const Range& exprs) {
  json.attributeArray(key, [&] {
    for (const Expr& expr : exprs) json.value(expr_json(expr));
  });
}

void write_tensors(OStream& json, const char* key, const std::vector<TensorInfo>& tensors) {
  json.attributeArray(key, [&] {
    for (const TensorInfo& tensor : tensors)
      json.object([&] {
        json.attribute("name", tensor.name);
        json.attribute("dtype", spelling(tensor.dtype));
        write_exprs(json, "shape", tensor.shape);
        json.attribute("alignment", tensor.alignment);
      });
  });
}

void write_memory(OStream& json, const char* key, const MemoryInfo& memory) {
  json.attributeObject(key, [&] {
    json.attribute("bytes", expr_json(memory.bytes));
    json.attribute("alignment", memory.alignment);
  });
}

void write_map(OStream& json, const TensorMap& map) {
  json.attribute("argument", map.argument);
  json.attribute("dtype", word_of(map.type));
  write_exprs(json, "extents", map.extents);
  write_exprs(json, "strides", map.strides);
  json.attributeArray("box", [&] {
    for (int64_t extent : map.box) json.value(extent);
  });
}

/// Writes the members of an argument into the open object.
void write_argument(OStream& json, const Argument& argument) {
  json.attribute("kind", word_of(argument.kind));
  if (argument.kind == ArgumentKind::tensormap) write_map(json, argument.map);
  if (!argument.name.empty()) json.attribute("name", argument.name);
  if (argument.kind == ArgumentKind::dim)
    json.attribute("value", expr_json(argument.value));
  else if (is_memory(argument.kind) || argument.offset.constant() != 0)
    json.attribute("offset", expr_json(argument.offset));
}

void write_predicates(OStream& json, const std::vector<Predicate>& predicates) {
  json.attributeArray("when", [&] {
    for (const Predicate& predicate : predicates)
      json.object([&] {
        json.attribute("kind", word_of(predicate.kind));
        if (predicate.kind == PredicateKind::aligned)
          json.attribute("argument", predicate.argument);
        else
          json.attribute("value", expr_json(predicate.value));
        json.attribute("number", predicate.number);
      });
  });
}

void write_variant(OStream& json, const KernelVariant& variant, const CodeFacts& code) {
  json.attribute("entry", variant.entry);
  write_predicates(json, variant.when);
  const LaunchShape& launch = variant.launch;
  write_exprs(json, "grid", launch.grid);
  write_exprs(json, "block", launch.block);
  json.attribute("shared_bytes", expr_json(launch.shared_bytes));
  json.attributeArray("cluster", [&] {
    for (int64_t extent : launch.cluster) json.value(extent);
  });
  json.attribute("max_threads", launch.max_threads);
  json.attribute("min_blocks_per_sm", launch.min_blocks_per_sm);
  if (auto facts = code.entries.find(variant.entry); facts != code.entries.end()) {
    json.attribute("registers", facts->second.registers);
    json.attribute("static_shared_bytes", facts->second.static_shared_bytes);
    json.attribute("stack_bytes", facts->second.stack_bytes);
    json.attribute("spill_bytes", facts->second.spill_bytes);
  }
  json.attributeArray("arguments", [&] {
    for (const Argument& argument : variant.arguments)
      json.object([&] { write_argument(json, argument); });
  });
  json.attribute("schedule", variant.schedule);
}

void write_kernels(OStream& json, const Module& module, const CodeFacts& code) {
  json.attributeArray("kernels", [&] {
    for (const KernelCode& kernel : module.kernels)
      json.object([&] {
        json.attribute("name", kernel.name);
        json.attributeArray("ops", [&] {
          for (const std::string& op : kernel.ops) json.value(op);
        });
        json.attributeArray("variants", [&] {
          for (const KernelVariant& variant : kernel.variants)
            json.object([&] { write_variant(json, variant, code); });
        });
      });
  });
}

void write_program(OStream& json, const char* key, const Module& module,
                   const ProgramSteps& program) {
  auto write_step = [&](const Step& step) {
    INGOT_ASSERT(step.kernel < module.kernels.size());
    json.attribute("kernel", module.kernels[step.kernel].name);
  };
  json.attributeObject(key, [&] {
    json.attributeArray("steps", [&] {
      for (const Step& step : program.steps) json.object([&] { write_step(step); });
    });
  });
}

void write_code(OStream& json, const CodeFacts& code) {
  json.attributeObject("code", [&] {
    json.attribute("file", code.file);
    json.attribute("kind", code.kind);
    json.attribute("ptx_version", code.ptx_version);
    json.attribute("least_driver", code.least_driver);
    json.attribute("compiler", code.compiler);
  });
}

void write_requirements(OStream& json, const Module& module) {
  if (module.requirements.empty()) return;
  json.attributeArray("at_least_0", [&] {
    for (const Expr& expr : module.requirements) json.value(expr_json(expr));
  });
}

void write_dims(OStream& json, const Module& module) {
  json.attributeArray("dims", [&] {
    for (const DimInfo& dim : module.dims)
      json.object([&] {
        json.attribute("name", dim.name);
        json.attribute("least", dim.least);
        // Unbounded values are left out, because few JSON readers keep 2^63 - 1 exactly.
        if (dim.most != INT64_MAX) json.attribute("most", dim.most);
      });
  });
}

} // namespace

std::string write_manifest(const Module& module, const CodeFacts& code) {
  return json_text([&](OStream& json) {
    json.object([&] {
      json.attribute("format", "ingot-manifest");
      json.attribute("version", kManifestVersion);
      json.attribute("name", module.name);
      json.attribute("family", module.family);
      json.attribute("arch", module.arch);
      if (module.overlaps) json.attribute("overlaps", true);
      write_code(json, code);
      write_dims(json, module);
      write_requirements(json, module);
      write_tensors(json, "inputs", module.inputs);
      write_tensors(json, "params", module.params);
      write_tensors(json, "outputs", module.outputs);
      json.attributeObject("memory", [&] {
        write_memory(json, "prepared", module.prepared);
        write_memory(json, "workspace", module.workspace);
        write_memory(json, "state", module.state);
      });
      json.attributeObject("programs", [&] {
        write_program(json, "prepare", module, module.prepare);
        write_program(json, "launch", module, module.launch);
      });
      write_kernels(json, module, code);
    });
  });
}

} // namespace ingot
