// SPDX-License-Identifier: Apache-2.0
// An explanation in one of its formats. Called by the public API, whose types cannot be named
// beside those of explain.h.
#pragma once

#include "src/compiler.h"

#include <map>

namespace ingot {

enum class ExplanationFormat : uint8_t { text, json, dot, svg };

/// What explain() says of a compilation. Errors: as there.
llvm::Expected<std::string> explanation_text(const Compilation& compilation,
                                             const std::map<std::string, int64_t>& dims,
                                             ExplanationFormat format);

} // namespace ingot
