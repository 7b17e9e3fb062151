// SPDX-License-Identifier: Apache-2.0
// How much is computed again so that parts of values need no memory. Used by the passes that move
// slices and concats, and by the rule that says what they left.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

/// Parts that one choice by position looks at for each of its elements, and parts of a concat of
/// which an op is computed one by one. Of more parts, choices are chosen from while
/// kMostRepeatedOps allow it.
constexpr size_t kMostSpreadParts = 8;

/// Elementwise ops and movements that are repeated for the parts of one value. A kernel that stores
/// it costs about as much as they do.
constexpr int kMostRepeatedOps = 32;

/// Elements of a row that a kernel holds until it stores them; where neighbours in memory lie in
/// different rows, it holds so many rows beside each other.
constexpr int64_t kMostHeldOfRow = 32768;
constexpr int64_t kRowsBesideEachOther = 128;

} // namespace ingot
