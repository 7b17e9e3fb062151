// SPDX-License-Identifier: Apache-2.0
// Products of a warpgroup on tensor cores (sm_90a). The operands are in shared memory; A may be in
// registers. A product is asynchronous: until it has been waited for, nobody may touch its sums or
// write its operands.
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

/// Orders this thread's writes to shared memory with products that start later and read it by
/// another way (PTX ISA, "Async proxy"). A barrier or an mbarrier comes in between.
INGOT_DEVICE void order_with_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
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
#define INGOT_REGISTERS_32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define INGOT_REGISTERS_64 INGOT_REGISTERS_32 ", " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define INGOT_REGISTERS_96 INGOT_REGISTERS_64 ", " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define INGOT_REGISTERS_128 INGOT_REGISTERS_96 ", " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define INGOT_D8(j) \
  "+f"(d[0][(j)]), "+f"(d[0][(j) + 1]), "+f"(d[1][(j)]), "+f"(d[1][(j) + 1])
#define INGOT_D64(j) \
  INGOT_D8(j), INGOT_D8((j) + 2), INGOT_D8((j) + 4), INGOT_D8((j) + 6), \
  INGOT_D8((j) + 8), INGOT_D8((j) + 10), INGOT_D8((j) + 12), INGOT_D8((j) + 14)
#define INGOT_D128 INGOT_D64(0), INGOT_D64(16)
#define INGOT_D192 INGOT_D128, INGOT_D64(32)
#define INGOT_D256 INGOT_D192, INGOT_D64(48)
// clang-format on

/// d = [d +] A B, of 64 x 16 by 16 x kN, both of Element. Of f32, which holds TF32: 64 x 8 by 8 x
/// kN. Their k is innermost, or their other index if kMnA or kMnB, which f32 does not allow. `a`
/// and `b` describe the matrices (tile/wgmma_operands.cuh). A thread has d[half][2 * (n8 block) +
/// parity] (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", D). If not `adds`, d is
/// set.
template <int kN, class Element, bool kMnA, bool kMnB> struct Wgmma;
/// d += A B, likewise, with A in registers; run<false> sets d. Of 16 bits, a thread has two
/// adjacent k in each of a[half + 2 * (k8 block)], of row lane / 4 + 8 * half and k 2 * (lane % 4)
/// + 8 * (k8 block). Of f32, a[half + 2 * (k4 block)] has k lane % 4 + 4 * (k4 block) (PTX ISA,
/// "Register Fragments for wgmma.mma_async.m64nNk16" and "m64nNk8", A).
template <int kN, class Element, bool kMnB> struct WgmmaFromRegisters;

#define INGOT_WGMMA(columns, Element, registers, sums, at0, at1, at2, at3, at4, at5, at6)          \
  template <bool kMnA, bool kMnB> struct Wgmma<columns, Element, kMnA, kMnB> {                     \
    static INGOT_DEVICE void run(f32 (&d)[2][columns / 4], u64 a, u64 b, bool adds) {              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " at2 ", 0;\n"                                \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." #Element "." #Element   \
                   " {" registers "}, " at0 ", " at1 ", p, 1, 1, " at3 ", " at4 ";\n}"             \
                   : sums                                                                          \
                   : "l"(a), "l"(b), "r"(static_cast<i32>(adds)), "n"(static_cast<int>(kMnA)),     \
                     "n"(static_cast<int>(kMnB)));                                                 \
    }                                                                                              \
  };                                                                                               \
  template <bool kMnB> struct WgmmaFromRegisters<columns, Element, kMnB> {                         \
    template <bool kAdds = true>                                                                   \
    static INGOT_DEVICE void run(f32 (&d)[2][columns / 4], const u32 (&a)[4], u64 b) {             \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." #Element "." #Element   \
                   " {" registers "}, {" at0 ", " at1 ", " at2 ", " at3 "}, " at4 ", " at6         \
                   ", 1, 1, " at5 ";"                                                              \
                   : sums                                                                          \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),                           \
                     "n"(static_cast<int>(kMnB)), "n"(static_cast<int>(kAdds)));                   \
    }                                                                                              \
  };

#define INGOT_WGMMA_64(Element)                                                                    \
  INGOT_WGMMA(64, Element, INGOT_REGISTERS_32, INGOT_D64(0), "%32", "%33", "%34", "%35", "%36",    \
              "%37", "%38")
#define INGOT_WGMMA_128(Element)                                                                   \
  INGOT_WGMMA(128, Element, INGOT_REGISTERS_64, INGOT_D128, "%64", "%65", "%66", "%67", "%68",     \
              "%69", "%70")
#define INGOT_WGMMA_192(Element)                                                                   \
  INGOT_WGMMA(192, Element, INGOT_REGISTERS_96, INGOT_D192, "%96", "%97", "%98", "%99", "%100",    \
              "%101", "%102")
#define INGOT_WGMMA_256(Element)                                                                   \
  INGOT_WGMMA(256, Element, INGOT_REGISTERS_128, INGOT_D256, "%128", "%129", "%130", "%131",       \
              "%132", "%133", "%134")
INGOT_WGMMA_64(f16)
INGOT_WGMMA_64(bf16)
INGOT_WGMMA_128(f16)
INGOT_WGMMA_128(bf16)
INGOT_WGMMA_192(f16)
INGOT_WGMMA_192(bf16)
INGOT_WGMMA_256(f16)
INGOT_WGMMA_256(bf16)

#define INGOT_WGMMA_TF32(columns, registers, sums, at0, at1, at2, at3, at4)                        \
  template <> struct Wgmma<columns, f32, false, false> {                                           \
    static INGOT_DEVICE void run(f32 (&d)[2][columns / 4], u64 a, u64 b, bool adds) {              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " at2 ", 0;\n"                                \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32"                 \
                   " {" registers "}, " at0 ", " at1 ", p, 1, 1;\n}"                               \
                   : sums                                                                          \
                   : "l"(a), "l"(b), "r"(static_cast<i32>(adds)));                                 \
    }                                                                                              \
  };                                                                                               \
  template <> struct WgmmaFromRegisters<columns, f32, false> {                                     \
    static INGOT_DEVICE void run(f32 (&d)[2][columns / 4], const u32 (&a)[4], u64 b) {             \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32"                 \
                   " {" registers "}, {" at0 ", " at1 ", " at2 ", " at3 "}, " at4 ", 1, 1, 1;"     \
                   : sums                                                                          \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                          \
    }                                                                                              \
  };

INGOT_WGMMA_TF32(64, INGOT_REGISTERS_32, INGOT_D64(0), "%32", "%33", "%34", "%35", "%36")
INGOT_WGMMA_TF32(128, INGOT_REGISTERS_64, INGOT_D128, "%64", "%65", "%66", "%67", "%68")
INGOT_WGMMA_TF32(192, INGOT_REGISTERS_96, INGOT_D192, "%96", "%97", "%98", "%99", "%100")
INGOT_WGMMA_TF32(256, INGOT_REGISTERS_128, INGOT_D256, "%128", "%129", "%130", "%131", "%132")

#undef INGOT_WGMMA_TF32
#undef INGOT_WGMMA_64
#undef INGOT_WGMMA_128
#undef INGOT_WGMMA_192
#undef INGOT_WGMMA_256
#undef INGOT_WGMMA
#undef INGOT_REGISTERS_32
#undef INGOT_REGISTERS_64
#undef INGOT_REGISTERS_96
#undef INGOT_REGISTERS_128
#undef INGOT_D8
#undef INGOT_D64
#undef INGOT_D128
#undef INGOT_D192
#undef INGOT_D256

} // namespace ptx
} // namespace ingot
