// SPDX-License-Identifier: Apache-2.0
// Legal graphs out of arbitrary bytes, for fuzz targets: equal bytes give equal graphs.
#pragma once

#include "ir/graph.h"

namespace ingot::testing {

/// A small graph of library calls on f32, bool and i64 inputs, some with the named dim `m`; at most
/// 16 calls and 3 outputs. Calls that do not type are left out.
Graph random_graph(llvm::ArrayRef<uint8_t> bytes);

} // namespace ingot::testing
