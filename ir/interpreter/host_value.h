// SPDX-License-Identifier: Apache-2.0
// Values inside the interpreter: strided views of shared storage (so that movement ops copy
// nothing) with one array of encoded bounds per precision, and the threads that fill them.
#pragma once

#include "ir/interpreter/interval.h"
#include "ir/precision.h"
#include "ir/tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace ingot {

using Extents = llvm::SmallVector<int64_t, 4>;

/// Bounds of the elements of a storage; null: all exact.
using Bounds = std::shared_ptr<const float[]>;

/// Marks m and s of one max_sumexp op, and log(s), so that m + log(s) does not count an error of m
/// twice: whatever a kernel takes for the maximum cancels there.
struct LogSumTag {
  enum class Part : uint8_t { maximum, sum, log } part;
  uint32_t op;                         ///< index of the max_sumexp op
  llvm::SmallVector<Bounds, 4> errors; ///< of m + log(s), per precision, indexed like the value
};

struct HostValue {
  DType dtype = DType::f32;
  Extents extents;
  Extents strides;    ///< in elements; 0 along a broadcast dim
  int64_t offset = 0; ///< of the first element
  /// Computed floats are f64, computed i32 and i64 are int64, bool is uint8; borrowed storage
  /// (inputs) has the tensor's own type.
  bool borrowed = false;
  std::shared_ptr<const void> owner; ///< null when borrowed
  const std::byte* data = nullptr;
  llvm::SmallVector<Bounds, 4> bounds; ///< one per precision, indexed like data
  /// No kernel result is below this, whatever the bounds say: variances and squares are >= 0, and a
  /// variance plus eps is >= eps. Keeps roots of small values bounded.
  double least = -kInfinity;
  std::shared_ptr<const LogSumTag> log_sum; ///< may be null

  int64_t count() const { return *checked_count(extents); }
  bool is_dense() const;
};

/// Row-major strides.
Extents dense_strides(llvm::ArrayRef<int64_t> extents);

/// A dense value to be filled. `reals` when dtype is a float, `booleans` when bool, else
/// `integers`.
struct NewValue {
  HostValue value;
  double* reals = nullptr;
  int64_t* integers = nullptr;
  uint8_t* booleans = nullptr;

  NewValue(DType dtype, llvm::ArrayRef<int64_t> extents);
};

/// Uninitialised: pages are first touched by the thread that fills them.
std::shared_ptr<float[]> new_bounds(int64_t count);

/// Reads elements of a view by their row-major index.
class Reader {
public:
  explicit Reader(const HostValue& value);
  /// Elements [first, first + length).
  void reals(int64_t first, int64_t length, double* dst) const;
  void integers(int64_t first, int64_t length, int64_t* dst) const;
  /// The encoded bounds of one precision; zeros when null.
  void bounds(const float* array, int64_t first, int64_t length, float* dst) const;

private:
  /// visit(storage index, stride, length, position) for each run of constant stride.
  template <typename Visit> void runs(int64_t first, int64_t length, Visit visit) const;
  const HostValue& value_;
  Extents extents_, strides_; // adjacent dims merged
};

/// Reads a run of one stride: `first` and `stride` in elements of the storage.
void read_reals(const HostValue& value, int64_t first, int64_t stride, int64_t length, double* dst);

/// What an argmax or argmin searched.
struct IndexWitness {
  HostValue operand; ///< the searched axis last
  bool is_max = true;
  size_t precision = 0; ///< whose bounds of the operand hold
  /// Whether the element at `index` of row `row` may be the extremum.
  bool admits(int64_t row, int64_t index) const;
};

/// Threads for one evaluation.
class Workers {
public:
  explicit Workers(unsigned threads);
  unsigned count() const { return count_; }
  /// task(0) .. task(tasks-1), in any order, each on one thread; returns when all are done.
  void run(int64_t tasks, llvm::function_ref<void(int64_t)> task);

private:
  unsigned count_;
};

/// Precisions that share their operands' bounds are computed once: members[g] lists the precisions
/// of group g, group 0 first. `arrays` are the operand bounds of the group.
struct BoundGroup {
  llvm::SmallVector<size_t, 4> members;
  llvm::SmallVector<const float*, 3> arrays; ///< per operand; null: exact
  bool is_exact() const {
    return llvm::all_of(arrays, [](const float* array) { return array == nullptr; });
  }
};
llvm::SmallVector<BoundGroup, 4> group_bounds(llvm::ArrayRef<const HostValue*> operands,
                                              size_t precisions);

} // namespace ingot
