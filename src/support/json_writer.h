// SPDX-License-Identifier: Apache-2.0
// JSON text for manifests and bundles.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace ingot {

/// The JSON text of the value that `write` writes, indented by 2, with a newline at its end.
std::string json_text(llvm::function_ref<void(llvm::json::OStream&)> write);

} // namespace ingot
