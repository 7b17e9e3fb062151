// SPDX-License-Identifier: Apache-2.0
// Scalar types, thread coordinates, barriers, shuffles and dynamic shared memory. The device
// library uses the machine only through ptx/. tests/emulation has a host version of ptx/.
#pragma once

#define INGOT_DEVICE __device__ __forceinline__

namespace ingot {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;
using f32 = float;

/// 16-bit types in memory. Arithmetic is in f32 (ptx/convert.cuh).
struct alignas(2) f16 {
  u16 bits;
};
struct alignas(2) bf16 {
  u16 bits;
};

namespace ptx {

INGOT_DEVICE i32 thread_index() { return static_cast<i32>(threadIdx.x); }
INGOT_DEVICE i32 block_index() { return static_cast<i32>(blockIdx.x); }
INGOT_DEVICE i32 block_count() { return static_cast<i32>(gridDim.x); }

/// Returns `value`, but the compiler cannot see through the call. It therefore does not compute
/// dependent values earlier, where they would occupy registers.
INGOT_DEVICE i32 opaque(i32 value) {
  asm volatile("" : "+r"(value));
  return value;
}
INGOT_DEVICE u32 opaque(u32 value) { return static_cast<u32>(opaque(static_cast<i32>(value))); }

/// The assembler computes these registers before the code behind. Else it may do so late, and keep
/// their operands, which may take more registers, until then. It sees a use of all of them here:
/// once in 2^32 times the warp sleeps for a moment.
template <int kBlocks, int kSteps>
INGOT_DEVICE void complete(const u32 (&fragments)[kBlocks][kSteps][4]) {
  u32 mixed = 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const u32(&own)[4] = fragments[block][step];
#pragma unroll
      for (int r = 0; r < 4; r += 2)
        asm("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(mixed) : "r"(own[r]), "r"(own[r + 1]));
    }
  }
  asm volatile("{\n.reg .pred p;\nsetp.eq.u32 p, %0, 0x9e3779b9;\n"
               "@p nanosleep.u32 1;\n}" ::"r"(mixed)
               : "memory");
}

/// All threads of the block arrive. Their earlier writes to shared and global memory are visible
/// afterwards.
INGOT_DEVICE void block_barrier() { __syncthreads(); }

/// Whether any lane of the warp passes true. All 32 lanes take part. The assembler knows that all
/// lanes have the same result. It does not know that of a barrier's result, or of values from
/// shared memory. Behind a branch on such a value it keeps two copies of all code with shuffles.
INGOT_DEVICE bool any_lane(bool value) { return __any_sync(0xffffffffu, value) != 0; }

/// Like block_barrier. Returns whether any thread passed true.
INGOT_DEVICE bool block_barrier_any(bool value) { return __syncthreads_or(value) != 0; }

/// `threads` threads, which are whole warps, arrive at barrier `id`, 1 to 15, of the block. Their
/// earlier writes to shared and global memory are visible to each other afterwards.
INGOT_DEVICE void group_barrier(i32 id, i32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// The order in which two groups of threads issue products: each waits for its turn at a barrier of
/// its own, and passes the turn to the other's. `threads` is the number of both. Results do not
/// depend on it.
INGOT_DEVICE void wait_for_issue(i32 id, i32 threads) { group_barrier(id, threads); }
INGOT_DEVICE void pass_issue(i32 id, i32 threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Like group_barrier. Returns whether any thread passed true.
INGOT_DEVICE bool group_barrier_any(i32 id, i32 threads, bool value) {
  u32 any;
  asm volatile("{\n.reg .pred p, q;\nsetp.ne.u32 p, %3, 0;\nbar.red.or.pred q, %1, %2, p;\n"
               "selp.u32 %0, 1, 0, q;\n}"
               : "=r"(any)
               : "r"(id), "r"(threads), "r"(static_cast<u32>(value))
               : "memory");
  return any != 0;
}

/// All lanes of the warp arrive. Their earlier writes to shared memory are visible afterwards.
INGOT_DEVICE void warp_barrier() { __syncwarp(); }

/// The value of the lane whose index differs in the bits of `mask`. All 32 lanes take part.
INGOT_DEVICE u32 shuffle_xor(u32 value, i32 mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
INGOT_DEVICE f32 shuffle_xor(f32 value, i32 mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

/// The value of the warp's first lane. All 32 lanes take part.
INGOT_DEVICE u32 from_first_lane(u32 value) { return __shfl_sync(0xffffffffu, value, 0); }

/// Returns `value`, but not even the assembler can see through the call: the value of the first
/// lane. All 32 lanes take part with the same value.
INGOT_DEVICE i64 unknown(i64 value) {
  const auto bits = static_cast<u64>(value);
  const u64 low = __shfl_sync(0xffffffffu, static_cast<u32>(bits), 0);
  const u64 high = __shfl_sync(0xffffffffu, static_cast<u32>(bits >> 32), 0);
  return static_cast<i64>(high << 32 | low);
}

/// Returns `value`, which all 32 lanes have. The compiler then keeps it in a uniform register.
INGOT_DEVICE i32 uniform(i32 value) { return __shfl_sync(0xffffffffu, value, 0); }

/// Sets the number of registers of a thread of this warpgroup, a multiple of 8 (sm_90a). A block
/// has as many in all as it was launched with, so some warpgroups give before others take.
template <int kRegisters> INGOT_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters> INGOT_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// The block's dynamic shared memory, aligned to 1024 bytes: wgmma swizzles by address. All kernels
/// of a module share one symbol.
INGOT_DEVICE u8* shared_memory();

} // namespace ptx
} // namespace ingot

extern __shared__ __align__(1024) unsigned char ingot_shared_memory[];

INGOT_DEVICE ingot::u8* ingot::ptx::shared_memory() { return ingot_shared_memory; }
