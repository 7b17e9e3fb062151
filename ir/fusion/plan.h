// SPDX-License-Identifier: Apache-2.0
// The result of fusion as plain data: which ops share a kernel, the iteration domain of each
// kernel, how it reaches its tensors, and why each boundary is where it is.
#pragma once

#include "ir/fusion/axis_space.h"
#include "ir/graph.h"
#include "ir/passes/part_limits.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// Which part of a dim of a tensor is meant: number i says index start + step * i. Where `within`
/// is not 0, i counts from `before` on: position i - before; if that is not in [0, within), any is
/// read and none is stored.
struct AxisRange {
  Dim start = 0;
  int64_t step = 1;
  Dim before = 0, within = 0;
  /// Only some of what i counts is there.
  bool is_part() const { return !within.is(0); }
  friend bool operator==(const AxisRange&, const AxisRange&) = default;
};

/// How a tensor in memory is reached from a point of the domain. The tensor is dense row-major of
/// `shape`; dim d is indexed by the mixed-radix number of its factors `dims[d]`, taken through
/// ranges[d]. Factors that do not occur broadcast.
struct Access {
  ValueId value; ///< what lies in memory: an input, a param or a stored value
  Shape shape;
  AtomShape dims;
  llvm::SmallVector<AxisRange, 2> ranges{}; ///< empty: every dim as a whole
};

/// Where a reduction's extent lies in the domain.
enum class ReduceSpan : uint8_t {
  row,     ///< all columns
  segment, ///< an inner part of the columns: equal, adjacent segments of a row; behind a matmul
           ///< a global one is cut into whole tiles
  column,  ///< all rows
  matrix,  ///< all rows and columns behind a matmul, of each matrix of its batch or of several
};

struct Reduction {
  OpId op;
  ReduceSpan span = ReduceSpan::row;
  Dim extent;                ///< elements reduced into one
  bool global = false;       ///< crosses tiles: partials are stored, consumers combine them
  int64_t longest_local = 0; ///< global: the longest extent that would not; 0: none
  AtomShape kept;            ///< the dims of the result
  AtomShape reduced;         ///< the dims reduced, in the order in which positions count them

  /// Where the part of it that one tile or block reduces lies there.
  ReduceSpan span_in_tile() const {
    return global && span == ReduceSpan::segment ? ReduceSpan::row : span;
  }
};

/// A value that an elementwise op, a reduction or a matmul of the group reads from outside.
struct Read {
  OpId op; ///< the reader; of what is only moved, the op that yields it
  uint32_t operand = 0;
  Access access;
  bool combine = false;   ///< value is a global reduction of an earlier group: merge its partials
  AtomList indexed{};     ///< of a gather's table: factors of the access that its index counts
  bool at_points = false; ///< combine: each point of the domain has a result of its own, and merges
                          ///< the partials of it alone
};

struct Write {
  ValueId value;                ///< as stored: a graph output or a value that later groups read
  ValueId source;               ///< the value it is a reshape or transpose of, often the same
  Access access;                ///< of value; of one part of it where value is a concat
  std::optional<uint32_t> read; ///< index in reads where source comes from memory
};

enum class ProgramKind : uint8_t { prepare, launch };

/// Ordered factors of the iteration domain, leaves of the group's AxisSpace.
struct Domain {
  AtomList batch, rows, columns;
};

/// How the elements of a matmul's operand come to be, in a space of its own: batch, rows (of A) or
/// columns (of B), and the contraction.
struct MatmulOperand {
  uint32_t read = 0;          ///< in reads: the tensor whose elements the mainloop fetches
  std::vector<OpId> prologue; ///< elementwise ops that make the operand of them, in order
};

/// A mainloop: its product is a tile of the kernel's domain.
struct Matmul {
  OpId op;
  AtomList contraction; ///< K
  std::array<MatmulOperand, 2> operands;
};

