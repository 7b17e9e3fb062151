// SPDX-License-Identifier: Apache-2.0
// A JSON reader for untrusted bytes, which cannot exhaust the stack. It reads manifests, bundles,
// cache entries and the tuner's results.
#pragma once

#include "llvm/Support/JSON.h"

namespace ingot {

/// The value in `text`. Errors: parse_error for invalid JSON, and for values nested more than 64
/// deep.
llvm::Expected<llvm::json::Value> parse_json(llvm::StringRef text);

} // namespace ingot
