// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/wgmma.cuh: exact products, summed in f64 and rounded to f32 once.
// The executor decides when a product is computed.
#pragma once

#include "ptx/convert.cuh"

namespace ingot {
namespace ptx {

INGOT_DEVICE void wgmma_fence() {}
INGOT_DEVICE void wgmma_commit() { ingot_machine->commit_products(); }
template <int kPending> INGOT_DEVICE void wgmma_wait() { ingot_machine->wait_products(kPending); }
template <int kRows, int kCols> INGOT_DEVICE void pin(f32 (&)[kRows][kCols]) {}

/// A matrix in shared memory with k innermost, as its descriptor says (PTX ISA, "Matrix Descriptor
/// Format"): lines of 64 or 128 bytes, swizzled by address, in groups of 8.
struct DescribedMatrix {
  u32 start, group_bytes, line_bytes;

  explicit DescribedMatrix(u64 descriptor)
      : start(static_cast<u32>(descriptor & 0x3fff) << 4),
        group_bytes(static_cast<u32>(descriptor >> 32 & 0x3fff) << 4),
        line_bytes(descriptor >> 62 == 1 ? 128 : 64) {}

  template <class Element> f32 at(int line, int k) const {
    const u32 address = start + line / 8 * group_bytes + line % 8 * line_bytes + 2 * k;
    const u32 swizzled = address ^ (address >> 3 & (line_bytes == 128 ? 0x70 : 0x30));
    Element element;
    std::memcpy(&element, shared_memory() + swizzled, sizeof(element));
    return to_f32(element);
  }
};

template <int kN, class Element> struct Wgmma {
  static void run(f32 (&d)[2][kN / 4], u64 a, u64 b, bool adds) {
    const int thread = thread_index() % 128;
    f32(*const sums)[kN / 4] = d;
    ingot_machine->multiply_async([=] { multiply(thread, sums, a, b, adds); });
  }

private:
  static void multiply(int thread, f32 (*d)[kN / 4], u64 a, u64 b, bool adds) {
    const DescribedMatrix left(a), right(b);
    f32 row[2][16];
    for (int half = 0; half < 2; ++half)
      for (int k = 0; k < 16; ++k)
        row[half][k] = left.at<Element>(thread / 32 * 16 + thread % 32 / 4 + 8 * half, k);
    for (int j = 0; j < kN / 4; ++j) {
      f32 column[16];
      for (int k = 0; k < 16; ++k)
        column[k] = right.at<Element>(j / 2 * 8 + thread % 4 * 2 + j % 2, k);
      for (int half = 0; half < 2; ++half) {
        double sum = adds ? d[half][j] : 0.0;
        for (int k = 0; k < 16; ++k) sum += static_cast<double>(row[half][k]) * column[k];
        d[half][j] = static_cast<f32>(sum);
      }
    }
  }
};

} // namespace ptx
} // namespace ingot
