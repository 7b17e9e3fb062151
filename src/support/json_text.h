// SPDX-License-Identifier: Apache-2.0
// JSON text: a reader for untrusted bytes, which cannot exhaust the stack, and a writer. Manifests,
// bundles, cache entries, the tuner's results and reports use it.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace ingot {

/// The value in `text`. Errors: parse_error for invalid JSON, and for values nested more than 64
/// deep.
llvm::Expected<llvm::json::Value> parse_json(llvm::StringRef text);

/// The JSON text of the value that `write` writes, indented by 2, with a newline at its end.
std::string json_text(llvm::function_ref<void(llvm::json::OStream&)> write);

} // namespace ingot
