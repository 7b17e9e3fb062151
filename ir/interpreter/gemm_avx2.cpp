// SPDX-License-Identifier: Apache-2.0
// Tiles for AVX2 with FMA: 12 accumulators of 32 bytes. Built with -mavx2 -mfma; see gemm_tile.h.
#include "ir/interpreter/gemm_tile.h"

namespace ingot {

template <typename T> GemmTile<T> avx2_tile() {
#if defined(__AVX2__) && defined(__FMA__)
  return make_tile<T, 32, 4, 3>();
#else
  return {};
#endif
}
template GemmTile<double> avx2_tile();
template GemmTile<float> avx2_tile();

} // namespace ingot
