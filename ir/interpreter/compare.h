// SPDX-License-Identifier: Apache-2.0
// Compares a result tensor with the f64 reference and its error bounds, and proves that the
// comparison can fail: it must reject results with a planted error. `check` and the tests call it.
#pragma once

#include "ir/interpreter/evaluate.h"

namespace ingot {

struct CompareOptions {
  /// With --math=relaxed, results that are not finite in the reference stay so, but an infinity may
  /// become NaN or the other way round.
  enum class NonFinite : uint8_t { same_kind, any_kind } non_finite = NonFinite::same_kind;
};

/// The comparison of one output under one precision.
struct Comparison {
  bool pass = false;
  std::string problem;   ///< first failure with its index; empty if all elements pass
  int64_t count = 0;     ///< elements compared
  int64_t failures = 0;  ///< elements outside their bound
  int64_t unbounded = 0; ///< elements whose bound accepts any value
  /// Elements whose bound exceeds every value of the reference, or accepts any value. Zeros, or any
  /// other value of that size, would pass there.
  int64_t unproven = 0;
  int64_t nan = 0;      ///< elements that are NaN in the reference
  double max_error = 0; ///< |result - reference|, over finite pairs
  double rms_error = 0;
  double max_value = 0;       ///< greatest finite magnitude in the reference
  double max_bound = 0;       ///< greatest bound; infinity if one accepts any value
  double max_bound_ratio = 0; ///< greatest error / bound over finite bounds above 0
  int64_t worst = -1;         ///< row-major index of the greatest error / bound
};

/// `precision` is an index into reference.precisions. A tensor of another type or shape fails.
Comparison compare(const Evaluated& reference, const Tensor& result, size_t precision,
                   const CompareOptions& options = {});

/// A wrong result that was made from a correct one.
struct PlantedError {
  std::string name;
  bool applies = false;  ///< it moves at least one element by over twice its bound
  bool rejected = false; ///< compare rejected it
  bool is_finite = true; ///< no NaN was planted, so only the tolerance can reject it
};

/// Plants errors of broken kernels into copies of `result`, which compare must accept, and compares
/// each copy. The errors are a constant, zeros, a shifted tile, a missing row or column, a doubled
/// element, a wrong sign, swapped rows, a stale last element, and NaN.
std::vector<PlantedError> plant_errors(const Evaluated& reference, const Tensor& result,
                                       size_t precision, const CompareOptions& options = {});

} // namespace ingot