/// One kernel.
struct Group {
  ProgramKind program = ProgramKind::launch;
  std::vector<OpId> ops;       ///< compute ops in order; movement ops are in the accesses
  std::vector<Matmul> matmuls; ///< the mainloops; none: a loaded group
  std::optional<OpId> scan;    ///< along the columns of a loaded group without reductions
  AxisSpace space;
  Domain domain;
  std::vector<Reduction> reductions; ///< in order
  std::vector<Read> reads;
  std::vector<Write> writes;
  /// Values that are rounded to their 16-bit type where they are computed. Another kernel reads
  /// them from memory, and computes exp(x - max) / sum from them: the sum must be one of the same
  /// rounded numbers, or the errors of large ones do not cancel.
  std::vector<ValueId> rounded;
};

/// The change that lifts a rule which none lifts.
inline constexpr const char* kNoChange = "none";

/// A rule that keeps ops out of one kernel.
struct Reason {
  std::string rule;   ///< which rule, and the ops that stopped it
  std::string change; ///< the smallest change of graph or options after which it would not
  std::optional<OpId> crossing{}; ///< the reduction that it says crosses tiles
};

/// What is said of a change: `to fuse: reduce at most 256 elements`.
inline std::string change_text(const std::string& change) {
  return change == kNoChange ? "no option changes this" : "to fuse: " + change;
}

/// Why two groups were not made one.
struct Boundary {
  uint32_t producer = 0, consumer = 0; ///< indices of groups
  std::optional<ValueId> value;        ///< that crosses; none: they exchange nothing
  Reason reason;
};

struct FusionPlan {
  std::vector<Group> groups; ///< in an order that respects dependences
  std::vector<Boundary> boundaries;
};

/// Columns of the longest loaded row that the registers of a block hold.
inline constexpr int64_t kWidestHeldRow = kMostHeldOfRow;

/// Elements of a reduction of which one thread merges the partials as quickly as it would read the
/// result: a few tiles.
inline constexpr int64_t kMostMergedAtPoint = 2048;

/// Columns that a tile of a matmul may have, and those it has where nothing asks for others.
inline constexpr std::array<int64_t, 3> kTileWidths = {64, 128, 256};
inline constexpr int64_t kUsualTileWidth = 128;

/// How fast the machine is, as far as the cost of a fusion asks.
struct MachineRates {
  double bytes_per_second = 2.0e12;
  double instructions_per_second = 9.75e12; ///< of one f32 lane each, all lanes together
  double launch_seconds = 1.6e-6;           ///< a further small kernel
};

/// How far tiles of a matmul lie apart, and how fast they are computed.
struct MatmulTile {
  int64_t rows = 128, columns = kUsualTileWidth;
  double products_per_second = 9.75e12; ///< of the mainloops of all blocks together
};

/// What the machine can hold, as far as legality asks.
struct FusionLimits {
  int64_t widest_segment = kTileWidths.back(); ///< columns of the widest legal matmul tile
  int64_t widest_held_row = kWidestHeldRow;
  int64_t blocks_to_fill = 108;    ///< half as many leave the machine idle
  int64_t most_ops = 256;          ///< in one kernel
  int64_t most_tensors = 480;      ///< arguments of one kernel; 4 KB of parameters hold 512
  int64_t most_live = 64;          ///< results that others need: each holds a register an element
  int64_t most_evaluations = 4096; ///< ops times results: each store evaluates what it needs
  /// Why the machine cannot run a group that is legal otherwise; none: it can. Unset: it always
  /// can.
  std::function<std::optional<Reason>(const Group&)> obstacle;
  MachineRates rates;
  /// The tiles that a matmul's kernel will have. Unset, or none: those of MatmulTile.
  std::function<std::optional<MatmulTile>(const Group&)> tile;
  /// The seconds that a kernel will take, named sizes counting as kAssumedSize; none: it has no
  /// schedule. Unset: products are joined wherever that is legal.
  std::function<std::optional<double>(const Group&)> seconds;
};

} // namespace ingot
