// SPDX-License-Identifier: Apache-2.0
// Tensor-core products of sm_80: D += A * B with D of 16 x 8 in f32, by all lanes of a warp. The
// layout of fragments is in PTX ISA "Matrix fragments". Sums are truncated, not rounded.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// The elements of D in lane l: rows l / 4 (top) and l / 4 + 8 (bottom), columns 2 * (l % 4) and 2
/// * (l % 4) + 1.
struct MmaAccumulator {
  f32& top0;
  f32& top1;
  f32& bottom0;
  f32& bottom1;
};

/// A is 16 x 16, B is 16 x 8, both f16.
INGOT_DEVICE void mma_m16n8k16_f16(const MmaAccumulator& d, const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d.top0), "+f"(d.top1), "+f"(d.bottom0), "+f"(d.bottom1)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A is 16 x 16, B is 16 x 8, both bf16.
INGOT_DEVICE void mma_m16n8k16_bf16(const MmaAccumulator& d, const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d.top0), "+f"(d.top1), "+f"(d.bottom0), "+f"(d.bottom1)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// A is 16 x 8, B is 8 x 8, both f32. The low 13 bits of their elements are ignored.
INGOT_DEVICE void mma_m16n8k8_tf32(const MmaAccumulator& d, const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d.top0), "+f"(d.top1), "+f"(d.bottom0), "+f"(d.bottom1)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

} // namespace ptx
} // namespace ingot
