// SPDX-License-Identifier: Apache-2.0
// Predicts the time of a kernel by plain arithmetic over its schedule and a DeviceSpec. `explain`
// reports the prediction. A tuner orders its candidates by it.
#pragma once

#include "codegen/schedule/choose.h"

#include <map>

namespace ingot {

// Numbers that no data sheet states, in seconds and shares of a unit's rate. They come from the
// measurements in docs/benchmarks.md.
constexpr double kLaunch = 2.5e-6;  ///< before the first block of a launch runs and after the last
constexpr double kArrival = 0.6e-6; ///< from the request for a slot of operands to its arrival
constexpr double kFill = 1.2e-6;    ///< the arrival of a tile's first operands
constexpr double kBusy = 0.95;      ///< share of a unit's rate at best
// wgmma on an H200: 798 TFLOP/s of three products in parts of 64, of 989 by the data sheet.
constexpr double kWgmma = 0.8; ///< share of the data sheet's rate

/// The seconds that each unit of the machine is busy, all SMs side by side, and the resulting time.
struct KernelCost {
  double products = 0; ///< multiplying: tensor cores, or f32 multiply-adds
  double shared = 0;   ///< operands into shared memory and out of it
  double cache = 0;    ///< operands out of the L2 cache
  double memory = 0;   ///< each tensor read or written once
  double stages = 0;   ///< instructions of everything but the mainloop
  double exposed = 0;  ///< filling pipelines, and stages that run beside no mainloop
  double idle = 0;     ///< idle SMs in the last wave
  double seconds = 0;  ///< the whole time, one launch included

  /// `0.412 ms: products 0.361 ms, shared 0.31 ms, ...`, without negligible terms.
  std::string text() const;
};

/// The cost of a kernel, or of its outline, under `schedule`. `dims`: the sizes of named
/// dimensions.
KernelCost predict(const Kernel& kernel, const Schedule& schedule, const DeviceSpec& device,
                   const std::map<std::string, int64_t>& dims);

/// The seconds in which the slots of a tile arrive that are requested ahead. `depth`: K of the
/// tile. `cache`: their seconds at the rate of L2.
double arriving(const Schedule& schedule, double depth, double cache);

/// The part of predict() for a kernel that packs an operand.
KernelCost packing_cost(const Kernel& kernel, const Schedule& schedule, const DeviceSpec& device,
                        const std::map<std::string, int64_t>& dims);

/// The cost of a product that packs its own A, from its cost without that.
KernelCost with_packing(KernelCost product, const Kernel& kernel, const Schedule& schedule,
                        const DeviceSpec& device, const std::map<std::string, int64_t>& dims);

/// Bytes of a packed element, in all planes.
double packed_element_bytes(const PackedOperand& packing);

/// The seconds of a kernel that packs an operand. `rows`: of all batches. `moved`: the bytes that
/// it reads and writes for each element.
double packing_seconds(const Schedule& schedule, double rows, double depth, double moved,
                       const DeviceSpec& device);

} // namespace ingot
