// SPDX-License-Identifier: Apache-2.0
// How far apart tiles of a matmul lie along the columns, as its reductions demand. Legality asks
// whether there is such a step, the schedule takes it.
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

/// The tile whose mainloop costs least for a column kept. None where every one that suits keeps
/// less than three quarters of the columns that the best one for local segments alone keeps: its
/// mainloop would cost more than to store the product and read it again. `demand.divides` 0: for
/// segments of any width.
std::optional<TileColumns> shared_segment_tile(const StepDemand& demand, int64_t widest);

} // namespace ingot
