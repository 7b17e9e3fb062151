// SPDX-License-Identifier: Apache-2.0
// The reference interpreter. In: a graph and its inputs as typed tensors. Out: every output in f64
// (integers exact). Each element has a bound, per matmul precision, on its distance from the result
// of a kernel that computes in f32. `check`, `run --on=reference` and the tests call it.
#pragma once

#include "ir/graph.h"
#include "ir/interpreter/host_value.h"
#include "ir/precision.h"
#include "ir/tensor.h"

#include <map>
#include <string>
#include <vector>

namespace ingot {

/// Errors: sizes for which a slice reaches outside of its tensor, or an extent is negative.
llvm::Error check_requirements(const Graph& graph, const DimBindings& sizes);

/// The sizes of named dimensions from the extents of the inputs (one tensor per graph input, in the
/// order of declaration). Errors: a tensor of another type, or two tensors that disagree; the
/// message names both.
llvm::Expected<DimBindings> bind_dims(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs);

/// Every extent as a number. `dims` must have every name.
llvm::SmallVector<int64_t, 4> evaluate_shape(const Shape& shape, const DimBindings& dims);

struct EvaluateOptions {
  /// One bound per element is computed for each precision. May be empty.
  std::vector<MatmulPrecision> precisions = {MatmulPrecision::highest};
  /// Intermediates of 16-bit types that the kernels store and load again. Each is rounded once
  /// more.
  std::vector<ValueId> stored{};
  /// Others that a kernel rounds at another scale: it multiplies each by a number of at least 1,
  /// which only the kernel knows, rounds it, and divides the sums of the products by that number.
  std::vector<ValueId> rescaled{};
  /// 0: one thread per hardware thread.
  unsigned threads = 0;
};

/// One output of the graph, dense and row-major.
struct Evaluated {
  std::string name;
  DType dtype = DType::f32;
  std::vector<MatmulPrecision> precisions;
  HostValue value;
  /// For outputs of argmax and argmin: the searched values, per precision. Every index whose
  /// element may be the extremum is accepted. Empty for other outputs.
  std::vector<std::shared_ptr<const IndexWitness>> witnesses;

  llvm::ArrayRef<int64_t> extents() const { return value.extents; }
  int64_t count() const { return value.count(); }
  /// The values of a float output, unrounded except for overflow of dtype.
  llvm::ArrayRef<double> reals() const;
  llvm::ArrayRef<int64_t> integers() const; ///< i32, i64
  llvm::ArrayRef<uint8_t> booleans() const;
  /// Encoded bounds (see interval.h) under precisions[index]. Empty: every element is exact.
  llvm::ArrayRef<float> bounds(size_t index) const;
  /// The values, rounded to dtype.
  Tensor to_tensor() const;
};

/// Evaluates all outputs. The inputs give the sizes of named dims. Memory: 8 bytes per element,
/// plus 4 per precision whose bounds differ, freed after the last use. The inputs must outlive the
/// results.
llvm::Expected<std::vector<Evaluated>> evaluate(const Graph& graph,
                                                llvm::ArrayRef<const Tensor*> inputs,
                                                const EvaluateOptions& options = {});

} // namespace ingot
