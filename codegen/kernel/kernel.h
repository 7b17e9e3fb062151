// SPDX-License-Identifier: Apache-2.0
// A kernel as plain data, complete, before any CUDA is written. It is built from a plan's entry.
// The emitter prints it; parameters, predicates and explain's traffic are read from it. Equal
// kernels have equal data: names of graphs and values stand only in fields that are called notes.
#pragma once

#include "codegen/kernel/schedule.h"
#include "codegen/program/program.h"
#include "ir/fusion/plan.h"
#include "src/support/expr.h"

#include <variant>

namespace ingot {

/// The use of the memory behind a parameter, or the number that it is.
enum class Purpose : uint8_t {
  read,           ///< a tensor
  write,          ///< a tensor
  states,         ///< written, of a reduction that spans tiles: one a result and tile
  merged,         ///< states that an earlier kernel wrote
  halves,         ///< of a matmul's operand (tile/halves.cuh)
  split_sums,     ///< of the blocks that share a tile
  split_arrivals, ///< counters of these blocks
  split_parts,    ///< int64: blocks that share a tile
  dim,            ///< int64: a named dimension
};

/// A tensor or states in memory, as the kernels of a plan share it.
struct Buffer {
  Argument argument;  ///< what a launch passes
  Expr bytes;         ///< of all of it
  uint32_t place = 0; ///< prepared, workspace, state: its number there, in the order of offsets
  std::string value;  ///< a note: the value, `halves of x`, `partials of m`
  std::string type;   ///< a note: `bf16[64]`; empty for memory of no value
};

struct KernelParameter {
  Purpose purpose = Purpose::read;
  DType dtype = DType::f32; ///< read, write: of an element as stored; halves: of two halves
  Expr elements;            ///< read, write, halves: of the tensor; states, merged: results
  Buffer buffer;            ///< of a number: its argument alone
  ValueId value;            ///< a note: in the graph; of states the first result
  /// `x: bf16[64]`
  std::string note() const;
};

/// Coordinates of a point. A stage's points have a batch, a row and a column. A point of a matmul's
/// operand has a batch, an mn (the row of A or the column of B) and a k.
using CoordinateNames = std::array<const char*, 3>;
inline constexpr CoordinateNames kStageCoordinates = {"batch", "row", "col"};
inline constexpr CoordinateNames kOperandCoordinates = {"batch", "mn", "k"};
/// The coordinate that a gather's index adds.
inline constexpr const char* kGatherCoordinate = "at";

/// Where an element lies, as a function of a point.
struct IndexMap {
  Expr index;                                         ///< the element's index in its tensor
  std::array<bool, 3> varies = {false, false, false}; ///< along a coordinate
  bool is_affine = true;   ///< equal steps of a coordinate are equal steps in memory
  int64_t contiguous = -1; ///< the coordinate of stride 1; -1: none
  /// An access of n adjacent elements is legal where n divides each of them.
  std::vector<Dim> multiples;
  /// Named extents of which one element is read even where they are 0.
  llvm::SmallVector<Dim, 1> nonempty;

