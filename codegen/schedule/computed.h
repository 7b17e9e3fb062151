// SPDX-License-Identifier: Apache-2.0
// Products whose operand A the kernel computes: parts of choosing their schedules.
#pragma once

#include "codegen/schedule/choosers.h"

namespace ingot {

inline constexpr int64_t kWidestTile = 256; ///< columns of a tile's registers

/// How tensor cores multiply in a kernel with computed operands, whose products have one type; else
/// the error.
llvm::Expected<ComputeType> compute_of_products(const ScheduleSite& site);

/// True if the stages of a computed tile read memory.
bool reads_memory(const TileBody& tile);

/// The numbers that all schedules of such kernels share.
Schedule computed_schedule(ComputeType compute);

/// The variants by mma.sync of `fast`, whose operands are not set: it, the same with narrow stores
/// if sizes ask for them, and the one for tensors of any alignment.
std::vector<Schedule> copied_variants(const ScheduleSite& site, Schedule fast);

/// Sets the warps of the variant for tensors of any alignment: of 16 rows each, because staged
/// operands take registers. If blocks share rows of the domain, the tile keeps its rows.
void set_general_warps(const ScheduleSite& site, Schedule& general);

/// Adds the variants of a schedule by tensor maps: it, the same with narrow stores if sizes ask for
/// them, and the `usual` ones for tensors that no map may describe. If blocks share rows of the
/// domain, the tiles of all have one size. Nothing is added where those are not legal.
void add_with_usual(const ScheduleSite& site, const Schedule& mapped,
                    llvm::ArrayRef<Schedule> usual, std::vector<std::vector<Schedule>>& candidates);

/// Sets the operands of a schedule by tensor maps, and its memory. False: that is not legal.
bool set_mapped(const ScheduleSite& site, Schedule& schedule);

/// choose_nested_schedules and nested_candidates, if the tile of A has all of K.
llvm::Expected<std::vector<Schedule>> choose_resident_schedules(const ScheduleSite& site);
std::vector<std::vector<Schedule>> resident_candidates(const ScheduleSite& site,
                                                       llvm::ArrayRef<Schedule> usual);

} // namespace ingot
