// SPDX-License-Identifier: Apache-2.0
// The register tile of the host matmul. It is written once with GCC vector types and compiled once
// per instruction set (gemm_avx512.cpp, gemm_avx2.cpp, gemm_portable.cpp). It must include no
// standard header. Inline functions of such a header would be compiled for the wider instruction
// set too, and the linker might choose those copies for the whole program.
#pragma once

namespace ingot {

/// Computes acc[mr][nr] += the sum over k of a[k * mr + r] * b[k * nr + c], in order of k. acc and
/// b are aligned to 64 bytes.
template <typename T> struct GemmTile {
  int mr, nr;
  void (*run)(long depth, const T* a, const T* b, T* acc);
};

/// For double and float. `run` is null if this build does not have the tile.
template <typename T> GemmTile<T> avx512_tile();
template <typename T> GemmTile<T> avx2_tile();
template <typename T> GemmTile<T> portable_tile();

/// The maximum of mr * nr over all tiles.
inline constexpr int kMaxTile = 384;

namespace {

/// MR rows by NV vectors of `Bytes` bytes.
template <typename T, int Bytes, int MR, int NV>
void run_tile(long depth, const T* a, const T* b, T* acc) {
  typedef T Vector __attribute__((vector_size(Bytes)));
  constexpr int kLanes = Bytes / static_cast<int>(sizeof(T));
  Vector sums[MR][NV];
#pragma GCC unroll 16
  for (int r = 0; r < MR; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      sums[r][v] = *reinterpret_cast<const Vector*>(acc + r * NV * kLanes + v * kLanes);
  for (long k = 0; k < depth; ++k) {
    Vector columns[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      columns[v] = *reinterpret_cast<const Vector*>(b + k * NV * kLanes + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r) {
      Vector row = a[k * MR + r] - Vector{};
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) sums[r][v] += row * columns[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < MR; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      *reinterpret_cast<Vector*>(acc + r * NV * kLanes + v * kLanes) = sums[r][v];
}

template <typename T, int Bytes, int MR, int NV> constexpr GemmTile<T> make_tile() {
  return {MR, NV * Bytes / static_cast<int>(sizeof(T)), run_tile<T, Bytes, MR, NV>};
}

} // namespace

} // namespace ingot
