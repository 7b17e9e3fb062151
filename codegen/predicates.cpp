// SPDX-License-Identifier: Apache-2.0
// See predicates.h.
#include "codegen/predicates.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

/// True when `argument` is where a kernel reads or writes `value`.
bool holds(const BufferMap& buffers, ValueId value, const Argument& argument) {
  auto matches = [&](const Buffer& b) {
    return b.argument.kind == argument.kind && b.argument.name == argument.name;
  };
  const auto read = buffers.values.find(value);
  const auto written = buffers.targets.find(value);
  return (read != buffers.values.end() && matches(read->second)) ||
         (written != buffers.targets.end() && llvm::any_of(written->second, matches));
}

bool is_callers(const Argument& argument) {
  return argument.kind == ArgumentKind::input || argument.kind == ArgumentKind::output ||
         argument.kind == ArgumentKind::param;
}

} // namespace

std::vector<Predicate> predicates_of(const AccessNeeds& needs, const BufferMap& buffers,
                                     llvm::ArrayRef<Argument> arguments) {
  std::vector<Predicate> when;
  std::set<std::pair<std::string, int64_t>> asked;
  for (const auto& [dim, number] : needs.divisible)
    if (asked.emplace(dim.text(), number).second)
      when.push_back({PredicateKind::divisible, dim_expr(dim), 0, number});
  for (const auto& alignment : needs.alignments) {
    for (uint32_t k = 0; k < arguments.size(); ++k) {
      const bool known = llvm::any_of(when, [&](const Predicate& p) {
        return p.kind == PredicateKind::aligned && p.argument == k && p.number >= alignment.bytes;
      });
      if (!known && is_callers(arguments[k]) && holds(buffers, alignment.value, arguments[k]))
        when.push_back({PredicateKind::aligned, 0, k, alignment.bytes});
    }
  }
  return when;
}

} // namespace ingot
