// SPDX-License-Identifier: Apache-2.0
// The public API's list of functions, as JSON. See include/ingot/ingot.h.
#include "ir/library.h"
#include "src/api/internal.h"
#include "src/support/json_text.h"

namespace ingot {
namespace {

using llvm::json::OStream;

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
