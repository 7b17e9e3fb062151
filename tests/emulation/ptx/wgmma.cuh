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

/// A matrix in shared memory, as its descriptor says (PTX ISA, "Matrix Descriptor Format"): lines
/// of 128 bytes, swizzled by address, in groups of 8. A line has the k of one row, or 64 rows of
/// one k.
struct DescribedMatrix {
  u32 start, block_bytes, group_bytes;
  bool is_mn;

  DescribedMatrix(u64 descriptor, bool is_mn)
      : start(part(descriptor, 0)), block_bytes(part(descriptor, 16)),
        group_bytes(part(descriptor, 32)), is_mn(is_mn) {}
  static u32 part(u64 descriptor, int shift) {
    return static_cast<u32>(descriptor >> shift & 0x3fff) << 4;
  }

  template <class Element> f32 at(int row, int k) const {
    const int line = is_mn ? k : row, column = is_mn ? row : k;
    const u32 address = start + column / 64 * block_bytes + line / 8 * group_bytes +
                        line % 8 * 128 + 2 * (column % 64);
    const u32 swizzled = address ^ (address >> 3 & 0x70);
    Element element;
    std::memcpy(&element, shared_memory() + swizzled, sizeof(element));
    return to_f32(element);
  }
};

template <int kN, class Element, bool kMnA, bool kMnB> struct Wgmma {
  static void run(f32 (&d)[2][kN / 4], u64 a, u64 b, bool adds) {
    const int thread = thread_index() % 128;
    f32(*const sums)[kN / 4] = d;
    ingot_machine->multiply_async([=] { multiply(thread, sums, a, b, adds); });
  }

private:
  static void multiply(int thread, f32 (*d)[kN / 4], u64 a, u64 b, bool adds) {
    const DescribedMatrix left(a, kMnA), right(b, kMnB);
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
