// SPDX-License-Identifier: Apache-2.0
// What an operand's prologue sees of one element, and the values that it needs beside the element:
// fetched with the vector of elements, converted where they are used, so that nobody waits early.
#pragma once

#include "tile/map.cuh"
#include "tile/matrix.cuh"

namespace ingot {

/// The prologue of an operand that is multiplied as it lies in memory.
struct Unchanged {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) { return x.template tile<0>(); }
};

/// What a vector of kVec elements along kMajor needs of an operand O of the prologue. O is written
/// as for stages (tile/operand.cuh): Along::row means along m or n, Along::col along k, and kVec
/// speaks of the matrix's major index.
template <class O, Major kMajor, int kVec> struct PrologueCell {
  using Element = typename O::Element;
  static constexpr bool kVaries =
      O::kAlong == Along::both || O::kAlong == (kMajor == Major::k ? Along::col : Along::row);
  static constexpr int kCount = kVaries ? kVec : 1;
  static constexpr int kAccess = smaller(kCount, smaller(O::kVec, 16 / sizeof(Element)));
  Pack<Element, kAccess> pack[kCount / kAccess];

  template <class Params>
  INGOT_DEVICE void load(const Params& params, i64 batch, i64 mn, i64 k, O*) {
#pragma unroll
    for (int i = 0; i < kCount / kAccess; ++i) {
      const int first = i * kAccess;
      pack[i] = *reinterpret_cast<const Pack<Element, kAccess>*>(O::at(
          params, batch, kMajor == Major::k ? mn : mn + first, kMajor == Major::k ? k + first : k));
    }
  }
  INGOT_DEVICE typename InRegister<Element>::Type get(int j) const {
    return InRegister<Element>::load(kVaries ? pack[j / kAccess].element[j % kAccess]
                                             : pack[0].element[0]);
  }
};

/// The cells of all operands of a prologue.
template <class Operands, Major kMajor, int kVec> struct PrologueCells;
template <class... Os, Major kMajor, int kVec>
struct PrologueCells<List<Os...>, kMajor, kVec> : PrologueCell<Os, kMajor, kVec>... {
  static constexpr int kBytes =
      (static_cast<int>(sizeof(PrologueCell<Os, kMajor, kVec>)) + ... + 0);

  template <class Params> INGOT_DEVICE void fetch(const Params& params, i64 batch, i64 mn, i64 k) {
    (PrologueCell<Os, kMajor, kVec>::load(params, batch, mn, k, static_cast<Os*>(nullptr)), ...);
  }
};

/// One element of the operand X, the j-th of its vector.
template <class X, class Params> struct ProloguePoint {
  using Cells = PrologueCells<typename X::Prologue::Operands, X::kMajor, X::kVec>;
  using Value = typename InRegister<typename X::Element>::Type;
  const Params& params;
  const Cells& cells;
  Value value;
  int j;
  i64 batch_, mn_, k_;

  /// The element as fetched.
  template <int kSlot> INGOT_DEVICE Value tile() const { return value; }
  template <class O> INGOT_DEVICE typename InRegister<typename O::Element>::Type operand() const {
    const PrologueCell<O, X::kMajor, X::kVec>& cell = cells;
    return cell.get(j);
  }
  INGOT_DEVICE i64 batch() const { return batch_; }
  INGOT_DEVICE i64 mn() const { return mn_; }
  INGOT_DEVICE i64 k() const { return k_; }
};

} // namespace ingot
