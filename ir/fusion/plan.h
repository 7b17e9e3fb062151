// SPDX-License-Identifier: Apache-2.0
// The result of fusion as plain data: the ops of each kernel, its iteration domain, its accesses to
// tensors, and the reason for each boundary.
#pragma once

#include "ir/fusion/axis_space.h"
#include "ir/graph.h"
#include "ir/passes/part_limits.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// The positions that index i of a dim reads: start + step * i. If `within` is not 0, i counts from
/// `before`: the position is i - before. Positions outside of [0, within) may read any element, and
/// they store none.
struct AxisRange {
  Dim start = 0;
  int64_t step = 1;
  Dim before = 0, within = 0;
  /// Whether only some values of i have a position in the tensor.
  bool is_part() const { return !within.is(0); }
  friend bool operator==(const AxisRange&, const AxisRange&) = default;
};

/// The map from a point of the domain to a tensor in memory. The tensor is dense row-major of
/// `shape`. The index of dim d is the mixed-radix number of its factors `dims[d]`, mapped by
/// ranges[d]. Factors that do not occur are broadcast.
struct Access {
  ValueId value; ///< the tensor in memory: an input, a param or a stored value
  Shape shape;
  AtomShape dims;
  llvm::SmallVector<AxisRange, 2> ranges{}; ///< empty: every dim as a whole
};

/// The place of a reduction's extent in the domain.
enum class ReduceSpan : uint8_t {
  row,     ///< all columns
  segment, ///< equal, adjacent segments of the columns; after a matmul, a global
           ///< one is split into whole tiles
  column,  ///< all rows
  matrix,  ///< all rows and columns after a matmul, of one matrix of the batch or several
};

struct Reduction {
  OpId op;
  ReduceSpan span = ReduceSpan::row;
  Dim extent;                ///< number of elements per result
  bool global = false;       ///< it crosses tiles: partials are stored and consumers merge them
  int64_t longest_local = 0; ///< global: the longest extent that would be local; 0: none
  AtomShape kept;            ///< dims of the result
  AtomShape reduced;         ///< reduced dims, in the order in which positions count them

  /// The place of the part that one tile or block reduces.
  ReduceSpan span_in_tile() const {
    return global && span == ReduceSpan::segment ? ReduceSpan::row : span;
  }
};

/// A value that an elementwise op, a reduction or a matmul of the group reads from memory.
struct Read {
  OpId op; ///< the reader; for a value that is only moved, the op that yields it
  uint32_t operand = 0;
  Access access;
  bool combine = false;   ///< `value` is a global reduction of an earlier group: merge its partials
  AtomList indexed{};     ///< a gather's table: factors of the access that the index replaces
  bool at_points = false; ///< combine: each point of the domain merges the partials of its own
                          ///< result
  bool computed = false;  ///< no memory is read: it is the operand that the kernel computes, a
                          ///< result of the operand's reductions (ComputedOperand), or a value
                          ///< of a tile: see `tile`
  std::optional<uint32_t> tile{}; ///< a value of this one of tiles_of(), at the point itself
};

struct Write {
  ValueId value;                ///< the stored value: a graph output, or read by later groups
  ValueId source;               ///< `value` is this, or a reshape or transpose of it
  Access access;                ///< access to `value`; if it is a concat, to one of its slices
  std::optional<uint32_t> read; ///< the index in `reads` if source comes from memory
};

enum class ProgramKind : uint8_t { prepare, launch };

/// Factors of the iteration domain in order. They are leaves of the group's AxisSpace.
struct Domain {
  AtomList batch, rows, columns;
};

/// The computation of a matmul's operand, over a space of its own: batch, rows (of A) or columns
/// (of B), and K.
struct MatmulOperand {
  uint32_t read = 0;          ///< index in `reads` of the tensor that the mainloop fetches
  std::vector<OpId> prologue; ///< elementwise ops applied to its elements, in order
};

