// SPDX-License-Identifier: Apache-2.0
// Tiles for AVX-512: 24 accumulators of 64 bytes. Built with -mavx512f; see gemm_tile.h.
#include "ir/interpreter/gemm_tile.h"

namespace ingot {

template <typename T> GemmTile<T> avx512_tile() {
#ifdef __AVX512F__
  return make_tile<T, 64, 8, 3>();
#else
  return {};
#endif
}
template GemmTile<double> avx512_tile();
template GemmTile<float> avx512_tile();

} // namespace ingot
