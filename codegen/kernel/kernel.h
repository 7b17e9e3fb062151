// SPDX-License-Identifier: Apache-2.0
// A kernel as complete plain data, before any CUDA is written. It is built from an entry of a
// fusion plan. The emitter prints it; a launch's parameters and predicates, and explain's traffic,
// are read from it. Equal kernels have equal data: names of graphs and values occur only in fields
// that are called notes.
#pragma once

#include "codegen/kernel/schedule.h"
#include "codegen/program/program.h"
#include "ir/fusion/plan.h"
#include "src/support/expr.h"

#include <map>
#include <memory>
#include <variant>

namespace ingot {

/// The use of the memory or number behind a parameter.
enum class Purpose : uint8_t {
  read,           ///< a tensor that is read
  write,          ///< a tensor that is written
  states,         ///< written: partial states of a reduction, one per result and tile
  merged,         ///< states that an earlier kernel wrote
  packed,         ///< a matmul's operand, packed
  map,            ///< the tensor map of a matmul's operand
  split_sums,     ///< sums of the blocks that share a tile (split K)
  split_arrivals, ///< arrival counters of these blocks
  pack_counters,  ///< counters of the rows of A that the kernel packs itself
  split_parts,    ///< int64: the number of blocks that share a tile
  packed_rows,    ///< int64: the rows of an operand to pack
  dim,            ///< int64: a named dimension
};

/// A tensor or states in memory. The kernels of a plan share it.
struct Buffer {
  Argument argument;  ///< the argument of a launch
  Expr bytes;         ///< the size of the whole buffer
  uint32_t place = 0; ///< prepared, workspace, state: its number there
  std::string value;  ///< a note: the name, e.g. `x`, `halves of x`, `partials of m`
  std::string type;   ///< a note: `bf16[64]`; empty for memory without a value
};

struct KernelParameter {
  Purpose purpose = Purpose::read;
  DType dtype =
      DType::f32; ///< read, write: the stored element; packed: the planes of an element together
  Expr elements;  ///< read, write, packed: size of the tensor; states, merged: results
  Buffer buffer;  ///< for a number only its argument is set
  ValueId value;  ///< a note: the value in the graph; for states the first result
  /// `x: bf16[64]`
  std::string note() const;
};

/// The coordinates of a point. `mn`: the row of A or the column of B; `at`: the index of a gather;
/// `count`: a number of columns, from `col` on.
enum class Coordinate : uint8_t { batch, row, col, mn, k, at, count };
/// The coordinates of a point of a stage, and of a point of a matmul's operand.
using PointCoordinates = std::array<Coordinate, 3>;
inline constexpr PointCoordinates kStageCoordinates = {Coordinate::batch, Coordinate::row,
                                                       Coordinate::col};
inline constexpr PointCoordinates kOperandCoordinates = {Coordinate::batch, Coordinate::mn,
                                                         Coordinate::k};
/// `row`: the name of a coordinate in expressions.
const char* spelling(Coordinate coordinate);
/// The coordinate as an expression.
Expr coordinate(Coordinate coordinate);
/// True if an expression depends on a coordinate.
bool varies_along(const Expr& expr, Coordinate coordinate);

/// The place of an element in memory, as a function of a point.
struct IndexMap {
  Expr index;                           ///< the element's index in its tensor
  bool is_affine = true;                ///< equal steps of a coordinate are equal steps in memory
  std::optional<Coordinate> contiguous; ///< the coordinate of stride 1
  std::map<Coordinate, Dim> strides;    ///< of an affine index: the steps of coordinates
  /// True if equal steps of all coordinates but the batch are equal steps in memory.
  bool has_matrices = true;
  /// The terms of the index that depend on the batch: `index` of it, below `extent`, times
  /// `stride`.
  struct BatchTerm {
    Expr index;
    Dim extent, stride;
  };
  std::vector<BatchTerm> batches;
  Expr first; ///< of an affine index: its value at 0
  /// An access of n adjacent elements is legal if n divides all of these.
  std::vector<Dim> multiples;
  /// Named extents that may be 0 while the code still reads an element; the address is then
  /// replaced.
  llvm::SmallVector<Dim, 1> nonempty;

