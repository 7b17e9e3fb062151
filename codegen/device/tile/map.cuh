// SPDX-License-Identifier: Apache-2.0
// Evaluates a stage's functor over a thread's share of the tile. It fetches each operand as often
// as the operand varies, and passes every element as a Point. Map, reduce and store stages use it.
#pragma once

#include "tile/kept.cuh"

namespace ingot {

/// The values of one thread for a tile.
template <class Layout, int kSlots> struct Fragment {
  f32 v[kSlots > 0 ? kSlots : 1][Layout::kRows][Layout::kCols];
};

/// The functor for the value in a slot of the tile.
template <int kSlot> struct Held {
  using Operands = List<>;
  template <class X> static INGOT_DEVICE f32 eval(const X& x) { return x.template tile<kSlot>(); }
};

/// The values of one operand that are alive at once: one per row, one per element of an access, or
/// a single one.
template <class O, class Layout> struct Cell {
  using Value = typename InRegister<typename O::Element>::Type;
  static constexpr int kCount = O::kAlong == Along::none   ? 1
                                : O::kAlong == Along::row  ? Layout::kRows
                                : O::kAlong == Along::both ? Layout::kVec * Layout::kRowVec
                                                           : Layout::kVec;
  Value v[kCount];
};
template <class Layout, class Operands> struct Cells;
template <class Layout, class... Os> struct Cells<Layout, List<Os...>> : Cell<Os, Layout>... {};

/// The view of one element that a functor receives.
template <class Layout, int kSlots, class Params, class CellsT, class Results> struct Point {
  const Params& params;
  const Fragment<Layout, kSlots>& fragment;
  const CellsT& cells;
  const Results& results;
  int i, j, e; // register indices; e = j % kVec
  i64 batch_, row_, col_;

  template <int kSlot> INGOT_DEVICE f32 tile() const { return fragment.v[kSlot][i][j]; }
  template <class O> INGOT_DEVICE typename Cell<O, Layout>::Value operand() const {
    const Cell<O, Layout>& cell = cells;
    constexpr bool kDown = O::kAlong == Along::both && Layout::kRowVec > 1;
    return cell.v[O::kAlong == Along::none  ? 0
                  : O::kAlong == Along::row ? i
                  : kDown                   ? i % Layout::kRowVec
                                            : e];
  }
  /// Result `kIndex` of the reduction R for this element.
  template <class R, int kIndex> INGOT_DEVICE typename R::Reducer::Result result() const {
    return results.template get<R>(kIndex, i, j);
  }
  INGOT_DEVICE i64 batch() const { return batch_; }
  INGOT_DEVICE i64 row() const { return row_; }
  INGOT_DEVICE i64 col() const { return col_; }
};

template <Along kAlong, class Layout, class Params, class CellsT, class O>
INGOT_DEVICE void fetch(const Params& params, const TileContext& context,
                        const TileBounds<Layout>& bounds, int i, int j, CellsT& cells, O*) {
  if constexpr (O::kAlong == kAlong) {
    Cell<O, Layout>& cell = cells;
    const i64 col = context.col0 + Layout::first_col(context.thread) + Layout::col_offset(j);
    const i64 own_row = context.row0 + Layout::first_row(context.thread) + Layout::row_offset(i);
    if constexpr (kAlong == Along::none) {
      cell.v[0] = InRegister<typename O::Element>::load(
          *O::at(params, context.batch, context.row0, context.col0));
    } else if constexpr (kAlong == Along::row && Layout::kRowVec > 1) {
      static_assert(Layout::kRows == Layout::kRowVec, "a thread has one access's rows");
      if (i == 0)
        load_adjacent<Adjacent::rows, Layout::kRowVec, O>(
            params, context.batch, own_row, context.col0, [&](int at) { return bounds.row(at); },
            cell.v);
    } else if constexpr (kAlong == Along::row) {
      cell.v[i] = {};
      if (bounds.row(i))
        cell.v[i] = InRegister<typename O::Element>::load(
            *O::at(params, context.batch, own_row, context.col0));
    } else if constexpr (kAlong == Along::both && Layout::kRowVec > 1) {
      if (i % Layout::kRowVec == 0)
        load_adjacent<Adjacent::rows, Layout::kRowVec, O>(
            params, context.batch, own_row, col,
            [&](int at) { return bounds.col(j) && bounds.row(i + at); }, cell.v);
    } else {
      const i64 row = kAlong == Along::col ? context.row0 : own_row;
      const auto inside = [&](int at) {
        return (kAlong == Along::col || bounds.row(i)) && bounds.col(j + at);
      };
      if constexpr (Keeps<Layout, O>::kValue)
        load_kept<Layout, O>(context, j, inside, cell.v);
      else
        load_adjacent<Adjacent::columns, Layout::kVec, O>(params, context.batch, row, col, inside,
                                                          cell.v);
    }
  }
}

template <Along kAlong, class Layout, class Params, class CellsT, class... Os>
INGOT_DEVICE void fetch_all(const Params& params, const TileContext& context,
                            const TileBounds<Layout>& bounds, int i, int j, CellsT& cells,
                            List<Os...>) {
  (fetch<kAlong, Layout>(params, context, bounds, i, j, cells, static_cast<Os*>(nullptr)), ...);
}

struct Nothing {
  INGOT_DEVICE void operator()(int) const {}
};

/// Calls use(i, j, row, col, F::eval(point)) for each element of the thread, including elements out
/// of bounds, whose operands read as zero. Columns are the outer loop and rows the inner one, so
/// that column operands are fetched once. after(j) follows the elements of the registers below j.
template <class F, class Layout, int kSlots, class Params, class Results, class Use,
          class After = Nothing>
INGOT_DEVICE void for_each_element(const Params& params, const TileContext& context,
                                   const Fragment<Layout, kSlots>& fragment, const Results& results,
                                   Use use, After after = {}) {
  using Operands = typename F::Operands;
  using CellsT = Cells<Layout, Operands>;
  const TileBounds<Layout> bounds(context);
  const i64 first_row = context.row0 + Layout::first_row(context.thread);
  const i64 first_col = context.col0 + Layout::first_col(context.thread);
  CellsT cells;
  fetch_all<Along::none, Layout>(params, context, bounds, 0, 0, cells, Operands());
#pragma unroll
  for (int i = 0; i < Layout::kRows; ++i)
    fetch_all<Along::row, Layout>(params, context, bounds, i, 0, cells, Operands());
#pragma unroll
  for (int j = 0; j < Layout::kCols; j += Layout::kVec) {
    fetch_all<Along::col, Layout>(params, context, bounds, 0, j, cells, Operands());
#pragma unroll
    for (int i = 0; i < Layout::kRows; ++i) {
      fetch_all<Along::both, Layout>(params, context, bounds, i, j, cells, Operands());
      const i64 row = first_row + Layout::row_offset(i);
#pragma unroll
      for (int e = 0; e < Layout::kVec; ++e) {
        const i64 col = first_col + Layout::col_offset(j + e);
        const Point<Layout, kSlots, Params, CellsT, Results> point{
            params, fragment, cells, results, i, j + e, e, context.batch, row, col};
        use(i, j + e, row, col, F::eval(point));
      }
    }
    after(j + Layout::kVec);
  }
}

} // namespace ingot