/// A mainloop. Its product is a tile of the kernel's domain.
struct Matmul {
  OpId op;
  AtomList contraction; ///< K
  std::array<MatmulOperand, 2> operands;
};

/// The two products of a group as one sum, in one tile: `factor` times the first, whose K is fixed,
/// and the second.
struct SummedProducts {
  ValueId value; ///< the sum
  double factor = 1;
};

struct Group;

/// An op that the product may take in place of an operand: it is linear in one of its operands, and
/// the others do not vary along K. In place of a cast, the elements are rounded where they are
/// multiplied.
struct RowFactor {
  OpId op;
  uint32_t element = 0; ///< the number of the operand in which it is linear
};

/// Operand A of a group's only matmul, if the kernel computes it, tile by tile. A point of the tile
/// has the batch and the row of the kernel's point; its column is the place along K. A streamed
/// operand comes step by step along K, and reductions of the tile's rows run along it. A resident
/// one comes with all of K at once.
struct ComputedOperand {
  ValueId value;   ///< the operand
  ValueId element; ///< the value that is multiplied, in the type of `value`: without row factors.
                   ///< If a reduction runs along K, it is the summand: exp(x - max)
  std::vector<RowFactor> factors{}; ///< they make `value` of `element`, in order. They apply to
                                    ///< the product instead. Where one makes 0 of an element, the
                                    ///< product is 0, infinite values of B included
  std::shared_ptr<Group> tile;      ///< a group with one matmul. Its writes are `element`, `kept`
  bool resident = false; ///< it comes with all of K, which is fixed and fits into a tile. There are
                         ///< no factors, `element` is `value`, and reductions are of whole rows.
                         ///< The tile's own matmul may compute its operand A too, if that is
                         ///< resident
  std::vector<ValueId> kept{}; ///< of a resident tile: more values that the parts behind it read
};

/// A group of ops that becomes one kernel.
struct Group {
  ProgramKind program = ProgramKind::launch;
  std::vector<OpId> ops;               ///< compute ops in order; movement ops are part of accesses
  std::vector<Matmul> matmuls;         ///< the mainloops; none: a loaded group
  std::optional<SummedProducts> sum{}; ///< none: each matmul has a tile of its own
  std::optional<OpId> scan; ///< a scan along the columns of a loaded group without reductions
  AxisSpace space;
  Domain domain;
  std::vector<Reduction> reductions; ///< in order
  std::vector<Read> reads;
  std::vector<Write> writes;
  /// Values that are rounded to their 16-bit type as soon as they are computed, because another
  /// kernel reads them from memory and both must use the same numbers: exp(x - max) / sum, whose
  /// errors would not cancel, and conversions to f32, which may be compared with a maximum.
  std::vector<ValueId> rounded;
  std::optional<ComputedOperand> computed;

  /// The reduction that computes `op`, which the group must have.
  const Reduction& reduction(OpId op) const {
    return *llvm::find_if(reductions, [&](const Reduction& r) { return r.op == op; });
  }
};

/// The tiles of sums in registers that the products of a group take.
inline size_t product_tiles(const Group& group) { return group.sum ? 1 : group.matmuls.size(); }

/// The tiles of a group's computed operands, from the last product to the first.
template <typename GroupType> llvm::SmallVector<GroupType*, 2> tiles_of(GroupType& group) {
  llvm::SmallVector<GroupType*, 2> tiles;
  for (GroupType* of = &group; of->computed; of = tiles.back())
    tiles.push_back(of->computed->tile.get());
  return tiles;
}
/// The group, then its tiles.
template <typename GroupType> llvm::SmallVector<GroupType*, 2> parts_of(GroupType& group) {
  auto parts = tiles_of(group);
  parts.insert(parts.begin(), &group);
  return parts;
}

