// SPDX-License-Identifier: Apache-2.0
// Tiles for AVX2 with FMA: 12 accumulators of 32 bytes. Built with -mavx2 -mfma; see gemm_tile.h.
#include "ir/interpreter/gemm_tile.h"

namespace ingot {

#if defined(__AVX2__) && defined(__FMA__)
GemmTile<double> avx2_tile_f64() { return make_tile<double, 32, 4, 3>(); }
GemmTile<float> avx2_tile_f32() { return make_tile<float, 32, 4, 3>(); }
#else
GemmTile<double> avx2_tile_f64() { return {}; }
GemmTile<float> avx2_tile_f32() { return {}; }
#endif

} // namespace ingot
