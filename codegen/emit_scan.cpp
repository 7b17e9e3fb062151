// SPDX-License-Identifier: Apache-2.0
// See emit_scan.h.
#include "codegen/emit_scan.h"

#include "codegen/emit.h"

namespace ingot {

std::string write_scan(CodeWriter& out, FunctorWriter& functors, const Graph& graph,
                       const Stage& stage, Names& names) {
  const Op& op = graph.op(stage.reduction);
  const std::string name = names.unique(pascal(info(op.kind).name));
  functors.write(out, name + "Input", stage.target, stage.slots);
  {
    out.line("/// {}", op_line(graph, op));
    auto block = out.block(fmt::format("struct {}", name), "};");
    out.line("using Reducer = {};", reducer_of(graph, op));
    out.line("using Functor = {}Input;", name);
    const auto& scan = graph.attributes<ScanAttributes>(op);
    out.line("static constexpr bool kExclusive = {}, kReverse = {};", scan.exclusive, scan.reverse);
  }
  functors.reduction_names[stage.reduction] = name;
  return fmt::format("Scan<{}>", name);
}

} // namespace ingot
