// SPDX-License-Identifier: Apache-2.0
// Tiles of 16-byte vectors, which every 64-bit target has. See gemm_tile.h.
#include "ir/interpreter/gemm_tile.h"

namespace ingot {

GemmTile<double> portable_tile_f64() { return make_tile<double, 16, 4, 2>(); }
GemmTile<float> portable_tile_f32() { return make_tile<float, 16, 4, 2>(); }

} // namespace ingot
