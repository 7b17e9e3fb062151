// SPDX-License-Identifier: Apache-2.0
// Graph specs to emulate, and the check of all that may go wrong with them.
#pragma once

#include "tests/emulation/emulator.h"

#include <string>
#include <utility>
#include <vector>

namespace ingot::emulation {

struct Case {
  std::string spec; ///< one graph
  /// Values of the named dims; one check each.
  std::vector<DimBindings> sizes = {{}};
  MatmulPrecision precision = MatmulPrecision::pedantic;
  /// thorough: every variant of a kernel must run, and planted errors must be noticed.
  enum class Depth : uint8_t { thorough, results } depth = Depth::thorough;
  /// A NaN, an infinity and a negative one among the elements of each floating input, not of
  /// params.
  bool non_finite = false;
  LeastProducts least_products = {};
  std::string target = "sm_80"; ///< the family
  /// Of the card; 0: as many as the family's card has. On a card with few SMs a small graph has the
  /// kernels and the tiles that a large one has on a usual card.
  int64_t sm_count = 0;
  /// How a tuner has the first kernel; by default as it is without one.
  ScheduleChoice choice = {};
};

/// The options with which the case's graph is compiled.
CompileOptions options_of(const Case& one);

using Replacements = std::vector<std::pair<std::string, std::string>>;

/// The spec in `file` - a path below the checkout - with each first text replaced by the second,
/// everywhere and in order. A text that does not occur is an error.
std::string reduced_spec(const std::string& file, const Replacements& replacements);

/// Compiles the cases, runs each with tensors aligned and misaligned under two adversaries, and
/// compares with the f64 reference. Returns the failures, a line each; empty: none. Also fails
/// where two runs differ in a bit, a variant never ran, or a planted error would go unnoticed.
std::string check_cases(llvm::ArrayRef<Case> cases);

/// The schedule of the first variant of each kernel, a line each.
std::string schedules_of(const Case& one);

/// The kind of a case's failure, for shrink; empty: none.
std::string failure_of(const Case& one);

/// Which output of two runs differs in a bit other than a NaN's; empty: none.
std::string difference(const Outcome& a, const Outcome& b);

/// A case that is compiled and built, for tests that run it themselves.
class BuiltCase {
public:
  static BuiltCase make(const Case& built);
  Outcome run(const RunOptions& options) const;
  /// The error of the outputs; empty: none.
  std::string judge(const Outcome& outcome) const;
  /// The share by which the first output, of floats, is too large: its errors times the exact
  /// elements, in sum, over the sum of their squares.
  double excess(const Outcome& outcome) const;
  /// Of the first output, which must be finite.
  double largest_error(const Outcome& outcome) const;

private:
  std::unique_ptr<Compilation> compilation_;
  std::unique_ptr<KernelLibrary> library_;
  std::vector<Tensor> inputs_;
  std::vector<Evaluated> reference_;
};

} // namespace ingot::emulation
