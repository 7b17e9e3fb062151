// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/wgmma.cuh: exact products, summed as tensor cores do.
// The executor decides when a product is computed.
#pragma once

#include "ptx/convert.cuh"
#include "ptx/step_sum.h"

namespace ingot {
namespace ptx {

INGOT_DEVICE void wgmma_fence() {}
INGOT_DEVICE void order_with_products() {}
INGOT_DEVICE void wgmma_commit() { ingot_machine->commit_products(); }
template <int kPending> INGOT_DEVICE void wgmma_wait() { ingot_machine->wait_products(kPending); }
template <int kRows, int kCols> INGOT_DEVICE void pin(f32 (&)[kRows][kCols]) {}

/// The number that tensor cores read from an element: f32 loses its last 13 bits.
template <class Element> f32 multiplied(Element element) {
  if constexpr (sizeof(element) == 4) return as_f32(as_bits(element) & 0xffffe000);
  return to_f32(element);
}

/// A matrix in shared memory, as its descriptor says (PTX ISA, "Matrix Descriptor Format"): lines
/// of 128 or 64 bytes, swizzled by address, in groups of 8. A line has the k of one row, or rows of
/// one k.
struct DescribedMatrix {
  u32 start, block_bytes, group_bytes, line_bytes;
  bool is_mn;

  DescribedMatrix(u64 descriptor, bool is_mn)
      : start(part(descriptor, 0)), block_bytes(part(descriptor, 16)),
        group_bytes(part(descriptor, 32)), line_bytes(descriptor >> 62 == 2 ? 64 : 128),
        is_mn(is_mn) {}
  static u32 part(u64 descriptor, int shift) {
    return static_cast<u32>(descriptor >> shift & 0x3fff) << 4;
  }

  template <class Element> f32 at(int row, int k) const {
    constexpr int kSize = sizeof(Element);
    const int of_line = static_cast<int>(line_bytes) / kSize;
    const int line = is_mn ? k : row, column = is_mn ? row : k;
    const u32 address = start + column / of_line * block_bytes + line / 8 * group_bytes +
                        line % 8 * line_bytes + kSize * (column % of_line);
    const u32 swizzled = address ^ (address >> 3 & (line_bytes - 16));
    Element element;
    std::memcpy(&element, shared_memory() + swizzled, sizeof(element));
    return multiplied(element);
  }
};

/// Adds the products of kDepth k to a thread's sums. row(half, k) and right hold the operands.
template <int kN, class Element, int kDepth, class Row>
void add_products(int thread, f32 (*d)[kN / 4], Row row, const DescribedMatrix& right, bool adds) {
  for (int j = 0; j < kN / 4; ++j) {
    f32 column[kDepth];
    for (int k = 0; k < kDepth; ++k)
      column[k] = right.at<Element>(j / 2 * 8 + thread % 4 * 2 + j % 2, k);
    for (int half = 0; half < 2; ++half) {
      double products[kDepth];
      for (int k = 0; k < kDepth; ++k) products[k] = static_cast<double>(row(half, k)) * column[k];
      d[half][j] = emulation::sum_of_step(adds ? d[half][j] : 0.0F, products);
    }
  }
}

template <int kN, class Element, bool kMnA, bool kMnB> struct Wgmma {
  static void run(f32 (&d)[2][kN / 4], u64 a, u64 b, bool adds) {
    const int thread = thread_index() % 128;
    f32(*const sums)[kN / 4] = d;
    ingot_machine->multiply_async([=] { multiply(thread, sums, a, b, adds); });
  }

private:
  static_assert(sizeof(Element) == 2 || (!kMnA && !kMnB), "f32 has its k innermost");
  static_assert(kN == 64 || kN == 128 || kN == 192 || kN == 256,
                "the device library has these instructions");
  static constexpr int kDepth = 32 / sizeof(Element);

  static void multiply(int thread, f32 (*d)[kN / 4], u64 a, u64 b, bool adds) {
    const DescribedMatrix left(a, kMnA), right(b, kMnB);
    f32 rows[2][kDepth];
    for (int half = 0; half < 2; ++half)
      for (int k = 0; k < kDepth; ++k)
        rows[half][k] = left.at<Element>(thread / 32 * 16 + thread % 32 / 4 + 8 * half, k);
    add_products<kN, Element, kDepth>(
        thread, d, [&](int half, int k) { return rows[half][k]; }, right, adds);
  }
};

/// The four threads of a row have its k, several in a word if they are of 16 bits. A product reads
/// their registers when it is computed.
template <int kN, class Element, bool kMnB> struct WgmmaFromRegisters {
  static_assert(kN == 64 || kN == 128 || kN == 192 || kN == 256,
                "the device library has these instructions");
  template <bool kAdds = true> static void run(f32 (&d)[2][kN / 4], const u32 (&a)[4], u64 b) {
    const auto mine = reinterpret_cast<u64>(&a);
    const emulation::LaneWords* lanes =
        ingot_machine->exchange({{static_cast<u32>(mine), static_cast<u32>(mine >> 32)}});
    const int thread = thread_index() % 128;
    std::array<const u32*, 4> of_row;
    for (int four = 0; four < 4; ++four) {
      const u32(&words)[8] = lanes[thread % 32 / 4 * 4 + four].word;
      of_row[four] = reinterpret_cast<const u32*>(u64{words[1]} << 32 | words[0]);
    }
    f32(*const sums)[kN / 4] = d;
    ingot_machine->multiply_async([=] {
      const auto row = [&](int half, int k) {
        const int word = k / kPerWord;
        const u32* const from = &of_row[word % 4][half + 2 * (word / 4)];
        Element element;
        std::memcpy(&element, reinterpret_cast<const Element*>(from) + k % kPerWord,
                    sizeof(element));
        return multiplied(element);
      };
      add_products<kN, Element, 8 * kPerWord>(thread, sums, row, DescribedMatrix(b, kMnB), kAdds);
    });
  }

private:
  static_assert(sizeof(Element) == 2 || !kMnB, "f32 has its k innermost");
  static constexpr int kPerWord = 4 / sizeof(Element);
};

} // namespace ptx
} // namespace ingot
