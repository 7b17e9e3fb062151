// SPDX-License-Identifier: Apache-2.0
// Writes the scan stage of a kernel: its functor and its struct. Called by the emitter alone.
#pragma once

#include "codegen/functors.h"

#include <string>

namespace ingot {

/// Writes the scan that `stage` holds and returns its stage type, `Scan<Cumsum>`. `names` are those
/// of the kernel's structs.
std::string write_scan(CodeWriter& out, FunctorWriter& functors, const Graph& graph,
                       const Stage& stage, Names& names);

} // namespace ingot
