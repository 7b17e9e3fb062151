// SPDX-License-Identifier: Apache-2.0
// The schedules of a graph as text, for tests.
#pragma once

#include "ir/text/parser.h"
#include "src/compiler.h"
#include "src/support/error.h"

#include <fmt/format.h>

namespace ingot::testing {

/// The schedules of the last group's variants and the shared memory planned for each, a line each.
inline std::string schedules(const std::string& graph,
                             MatmulPrecision precision = MatmulPrecision::pedantic,
                             const std::string& target = "sm_80") {
  CompileOptions options;
  options.precision = precision;
  options.target = target;
  auto compilation =
      compile_graph(llvm::cantFail(parse_graph("graph g(" + graph + " }", "test")), options);
  if (!compilation) return take_error(compilation.takeError()).second;
  std::string text;
  const KernelCode& last = compilation->module.kernels[compilation->plan.groups.size() - 1];
  for (const KernelVariant& variant : last.variants)
    text += fmt::format("{} shared {}\n", variant.schedule, variant.launch.shared_bytes.text());
  return text;
}

} // namespace ingot::testing
