// SPDX-License-Identifier: Apache-2.0
// Kernels of sm_90a as the emitter would write them: f32 products by wgmma from packed halves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ingot::testing {

/// h = a b^T of f32 matrices [m, k] and [n, k], with the sums of h's columns over tiles of 128
/// rows.
struct WgmmaProduct {
  int64_t m, n, k;
  int slots = 3;
  int total_every = 2048;

  int64_t row_tiles() const { return (m + 127) / 128; }
  int64_t tiles() const { return row_tiles() * ((n + 127) / 128); }
  /// Dynamic shared memory of the product.
  int shared_bytes() const;
};

/// Bytes of the packed halves of a matrix.
int64_t packed_bytes(int64_t rows, int64_t k);

/// The headers of the kernels below.
std::vector<std::string> wgmma_includes();

/// The kernel `entry`(const f32* matrix, u8* halves), for 256 threads and any number of blocks.
std::string halving_text(const std::string& entry, int64_t rows, int64_t k);

/// The kernel multiply(const u8* halves of a, of b, f32* h, u8* sums), for 384 threads and any
/// number of blocks. sums[column][row tile] is of f32.
std::string product_text(const WgmmaProduct& product);

} // namespace ingot::testing
