// SPDX-License-Identifier: Apache-2.0
// Tiles of 16-byte vectors, which every 64-bit target has. See gemm_tile.h.
#include "ir/interpreter/gemm_tile.h"

namespace ingot {

template <typename T> GemmTile<T> portable_tile() { return make_tile<T, 16, 4, 2>(); }
template GemmTile<double> portable_tile();
template GemmTile<float> portable_tile();

} // namespace ingot