  /// The maximum number of adjacent elements per access, a power of two up to `limit`. It follows
  /// from constant extents only.
  int64_t widest(int64_t limit) const;
  /// The named extents that an access of `width` elements must divide.
  std::vector<Dim> needed(int64_t width) const;
};

/// A tensor that expressions over points read.
struct MemoryRead {
  uint32_t parameter = 0;
  IndexMap map;
  Expr elements; ///< number of elements that all points read together
};

/// A read at a computed index. Outside of the table's axis or of the domain it yields NaN or 0.
struct GatherRead {
  uint32_t parameter = 0;
  IndexMap map;                                   ///< Coordinate::at is the index
  Expr extent;                                    ///< the extent of the indexed axis
  bool checks_row = false, checks_column = false; ///< whether the table varies along them
  Expr elements;                                  ///< number that the points choose, one by one
};

/// The device function of an op. A `bounded` division has a divisor in [1/2, 2^120]. A `reciprocal`
/// is 1 / y with y of at least 1/2. Many elements have the divisor of a `shared` division.
struct DeviceFunction {
  enum class Form : uint8_t { usual, bounded, reciprocal, shared } form = Form::usual;
  OpKind op = OpKind::add;
  bool is_short = false;   ///< a result of 16 bits, for which fewer steps suffice
  DType from = DType::f32; ///< cast: the type of the operand
};

/// One step of a pure function of a point. Registers hold every float as f32.
struct PointOp {
  enum class Kind : uint8_t {
    slot,     ///< slot `index`, which holds a value of the whole tile
    read,     ///< `index` in PointFrame::reads
    gather,   ///< `index` in PointFrame::gathers; operand 0 is the position
    result,   ///< result number `result` of stage `index`
    merged,   ///< result number `result` of this point's states; stage `index` describes them
    constant, ///< `constant`
    number,   ///< `number`, over named dims and coordinates, as a `dtype`
    call,     ///< `function` of the operands
    round,    ///< the operand rounded to `dtype`
  };
  Kind kind = Kind::slot;
  DType dtype = DType::f32; ///< type of the result; in a register a float is f32
  uint32_t index = 0;
  uint32_t result = 0;
  ConstantAttributes constant{};
  Expr number{};
  DeviceFunction function{};
  llvm::SmallVector<uint32_t, 3> operands{}; ///< earlier ops of the same expression
};

/// A list of steps in SSA form; the last one is the value. Empty: no expression.
struct PointExpr {
  std::vector<PointOp> ops;
  bool empty() const { return ops.empty(); }
};

/// The tensors that the expressions over one kind of point read.
struct PointFrame {
  std::vector<MemoryRead> reads;
  std::vector<GatherRead> gathers;
};

/// The elements and the layout in which a matmul's operand is packed.
enum class PackFormat : uint8_t {
  rows_of_halves, ///< Halves (tile/halves.cuh)
  halves,         ///< PackedHalves (tile/packed.cuh)
  scaled,         ///< PackedScaled
  f16,            ///< PackedAs<f16>
  bf16,           ///< PackedAs<bf16>
};
struct PackFacts {
  const char* type;     ///< in the device library
  const char* text;     ///< of an operand: `halves of`
  DType dtype;          ///< of the same size as the planes of an element together
  bool in_blocks;       ///< of rows and k
  bool has_records;     ///< of each row
  bool lists_residuals; ///< of each row
};
const PackFacts& facts_of(PackFormat format);

/// The extents and the format of an operand that is packed.
struct PackedOperand {
  Dim batches, rows, depth; ///< rows of A, or columns of B
  PackFormat format = PackFormat::rows_of_halves;
  friend bool operator==(const PackedOperand&, const PackedOperand&) = default;
};

/// An operand that copies read where it lies, by a tensor map. Its dims are the contiguous
/// coordinate, the other one of mn and k, and the matrices of the batch.
struct MappedOperand {
  std::array<Expr, 3> extents;
  std::array<Expr, 2> strides; ///< elements between neighbours along the last two dims
  Expr first;                  ///< index of the first element
  Expr matrix;                 ///< of a batch: the place of its matrix along the last dim
};

/// An operand of a matmul: elements in memory, and a function that is applied to them before the
/// product.
struct MatrixOperand {
  MemoryRead from;
  PointFrame frame;               ///< the prologue's reads
  PointExpr prologue;             ///< slot 0 is the element; empty: no function
  std::vector<std::string> notes; ///< the prologue's ops
  std::optional<uint32_t> packed; ///< the parameter of the packed operand
  PackedOperand packing;          ///< set if there is one
  /// The parameter with packing.rows; none: the code holds them. Kernels that pack take them from
  /// the launch, so that operands of equal depth share one.
  std::optional<uint32_t> packed_rows;
  std::optional<uint32_t> map; ///< the parameter of the tensor map, for variants that map it
  MappedOperand mapping;       ///< set if there is one
};

/// A slot of a tile that has a value of an earlier resident tile, at the same row and column.
struct EarlierValue {
  int slot = 0;
  uint32_t back = 0; ///< 0: the operand A of the tile's product; 1: the operand A of that one; ...
  uint32_t number = 0; ///< 0: the elements that are multiplied; n: ComputedTile::kept[n - 1]
};

struct ComputedTile;

struct Mainloop {
  std::array<MatrixOperand, 2> operands; ///< A, unless the kernel computes it, and B
  Expr depth;                            ///< K
  std::shared_ptr<ComputedTile> a;       ///< A, if the kernel computes it
};

struct Reducer {
  OpKind op = OpKind::sum;
  DType dtype = DType::f32; ///< type of the reduced elements
};

/// Stores `value` in slot `slot` of the tile.
struct MapStage {
  int slot = 0;
  PointExpr value;
  PointExpr within{}; ///< the value where ComputedTile::admits hold, if it is simpler; else empty
};
struct ReduceStage {
  Reducer reducer;
  ReduceSpan span = ReduceSpan::row;
  int64_t width = 0; ///< segment: number of columns
  Expr count;        ///< number of elements per result
  Expr position;     ///< index of a point's element among them
  PointExpr value;
  /// Set if the states run along the steps of a computed tile: the slot that receives, in place of
  /// each element, its summand about the centre so far. `value` then is that slot, and the elements
  /// are `scale`, which is positive, times its values.
  std::optional<int> summands{};
  float scale = 1;
};
/// The results of a running reduction of the computed operand: stage `stage` of its tile.
struct CarriedStage {
  uint32_t stage = 0;
};
/// Stores the states of the stage `reduction` in memory. States of one result are adjacent.
struct StoreStatesStage {
  uint32_t reduction = 0;
  uint32_t parameter = 0;
  Expr states; ///< number of states per result
  Expr result; ///< index of the point's result
  Expr state;  ///< index of the state of the point's tile among those of its result
};
/// Merges states that an earlier kernel stored into results.
struct MergeStage {
  Reducer reducer;
  Expr count;  ///< number of elements per result
  Expr states; ///< number of states per result
  uint32_t parameter = 0;
  Expr result;            ///< index of the point's result
  bool at_points = false; ///< each point merges the states of its own result
};
struct ScanStage {
  Reducer reducer;
  bool is_exclusive = false, is_reversed = false;
  PointExpr value;
};
/// A comparison of `left` with `right`. A point stores if it holds.
struct Condition {
  enum class Compare : uint8_t { equal, at_least, below, above } compare = Compare::equal;
  Expr left, right;
};
struct StoreStage {
  PointExpr value;
  std::vector<uint32_t> parameters; ///< one for each name of the output
  IndexMap map;
  bool is_whole = false;          ///< every point of the domain has an element of its own
  Expr elements;                  ///< the number of elements that all points store together
  std::vector<Condition> owns;    ///< a point stores if all of these hold
  std::vector<Condition> reaches; ///< if one fails, no column from `col` to `col` + `count` stores
};

struct Stage {
  std::variant<MapStage, ReduceStage, CarriedStage, StoreStatesStage, MergeStage, ScanStage,
               StoreStage>
      step;
  std::string note; ///< the op or the value
};

/// A source of values, and its stages, over a domain.
struct TileBody {
  Expr batch, rows, columns;
  std::vector<Mainloop> mainloops; ///< none: the stages load their operands
  /// Set if two products are one sum, in slot 0: the first times this number, and the second.
  std::optional<float> sum_factor;
  int tile_slots = 0;                ///< tile-wide values held at once, those of products included
  std::vector<EarlierValue> earlier; ///< the slots of other tiles' values
  PointFrame frame;                  ///< reads of the stages
  std::vector<Stage> stages;
};

/// The slots that the products of a body take.
inline size_t product_slots(const TileBody& body) {
  return body.sum_factor ? 1 : body.mainloops.size();
}

/// Operand A of a mainloop that the kernel computes. The tile's domain has the batch and the rows
/// of the kernel's; its columns are K. It stores nothing.
struct ComputedTile {
  bool resident = false; ///< the tile has all of K at once; else it is computed step by step
  TileBody body;
  PointExpr element;           ///< over the tile's slots
  std::vector<PointExpr> kept; ///< of a resident tile: more values that stages behind it read
  /// Comparisons of positions that hold where an element is not 0. The steps of a tile's rows in
  /// which one of them holds nowhere are left out.
  std::vector<Condition> admits;
};

/// The body of a kernel that packs a matmul's operand.
struct PackingBody {
  MatrixOperand operand;
  std::vector<OpId> ops; ///< a note: the prologue's ops in the graph
};

/// A tensor map that a variant takes.
struct VariantMap {
  uint32_t parameter = 0; ///< the parameter of the map
  TensorMap map;          ///< its `argument` is the tensor's parameter
  Expr first;             ///< bytes from the tensor's pointer to the first element
};

/// One way to run a kernel, with the conditions for it.
struct Variant {
  Schedule schedule;
  std::vector<Predicate> when; ///< empty: always
  LaunchShape launch;
  Expr tile_columns;            ///< distance of tiles along the columns
  std::vector<VariantMap> maps; ///< one for each parameter that is a map; none: it takes none
};

/// K is split: the blocks that share a tile take a part of K each (tile/split_k.cuh).
struct SplitParameters {
  uint32_t sums = 0, arrivals = 0;
  std::optional<uint32_t> parts; ///< the parameter with the number of blocks; none: fixed_parts
  int64_t fixed_parts = 0;
};

struct Kernel {
  ProgramKind program = ProgramKind::launch;
  std::vector<KernelParameter> parameters; ///< in the order of a launch
  std::variant<TileBody, PackingBody> body;
  std::optional<SplitParameters> split;
  /// Set if the kernel packs its own A: the parameter with the counters of packed rows.
  std::optional<uint32_t> pack_counters;
  std::vector<Variant> variants; ///< in the order in which a launch tries them
  bool overlaps = false;         ///< its blocks may start while the kernel before it runs, and wait
  std::string name;              ///< a note: name of the graph and number of the kernel
  std::vector<std::string> ops;  ///< notes
};

/// The names of parameters in generated code: `in0`, `out1`, `states0`, `d0`.
std::vector<std::string> parameter_names(const std::vector<KernelParameter>& parameters);

/// The kernel as stable text, for dumps and goldens.
std::string text_of(const Kernel& kernel);

} // namespace ingot
