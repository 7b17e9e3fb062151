// SPDX-License-Identifier: Apache-2.0
// Access of a stage to the tensors that it reads and stores: operands and outputs as the emitter
// writes them, and vector accesses with masks at the edge of the tile.
#pragma once

#include "math/elementwise.cuh"
#include "tile/context.cuh"
#include "tile/vector.cuh"

namespace ingot {

template <class... Ts> struct List {};
template <class Types> constexpr int kCountOf = 0;
template <class... Ts> constexpr int kCountOf<List<Ts...>> = sizeof...(Ts);

/// The coordinates of the tile on which an element of a tensor depends.
enum class Along { none, row, col, both };

// An operand O, written by the emitter:
//   using Element     the stored type
//   kAlong            Along
//   kVec              adjacent columns per aligned access, or rows if the layout has kRowVec > 1;
//                     1: one by one
//   at(params, batch, row, col) -> const Element*
// An output has the same members, with a mutable pointer, and
//   owns(params, batch, row, col) -> bool   whether this point of the domain stores an element.
//                            False outside the stored part, and for all but one of the points that
//                            share an element
//   reaches(params, col, count) -> bool   whether any column from col to col + count may store one
//   kAffine           whether equal steps along the rows are equal steps in memory
//   kStaged           whether its rows leave through shared memory (tile/staged_store.cuh)

/// All members of an operand but `at`.
template <class T, Along kWhere, int kWidth> struct Loaded {
  using Element = T;
  static constexpr Along kAlong = kWhere;
  static constexpr int kVec = kWidth;
};

/// The operand whose element is `p.member[col]`, or `p.member[row]`.
template <class T, int kWidth, auto kMember> struct ColumnVector : Loaded<T, Along::col, kWidth> {
  template <class Params> static INGOT_DEVICE const T* at(const Params& p, i64, i64, i64 col) {
    return p.*kMember + col;
  }
};
template <class T, auto kMember> struct RowVector : Loaded<T, Along::row, 1> {
  template <class Params> static INGOT_DEVICE const T* at(const Params& p, i64, i64 row, i64) {
    return p.*kMember + row;
  }
};

/// All members of an output but `at`. By default all points store.
template <class T, Along kWhere, int kWidth, bool kIsAffine, bool kIsStaged>
struct Stored : Loaded<T, kWhere, kWidth> {
  static constexpr bool kAffine = kIsAffine, kStaged = kIsStaged;
  template <class Params> static INGOT_DEVICE bool owns(const Params&, i64, i64, i64) {
    return true;
  }
  template <class Params> static INGOT_DEVICE bool reaches(const Params&, i64, i64) { return true; }
};

/// The type of a value in registers.
template <class T> struct InRegister {
  using Type = T;
  static INGOT_DEVICE T load(T value) { return value; }
  static INGOT_DEVICE T store(T value) { return value; }
};
template <> struct InRegister<f16> {
  using Type = f32;
  static INGOT_DEVICE f32 load(f16 value) { return to_f32(value); }
  static INGOT_DEVICE f16 store(f32 value) { return from_f32<f16>(value); }
};
template <> struct InRegister<bf16> {
  using Type = f32;
  static INGOT_DEVICE f32 load(bf16 value) { return to_f32(value); }
  static INGOT_DEVICE bf16 store(f32 value) { return from_f32<bf16>(value); }
};

/// The result of an index out of range: NaN, 0 or false.
template <class T> INGOT_DEVICE T missing() { return T(); }
template <> INGOT_DEVICE f32 missing<f32>() { return ptx::as_f32(0x7fc00000u); }

/// The element at `at`. It is read only if it is inside its table.
template <class T> INGOT_DEVICE typename InRegister<T>::Type gathered(const T* at, bool inside) {
  return inside ? InRegister<T>::load(*at) : missing<typename InRegister<T>::Type>();
}

/// The elements of an access in registers.
template <class T, int kCount>
INGOT_DEVICE void unpack(const Vector<T, kCount>& pack, typename InRegister<T>::Type* out) {
#pragma unroll
  for (int e = 0; e < kCount; ++e) out[e] = InRegister<T>::load(pack.v[e]);
}
/// Two bf16 are the upper and lower 16 bits of a word. One instruction per element converts each in
/// place; extracting it first would take another one.
template <int kCount> INGOT_DEVICE void unpack(const Vector<bf16, kCount>& pack, f32* out) {
  const u32* const words = reinterpret_cast<const u32*>(pack.v);
#pragma unroll
  for (int e = 0; e < kCount / 2 * 2; e += 2) {
    out[e] = ptx::as_f32(words[e / 2] << 16);
    out[e + 1] = ptx::as_f32(words[e / 2] & 0xffff0000u);
  }
  if (kCount % 2 != 0) out[kCount - 1] = InRegister<bf16>::load(pack.v[kCount - 1]);
}

INGOT_DEVICE constexpr int smaller(int a, int b) { return a < b ? a : b; }
/// The number of elements per access: limited by the layout, the tensor and 16 bytes.
template <class T> INGOT_DEVICE constexpr int access_width(int layout_vec, int tensor_vec) {
  return smaller(smaller(layout_vec, tensor_vec), static_cast<int>(16 / sizeof(T)));
}

/// The direction in which the elements of an access are adjacent.
enum class Adjacent { rows, columns };

/// kVec adjacent elements from (row, col). The access from element `at` on reads as zero unless
/// inside(at).
template <Adjacent kAdjacent, int kVec, class O, class Params, class Inside>
INGOT_DEVICE void load_adjacent(const Params& params, i64 batch, i64 row, i64 col, Inside inside,
                                typename InRegister<typename O::Element>::Type (&out)[kVec]) {
  using Element = typename O::Element;
  constexpr int kAccess = access_width<Element>(kVec, O::kVec);
  constexpr int kDown = kAdjacent == Adjacent::rows ? 1 : 0;
#pragma unroll
  for (int at = 0; at < kVec; at += kAccess) {
    Vector<Element, kAccess> pack = {};
    if (inside(at))
      pack = load_vector<kAccess>(O::at(params, batch, row + at * kDown, col + at * (1 - kDown)));
    unpack(pack, out + at);
  }
}

/// Stores kVec adjacent elements from (row, col): each access from element `at` on with inside(at)
/// that the output owns.
template <Adjacent kAdjacent, int kVec, class O, class Params, class Inside>
INGOT_DEVICE void store_adjacent(const Params& params, i64 batch, i64 row, i64 col, Inside inside,
                                 const typename InRegister<typename O::Element>::Type (&in)[kVec]) {
  using Element = typename O::Element;
  constexpr int kAccess = access_width<Element>(kVec, O::kVec);
  constexpr int kDown = kAdjacent == Adjacent::rows ? 1 : 0;
#pragma unroll
  for (int at = 0; at < kVec; at += kAccess) {
    Vector<Element, kAccess> pack;
#pragma unroll
    for (int e = 0; e < kAccess; ++e) pack.v[e] = InRegister<Element>::store(in[at + e]);
    const i64 own_row = row + at * kDown, own_col = col + at * (1 - kDown);
    if (inside(at) && O::owns(params, batch, own_row, own_col))
      store_vector(O::at(params, batch, own_row, own_col), pack);
  }
}

} // namespace ingot
