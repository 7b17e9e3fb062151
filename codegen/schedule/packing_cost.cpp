// SPDX-License-Identifier: Apache-2.0
// The cost of kernels that pack an operand. See cost_model.h.
#include "codegen/device/sizes/f32_products.h"
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

// Products on an H100 that packed their own A, beside those after a kernel that packed it, us more:
// 1024 rows of 8192 (12, 22, 30, 75, 80, 94) +58 to +69 in f32, +46 to +53 in `high`; 32768 rows of
// 1024 (37) -57 and -21; 16384 rows of 4096 (39) -21; 4096 rows of 4096 (1) +28; 128 rows of 32768
// (56) +54 in f32. The first term follows from the rows of 8192, the slowing from 37.
constexpr double kBesideRow = 2e-6;       ///< a warp's time for a row,
constexpr double kBesideElement = 2.2e-9; ///< and for each k of it
/// The share of the packed bytes' time that products lose which take one product for each.
constexpr double kBesideSlowing = 0.6;

} // namespace

KernelCost packing_cost(const Kernel& kernel, const Schedule& schedule, const DeviceSpec& device,
                        const std::map<std::string, int64_t>& dims) {
  Expr read;
  for (const auto& [parameter, traffic] :
       llvm::zip_equal(kernel.parameters, traffic_of(kernel, schedule)))
    for (const Expr& elements : traffic.reads) read = read + bytes_of(parameter, elements);
  const PackedOperand& packing = std::get<PackingBody>(kernel.body).operand.packing;
  const double rows = likely_value(dim_expr(packing.batches) * dim_expr(packing.rows), dims);
  const double depth = likely_value(dim_expr(packing.depth), dims);
  const double elements = std::max(1.0, rows * depth);
  const double moved = likely_value(read, dims) / elements + packed_element_bytes(packing);
  const double seconds = packing_seconds(schedule, rows, depth, moved, device);
  return {.memory = seconds - kLaunch, .seconds = seconds};
}

KernelCost with_packing(KernelCost product, const Kernel& kernel, const Schedule& schedule,
                        const DeviceSpec& device, const std::map<std::string, int64_t>& dims) {
  const auto& body = std::get<TileBody>(kernel.body);
  const MatrixOperand& a = body.mainloops.front().operands[0];
  if (!a.packed) return product; // an outline
  const auto value = [&](const Expr& expr) { return likely_value(expr, dims); };
  const double rows = value(dim_expr(a.packing.batches) * dim_expr(a.packing.rows));
  const double depth = value(body.mainloops.front().depth);
  const auto bytes = static_cast<double>(size_of(kernel.parameters[a.from.parameter].dtype) +
                                         size_of(kernel.parameters[*a.packed].dtype));
  const auto products = static_cast<double>(facts_of(schedule.compute).tensor_products);
  const auto sms = static_cast<double>(device.sm_count);
  const auto group = static_cast<double>(schedule.group_rows);
  const double unit_seconds = sizes::kBesideUnit * (kBesideRow + depth * kBesideElement);
  const auto packed_after = [&](double count) {
    return std::ceil(count / (sizes::kBesideUnit * sizes::kBesideWarps * sms)) * unit_seconds;
  };
  // The rows of the tiles with which blocks begin.
  const double column_tiles =
      std::max(1.0, std::ceil(value(body.columns) / static_cast<double>(schedule.step_n)));
  const double row_tiles = std::ceil(sms / (group * column_tiles)) * group;
  const double first =
      packed_after(std::min(rows, row_tiles * static_cast<double>(schedule.tile_m)));
  const double slowing = kBesideSlowing / products * rows * depth * bytes / device.bytes_per_second;
  product.exposed += first;
  product.seconds = first + std::max(product.seconds + slowing, packed_after(rows));
  return product;
}

double packed_element_bytes(const PackedOperand& packing) {
  return static_cast<double>(size_of(facts_of(packing.format).dtype));
}

double packing_seconds(const Schedule& schedule, double rows, double depth, double moved,
                       const DeviceSpec& device) {
  if (rows == 0 || depth == 0) return kLaunch;
  const double share = schedule.skeleton == Skeleton::packing_rows ? kPackingRows : kPackingTiles;
  // A block of few rows takes as long as a whole one, and so does the last step of a row.
  const auto tile_m = static_cast<double>(schedule.tile_m),
             tile_k = static_cast<double>(schedule.tile_k);
  const double blocks = std::max(1.0, rows / tile_m);
  const double elements = blocks * tile_m * std::ceil(depth / tile_k) * tile_k;
  const double busy =
      std::min(1.0, blocks / (kPackingBlocks * static_cast<double>(device.sm_count)));
  return elements * moved / (share * busy * device.bytes_per_second) + kLaunch;
}

} // namespace ingot
