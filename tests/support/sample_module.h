// SPDX-License-Identifier: Apache-2.0
// A module that uses every feature of the plain-data result of code generation.
#pragma once

#include "codegen/manifest.h"

namespace ingot::testing {

/// y[m, 64] = f(x[m, 64], w[64]) with two variants, a prepare program, a fill and all memories.
Module sample_module();

/// What a compiler could have said about it.
CodeFacts sample_code();

} // namespace ingot::testing
