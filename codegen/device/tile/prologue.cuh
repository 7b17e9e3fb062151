// SPDX-License-Identifier: Apache-2.0
// The view of one element that an operand's prologue receives, and its other values. They are
// fetched with the vector of elements and converted where they are used, so that nobody waits
// early.
#pragma once

#include "tile/map.cuh"
#include "tile/matrix.cuh"

namespace ingot {

/// The empty prologue, for an operand that is multiplied as stored.
struct Unchanged {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) { return x.template tile<0>(); }
};

/// The values of a prologue's operand O for a vector of kVec elements along kMajor. O is written as
/// for stages (tile/operand.cuh): Along::row means along m or n, Along::col means along k, and kVec
/// refers to the matrix's major index.
template <class O, Major kMajor, int kVec> struct PrologueCell {
  using Element = typename O::Element;
  static constexpr bool kVaries =
      O::kAlong == Along::both || O::kAlong == (kMajor == Major::k ? Along::col : Along::row);
  static constexpr int kCount = kVaries ? kVec : 1;
  static constexpr int kAccess = smaller(kCount, smaller(O::kVec, 16 / sizeof(Element)));
  Vector<Element, kAccess> pack[kCount / kAccess];

  template <class Params>
  INGOT_DEVICE void load(const Params& params, i64 batch, i64 mn, i64 k, O*) {
#pragma unroll
    for (int i = 0; i < kCount / kAccess; ++i) {
      const int first = i * kAccess;
      pack[i] = load_vector<kAccess>(O::at(params, batch, kMajor == Major::k ? mn : mn + first,
                                           kMajor == Major::k ? k + first : k));
    }
  }
  INGOT_DEVICE typename InRegister<Element>::Type get(int j) const {
    return InRegister<Element>::load(kVaries ? pack[j / kAccess].v[j % kAccess] : pack[0].v[0]);
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

/// Element j of a vector of the operand X.
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
