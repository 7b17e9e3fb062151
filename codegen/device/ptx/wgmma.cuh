// SPDX-License-Identifier: Apache-2.0
// Products of a warpgroup on tensor cores (sm_90a). Both operands are in shared memory. A product
// is asynchronous: until it has been waited for, nobody may touch its sums or write its operands.
#pragma once

#include "ptx/base.cuh"

namespace ingot {
namespace ptx {

/// Must come before the first product behind other accesses to the sums.
INGOT_DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Makes one group of the products that the warpgroup started since the last group.
INGOT_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most the last kPending groups of the warpgroup are under way.
template <int kPending> INGOT_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// The compiler neither moves nor copies the sums across this. Without it ptxas may serialise
/// products.
template <int kRows, int kCols> INGOT_DEVICE void pin(f32 (&sums)[kRows][kCols]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kCols; ++j) asm volatile("" : "+f"(sums[i][j])::"memory");
  }
}

// clang-format off
#define INGOT_REGISTERS_64 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define INGOT_D8(j) \
  "+f"(d[0][(j)]), "+f"(d[0][(j) + 1]), "+f"(d[1][(j)]), "+f"(d[1][(j) + 1])
#define INGOT_D64(j) \
  INGOT_D8(j), INGOT_D8((j) + 2), INGOT_D8((j) + 4), INGOT_D8((j) + 6), \
  INGOT_D8((j) + 8), INGOT_D8((j) + 10), INGOT_D8((j) + 12), INGOT_D8((j) + 14)
// clang-format on

/// d = [d +] A B, of 64 x 16 by 16 x kN, both of Element with k innermost. `a` and `b` describe the
/// matrices (tile/wgmma_halves_mainloop.cuh). A thread has d[half][2 * (n8 block) + parity] (PTX
/// ISA, "Register Fragments for wgmma.mma_async.m64nNk16", D). If not `adds`, d is set.
template <int kN, class Element> struct Wgmma;

template <> struct Wgmma<128, f16> {
  static INGOT_DEVICE void run(f32 (&d)[2][32], u64 a, u64 b, bool adds) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" INGOT_REGISTERS_64
                 "}, %64, %65, p, 1, 1, 0, 0;\n}"
                 : INGOT_D64(0), INGOT_D64(16)
                 : "l"(a), "l"(b), "r"(static_cast<i32>(adds)));
  }
};

#undef INGOT_REGISTERS_64
#undef INGOT_D8
#undef INGOT_D64

} // namespace ptx
} // namespace ingot
