// SPDX-License-Identifier: Apache-2.0
// Limits on the work that is repeated so that slices of values need no memory. The passes that move
// slices and concats use them, and so does the fusion rule that explains the remaining ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

/// Maximum number of parts of one choice by position, because each element evaluates all of them.
/// Also the maximum number of parts of a concat on which an op is computed one by one. Concats of
/// more parts become choices between choices, up to kMostRepeatedOps.
constexpr size_t kMostSpreadParts = 8;

/// Maximum number of elementwise ops and movements that are repeated for the parts of one value.
/// That many cost about as much as a kernel that stores the value.
constexpr int kMostRepeatedOps = 32;

/// Maximum number of elements of a row that a kernel holds until it stores them. If neighbours in
/// memory lie in different rows, the kernel holds kRowsBesideEachOther rows, which share this
/// number.
constexpr int64_t kMostHeldOfRow = 32768;
constexpr int64_t kRowsBesideEachOther = 128;

} // namespace ingot
