// SPDX-License-Identifier: Apache-2.0
// See quantities.h.
#include "src/support/quantities.h"

#include <fmt/format.h>

#include <iterator>

namespace ingot {
namespace {

/// Three digits: `137`, `1.53`, `0.291`. No exponent and no trailing zeros.
std::string digits(double value) {
  return value >= 999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string with_prefix(int64_t count, const char* unit) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  double value = static_cast<double>(count);
  size_t prefix = 0;
  // From 999.5 on, three digits would print 1000.
  while (value >= 999.5 && prefix + 1 < std::size(prefixes)) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{} {}{}", digits(value), prefixes[prefix], unit);
}

} // namespace

std::string bytes_text(int64_t bytes) { return with_prefix(bytes, "B"); }

std::string flops_text(int64_t flops) { return with_prefix(flops, "FLOP"); }

std::string seconds_text(double seconds) {
  if (seconds >= 1) return digits(seconds) + " s";
  // Times from 0.1 ms on are in milliseconds, as in the benchmarks.
  if (seconds >= 1e-4) return digits(seconds * 1e3) + " ms";
  return digits(seconds * 1e6) + " us";
}

std::string times_text(double ratio) {
  if (ratio < 2) return fmt::format("{:.3g} times", ratio);
  return ratio < 10 ? fmt::format("{:.2g} times", ratio) : fmt::format("{:.0f} times", ratio);
}

std::string count_text(int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

} // namespace ingot
