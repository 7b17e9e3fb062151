// SPDX-License-Identifier: Apache-2.0
// The cost of kernels that pack an operand. See cost_model.h.
#include "codegen/kernel/index_map.h"
#include "codegen/kernel/traffic.h"
#include "codegen/schedule/cost_model.h"
#include "ir/assumed_size.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

// Measured, as the numbers in cost_model.cpp.
constexpr double kPackingTiles = 0.53; ///< share of a copy's rate of the packing_tiles skeleton
constexpr double kPackingRows = 0.8;   ///< the same of packing_rows
// An estimate, not measured by itself: [300, 200000] by 300 in f32, w as [K, N], took 1.76 ms on an
// H100 with 38 blocks that packed w, where the whole rate predicts 0.72.
constexpr double kPackingBlocks = 2; ///< blocks on an SM from which they reach it

} // namespace

KernelCost packing_cost(const Kernel& kernel, const Schedule& schedule, const DeviceSpec& device,
                        const std::map<std::string, int64_t>& dims) {
  Expr bytes;
  for (const auto& [parameter, traffic] :
       llvm::zip_equal(kernel.parameters, traffic_of(kernel, schedule)))
    for (const Expr& elements : llvm::concat<const Expr>(traffic.reads, traffic.writes))
      bytes = bytes + bytes_of(parameter, elements);
  const PackedOperand& packing = std::get<PackingBody>(kernel.body).operand.packing;
  const double rows = likely_value(dim_expr(packing.batches) * dim_expr(packing.rows), dims);
  const double depth = likely_value(dim_expr(packing.depth), dims);
  const double seconds = packing_seconds(schedule, rows, depth, likely_value(bytes, dims), device);
  return {.memory = seconds - kLaunch, .seconds = seconds};
}

double packing_seconds(const Schedule& schedule, double rows, double depth, double bytes,
                       const DeviceSpec& device) {
  if (bytes == 0) return kLaunch; // no rows
  const double share = schedule.skeleton == Skeleton::packing_rows ? kPackingRows : kPackingTiles;
  const double blocks = rows / static_cast<double>(schedule.tile_m);
  const double busy =
      std::min(1.0, blocks / (kPackingBlocks * static_cast<double>(device.sm_count)));
  const double steps = depth / static_cast<double>(schedule.tile_k); // the last one takes as long
  const double filled = steps > 0 ? steps / std::ceil(steps) : 1;
  return bytes / (share * busy * filled * device.bytes_per_second) + kLaunch;
}

} // namespace ingot
