// SPDX-License-Identifier: Apache-2.0
// JSON from outside, read so that no bytes exhaust the stack. Every reader of JSON uses it: those
// of manifests and bundles, of cache entries and of what a tuner kept.
#pragma once

#include "llvm/Support/JSON.h"

namespace ingot {

/// The value that `text` holds. Errors: parse_error for what is no JSON, and for values nested more
/// than 64 deep.
llvm::Expected<llvm::json::Value> parse_json(llvm::StringRef text);

} // namespace ingot
