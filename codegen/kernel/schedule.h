// SPDX-License-Identifier: Apache-2.0
// How a kernel runs, as plain numbers. codegen/schedule/ chooses them.
#pragma once

#include "codegen/device/sizes/shared_memory.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace ingot {

enum class Skeleton : uint8_t {
  held,
  streamed,
  scanned,
  split,
  packing_tiles,
  specialised,
  packing_rows,
  kept,
  nested,
  nested_specialised
};
enum class ComputeType : uint8_t {
  f32,
  f16,
  bf16,
  tf32,
  f16x3,  ///< f32 as three products of halves (tile/halves.cuh)
  f16x1,  ///< f32 as one product of scaled f16 (tile/row_split.cuh)
  bf16x3, ///< f32 as six products of bf16 thirds (tile/thirds.cuh)
  bf16x2, ///< f32 as three products of two parts in bf16
};
/// The properties of a ComputeType that hold on every machine.
struct ComputeFacts {
  const char* name;
  int64_t operand_bytes;   ///< bytes of an operand's element in a slot; f16x3: of both halves
  int64_t tensor_products; ///< 16-bit products in the time of one on tensor cores; 0: FMA
};
const ComputeFacts& facts_of(ComputeType compute);
/// The parts in bf16 of an f32 element; 0: it is multiplied otherwise.
inline int bf16_parts(ComputeType compute) {
  return compute == ComputeType::bf16x3 ? 3 : compute == ComputeType::bf16x2 ? 2 : 0;
}

/// The mainloops of the device library.
enum class MainloopKind : uint8_t {
  none,            ///< rows are loaded
  staged_fma,      ///< tile/simt_mainloop.cuh
  copied_fma,      ///< tile/fma_mainloop.cuh
  tensor,          ///< tile/mma_mainloop.cuh
  thirds,          ///< tile/thirds_mainloop.cuh
  halves,          ///< tile/halves_mainloop.cuh
  wgmma,           ///< tile/wgmma_mainloop.cuh
  wgmma_swapped,   ///< tile/wgmma_swapped_mainloop.cuh
  wgmma_halves,    ///< tile/wgmma_halves_mainloop.cuh; all tiles
  wgmma_thirds,    ///< tile/wgmma_thirds_mainloop.cuh
  guard,           ///< tile/guard_mainloop.cuh; the tiles whose halves do not suit
  tensor_guard,    ///< the same, of scaled f16
  nested,          ///< tile/nested_mainloop.cuh; the kernel computes A
  nested_thirds,   ///< tile/nested_thirds_mainloop.cuh; the same of f32
  nested_wgmma,    ///< tile/nested_wgmma_mainloop.cuh; the same on sm_90a
  resident,        ///< tile/resident_mainloop.cuh; A is a tile with all of K
  resident_thirds, ///< tile/resident_thirds_mainloop.cuh; the same of f32
  resident_wgmma   ///< tile/resident_wgmma_mainloop.cuh; the same on sm_90a
};
/// True for the mainloops of the specialised skeleton.
inline bool is_wgmma(MainloopKind kind) {
  return kind == MainloopKind::wgmma || kind == MainloopKind::wgmma_swapped ||
         kind == MainloopKind::wgmma_halves || kind == MainloopKind::wgmma_thirds;
}
/// True if the kernel computes operand A of the product along K.
inline bool is_nested(MainloopKind kind) {
  return kind == MainloopKind::nested || kind == MainloopKind::nested_thirds ||
         kind == MainloopKind::nested_wgmma;
}
/// The same, whole.
inline bool is_resident(MainloopKind kind) {
  return kind == MainloopKind::resident || kind == MainloopKind::resident_thirds ||
         kind == MainloopKind::resident_wgmma;
}
/// The mainloops by mma.sync whose operand A the kernel computes.
inline bool computes_by_mma(MainloopKind kind) {
  return kind == MainloopKind::nested || kind == MainloopKind::nested_thirds ||
         kind == MainloopKind::resident || kind == MainloopKind::resident_thirds;
}
inline bool computes_operand(MainloopKind kind) { return is_nested(kind) || is_resident(kind); }
/// The least columns of the registers of a computed tile.
inline int64_t narrowest_tile(MainloopKind kind) {
  return kind == MainloopKind::resident_wgmma || kind == MainloopKind::nested_wgmma ? 64 : 32;
}
inline bool is_guard(MainloopKind kind) {
  return kind == MainloopKind::guard || kind == MainloopKind::tensor_guard;
}
/// True if a kernel before the matmul's packs its operands, but for those that are mapped.
inline bool reads_packed(MainloopKind kind) {
  return kind == MainloopKind::halves || is_wgmma(kind) || is_guard(kind);
}

/// `mapped`: by a tensor map (sm_90a). Mainloops that read packed operands have the path by which
/// the packing kernel fetches them.
enum class PathKind : uint8_t { direct, staged, mapped };
/// `direct`
llvm::StringRef spelling(PathKind path);
enum class RowThreads : uint8_t {
  along_columns, ///< lanes of a warp share a row
  along_rows,    ///< lanes have rows of their own, one or several adjacent ones
  along_both     ///< lanes have a row each, and read several adjacent columns at a time
};
/// `along-rows`
llvm::StringRef spelling(RowThreads threads);

