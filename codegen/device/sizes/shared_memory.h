// SPDX-License-Identifier: Apache-2.0
// The bytes of shared memory that each part of a kernel takes. Plain C++17: the device library lays
// memory out by these numbers, and the host plans launches by them.
#pragma once

namespace ingot {

/// Where a reduction's extent lies in a tile.
enum class Span { row, segment, column, matrix };

namespace sizes {

/// The fewest elements of a thread that go through the stages in bands (tile/bands.cuh). The code
/// of fewer is not worth a loop.
inline constexpr int kLeastElementsInBands = 64;

/// How a group's threads own a tile: numbers of a layout (tile/layout.cuh) by their names there.
struct Tile {
  int rows, cols; ///< kTileRows, kTileCols
  int vec, row_warps, col_warps, run, warp_cols;
  int cluster = 1; ///< kCluster
};

constexpr Tile mma_tile(int rows, int cols, int warp_rows, int warp_cols) {
  return {rows, cols, 2, cols / warp_cols, rows / warp_rows, 8, warp_cols};
}

/// Tiles of a swapped product: a warp has all rows, and 16 columns that are not adjacent. No warp
/// has whole runs, so that nothing is reduced.
constexpr Tile swapped_tile(int rows, int cols) { return {rows, cols, 2, cols / 16, 1, 0, 2}; }

constexpr int kWarpgroup = 128; ///< threads
/// The groups of `threads` that have tiles of their own, of two warpgroups that multiply.
constexpr int tile_owners(int threads) { return 2 * kWarpgroup / threads; }

/// Registers of a thread of the specialised skeleton that copies, beside two warpgroups that
/// multiply. With 24 it spills.
inline constexpr int kCopyingRegisters = 40;
/// The same of a warpgroup whose other warps split a slot's B.
constexpr int copying_registers(bool splits) { return splits ? 56 : kCopyingRegisters; }
/// Those of a thread that multiplies, where one that copies has `copying`. A block of three
/// warpgroups is launched with 168 each.
constexpr int multiplying_registers(int copying) { return (3 * 168 - copying) / 2; }

/// Those of a thread that copies, and of one that multiplies.
struct Registers {
  int copying, multiplying;
};
/// Beside `groups` warpgroups that multiply, 2 or 3. A block of four is launched with 128 each.
constexpr Registers nested_registers(int groups) {
  return groups == 3 ? Registers{32, (4 * 128 - 32) / 3}
                     : Registers{kCopyingRegisters, multiplying_registers(kCopyingRegisters)};
}

/// Threads along a row of a SIMT tile, and the group's threads.
constexpr int simt_threads_n(int rows) { return rows < 64 ? 32 : 16; }
constexpr int kSimtThreads = 256;

constexpr Tile simt_tile(int rows, int cols) {
  return {rows, cols, 4, 1, kSimtThreads / 32, 4 * simt_threads_n(rows), cols};
}

/// Loaded rows: `per_row` threads of each of `blocks` blocks share one, and have `rows` of them.
constexpr Tile row_tile(int threads, int per_row, int chunks, int vec, int blocks, int rows) {
  const int lanes = per_row < 32 ? per_row : 32, row_warps = per_row < 32 ? 1 : per_row / 32;
  const int cols = per_row * chunks * vec, run = lanes * vec;
  return {threads / per_row * rows,    cols,  vec, row_warps, threads / 32 / row_warps, run,
          row_warps == 1 ? cols : run, blocks};
}

/// Loaded rows, `rows_of_a_lane` to a lane, with `per_thread` columns in vectors of `vec`.
constexpr Tile lane_row_tile(int threads, int per_thread, int rows_of_a_lane, int vec) {
  return {32 * rows_of_a_lane, threads / 32 * per_thread, vec, threads / 32, 1, vec, vec, 1};
}

/// Where a segment of a row lies among the threads.
enum class Segments {
  in_run,         ///< inside one lane group of one run: 8 columns in a run of 64, say
  in_warp,        ///< whole runs inside one warp's columns
  over_warps,     ///< whole warps' columns, side by side
  through_scratch ///< cut across threads: the tile goes through scratch
};
constexpr Segments segments_of(Tile t, int width) {
  const int packs = width / t.vec;
  if (width <= t.run && t.run % width == 0 && width % t.vec == 0 && (packs & (packs - 1)) == 0)
    return Segments::in_run;
  if (width % t.run == 0 && t.warp_cols % width == 0) return Segments::in_warp;
  const bool over_warps =
      width % t.warp_cols == 0 && t.cols % width == 0 && t.cols == t.warp_cols * t.row_warps;
  return over_warps ? Segments::over_warps : Segments::through_scratch;
}

/// Results of one reduction of a tile, and the warps that share each; 0: through scratch.
struct Sharing {
  int results, warps;
};
constexpr Sharing sharing_of(Tile t, Span span, int width) {
  if (span == Span::row) return {t.rows, t.row_warps};
  if (span == Span::column) return {t.cols, t.col_warps};
  if (span == Span::matrix) return {1, t.row_warps * t.col_warps};
  const Segments segments = segments_of(t, width);
  const int of_row = t.cols / width, results = t.rows * (of_row > 0 ? of_row : 1);
  if (segments == Segments::through_scratch) return {results, 0};
  return {results, segments == Segments::over_warps ? width / t.warp_cols : 1};
}

/// Where a tile has the results of a reduction.
enum class Results {
  in_registers,
  in_scratch,       ///< those of segments that are cut across threads
  states_in_scratch ///< only states: a thread has too many columns for registers. A later kernel
                    ///< merges the states of all rows
};
constexpr Results results_of(Span span, Sharing sharing) {
  if (sharing.warps == 0) return Results::in_scratch;
  const bool is_shared = span == Span::column && sharing.warps > 1;
  return is_shared ? Results::states_in_scratch : Results::in_registers;
}

/// Of a reducer (math/reducers.cuh), in bytes.
struct Reducer {
  int state, value; ///< of a state, and of an element
  int results;      ///< numbers of a result
};

/// Through scratch go the results, then the tile, with padding against bank conflicts along a
/// column: elements from row to row.
constexpr int result_bytes(int results, Reducer reducer) { return results * reducer.results * 8; }
constexpr int scratch_pitch(Tile t) { return t.cols + 1; }

/// Scratch of one reduction: results or states that stay there, then the tile or the states of all
/// warps. Two sweeps share the memory of the states.
constexpr int reduce_bytes(Tile t, Span span, int width, Reducer reducer) {
  const Sharing shared = sharing_of(t, span, width);
  const int states = shared.results * reducer.state;
  switch (results_of(span, shared)) {
  case Results::in_registers: return shared.warps > 1 ? shared.warps * states : 0;
  case Results::in_scratch:
    return result_bytes(shared.results, reducer) + t.rows * scratch_pitch(t) * reducer.value;
  case Results::states_in_scratch: return states + shared.warps * states;
  }
  return 0;
}
/// As reductions of a kernel lie behind one another.
constexpr int region(int bytes) { return (bytes + 15) / 16 * 16; }

/// Scratch of a scan: totals of `pieces` of a chunk by warp and row, for two chunks.
constexpr int scan_bytes(Tile t, int pieces, int state) {
  return t.row_warps > 1 ? 2 * pieces * t.row_warps * t.rows * state : 0;
}

/// Bytes of a row of a warp's part that a store stages, with the widest padding.
constexpr int kStagingPitch = 128 + 8 * 4;
constexpr int staging_bytes(int warps, int warp_rows) { return warps * warp_rows * kStagingPitch; }

/// Two operands' values of `depth` k.
constexpr int stage_bytes(int rows, int cols, int depth, int element) {
  return (rows + cols) * depth * element;
}

/// The nested mainloop: the inner product's rows of A, and two slots for its B and the outer one's.
constexpr int nested_bytes(int rows, int cols, int step, int depth, int element) {
  return (rows * depth + 2 * step * (depth + cols)) * element;
}

/// The same of f32: the parts of the rows and of a slot, of 2 bytes each, and the two slots.
constexpr int nested_thirds_bytes(int rows, int cols, int step, int depth, int parts) {
  return 2 * parts * (rows * depth + step * (depth + cols)) + 2 * 4 * step * (depth + cols);
}
/// The columns of the registers of a resident tile, which has `columns` of its own.
constexpr int resident_columns(int columns, int narrowest) {
  int padded = narrowest;
  while (padded < columns) padded *= 2;
  return padded;
}
/// Resident tiles by mma.sync: two slots, each for the k of the first A's rows and of a B with the
/// most columns, `widest`. By wgmma: a ring for each.
constexpr int resident_bytes(int rows, int widest, int depth, int element) {
  return 2 * stage_bytes(rows, widest, depth, element);
}
/// The same of f32: the parts of a slot, of 2 bytes each, and the two slots.
constexpr int resident_thirds_bytes(int rows, int widest, int depth, int parts) {
  return parts * stage_bytes(rows, widest, depth, 2) + resident_bytes(rows, widest, depth, 4);
}

/// The SIMT mainloop: two stages of f32.
constexpr int simt_bytes(int rows, int cols, int depth) {
  return 2 * stage_bytes(rows, cols, depth, 4);
}

/// The tile in which a product of halves goes where halves do not suit: so many rows and columns
/// at a time, of f32.
constexpr int kSafeRows = 64, kSafeDepth = 16;
constexpr int safe_cols(int cols) { return cols < 128 ? 64 : 128; }
constexpr int safe_bytes(int rows, int cols) {
  return simt_bytes(kSafeRows, safe_cols(cols), kSafeDepth) + rows * cols * 4;
}
/// The mainloop of halves: the ring of both halves, totals of the sums and factors of the lines; or
/// the safe tile.
constexpr int halves_bytes(int rows, int cols, int depth, int stages, bool has_totals) {
  const int ring = stages * stage_bytes(rows, cols, depth, 4);
  const int fast = ring + (has_totals ? rows * cols * 4 : 0) + (rows + cols) * 4;
  return fast > safe_bytes(rows, cols) ? fast : safe_bytes(rows, cols);
}

/// The mainloop of bf16 thirds: the ring of f32 and totals of the sums; or the safe tile.
constexpr int thirds_bytes(int rows, int cols, int depth, int stages, bool has_totals) {
  const int fast = stages * stage_bytes(rows, cols, depth, 4) + (has_totals ? rows * cols * 4 : 0);
  return fast > safe_bytes(rows, cols) ? fast : safe_bytes(rows, cols);
}

/// The kept skeleton: the columns of a row that one of `blocks` blocks has, a multiple of 128.
constexpr long long kept_columns(long long columns, int blocks) {
  const long long part = (columns + blocks - 1) / blocks;
  return (part + 127) / 128 * 128;
}
/// Blocks of a cluster receive states in two sets of memory, each with an mbarrier.
constexpr int kMostStateBytes = 32;
constexpr int exchange_offset(int stages) { return region(stages); }
constexpr int exchange_bytes(int blocks) {
  return blocks > 1 ? 2 * (8 + blocks * kMostStateBytes) : 0;
}
/// The kept skeleton has the memory of its stages and that for the exchange, then a ring of slots,
/// each for a chunk of `columns` columns. The operands have `element` bytes a column in all.
constexpr int kept_offset(int stages, int blocks) {
  return (exchange_offset(stages) + exchange_bytes(blocks) + 127) / 128 * 128;
}
constexpr int kept_bytes(int stages, int blocks, int slots, int columns, int element) {
  return kept_offset(stages, blocks) + slots * columns * element;
}

/// The packing_rows skeleton: three numbers of each warp.
constexpr int packing_rows_bytes(int threads) { return 3 * (threads / 32) * 4; }

/// A ring of slots, each with two mbarriers and a note of 4 bytes, and two mbarriers for turns.
constexpr int slot_ring_bytes(int slots, int slot_bytes) {
  return slots * (slot_bytes + 2 * 8 + 4) + 2 * 8;
}
/// As rings of one kernel lie behind one another: slots begin at multiples of 1024.
constexpr int aligned_ring_bytes(int slots, int slot_bytes) {
  return (slot_ring_bytes(slots, slot_bytes) + 1023) / 1024 * 1024;
}
/// A nested product by wgmma: rings for the rows of the inner A, for its B, and for B.
constexpr int nested_ring_bytes(int rows, int cols, int step, int depth, int slots, int element) {
  return aligned_ring_bytes(1, rows * depth * element) +
         aligned_ring_bytes(slots, step * depth * element) +
         aligned_ring_bytes(slots, cols * step * element);
}
/// Resident tiles by wgmma: a ring for the first A, and one for every B. A line has 128 bytes.
constexpr int resident_ring_bytes(int rows, int widest, int slots_of_a, int slots) {
  return aligned_ring_bytes(slots_of_a, rows * 128) + aligned_ring_bytes(slots, widest * 128);
}
/// The slots for the thirds of B, beside those of f32 (tile/wgmma_thirds_mainloop.cuh).
inline constexpr int kSplitSlots = 2;
/// Products of bf16 thirds by wgmma: rings for f32 and for the thirds of B, and totals of the sums.
constexpr int thirds_ring_bytes(int rows, int cols, int slots, bool has_totals) {
  return aligned_ring_bytes(slots, (rows + cols) * 128) +
         aligned_ring_bytes(kSplitSlots, cols * 3 * 64) + (has_totals ? rows * cols * 4 : 0);
}
/// The columns of an operand that is copied ahead (tile/copied_ahead.cuh).
constexpr int ahead_bytes(int cols, int element) { return region(cols * element); }
/// The factors of a tile's rows and columns, if its operands are scaled.
constexpr int factor_bytes(bool scales, int rows, int cols) {
  return scales ? (rows + cols) * 4 : 0;
}
/// The specialised skeleton keeps the ring while its stages run. Behind it lies the memory of the
/// stages: `stages` bytes for each of the `owners` of tiles. Then follow `ahead` bytes of operands
/// for each of the two warpgroups that multiply.
constexpr int ahead_offset(int ring, int stages, int owners) {
  return (ring + 127) / 128 * 128 + owners * stages;
}
constexpr int specialised_bytes(int ring, int stages, int owners, int ahead) {
  return ahead_offset(ring, stages, owners) + 2 * ahead;
}

/// The packing_tiles skeleton: a padded row of f32 for each warp.
constexpr int kPackingPadding = 4;
constexpr int packing_tiles_bytes(int rows, int depth) {
  return rows * (depth + kPackingPadding) * 4;
}

} // namespace sizes
} // namespace ingot
