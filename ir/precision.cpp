// SPDX-License-Identifier: Apache-2.0
// See precision.h.
#include "ir/precision.h"

#include "llvm/Support/ErrorHandling.h"

namespace ingot {

bool is_short_contraction(const Dim& depth) {
  return depth.is_fixed() && depth.fixed() <= kShortContraction;
}

MatmulPrecision precision_of(MatmulPrecision asked, const Dim& depth) {
  return is_short_contraction(depth) ? MatmulPrecision::pedantic : asked;
}

llvm::StringRef spelling(MatmulPrecision precision) {
  switch (precision) {
  case MatmulPrecision::pedantic: return "pedantic";
  case MatmulPrecision::highest: return "highest";
  case MatmulPrecision::high: return "high";
  case MatmulPrecision::medium: return "medium";
  }
  llvm_unreachable("not a precision");
}

llvm::ArrayRef<MatmulPrecision> all_matmul_precisions() {
  static constexpr MatmulPrecision kAll[] = {MatmulPrecision::pedantic, MatmulPrecision::highest,
                                             MatmulPrecision::high, MatmulPrecision::medium};
  return kAll;
}

std::optional<MatmulPrecision> parse_matmul_precision(llvm::StringRef text) {
  for (MatmulPrecision precision : all_matmul_precisions())
    if (spelling(precision) == text) return precision;
  return std::nullopt;
}

} // namespace ingot
