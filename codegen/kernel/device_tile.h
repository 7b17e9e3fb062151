// SPDX-License-Identifier: Apache-2.0
// A schedule's tile in the terms of the device library (codegen/device/sizes/), which lays out
// threads, shared memory and the results of reductions by the same numbers.
#pragma once

#include "codegen/device/sizes/shared_memory.h"
#include "codegen/kernel/kernel.h"

namespace ingot {

/// The layout of a schedule's tile (tile/layout.cuh).
sizes::Tile tile_of(const Schedule& schedule);
Span span_of(ReduceSpan span);

/// True if each stage reads and writes one row at a time, without the other warps: a tile can go
/// through them in bands (tile/bands.cuh).
bool stays_in_rows(const TileBody& body, const Schedule& schedule);

} // namespace ingot
