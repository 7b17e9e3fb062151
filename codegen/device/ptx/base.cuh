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

/// All threads of the block arrive. Their earlier writes to shared and global memory are visible
/// afterwards.
INGOT_DEVICE void block_barrier() { __syncthreads(); }

/// Like block_barrier. Returns whether any thread passed true.
INGOT_DEVICE bool block_barrier_any(bool value) { return __syncthreads_or(value) != 0; }

/// All lanes of the warp arrive. Their earlier writes to shared memory are visible afterwards.
INGOT_DEVICE void warp_barrier() { __syncwarp(); }

/// The value of the lane whose index differs in the bits of `mask`. All 32 lanes take part.
INGOT_DEVICE u32 shuffle_xor(u32 value, i32 mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
INGOT_DEVICE f32 shuffle_xor(f32 value, i32 mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

/// Returns `value`, but not even the assembler can see through the call: the value of the first
/// lane. All 32 lanes take part with the same value.
INGOT_DEVICE i64 unknown(i64 value) {
  const auto bits = static_cast<u64>(value);
  const u64 low = __shfl_sync(0xffffffffu, static_cast<u32>(bits), 0);
  const u64 high = __shfl_sync(0xffffffffu, static_cast<u32>(bits >> 32), 0);
  return static_cast<i64>(high << 32 | low);
}

/// The block's dynamic shared memory, aligned to 128 bytes. All kernels of a module share one
/// symbol.
INGOT_DEVICE u8* shared_memory();

} // namespace ptx
} // namespace ingot

extern __shared__ __align__(128) unsigned char ingot_shared_memory[];

INGOT_DEVICE ingot::u8* ingot::ptx::shared_memory() { return ingot_shared_memory; }
