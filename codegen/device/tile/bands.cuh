// SPDX-License-Identifier: Apache-2.0
// Runs the stages of a large tile band by band: a loop takes a few rows of each thread at a time
// through all stages, and then moves the thread's other rows up. The loop is not unrolled, so that
// a kernel has the code of one band instead of that of a whole tile, and compiles faster. Registers
// have no dynamic index: that is why the rows move.
#pragma once

#include "tile/stages.cuh"

namespace ingot {

// A band of a layout L is a layout with the first rows of each thread, of which L has a whole
// number.

/// The number of equal bands of a tile: kMost, or else 2, or else 1. More bands read the vectors
/// along columns more often, which products of small K do not hide.
template <class L, int kMost> constexpr int bands_of() {
  if (L::kRows * L::kCols < sizes::kLeastElementsInBands) return 1;
  return L::kRows % (kMost * L::kBandStep) == 0 ? kMost
         : L::kRows % (2 * L::kBandStep) == 0   ? 2
                                                : 1;
}
template <class L, int kMost = 2> struct PartBand : L {
  static constexpr int kBands = bands_of<L, kMost>();
  static constexpr bool kIsPart = kBands > 1;
  static constexpr int kRows = L::kRows / kBands;
};

/// The fewest rows: the least code, for kernels that compute few tiles.
template <class L> struct ShortBand : L {
  static constexpr bool kIsPart = L::kRows > L::kBandStep&& L::kRows % L::kBandStep == 0;
  static constexpr int kRows = kIsPart ? L::kBandStep : L::kRows;
};

/// Whether a held tile goes through its stages in bands B.
template <class B, class Stages> struct RunsInBands;
template <class B, class... Ss> struct RunsInBands<B, List<Ss...>> {
  static constexpr bool kValue = B::kIsPart && (StaysInRows<B, Ss>::kValue && ...);
};

/// Leaves a band as it is.
struct AsItIs {
  template <class Band> INGOT_DEVICE void operator()(const TileContext&, Band&) const {}
};

/// Runs the stages of a held tile, which RunsInBands. Each band goes through `finish` first.
template <class B, class L, int kSlots, class Params, class Stages, class Finish = AsItIs>
INGOT_DEVICE void run_bands(const Params& params, const TileContext& context,
                            Fragment<L, kSlots>& fragment, Stages stages, Finish finish = {}) {
  // The bounds of a band of a whole tile stay constants.
  const bool whole = context.row_end - context.row0 == L::kTileRows;
#pragma unroll 1
  for (int done = 0; done < L::kRows; done += B::kRows) {
    TileContext own = context;
    own.row0 = context.row0 + L::row_offset(done);
    if (whole) own.row_end = own.row0 + L::kTileRows;
    Fragment<B, kSlots> band;
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
#pragma unroll
      for (int j = 0; j < L::kCols; ++j) {
#pragma unroll
        for (int i = 0; i < B::kRows; ++i) band.v[s][i][j] = fragment.v[s][i][j];
#pragma unroll
        for (int i = 0; i + B::kRows < L::kRows; ++i)
          fragment.v[s][i][j] = fragment.v[s][i + B::kRows][j];
      }
    }
    finish(own, band);
    typename ResultsOf<B, List<>, Stages>::Type results(context.thread);
    run_stages<true>(params, own, band, results, stages);
  }
}

} // namespace ingot
