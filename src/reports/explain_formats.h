// SPDX-License-Identifier: Apache-2.0
// An explanation in one of its formats. The public API calls it, because it cannot name its types
// beside those of explain.h.
#pragma once

#include "src/compiler.h"

#include <map>

namespace ingot {

enum class ExplanationFormat : uint8_t { text, json, dot, svg };

/// explain() of a compilation in one format. Errors: those of explain().
llvm::Expected<std::string> explanation_text(const Compilation& compilation,
                                             const std::map<std::string, int64_t>& dims,
                                             ExplanationFormat format);

} // namespace ingot
