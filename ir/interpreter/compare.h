// SPDX-License-Identifier: Apache-2.0
// Judges a result tensor by the f64 reference and its error bounds, and proves that the judgement
// can fail: results with a planted error must be rejected. Called by `check` and the tests.
#pragma once

#include "ir/interpreter/evaluate.h"

namespace ingot {

struct CompareOptions {
  /// Rewrites of --math=relaxed keep a result non-finite where the reference is, but may turn an
  /// infinity into NaN or back.
  enum class NonFinite : uint8_t { same_kind, any_kind } non_finite = NonFinite::same_kind;
};

/// Of one output under one precision.
struct Comparison {
  bool pass = false;
  std::string problem;              ///< what fails first, with its index; empty when all pass
  int64_t count = 0;                ///< elements compared
  int64_t failures = 0;             ///< elements outside their bound, the next one included
  int64_t mismatched_nonfinite = 0; ///< NaN or infinity where the reference has none, or back
  int64_t unbounded = 0;            ///< elements whose bound admits anything
  /// Elements whose bound is larger than every value of the reference, or admits anything: zeros,
  /// or any other value of that size, would pass there.
  int64_t unproven = 0;
  int64_t nan = 0;      ///< elements that are NaN in the reference
  double max_error = 0; ///< |result - reference|, over finite pairs
  double rms_error = 0;
  double rms_value = 0;       ///< of the reference's finite elements, for scale
  double max_value = 0;       ///< greatest finite magnitude in the reference
  double max_bound = 0;       ///< greatest bound, infinity where one admits anything
  double max_bound_ratio = 0; ///< greatest error / bound where the bound is finite and above 0
  int64_t worst = -1;         ///< row-major index of the greatest error / bound
};

/// `precision` indexes reference.precisions. A tensor of another type or shape fails.
Comparison compare(const Evaluated& reference, const Tensor& result, size_t precision,
                   const CompareOptions& options = {});

/// A wrong result made from a right one.
struct PlantedError {
  std::string name;
  bool applies = false;  ///< it moves at least one element by more than twice its bound
  bool rejected = false; ///< compare refused it
  bool is_finite = true; ///< no NaN was planted, so only the tolerance can refuse it
};

/// Plants the errors that broken kernels make (a constant, zeros, a shifted tile, a missing row or
/// column, a doubled element, a wrong sign, swapped rows, a stale last element, NaN) into copies of
/// `result`, which compare must accept, and compares each.
std::vector<PlantedError> plant_errors(const Evaluated& reference, const Tensor& result,
                                       size_t precision, const CompareOptions& options = {});

} // namespace ingot
