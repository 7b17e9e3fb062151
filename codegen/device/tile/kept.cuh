// SPDX-License-Identifier: Apache-2.0
// Operands whose row stays in shared memory while the stages go through it. A thread reads only the
// elements that it copied itself, so it waits for its own copies and for nobody else.
#pragma once

#include "ptx/cp_async.cuh"
#include "tile/bounds.cuh"
#include "tile/layout.cuh"
#include "tile/operand.cuh"

namespace ingot {

template <class A, class B> inline constexpr bool kIsSame = false;
template <class A> inline constexpr bool kIsSame<A, A> = true;

/// The layout L of chunks of rows, for which shared memory has kRing slots.
template <class L, int kRing> struct KeptLayout : L {
  static constexpr int kRingSlots = kRing;
};

/// The layout of chunks of a row whose operands Os are kept.
template <class L, class Operands> struct Keeping;
template <class L, class... Os> struct Keeping<L, List<Os...>> : L {
  static constexpr int kAccessBytes = 16;
  /// Bytes of a thread in a step: kVec columns of every operand.
  static constexpr int kStepBytes =
      ((L::kVec * static_cast<int>(sizeof(typename Os::Element))) + ... + 0);

  /// The bytes of a step before those of O; -1: O is not kept.
  template <class O> static INGOT_DEVICE constexpr int offset() {
    int bytes = 0, found = -1;
    ((found = kIsSame<O, Os> ? bytes : found,
      bytes += L::kVec * static_cast<int>(sizeof(typename Os::Element))),
     ...);
    return found;
  }

  /// The place of a thread's access to O: its first column is number `at` of the kVec columns from
  /// register j on. The accesses of all threads lie side by side.
  template <class O> static INGOT_DEVICE u8* place(const TileContext& chunk, int j, int at) {
    const int before =
        j / L::kVec * kStepBytes + offset<O>() + at * static_cast<int>(sizeof(typename O::Element));
    return chunk.kept + before * L::kThreads + chunk.thread * kAccessBytes;
  }

  /// Starts the copies of a chunk, as one group.
  template <class Params>
  static INGOT_DEVICE void copy(const Params& params, const TileContext& c) {
    (copy_operand(params, c, static_cast<Os*>(nullptr)), ...);
    ptx::cp_async_commit();
  }

private:
  template <class O, class Params>
  static INGOT_DEVICE void copy_operand(const Params& params, const TileContext& chunk, O*) {
    constexpr int kAccess = access_width<typename O::Element>(L::kVec, O::kVec);
    static_assert(kAccess * sizeof(typename O::Element) == kAccessBytes,
                  "cp.async copies 16 bytes");
    const TileBounds<L> bounds(chunk);
    const i64 col = chunk.col0 + L::first_col(chunk.thread);
#pragma unroll
    for (int j = 0; j < L::kCols; j += L::kVec)
#pragma unroll
      for (int at = 0; at < L::kVec; at += kAccess)
        if (bounds.col(j + at))
          ptx::cp_async_16(place<O>(chunk, j, at),
                           O::at(params, chunk.batch, chunk.row0, col + L::col_offset(j) + at),
                           kAccessBytes);
  }
};

/// Whether the layout L has the operand O in shared memory.
template <class L, class O, class = void> struct Keeps {
  static constexpr bool kValue = false;
};
template <class L, class O> struct Keeps<L, O, decltype(void(L::template offset<O>()))> {
  static constexpr bool kValue = L::template offset<O>() >= 0;
};

/// The thread's elements of an operand in shared memory from register j on. The access from element
/// `at` on is zero unless inside(at).
template <class L, class O, class Inside>
INGOT_DEVICE void load_kept(const TileContext& chunk, int j, Inside inside,
                            typename InRegister<typename O::Element>::Type (&out)[L::kVec]) {
  constexpr int kAccess = access_width<typename O::Element>(L::kVec, O::kVec);
#pragma unroll
  for (int at = 0; at < L::kVec; at += kAccess) {
    Vector<typename O::Element, kAccess> pack = {};
    if (inside(at))
      pack = load_vector<kAccess>(
          reinterpret_cast<const typename O::Element*>(L::template place<O>(chunk, j, at)));
    unpack(pack, out + at);
  }
}

} // namespace ingot