/// The reads from memory of a group's kernel, those of its computed operands included.
template <typename GroupType> auto memory_reads(GroupType& group) {
  std::vector<decltype(&group.reads.front())> reads;
  for (auto* part : parts_of(group))
    for (auto& read : part->reads)
      if (!read.computed) reads.push_back(&read);
  return reads;
}

/// The `change` of a rule that no change lifts.
inline constexpr const char* kNoChange = "none";

/// A rule that keeps ops out of one kernel.
struct Reason {
  std::string rule;               ///< the rule, and the ops that it refused
  std::string change;             ///< the smallest change of graph or options that lifts it
  std::optional<OpId> crossing{}; ///< the reduction that crosses tiles, if that is the rule
};

/// The text for a change: `to fuse: reduce at most 256 elements`.
inline std::string change_text(const std::string& change) {
  return change == kNoChange ? "no option changes this" : "to fuse: " + change;
}

/// The reason why two groups were not joined.
struct Boundary {
  uint32_t producer = 0, consumer = 0; ///< indices of groups
  std::optional<ValueId> value;        ///< the value between them; none: they exchange nothing
  Reason reason;
};

struct FusionPlan {
  std::vector<Group> groups; ///< in an order that respects dependences
  std::vector<Boundary> boundaries;
};

/// The maximum number of columns of a loaded row that the registers of a block hold.
inline constexpr int64_t kWidestHeldRow = kMostHeldOfRow;

/// The maximum number of elements of a reduction whose partials each thread merges itself. A few
/// tiles of partials are read as quickly as the result.
inline constexpr int64_t kMostMergedAtPoint = 2048;

/// The possible numbers of columns of a matmul tile. kUsualTileWidth is the default.
inline constexpr std::array<int64_t, 3> kTileWidths = {64, 128, 256};
inline constexpr int64_t kUsualTileWidth = 128;

/// The speed of the machine, for the cost of a fusion.
struct MachineRates {
  double bytes_per_second = 2.0e12;
  double instructions_per_second = 9.75e12; ///< instructions of one f32 lane, all lanes together
  double launch_seconds = 1.6e-6;           ///< cost of one more small kernel
};

/// The distances between tiles of a matmul, and the speed of their mainloops.
struct MatmulTile {
  int64_t rows = 128, columns = kUsualTileWidth;
  double products_per_second = 9.75e12; ///< multiply-adds of the mainloops of all blocks together
};

/// The limits of the machine, for the legality of a fusion.
struct FusionLimits {
  int64_t widest_segment = kTileWidths.back(); ///< columns of the widest legal matmul tile
  int64_t widest_held_row = kWidestHeldRow;
  int64_t blocks_to_fill = 108; ///< half as many leave the machine idle
  int64_t most_ops = 256;       ///< most ops of one kernel
  /// Most products of one kernel that follow one another. CUDA 13.0's compiler takes 1.7 s for 8
  /// layers of 64, 3.5 s for 16 and 11 s for 32: its optimizer goes over the code of all at once.
  int64_t most_layers = 16;
  int64_t most_tensors = 480;      ///< arguments of one kernel; 4 KB of parameters hold 512
  int64_t most_live = 64;          ///< live results; each takes a register per element
  int64_t most_evaluations = 4096; ///< ops times results: each store evaluates its inputs
  /// The reason why the machine cannot run a group that is otherwise legal; none if it can. Unset:
  /// it can run every group.
  std::function<std::optional<Reason>(const Group&)> obstacle;
  bool reassociates = true; ///< sums may be taken in another order, and factors may leave them
  MachineRates rates;
  /// The tiles of a matmul's kernel. Unset or none: the defaults of MatmulTile.
  std::function<std::optional<MatmulTile>(const Group&)> tile;
  /// The estimated seconds of a kernel, with named sizes counted as kAssumedSize; none if it has no
  /// schedule. Unset: products are joined wherever that is legal.
  std::function<std::optional<double>(const Group&)> seconds;
};

} // namespace ingot
