// SPDX-License-Identifier: Apache-2.0
// The results of a kernel's reductions, by type. Maps and stores read them; a kernel without
// reductions has none, and needs nothing else of them.
#pragma once

#include "ptx/base.cuh"

namespace ingot {

/// The results of a reduction R: tile/reduce_results.cuh.
template <class R, class L> struct ReduceResult;

/// The results of all reductions of a kernel.
template <class L, class... Rs> struct ReduceResults : ReduceResult<Rs, L>... {
  i32 thread;
  explicit INGOT_DEVICE ReduceResults(i32 of_thread) : thread(of_thread) {}
  template <class R> INGOT_DEVICE ReduceResult<R, L>& of() { return *this; }
  template <class R> INGOT_DEVICE typename R::Reducer::Result get(int index, int i, int j) const {
    const ReduceResult<R, L>& result = *this;
    return result.get(thread, index, i, j);
  }
};

} // namespace ingot
