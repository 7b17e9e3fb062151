// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/mma.cuh: exact products, summed as tensor cores do.
#pragma once

#include "ptx/convert.cuh"
#include "ptx/step_sum.h"

namespace ingot {
namespace ptx {

struct MmaAccumulator {
  f32& top0;
  f32& top1;
  f32& bottom0;
  f32& bottom1;
};

/// D += A * B from the fragments of all lanes; `value(word, part)` is one element of a register
/// that holds kParts of them. A: register = 2 * (k half) + (row half), a lane has row lane / 4 and
/// the kParts k from kParts * (lane % 4). B: register = k half, column lane / 4, k as in A.
template <int kParts, class Value>
INGOT_DEVICE void multiply_fragments(const MmaAccumulator& d, const u32 (&a)[4], u32 b0, u32 b1,
                                     Value value) {
  const emulation::LaneWords* lanes = ingot_machine->exchange({{a[0], a[1], a[2], a[3], b0, b1}});
  const int lane = thread_index() % 32;
  const auto sum = [&](int row_half, int column, f32& result) {
    double products[8 * kParts];
    double* next = products;
    for (int k_half = 0; k_half < 2; ++k_half)
      for (int four = 0; four < 4; ++four)
        for (int part = 0; part < kParts; ++part) {
          const u32 left = lanes[lane / 4 * 4 + four].word[2 * k_half + row_half];
          const u32 right = lanes[column * 4 + four].word[4 + k_half];
          *next++ = static_cast<double>(value(left, part)) * value(right, part);
        }
    result = emulation::sum_of_step(result, products);
  };
  sum(0, lane % 4 * 2, d.top0);
  sum(0, lane % 4 * 2 + 1, d.top1);
  sum(1, lane % 4 * 2, d.bottom0);
  sum(1, lane % 4 * 2 + 1, d.bottom1);
}

INGOT_DEVICE void mma_m16n8k16_f16(const MmaAccumulator& d, const u32 (&a)[4], u32 b0, u32 b1) {
  multiply_fragments<2>(d, a, b0, b1, [](u32 word, int part) {
    return to_f32(f16{static_cast<u16>(word >> 16 * part)});
  });
}

INGOT_DEVICE void mma_m16n8k16_bf16(const MmaAccumulator& d, const u32 (&a)[4], u32 b0, u32 b1) {
  multiply_fragments<2>(d, a, b0, b1, [](u32 word, int part) {
    return to_f32(bf16{static_cast<u16>(word >> 16 * part)});
  });
}

INGOT_DEVICE void mma_m16n8k8_tf32(const MmaAccumulator& d, const u32 (&a)[4], u32 b0, u32 b1) {
  multiply_fragments<1>(d, a, b0, b1, [](u32 word, int) { return as_f32(word & ~0x1fffu); });
}

} // namespace ptx
} // namespace ingot
