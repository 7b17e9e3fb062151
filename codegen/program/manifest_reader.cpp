// SPDX-License-Identifier: Apache-2.0
// parse_manifest; see manifest.h. Every error carries the path of the wrong value.
#include "codegen/program/manifest.h"

#include "codegen/program/manifest_check.h"
#include "codegen/program/manifest_words.h"
#include "src/support/error.h"
#include "src/support/json_text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

namespace ingot {

using llvm::json::fromJSON;
using llvm::json::ObjectMapper;
using llvm::json::Path;
using llvm::json::Value;

/// A step that still refers to its kernel by name.
struct NamedStep {
  std::string kernel;
};

/// Three numbers to be read.
struct Three {
  std::array<int64_t, 3>& numbers;
};

namespace {

template <typename Kind, size_t N>
bool read_word(const Value& json, const std::pair<Kind, llvm::StringLiteral> (&words)[N],
               llvm::StringLiteral expected, Kind& out, Path path) {
  std::optional<llvm::StringRef> text = json.getAsString();
  for (const auto& [kind, word] : words)
    if (text == word) {
      out = kind;
      return true;
    }
  path.report(expected);
  return false;
}

bool is_count(size_t count, size_t expected, Path path) {
  if (count == expected) return true;
  if (expected == 3)
    path.report("expected three values");
  else
    path.report("expected two values");
  return false;
}

/// Reads a number from 0 to `most`.
bool read_number(const Value& json, int64_t most, int64_t& out, Path path) {
  std::optional<int64_t> value = json.getAsInteger();
  if (!value || *value < 0 || *value > most) {
    path.report("expected a number within the range that the schema states");
    return false;
  }
  out = *value;
  return true;
}

} // namespace

// LLVM's JSON mapping looks up the names below.
// NOLINTBEGIN(readability-identifier-naming)

static bool fromJSON(const Value& json, Expr& out, Path path) {
  if (auto number = json.getAsInteger()) {
    out = Expr(*number);
    return true;
  }
  if (auto text = json.getAsString()) {
    llvm::Expected<Expr> expr = parse_expr(*text);
    if (expr) {
      out = *expr;
      return true;
    }
    llvm::consumeError(expr.takeError());
  }
  path.report("expected a 64-bit number or the text of an expression");
  return false;
}

static bool fromJSON(const Value& json, ArgumentKind& out, Path path) {
  return read_word(json, kArgumentWords, kArgumentsExpected, out, path);
}

static bool fromJSON(const Value& json, PredicateKind& out, Path path) {
  return read_word(json, kPredicateWords, kPredicatesExpected, out, path);
}

static bool fromJSON(const Value& json, MapType& out, Path path) {
  return read_word(json, kMapWords, kMapsExpected, out, path);
}

static bool fromJSON(const Value& json, Three& out, Path path) {
  std::vector<int64_t> values;
  if (!fromJSON(json, values, path) || !is_count(values.size(), 3, path)) return false;
  std::copy(values.begin(), values.end(), out.numbers.begin());
  return true;
}

template <size_t N> static bool fromJSON(const Value& json, std::array<Expr, N>& out, Path path) {
  std::vector<Expr> values;
  if (!fromJSON(json, values, path) || !is_count(values.size(), N, path)) return false;
  std::copy(values.begin(), values.end(), out.begin());
  return true;
}

static bool fromJSON(const Value& json, DimInfo& out, Path path) {
  ObjectMapper object(json, path);
  return object && object.map("name", out.name) && object.map("least", out.least) &&
         object.mapOptional("most", out.most);
}

static bool fromJSON(const Value& json, DType& out, Path path) {
  const auto word = json.getAsString();
  const auto dtype = word ? parse_dtype(*word) : std::nullopt;
  if (dtype)
    out = *dtype;
  else
    path.report("expected f32, f16, bf16, i32, i64 or bool");
  return dtype.has_value();
}

static bool fromJSON(const Value& json, TensorInfo& out, Path path) {
  ObjectMapper object(json, path);
  return object && object.map("name", out.name) && object.map("dtype", out.dtype) &&
         object.map("shape", out.shape) && object.map("alignment", out.alignment);
}

static bool fromJSON(const Value& json, MemoryInfo& out, Path path) {
  ObjectMapper object(json, path);
  return object && object.map("bytes", out.bytes) && object.map("alignment", out.alignment);
}

/// Reads the index of an argument from field `argument` of an object.
static bool read_argument_index(const Value& json, uint32_t& out, Path path) {
  int64_t argument = 0;
  const Value* index = json.getAsObject()->get("argument");
  if (!read_number(index ? *index : Value(nullptr), UINT32_MAX, argument, path.field("argument")))
    return false;
  out = uint32_t(argument);
  return true;
}

static bool fromJSON(const Value& json, TensorMap& out, Path path) {
  Three box{out.box};
  ObjectMapper object(json, path);
  return object && object.map("dtype", out.type) && object.map("extents", out.extents) &&
         object.map("strides", out.strides) && object.map("box", box) &&
         read_argument_index(json, out.argument, path);
}

static bool fromJSON(const Value& json, Argument& out, Path path) {
  ObjectMapper object(json, path);
  if (!object || !object.map("kind", out.kind)) return false;
  bool is_value = out.kind == ArgumentKind::dim;
  bool is_tensor = !is_value && !is_memory(out.kind) && out.kind != ArgumentKind::tensormap;
  if (is_value && !object.map("value", out.value)) return false;
  if (out.kind == ArgumentKind::tensormap && !fromJSON(json, out.map, path)) return false;
  if (is_tensor ? !object.map("name", out.name) : !object.mapOptional("name", out.name))
    return false;
  return is_memory(out.kind) ? object.map("offset", out.offset)
                             : object.mapOptional("offset", out.offset);
}

static bool fromJSON(const Value& json, Predicate& out, Path path) {
  ObjectMapper object(json, path);
  if (!object || !object.map("kind", out.kind) || !object.map("number", out.number)) return false;
  if (out.kind != PredicateKind::aligned) return object.map("value", out.value);
  return read_argument_index(json, out.argument, path);
}

static bool fromJSON(const Value& json, KernelVariant& out, Path path) {
  ObjectMapper object(json, path);
  LaunchShape& launch = out.launch;
  Three cluster{launch.cluster};
  bool read = object && object.map("entry", out.entry) && object.map("when", out.when) &&
              object.map("grid", launch.grid) && object.map("block", launch.block) &&
              object.map("shared_bytes", launch.shared_bytes) && object.map("cluster", cluster) &&
              object.map("max_threads", launch.max_threads) &&
              object.map("min_blocks_per_sm", launch.min_blocks_per_sm) &&
              object.map("arguments", out.arguments) && object.map("schedule", out.schedule);
  return read;
}

static bool fromJSON(const Value& json, EntryFacts& out, Path path) {
  ObjectMapper object(json, path);
  return object && object.mapOptional("registers", out.registers) &&
         object.mapOptional("static_shared_bytes", out.static_shared_bytes) &&
         object.mapOptional("stack_bytes", out.stack_bytes) &&
         object.mapOptional("spill_bytes", out.spill_bytes);
}

static bool fromJSON(const Value& json, KernelCode& out, Path path) {
  ObjectMapper object(json, path);
  return object && object.map("name", out.name) && object.map("ops", out.ops) &&
         object.map("variants", out.variants);
}

static bool fromJSON(const Value& json, NamedStep& out, Path path) {
  ObjectMapper object(json, path);
  return object && object.map("kernel", out.kernel);
}

static bool fromJSON(const Value& json, ProgramSteps& out, const std::vector<KernelCode>& kernels,
                     Path path) {
  std::vector<NamedStep> steps;
  ObjectMapper object(json, path);
  if (!object || !object.map("steps", steps)) return false;
  llvm::StringMap<uint32_t> numbers;
  for (const auto& [i, kernel] : llvm::enumerate(kernels))
    numbers.try_emplace(kernel.name, uint32_t(i));
  for (const auto& [i, step] : llvm::enumerate(steps)) {
    auto named = numbers.find(step.kernel);
    if (named == numbers.end()) {
      path.field("steps").index(unsigned(i)).field("kernel").report("expected a kernel's name");
      return false;
    }
    out.steps.push_back({named->second});
  }
  return true;
}

static bool fromJSON(const Value& json, CodeFacts& out, Path path) {
  ObjectMapper object(json, path);
  return object && object.map("file", out.file) && object.map("kind", out.kind) &&
         object.map("ptx_version", out.ptx_version) &&
         object.map("least_driver", out.least_driver) && object.map("compiler", out.compiler);
}

// NOLINTEND(readability-identifier-naming)

namespace {

bool read_memories(const Value& json, Module& module, Path path) {
  ObjectMapper object(json, path);
  return object && object.map("prepared", module.prepared) &&
         object.map("workspace", module.workspace) && object.map("state", module.state);
}

bool read_programs(const Value& json, Module& module, Path path) {
  const llvm::json::Object* object = json.getAsObject();
  const Value* prepare = object ? object->get("prepare") : nullptr;
  const Value* launch = object ? object->get("launch") : nullptr;
  if (!prepare || !launch) {
    path.report("expected prepare and launch");
    return false;
  }
  return fromJSON(*prepare, module.prepare, module.kernels, path.field("prepare")) &&
         fromJSON(*launch, module.launch, module.kernels, path.field("launch"));
}

/// The report of ptxas on each entry stands among the members of its variant.
bool read_entries(const Value& kernels, CodeFacts& code, Path path) {
  for (const Value& kernel : *kernels.getAsArray())
    for (const Value& variant : *kernel.getAsObject()->getArray("variants")) {
      const llvm::json::Object& object = *variant.getAsObject();
      if (!object.get("registers")) continue;
      if (!fromJSON(variant, code.entries[object.getString("entry")->str()], path)) return false;
    }
  return true;
}

bool read_manifest(const Value& json, Manifest& out, Path path) {
  ObjectMapper object(json, path);
  Module& module = out.module;
  if (!object || !object.map("name", module.name) || !object.map("family", module.family) ||
      !object.map("arch", module.arch) || !object.mapOptional("overlaps", module.overlaps) ||
      !object.map("code", out.code) || !object.map("dims", module.dims) ||
      !object.mapOptional("at_least_0", module.requirements) ||
      !object.map("inputs", module.inputs) || !object.map("params", module.params) ||
      !object.map("outputs", module.outputs) || !object.map("kernels", module.kernels))
    return false;
  const llvm::json::Object& members = *json.getAsObject();
  const Value* memory = members.get("memory");
  const Value* programs = members.get("programs");
  if (!memory || !programs) {
    path.report("expected memory and programs");
    return false;
  }
  return read_entries(*members.get("kernels"), out.code, path.field("kernels")) &&
         read_memories(*memory, module, path.field("memory")) &&
         read_programs(*programs, module, path.field("programs"));
}

} // namespace

llvm::Expected<Manifest> parse_manifest(llvm::StringRef text) {
  auto fail = [](const std::string& reason) {
    return make_error(ErrorCode::parse_error, "manifest: {}", reason);
  };
  llvm::Expected<Value> json = parse_json(text);
  if (!json) return fail(take_error(json.takeError()).second);
  const llvm::json::Object* object = json->getAsObject();
  if (!object || object->getString("format") != llvm::StringRef("ingot-manifest"))
    return fail("expected an object whose format is \"ingot-manifest\"");
  std::optional<int64_t> version = object->getInteger("version");
  if (version != kManifestVersion)
    return fail(fmt::format("expected version {}, got {}; read it with the Ingot that wrote it",
                            kManifestVersion, version ? std::to_string(*version) : "none"));
  Manifest manifest;
  Path::Root root("manifest");
  if (!read_manifest(*json, manifest, root)) return fail(llvm::toString(root.getError()));
  if (auto error = check_manifest(manifest)) return fail(take_error(std::move(error)).second);
  return manifest;
}

} // namespace ingot
