// SPDX-License-Identifier: Apache-2.0
// See kernel.h.
#include "codegen/kernel/kernel.h"

namespace ingot {

const char* spelling(Coordinate coordinate) {
  static const char* const names[] = {"batch", "row", "col", "mn", "k", "at", "count"};
  return names[static_cast<size_t>(coordinate)];
}

Expr coordinate(Coordinate coordinate) { return Expr::coordinate(spelling(coordinate)); }

bool varies_along(const Expr& expr, Coordinate along) {
  bool varies = false;
  expr.for_each_leaf([&](const Expr& leaf) {
    varies |= leaf.kind() == Expr::Kind::coordinate && leaf.name() == spelling(along);
  });
  return varies;
}

const PackFacts& facts_of(PackFormat format) {
  static const PackFacts facts[] = {
      {"Halves", "halves of", DType::f32, false, true, false},
      {"PackedHalves", "halves of", DType::f32, true, true, true},
      {"PackedScaled", "scaled rows of", DType::f16, true, true, false},
      {"PackedAs<f16>", "packing of", DType::f16, true, false, false},
      {"PackedAs<bf16>", "packing of", DType::bf16, true, false, false}};
  return facts[static_cast<size_t>(format)];
}

std::string KernelParameter::note() const {
  return buffer.type.empty() ? buffer.value : buffer.value + ": " + buffer.type;
}

std::vector<std::string> parameter_names(const std::vector<KernelParameter>& parameters) {
  static const char* const words[] = {"in",   "out",      "states",   "merged", "packed", "map",
                                      "sums", "arrivals", "counters", "parts",  "rows",   "d"};
  std::array<int, std::size(words)> counts{};
  std::vector<std::string> names;
  for (const KernelParameter& parameter : parameters) {
    const auto purpose = static_cast<size_t>(parameter.purpose);
    const bool is_sole =
        parameter.purpose == Purpose::split_sums || parameter.purpose == Purpose::split_arrivals ||
        parameter.purpose == Purpose::pack_counters || parameter.purpose == Purpose::split_parts ||
        parameter.purpose == Purpose::packed_rows;
    names.push_back(is_sole ? words[purpose]
                            : fmt::format("{}{}", words[purpose], counts[purpose]++));
  }
  return names;
}

} // namespace ingot
