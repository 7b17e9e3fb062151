// SPDX-License-Identifier: Apache-2.0
// The public API's list of functions, as JSON. See include/ingot/ingot.h.
#include "ir/library.h"
#include "src/api/internal.h"
#include "src/support/json_text.h"

namespace ingot {
namespace {

using llvm::json::OStream;

llvm::StringRef spelling(ParameterKind kind) {
  switch (kind) {
  case ParameterKind::tensor: return "tensor";
  case ParameterKind::tensors: return "tensors";
  case ParameterKind::number: return "number";
  case ParameterKind::integer: return "integer";
  case ParameterKind::boolean: return "boolean";
  case ParameterKind::text: return "text";
  case ParameterKind::dtype: return "dtype";
  case ParameterKind::axis: return "axis";
  case ParameterKind::axes: return "axes";
  case ParameterKind::ints: return "ints";
  case ParameterKind::dim: return "dim";
  case ParameterKind::dims: return "dims";
  }
  llvm_unreachable("not a kind of parameter");
}

void write_default(OStream& json, const LibraryArgument& fallback) {
  if (const auto* integer = std::get_if<int64_t>(&fallback.value))
    json.attribute("default", *integer);
  else if (const auto* number = std::get_if<double>(&fallback.value))
    json.attribute("default", *number);
  else if (const auto* boolean = std::get_if<bool>(&fallback.value))
    json.attribute("default", *boolean);
  else if (const auto* text = std::get_if<std::string>(&fallback.value))
    json.attribute("default", *text);
  else
    json.attribute("default", nullptr);
}

void write_function(OStream& json, const LibraryFunction& function) {
  json.attribute("name", function.name);
  json.attribute("summary", function.summary);
  json.attributeArray("parameters", [&] {
    for (const Parameter& parameter : function.parameters)
      json.object([&] {
        json.attribute("name", parameter.name);
        json.attribute("kind", spelling(parameter.kind));
        if (!parameter.is_required) write_default(json, parameter.fallback);
      });
  });
}

} // namespace

Result<std::string> functions() {
  return guarded([]() -> Result<std::string> {
    return json_text([](OStream& json) {
      json.array([&] {
        for (const LibraryFunction& function : library_functions())
          json.object([&] { write_function(json, function); });
      });
    });
  });
}

} // namespace ingot