  /// The most adjacent elements of one access, a power of two up to `limit`, as far as numbers say.
  int64_t widest(int64_t limit) const;
  /// The named extents that must be multiples of an access of `width` elements.
  std::vector<Dim> needed(int64_t width) const;
};

/// A tensor that points read.
struct MemoryRead {
  uint32_t parameter = 0;
  IndexMap map;
  Expr elements; ///< of the tensor that all points reach together
};

/// A read at a computed index: outside of the table's axis or of the domain it yields NaN or 0.
struct GatherRead {
  uint32_t parameter = 0;
  IndexMap map;                                   ///< kGatherCoordinate is the index
  Expr extent;                                    ///< of the axis that the index counts
  bool checks_row = false, checks_column = false; ///< whether the table varies along them
  Expr elements;                                  ///< that the points choose, one by one
};

/// The device function of an op. `bounded` and `reciprocal` are divisions whose divisor has an
/// ordinary size.
struct DeviceFunction {
  enum class Form : uint8_t { usual, bounded, reciprocal } form = Form::usual;
  OpKind op = OpKind::add;
  bool is_short = false;   ///< the result is 16 bits wide, and fewer steps suffice
  DType from = DType::f32; ///< cast: the operand's type
};

/// One step of a pure function of a point. In registers every float is f32.
struct PointOp {
  enum class Kind : uint8_t {
    slot,     ///< a value that the tile holds: `index` of the slot
    read,     ///< `index` in PointFrame::reads
    gather,   ///< `index` in PointFrame::gathers; operand 0 is the position
    result,   ///< `result` of the stage `index`
    merged,   ///< `result` of the states of this point, which the stage `index` describes
    constant, ///< `constant`
    number,   ///< `number`, of named dims and coordinates, as a `dtype`
    call,     ///< `function` of the operands
    round,    ///< the operand, rounded to `dtype`
  };
  Kind kind = Kind::slot;
  DType dtype = DType::f32; ///< of the result, before a float becomes f32
  uint32_t index = 0;
  uint32_t result = 0;
  ConstantAttributes constant{};
  Expr number{};
  DeviceFunction function{};
  llvm::SmallVector<uint32_t, 3> operands{}; ///< earlier ops of the same expression
};

/// SSA; the last op is the value. Empty: no expression.
struct PointExpr {
  std::vector<PointOp> ops;
  bool empty() const { return ops.empty(); }
};

/// The tensors that expressions over one kind of point read.
struct PointFrame {
  std::vector<MemoryRead> reads;
  std::vector<GatherRead> gathers;
};

/// The extents of a matrix operand of which halves are made.
struct HalvesExtents {
  Dim batches, rows, depth; ///< rows: of A, or the columns of B
  friend bool operator==(const HalvesExtents&, const HalvesExtents&) = default;
};

/// A matmul's operand: elements in memory, and the function of them that is multiplied.
struct MatrixOperand {
  MemoryRead from;
  PointFrame frame;               ///< the prologue's reads
  PointExpr prologue;             ///< slot 0 is the element; empty: as it is
  std::vector<std::string> notes; ///< the prologue's ops
  std::optional<uint32_t> halves; ///< the parameter
  HalvesExtents extents;          ///< with halves
};

struct Mainloop {
  std::array<MatrixOperand, 2> operands; ///< A and B
  Expr depth;                            ///< K
};

struct Reducer {
  OpKind op = OpKind::sum;
  DType dtype = DType::f32; ///< of the reduced elements
};

/// Slot `slot` of the tile gets `value`.
struct MapStage {
  int slot = 0;
  PointExpr value;
};
struct ReduceStage {
  Reducer reducer;
  ReduceSpan span = ReduceSpan::row;
  int64_t width = 0; ///< segment: columns
  Expr count;        ///< elements of one result
  Expr position;     ///< of a point among them
  PointExpr value;
};
/// The states of the stage `reduction` go to memory: those of one result lie side by side.
struct StoreStatesStage {
  uint32_t reduction = 0;
  uint32_t parameter = 0;
  Expr slots;  ///< states of one result
  Expr result; ///< number of the point's result
  Expr slot;   ///< number of the point's tile among them
};
/// Results of states that an earlier kernel stored.
struct MergeStage {
  Reducer reducer;
  Expr count; ///< elements of one result
  Expr slots; ///< states of one result
  uint32_t parameter = 0;
  Expr result;            ///< number of the point's result
  bool at_points = false; ///< each point merges the states of its own result
};
struct ScanStage {
  Reducer reducer;
  bool is_exclusive = false, is_reversed = false;
  PointExpr value;
};
/// `left` compared to `right`: whether a point stores.
struct Condition {
  enum class Compare : uint8_t { equal, at_least, below, above } compare = Compare::equal;
  Expr left, right;
};
struct StoreStage {
  PointExpr value;
  std::vector<uint32_t> parameters; ///< one for each name of the output
  IndexMap map;
  bool is_whole = false;          ///< each point of the domain has an element of its own
  Expr elements;                  ///< that all points store together
  std::vector<Condition> owns;    ///< a point stores where all hold
  std::vector<Condition> reaches; ///< `count` columns from `col` on may store where all hold
};

struct Stage {
  std::variant<MapStage, ReduceStage, StoreStatesStage, MergeStage, ScanStage, StoreStage> step;
  std::string note; ///< the op or value
};

/// A source and its stages over a domain.
struct TileBody {
  Expr batch, rows, columns;
  std::vector<Mainloop> mainloops; ///< none: the stages load their operands
  int slots = 0;                   ///< tile-wide values held at once, those of products included
  PointFrame frame;                ///< the stages' reads
  std::vector<Stage> stages;
};

/// Makes the halves of a matmul's operand.
struct HalvingBody {
  MatrixOperand operand;
};

/// One way to run a kernel, and when it may be taken.
struct Variant {
  Schedule schedule;
  std::vector<Predicate> when; ///< empty: always
  LaunchShape launch;
  Expr tile_columns; ///< how far tiles lie apart along the columns
};

/// Blocks share tiles, each with a part of the contraction (tile/split_k.cuh).
struct SplitParameters {
  uint32_t sums = 0, arrivals = 0;
  std::optional<uint32_t> parts; ///< blocks of a tile; none: fixed_parts
  int64_t fixed_parts = 0;
};

struct Kernel {
  ProgramKind program = ProgramKind::launch;
  std::vector<KernelParameter> parameters; ///< in the order of a launch
  std::variant<TileBody, HalvingBody> body;
  std::optional<SplitParameters> split;
  std::vector<Variant> variants; ///< in the order in which a launch tries them
  std::string name;              ///< a note: graph and number
  std::vector<std::string> ops;  ///< notes
};

/// As generated code calls a parameter: `in0`, `out1`, `states0`, `d0`.
std::vector<std::string> parameter_names(const std::vector<KernelParameter>& parameters);

/// The kernel as stable text, for dumps and goldens.
std::string text_of(const Kernel& kernel);

} // namespace ingot
