// SPDX-License-Identifier: Apache-2.0
// Host twin of codegen/device/ptx/base.cuh: the same names, carried out by the executor behind
// `ingot_machine`, which every emulated kernel library defines and the executor sets.
#pragma once

#include "tests/emulation/machine.h"

#include <cmath>
#include <cstring>
#include <tuple>

#define INGOT_DEVICE inline
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)

extern "C" ingot::emulation::Machine* ingot_machine;

inline float rsqrtf(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }

namespace ingot {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;
using f32 = float;

struct alignas(2) f16 {
  u16 bits;
};
struct alignas(2) bf16 {
  u16 bits;
};

namespace ptx {

INGOT_DEVICE i32 thread_index() { return ingot_machine->thread; }
INGOT_DEVICE i32 block_index() { return ingot_machine->block; }
INGOT_DEVICE i32 block_count() { return ingot_machine->blocks; }

INGOT_DEVICE i32 opaque(i32 value) { return value; }
INGOT_DEVICE i64 unknown(i64 value) { return value; }
template <int kBlocks, int kSteps> INGOT_DEVICE void complete(const u32 (&)[kBlocks][kSteps][4]) {}

INGOT_DEVICE void block_barrier() { ingot_machine->barrier(false); }
INGOT_DEVICE bool block_barrier_any(bool value) { return ingot_machine->barrier(value); }

INGOT_DEVICE void group_barrier(i32 id, i32 threads) {
  ingot_machine->group_barrier(id, threads, false);
}
INGOT_DEVICE void wait_for_issue(i32, i32) {} // the order changes no result
INGOT_DEVICE void pass_issue(i32, i32) {}
INGOT_DEVICE bool group_barrier_any(i32 id, i32 threads, bool value) {
  return ingot_machine->group_barrier(id, threads, value);
}

INGOT_DEVICE void warp_barrier() { ingot_machine->warp_barrier(); }

INGOT_DEVICE u32 shuffle_xor(u32 value, i32 mask) {
  const int lane = thread_index() % 32;
  return ingot_machine->exchange({{value}})[lane ^ mask].word[0];
}
INGOT_DEVICE f32 shuffle_xor(f32 value, i32 mask) {
  u32 bits;
  std::memcpy(&bits, &value, 4);
  bits = shuffle_xor(bits, mask);
  std::memcpy(&value, &bits, 4);
  return value;
}

INGOT_DEVICE u32 from_first_lane(u32 value) {
  return ingot_machine->exchange({{value}})[0].word[0];
}

INGOT_DEVICE bool any_lane(bool value) {
  bool any = false;
  const auto* const lanes = ingot_machine->exchange({{u32{value}}});
  for (int lane = 0; lane < 32; ++lane) any |= lanes[lane].word[0] != 0;
  return any;
}

INGOT_DEVICE i32 uniform(i32 value) {
  return static_cast<i32>(ingot_machine->exchange({{static_cast<u32>(value)}})[0].word[0]);
}
template <int> INGOT_DEVICE void give_registers() {}
template <int> INGOT_DEVICE void take_registers() {}

INGOT_DEVICE u8* shared_memory() { return ingot_machine->shared; }

} // namespace ptx

namespace emulation {

/// Calls a kernel with its parameters as 8-byte words.
template <class T> T from_word(u64 word) {
  static_assert(sizeof(T) == sizeof(word), "parameters are pointers and 64-bit integers");
  T value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}
/// A tensor map is not a word: the word is its address.
template <> inline TensorMap from_word<TensorMap>(u64 word) {
  return *reinterpret_cast<const TensorMap*>(word);
}
template <class... Ts> void call(void (*kernel)(Ts...), const u64* words) {
  // A braced list is evaluated from left to right.
  std::apply(kernel, std::tuple<Ts...>{from_word<Ts>(*words++)...});
}

} // namespace emulation
} // namespace ingot
