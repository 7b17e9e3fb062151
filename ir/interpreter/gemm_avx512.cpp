// SPDX-License-Identifier: Apache-2.0
// Tiles for AVX-512: 24 accumulators of 64 bytes. Built with -mavx512f; see gemm_tile.h.
#include "ir/interpreter/gemm_tile.h"

namespace ingot {

#ifdef __AVX512F__
GemmTile<double> avx512_tile_f64() { return make_tile<double, 64, 8, 3>(); }
GemmTile<float> avx512_tile_f32() { return make_tile<float, 64, 8, 3>(); }
#else
GemmTile<double> avx512_tile_f64() { return {}; }
GemmTile<float> avx512_tile_f32() { return {}; }
#endif

} // namespace ingot
