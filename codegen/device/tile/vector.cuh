// SPDX-License-Identifier: Apache-2.0
// Vectors of adjacent elements that one memory instruction moves.
#pragma once

#include "ptx/base.cuh"

namespace ingot {

/// kCount adjacent elements, aligned so that an access of up to 16 bytes is one instruction.
template <class T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Vector {
  T v[kCount];
};

/// The vector at `address`, a multiple of the vector's alignment.
template <int kCount, class T> INGOT_DEVICE Vector<T, kCount> load_vector(const T* address) {
  return *reinterpret_cast<const Vector<T, kCount>*>(address);
}

template <class T, int kCount>
INGOT_DEVICE void store_vector(T* address, const Vector<T, kCount>& value) {
  *reinterpret_cast<Vector<T, kCount>*>(address) = value;
}

} // namespace ingot
