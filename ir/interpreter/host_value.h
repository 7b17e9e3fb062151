// SPDX-License-Identifier: Apache-2.0
// Values inside the interpreter: strided views of shared storage, so that movement ops copy
// nothing. Each has one array of encoded bounds per precision. Also the threads that fill them.
#pragma once

#include "ir/interpreter/interval.h"
#include "ir/precision.h"
#include "ir/tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace ingot {

using Extents = llvm::SmallVector<int64_t, 4>;

/// The bounds of all elements of a storage; null: all are exact.
using Bounds = std::shared_ptr<const float[]>;

/// Marks the m and s of one max_sumexp op, and log(s). With it, m + log(s) does not count an error
/// of m twice, because the kernel's value of the maximum cancels there.
struct LogSumTag {
  enum class Part : uint8_t { maximum, sum, log } part;
  uint32_t op;                         ///< index of the max_sumexp op
  llvm::SmallVector<Bounds, 4> errors; ///< of m + log(s), per precision, indexed like the value
};

struct HostValue {
  DType dtype = DType::f32;
  Extents extents;
  Extents strides;    ///< in elements; 0 along a broadcast dim
  int64_t offset = 0; ///< index of the first element
  /// Computed floats are f64, computed i32 and i64 are int64, bool is uint8. Borrowed storage
  /// (inputs) has the type of its tensor.
  bool borrowed = false;
  std::shared_ptr<const void> owner; ///< null if borrowed
  const std::byte* data = nullptr;
  llvm::SmallVector<Bounds, 4> bounds; ///< one per precision, indexed like data
  /// A lower bound of every kernel result, independent of the bounds: variances and squares are >=
  /// 0, and a variance plus eps is >= eps. It keeps roots of small values bounded.
  double least = -kInfinity;
  std::shared_ptr<const LogSumTag> log_sum; ///< may be null

  int64_t count() const { return *checked_count(extents); }
  bool is_dense() const;
};

/// Row-major strides.
Extents dense_strides(llvm::ArrayRef<int64_t> extents);

/// A new dense value. `reals` is set if dtype is a float, `booleans` if it is bool, else
/// `integers`.
struct NewValue {
  HostValue value;
  double* reals = nullptr;
  int64_t* integers = nullptr;
  uint8_t* booleans = nullptr;

  NewValue(DType dtype, llvm::ArrayRef<int64_t> extents);
};

/// Uninitialised memory. The thread that fills a page touches it first.
std::shared_ptr<float[]> new_bounds(int64_t count);

/// Reads elements of a view by their row-major index.
class Reader {
public:
  explicit Reader(const HostValue& value);
  /// Elements [first, first + length).
  void reals(int64_t first, int64_t length, double* dst) const;
  void integers(int64_t first, int64_t length, int64_t* dst) const;
  /// The encoded bounds of one precision; zeros if `array` is null.
  void bounds(const float* array, int64_t first, int64_t length, float* dst) const;

private:
  /// Calls visit(storage index, stride, length, position) for each run of constant stride.
  template <typename Visit> void runs(int64_t first, int64_t length, Visit visit) const;
  const HostValue& value_;
  Extents extents_, strides_; // adjacent dims are merged
};

/// Reads a run of one stride. `first` and `stride` count elements of the storage.
void read_reals(const HostValue& value, int64_t first, int64_t stride, int64_t length, double* dst);

/// The values that an argmax or argmin searched.
struct IndexWitness {
  HostValue operand; ///< the searched axis is last
  bool is_max = true;
  size_t precision = 0; ///< its bounds of the operand apply
  /// Whether the element at `index` of row `row` may be the extremum.
  bool admits(int64_t row, int64_t index) const;
};

/// The threads of one evaluation.
class Workers {
public:
  explicit Workers(unsigned threads);
  unsigned count() const { return count_; }
  /// Runs task(0) .. task(tasks-1) in any order, each on one thread. Returns when all are done.
  void run(int64_t tasks, llvm::function_ref<void(int64_t)> task);
  /// Runs task(first, length) in the same way for each chunk of `count` elements.
  void run_chunks(int64_t count, int64_t chunk, llvm::function_ref<void(int64_t, int64_t)> task);

private:
  unsigned count_;
};

/// Precisions whose operands have the same bounds are computed once. members[g] lists the
/// precisions of group g, group 0 first. `arrays` are the bounds of the group's operands.
struct BoundGroup {
  llvm::SmallVector<size_t, 4> members;
  llvm::SmallVector<const float*, 3> arrays; ///< per operand; null: exact
  bool is_exact() const {
    return llvm::all_of(arrays, [](const float* array) { return array == nullptr; });
  }
};
llvm::SmallVector<BoundGroup, 4> group_bounds(llvm::ArrayRef<const HostValue*> operands,
                                              size_t precisions);

/// Gives a value computed from the operands its bounds: for each group an array that
/// fill(group, array) writes. If `moves` is set, the results of exact operands are exact, and need
/// no array.
void fill_bounds(HostValue& value, llvm::ArrayRef<const HostValue*> operands, size_t precisions,
                 bool moves, llvm::function_ref<void(const BoundGroup&, float*)> fill);

} // namespace ingot
