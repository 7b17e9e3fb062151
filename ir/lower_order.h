// SPDX-License-Identifier: Apache-2.0
// The size below which plans keep intermediate 16-bit vectors in f32. A pass relies on it too.
#pragma once

namespace ingot {

/// A vector has this many times fewer elements than the kernels around it have points. f32 then
/// moves at most an eighth of the bytes of a 16-bit tensor of the points.
inline constexpr double kLowerOrder = 16;

} // namespace ingot