/// How a matmul's operand reaches shared memory.
struct OperandSchedule {
  PathKind path = PathKind::direct;
  int64_t vec = 1; ///< adjacent elements of one access
  friend bool operator==(const OperandSchedule&, const OperandSchedule&) = default;
};

struct Schedule {
  MainloopKind mainloop = MainloopKind::none;
  Skeleton skeleton = Skeleton::held;

  // The tile, in elements: 64 to 256 rows and 64 to 256 columns of a product; tile_k is the K of a
  // slot.
  int64_t tile_m = 1, tile_n = 1, tile_k = 1;
  /// nested: the K of the inner product in shared memory. resident: the columns of the widest tile.
  int64_t depth = 0;
  int64_t slots_of_a = 0;        ///< resident_wgmma: slots of the first A's ring
  bool keeps_b = false;          ///< resident_wgmma: each B is copied once and stays
  int64_t step_n = 1;            ///< the distance of tiles along the columns, at most tile_n
  int64_t threads = 256;         ///< threads of a block: whole warps, at most 1024
  int64_t min_blocks_per_sm = 1; ///< blocks for which the registers of an SM suffice
  int64_t most_blocks = 0;       ///< of a grid, whose blocks take several tiles; 0: no limit
  int64_t group_rows = 8;        ///< rasterisation: row tiles side by side
  /// Blocks of a cluster. kept: they share a row. specialised: they have adjacent row tiles of the
  /// same columns, and share the copies of B.
  int64_t cluster = 1;

  // Mainloops.
  ComputeType compute = ComputeType::f32;
  int64_t warp_m = 0, warp_n = 0; ///< on tensor cores: the part of a warp, from 16 elements on
  /// Slots of a mainloop's pipeline, at most 6. kept: slots for chunks of rows, as many as a row
  /// needs and up to 7 more.
  int64_t slots = 1;
  int64_t staged_loads = 8;  ///< loads per thread in flight, for narrow vectors of a staged operand
  int64_t promote_every = 0; ///< products of a sum between promotions; 0: one chain
  int64_t total_every = 0;   ///< products of promoted sums before they move to a total; 0: never
  /// A and B of each matmul. Of computed tiles, the first one's A and B, then each B.
  llvm::SmallVector<OperandSchedule, 2> operands;

  // Loaded rows.
  RowThreads row_threads = RowThreads::along_columns;
  /// Threads of a block that share a row; where lanes have rows of their own, warps of a block.
  int64_t per_row = 32;
  int64_t chunks = 1; ///< accesses of a thread per row of a tile
  int64_t parts = 1;  ///< split: the most blocks that share a row

  int64_t shared_bytes = 0; ///< dynamic shared memory of a block

  int64_t vec = 1; ///< adjacent columns of one access in the stages, or rows if along_rows

  // Split K (codegen/kernel/split_k.h): blocks share a tile, each with a part of the contraction.
  int64_t split_k = 1;        ///< the most parts; 1: K is not split
  int64_t split_depth = 0;    ///< the least K of a part
  int64_t split_blocks = 0;   ///< the most tiles times parts
  bool packs_a = false;       ///< wgmma: the kernel packs its own A (kernels/packing_beside.cuh)
  bool in_bands = false;      ///< wgmma: the stages take a few rows of a thread at a time
  bool staged_stores = false; ///< rows are stored through shared memory, up to 16 bytes a thread

  bool splits_k() const { return split_k > 1; }
  bool uses_tensor_cores() const {
    return mainloop == MainloopKind::tensor || mainloop == MainloopKind::thirds ||
           computes_operand(mainloop) || reads_packed(mainloop);
  }
  /// True if some threads only copy operands.
  bool is_specialised() const {
    return skeleton == Skeleton::specialised || skeleton == Skeleton::nested_specialised;
  }
  /// The threads that own a tile.
  int64_t tile_threads() const {
    return is_specialised() ? tile_m / warp_m * (tile_n / warp_n) * 32 : threads;
  }
  /// Tiles that a block has at a time. In the specialised skeleton, one warpgroup copies, and two
  /// multiply.
  int64_t tiles_at_a_time() const {
    return skeleton == Skeleton::specialised ? sizes::tile_owners(static_cast<int>(tile_threads()))
                                             : 1;
  }
  /// Loaded rows, along_columns: the rows of a thread.
  int64_t rows_of_a_thread() const { return tile_m * per_row / threads; }
  /// Blocks that share a loaded row in a cluster.
  int64_t blocks_of_a_row() const { return skeleton == Skeleton::kept ? cluster : 1; }
  /// Adjacent row tiles of a cluster's blocks.
  int64_t row_tiles_together() const { return skeleton == Skeleton::specialised ? cluster : 1; }
  /// True if both cut a matrix into the same tiles and parts. Only then may a kernel read the sums
  /// and states that another one stored.
  bool cuts_like(const Schedule& other) const;
  /// True if both have the same mainloop, with the same numbers.
  bool multiplies_like(const Schedule& other) const;
  /// The stable text form, e.g. `simt 128x128x16 threads 256 vec 4`.
  std::string text() const;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The name of the skeleton and its header in the device library.
llvm::StringRef spelling(Skeleton skeleton);

} // namespace ingot
