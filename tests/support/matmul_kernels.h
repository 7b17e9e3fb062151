// SPDX-License-Identifier: Apache-2.0
// CUDA source of bare matmul kernels over the device library's mainloops, for tests of these alone:
// out[batch, m, n] (f32) = the sum over k of A(m, k) * B(k, n).
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot::testing {

/// One operand, in the words of tile/matrix.cuh.
struct MatmulOperand {
  std::string element; ///< f32, f16 or bf16
  std::string major;   ///< k or mn
  std::string path;    ///< direct or staged
  int vec = 1;
  bool affine = false; ///< its prologue is x / 2 + 1 / 4 instead of x
};

struct MatmulKernel {
  std::string name;    ///< of the entry
  std::string compute; ///< f16, bf16, tf32; simt, fma: the mainloops of f32 FMAs
  int tile_m = 64, tile_n = 64, tile_k = 16;
  int warp_m = 32, warp_n = 32, stages = 2; ///< not for simt; fma has stages only
  MatmulOperand a, b;
  int promote_every = 0; ///< simt only

  int threads() const;
  int shared_bytes() const;
};

/// The kernel's one parameter.
struct MatmulParams {
  uint64_t a, b, out; ///< dense: [batch, m or n, k], or with the last two axes swapped for mn
  int64_t batch, m, n, k;
};

/// Tiles of direct operands as schedules choose them, both K-major.
std::vector<MatmulKernel> scheduled_tiles();

/// `base` for every pair of major indices, or for two pairs that cover each operand's, named after
/// them.
std::vector<MatmulKernel> with_all_majors(const MatmulKernel& base);
std::vector<MatmulKernel> with_both_majors(const MatmulKernel& base);

/// One translation unit with an entry per kernel.
std::string matmul_source(llvm::ArrayRef<MatmulKernel> kernels);

} // namespace ingot::testing
