// SPDX-License-Identifier: Apache-2.0
// See assumed_size.h.
#include "ir/assumed_size.h"

#include <algorithm>
#include <optional>

namespace ingot {
namespace {

constexpr int64_t kMost = int64_t{1} << 40;

} // namespace

int64_t assumed(const Dim& dim) {
  return static_cast<int64_t>(std::min(likely_count(dim), static_cast<double>(kMost)));
}

double likely_count(const Dim& dim) {
  return dim.value<double>([](const std::string&) { return static_cast<double>(kAssumedSize); });
}

int64_t assumed(const Expr& expr) {
  return static_cast<int64_t>(std::min(likely_value(expr, {}), static_cast<double>(kMost)));
}

double likely_value(const Expr& expr, const std::map<std::string, int64_t>& dims) {
  const auto value = expr.evaluate([&](llvm::StringRef name) -> std::optional<int64_t> {
    const auto found = dims.find(name.str());
    return found == dims.end() ? kAssumedSize : found->second;
  });
  return static_cast<double>(value.value_or(INT64_MAX));
}

} // namespace ingot
