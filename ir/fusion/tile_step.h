// SPDX-License-Identifier: Apache-2.0
// The distance of a matmul's tiles along the columns, which its reductions demand. Legality asks if
// such a step exists. The cost of a fusion counts the columns that it drops. The schedule uses it.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// The demands of a matmul kernel's reductions on the step. The step is a multiple of the width
/// that is reduced inside one tile. Segments that several tiles share are multiples of the step, so
/// that each tile lies in one of them.
struct StepDemand {
  int64_t multiple = 1;
  int64_t divides = 0; ///< 0: no segments cross tiles
};
StepDemand step_demand(llvm::ArrayRef<Reduction> reductions);

/// A width that tiles of a matmul may have, and the step: the surplus is computed and dropped.
struct TileColumns {
  int64_t width = 0, step = 0;
};

/// The tile of a matmul of `columns`. For segments inside it: the usual width that holds one, and
/// as many of them as fit. For shared segments: the tile whose mainloop costs least per column
/// kept. None if every suitable tile keeps less than three quarters of the columns that it would
/// keep without them: its mainloop would then cost more than to store the product and read it
/// again. None also if one tile of `widest` columns does not hold `demand.multiple`.
std::optional<TileColumns> tile_columns(const StepDemand& demand, int64_t columns, int64_t widest);

/// The same for more columns than a tile has.
std::optional<TileColumns> tile_columns(const StepDemand& demand, int64_t widest);

/// The largest step of a tile of `width` columns that is a multiple of `unit` and meets the demand.
/// None if `width` holds no such multiple, or if shared segments leave less than three quarters of
/// the columns that the tile would keep without them.
std::optional<int64_t> step_of_width(const StepDemand& demand, int64_t width, int64_t unit);

} // namespace ingot
