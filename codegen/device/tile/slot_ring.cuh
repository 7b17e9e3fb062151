// SPDX-License-Identifier: Apache-2.0
// A ring of slots in shared memory between the thread or warps that fill them and the warps that
// read them (sm_90a). Each slot has two mbarriers: one for "full", one for "free". It may have a
// note, which is a number from the thread that fills it.
#pragma once

#include "ptx/cluster.cuh"
#include "sizes/shared_memory.h"

namespace ingot {

/// A thread's place in a ring: the slot, and the parity of its rounds.
template <int kSlots> struct RingPlace {
  u32 slot = 0, parity = 0;
  INGOT_DEVICE void advance() {
    if (++slot < kSlots) return;
    slot = 0;
    parity ^= 1;
  }
  /// Passes over `count` slots, which are for others.
  INGOT_DEVICE void skip(u32 count) {
    slot += count;
    parity ^= slot / kSlots % 2;
    slot %= kSlots;
  }
};

// Two readers may have tiles of their own, whose slots follow one another in the ring. Then they
// take turns: a reader waits for the slots of its tile once the other one has seen the last slot of
// the tile before. If it waited earlier, it could take the phase before the last for its own, which
// has the same parity.

// The blocks of a cluster may fill slots together: one copy brings the same bytes to the same slot
// of each. Then a slot is free once no block reads it.

/// kReaders readers of each block free a slot. kCluster: blocks that fill it together; 1: one
/// alone. kFillers: arrivals that fill it, one of a thread that starts copies.
template <int kSlots, int kSlotBytes, int kReaders, int kCluster, int kFillers = 1>
struct SlotRing {
  using Place = RingPlace<kSlots>;
  static constexpr int kBytes = sizes::slot_ring_bytes(kSlots, kSlotBytes);
  u32 base; ///< shared address of the first slot, a multiple of 1024

  INGOT_DEVICE u32 slot(u32 index) const { return base + index * kSlotBytes; }

  /// By one thread. The others may use the ring after a barrier of the block, or of the cluster.
  INGOT_DEVICE void make() const {
    for (u32 index = 0; index < kSlots; ++index) {
      ptx::make_mbarrier(full(index), kFillers);
      ptx::make_mbarrier(free(index), kReaders * kCluster);
    }
    for (u32 reader = 0; reader < 2; ++reader) ptx::make_mbarrier(turn(reader), 4);
    ptx::publish_mbarriers();
  }

  /// The filling thread waits until nobody reads the slot any more, and announces its bytes. The
  /// result is the mbarrier for the copies.
  INGOT_DEVICE u32 begin_filling(Place place) const {
    return begin_filling_part(place, kSlotBytes);
  }
  /// Likewise, for copies of `bytes` to the front of the slot.
  INGOT_DEVICE u32 begin_filling_part(Place place, u32 bytes) const {
    wait_until_free(place);
    return announce(place, bytes);
  }
  /// Also leaves a note for the readers.
  INGOT_DEVICE u32 begin_filling(Place place, u32 note) const {
    wait_until_free(place);
    ptx::store_shared(note_address(place.slot), note);
    return announce(place, kSlotBytes);
  }
  /// The note of a slot that is full and not yet released.
  INGOT_DEVICE u32 note(Place place) const { return ptx::load_shared(note_address(place.slot)); }

  /// A warp that writes a slot itself waits until nobody reads it any more. One of its threads
  /// marks it as full.
  INGOT_DEVICE void wait_until_free(Place place) const {
    ptx::wait_phase(free(place.slot), place.parity ^ 1);
  }
  INGOT_DEVICE void mark_full(Place place) const { ptx::arrive(full(place.slot)); }

  /// Waits until the slot is full: all its bytes have landed, or all its fillers have arrived.
  INGOT_DEVICE void wait_until_full(Place place) const {
    ptx::wait_phase(full(place.slot), place.parity);
  }
  /// One reader is done with the slot.
  INGOT_DEVICE void release(Place place) const {
    if constexpr (kCluster > 1) {
#pragma unroll
      for (u32 rank = 0; rank < kCluster; ++rank) ptx::arrive_at_block(free(place.slot), rank);
    } else {
      ptx::arrive(free(place.slot));
    }
  }

  /// Waits for the turn of reader 0 or 1 to go through its tile number `tile`. Reader 0 begins.
  INGOT_DEVICE void wait_for_turn(u32 reader, u32 tile) const {
    ptx::wait_phase(turn(reader), (tile + reader + 1) % 2);
  }
  /// The other reader's turn. By one thread of each of the four warps of `reader`, so that no warp
  /// is left a turn behind: it would wait for a phase of the same parity.
  INGOT_DEVICE void pass_turn(u32 reader) const { ptx::arrive(turn(1 - reader)); }

private:
  INGOT_DEVICE u32 announce(Place place, u32 bytes) const {
    ptx::arrive_expecting(full(place.slot), bytes);
    return full(place.slot);
  }

  INGOT_DEVICE u32 full(u32 index) const { return base + kSlots * kSlotBytes + 8 * index; }
  INGOT_DEVICE u32 free(u32 index) const { return full(kSlots + index); }
  INGOT_DEVICE u32 turn(u32 reader) const { return full(2 * kSlots + reader); }
  INGOT_DEVICE u32 note_address(u32 index) const { return full(2 * kSlots + 2) + 4 * index; }
};

} // namespace ingot
