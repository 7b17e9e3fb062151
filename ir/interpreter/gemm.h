// SPDX-License-Identifier: Apache-2.0
// Blocked, packed, threaded C = A B in f64 or f32 on the host. It reads operands through loaders,
// so layouts and element types have no extra cost. The interpreter's matmul calls it.
#pragma once

#include "ir/interpreter/gemm_tile.h"
#include "ir/interpreter/host_value.h"

namespace ingot {

/// K is summed in blocks of this length. Chains inside a block have the same length.
inline constexpr int64_t kGemmBlockK = 256;

/// The place of a packed panel: dst[k * lead + line] for k in [0, depth), line in [0, lines).
template <typename T> struct PanelRequest {
  int64_t first_line; ///< row of A or column of B
  int64_t lines;
  int64_t first_k;
  int64_t depth;
  T* dst;
  int64_t lead;
};

template <typename T> struct Gemm {
  int64_t m, n, k;
  llvm::function_ref<void(const PanelRequest<T>&)> load_a;
  llvm::function_ref<void(const PanelRequest<T>&)> load_b;
  T* c; ///< row-major [m, n], overwritten
  /// Null, or [m, n]: the greatest magnitude of c after any block of K.
  float* peak = nullptr;
  /// Null, or [m, n]: the greatest magnitude of the sum over a single block of K.
  float* block_peak = nullptr;
  /// The rounding of the sum over K. `blocks`: one chain per block of K, then the sum of the
  /// blocks. `chain` and `chain_toward_zero`: one chain of fused multiply-adds in order of k.
  enum class Order : uint8_t { blocks, chain, chain_toward_zero } order = Order::blocks;
};

void run_gemm(const Gemm<double>& gemm, Workers& workers);
void run_gemm(const Gemm<float>& gemm, Workers& workers);

} // namespace ingot
