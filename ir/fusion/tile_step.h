// SPDX-License-Identifier: Apache-2.0
// How far apart tiles of a matmul lie along the columns, as its reductions demand. Legality asks
// whether there is such a step, cost what it drops, and the schedule takes it.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// What the reductions of a matmul's kernel demand of the step. It is a multiple of what is reduced
/// inside one tile; segments that several tiles share are multiples of it, so that each tile lies
/// in one of them.
struct StepDemand {
  int64_t multiple = 1;
  int64_t divides = 0; ///< 0: no segments cross tiles
};
StepDemand step_demand(llvm::ArrayRef<Reduction> reductions);

/// A width that tiles of a matmul may have, and the step: the surplus is computed and dropped.
struct TileColumns {
  int64_t width = 0, step = 0;
};

/// The tile of a matmul of `columns`. Segments inside it: the usual width that holds one, and as
/// many of them as fit. Shared segments: the tile whose mainloop costs least for a column kept;
/// none where every one that suits keeps less than three quarters of the columns that it would keep
/// without them, so that its mainloop would cost more than to store the product and read it again.
/// None also where one tile of `widest` columns does not hold `demand.multiple`.
std::optional<TileColumns> tile_columns(const StepDemand& demand, int64_t columns, int64_t widest);

/// The same for more columns than a tile has.
std::optional<TileColumns> tile_columns(const StepDemand& demand, int64_t widest);

} // namespace ingot
