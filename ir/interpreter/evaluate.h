// SPDX-License-Identifier: Apache-2.0
// The reference interpreter. In: a graph and its inputs as typed tensors. Out: every output in f64
// (exact integers), each element with a bound on how far a kernel computing in f32 may be from it,
// per matmul precision. Called by `check`, `run --on=reference` and the tests.
#pragma once

#include "ir/graph.h"
#include "ir/interpreter/host_value.h"
#include "ir/precision.h"
#include "ir/tensor.h"

#include <map>
#include <string>
#include <vector>

namespace ingot {

/// Errors: sizes for which a part of a tensor lies outside of it, or an extent is negative.
llvm::Error check_requirements(const Graph& graph, const DimBindings& sizes);

/// Reads the sizes of named dimensions off the inputs' extents (one tensor per graph input, in
/// order of declaration). Errors: a tensor of another type, or two that disagree, naming both.
llvm::Expected<DimBindings> bind_dims(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs);

/// Every extent as a number. Each name must be bound.
llvm::SmallVector<int64_t, 4> evaluate_shape(const Shape& shape, const DimBindings& dims);

struct EvaluateOptions {
  /// One bound per element is computed for each; may be empty.
  std::vector<MatmulPrecision> precisions = {MatmulPrecision::highest};
  /// Half-typed intermediates that the kernels store and load again: rounded once more.
  std::vector<ValueId> stored;
  /// 0: one per hardware thread.
  unsigned threads = 0;
};

/// One output of the graph, dense row-major.
struct Evaluated {
  std::string name;
  DType dtype = DType::f32;
  std::vector<MatmulPrecision> precisions;
  HostValue value;
  /// argmax and argmin outputs: what was searched, per precision, so that any index whose element
  /// may be the extremum is admissible. Empty otherwise.
  std::vector<std::shared_ptr<const IndexWitness>> witnesses;

  llvm::ArrayRef<int64_t> extents() const { return value.extents; }
  int64_t count() const { return value.count(); }
  /// Floats, not rounded to dtype except where that overflows.
  llvm::ArrayRef<double> reals() const;
  llvm::ArrayRef<int64_t> integers() const; ///< i32, i64
  llvm::ArrayRef<uint8_t> booleans() const;
  /// Encoded bounds (see interval.h) under precisions[index]; empty: every element is exact.
  llvm::ArrayRef<float> bounds(size_t index) const;
  /// The values rounded to dtype.
  Tensor to_tensor() const;
};

/// Evaluates all outputs. Named dims are bound from the inputs. Memory: 8 bytes an element plus 4
/// per precision whose bounds differ, freed after the last use. The inputs must outlive the
/// results.
llvm::Expected<std::vector<Evaluated>> evaluate(const Graph& graph,
                                                llvm::ArrayRef<const Tensor*> inputs,
                                                const EvaluateOptions& options = {});

} // namespace ingot
