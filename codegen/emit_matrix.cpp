// SPDX-License-Identifier: Apache-2.0
// See emit_matrix.h.
#include "codegen/emit_matrix.h"

namespace ingot {
namespace {

void write_config(CodeWriter& out, const Schedule& schedule) {
  auto block = out.block("struct Config", "};");
  out.line("static constexpr int kTileM = {}, kTileN = {}, kTileK = {};", schedule.tile_m,
           schedule.tile_n, schedule.tile_k);
  if (schedule.source == SourceKind::simt) {
    if (schedule.copies())
      out.line("static constexpr int kStages = {};", schedule.stages);
    else
      out.line("static constexpr int kPromoteEvery = {};", schedule.promote_every);
    return;
  }
  out.line("static constexpr int kWarpM = {}, kWarpN = {}, kStages = {};", schedule.warp_m,
           schedule.warp_n, schedule.stages);
  if (schedule.compute == ComputeType::f16x3) {
    out.line("static constexpr int kPromoteEvery = {}, kTotalEvery = {};", schedule.promote_every,
             schedule.total_every);
    return;
  }
  static const char* const computes[] = {"f32", "f16", "bf16", "tf32"};
  out.line("static constexpr int kStagedLoads = {};", schedule.staged_loads);
  out.line("static constexpr Compute kCompute = Compute::{};",
           computes[static_cast<int>(schedule.compute)]);
}

/// Writes what makes operand `side` of `matmul` of the elements that it fetches; the functor's
/// name.
std::string write_prologue(CodeWriter& out, const SourceContext& c, const Matmul& matmul,
                           uint32_t side, const Frame& frame) {
  const MatmulOperand& operand = matmul.operands[side];
  if (operand.prologue.empty()) return "Unchanged";
  const Read& fetched = c.group.reads[operand.read];
  const std::string name = c.names.unique(side == 0 ? "PrologueA" : "PrologueB");
  std::vector<std::string> ops;
  ops.reserve(operand.prologue.size());
  for (OpId op : operand.prologue) ops.push_back(op_line(c.graph, c.graph.op(op)));
  FunctorWriter functors(c.graph, c.ranges, c.group, frame, c.pointers, c.names, c.needs);
  functors.write(out, name, source_of(c.graph, c.group, matmul.op, side),
                 {source_of(c.graph, c.group, fetched.op, fetched.operand)}, ops);
  return name;
}

} // namespace

Mainloop mainloop_of(const Schedule& schedule) {
  if (schedule.source == SourceKind::simt && schedule.copies())
    return {"FmaMainloop", "tile/fma_mainloop.cuh"};
  if (schedule.source == SourceKind::simt) return {"SimtMainloop", "tile/simt_mainloop.cuh"};
  if (schedule.compute == ComputeType::f16x3) return {"HalvesMainloop", "tile/halves_mainloop.cuh"};
  return {"MmaMainloop", "tile/mma_mainloop.cuh"};
}

void write_operand_matrix(CodeWriter& out, const SourceContext& c, MatmulSide of,
                          const std::string& name) {
  const Matmul& matmul = c.group.matmuls[of.matmul];
  const OperandSchedule& scheduled = c.schedule.operands[of.index()];
  const Access& access = c.group.reads[matmul.operands[of.side].read].access;
  const auto coordinates = operand_coordinates(c.group, matmul, of.side);
  const IndexFormula formula = index_formula(c.group, access, coordinates, scheduled.vec);
  c.needs.add(access.value, c.graph.stored_type(access.value), formula, scheduled.vec);
  const bool along_mn = formula.contiguous == 1;
  const std::string prologue =
      write_prologue(out, c, matmul, of.side, {coordinates, along_mn ? 1 : 2, scheduled.vec});
  out.line("/// {}: {}", value_name(c.graph, access.value), stored_text(c.graph, access.value));
  auto block = out.block(fmt::format("struct {}", name), "};");
  out.line("using Element = {};", storage_type(c.graph.stored_type(access.value)).str());
  out.line("using Prologue = {};", prologue);
  out.line("static constexpr Major kMajor = Major::{};", along_mn ? "mn" : "k");
  out.line("static constexpr OperandPath kPath = OperandPath::{};",
           scheduled.path == PathKind::direct ? "direct" : "staged");
  out.line("static constexpr int kVec = {};", scheduled.vec);
  out.line("static constexpr bool kAffine = {};", formula.affine);
  if (c.schedule.compute == ComputeType::f16x3)
    out.line("static INGOT_DEVICE Halves halves(const Params& p) {{ return {}; }}",
             halves_code(halves_extents(c.graph, c.group, of), c.halves[of.index()]));
  auto at =
      out.block("static INGOT_DEVICE const Element* at(const Params& p, i64 batch, i64 mn, i64 k)");
  out.line("return {};", read_address(c.pointers.at(access.value), formula));
}

void write_mainloops(CodeWriter& out, const SourceContext& context) {
  std::vector<std::string> mainloops;
  const Schedule& schedule = context.schedule;
  for (size_t m = 0; m < context.group.matmuls.size(); ++m) {
    const std::string a = m == 0 ? "MatrixA" : "SecondA", b = m == 0 ? "MatrixB" : "SecondB";
    write_operand_matrix(out, context, {m, 0}, a);
    write_operand_matrix(out, context, {m, 1}, b);
    mainloops.push_back(fmt::format("{}<Config, {}, {}>", mainloop_of(schedule).type, a, b));
  }
  write_config(out, context.schedule);
  out.line("using MatmulOrRows = {};",
           mainloops.size() == 1 ? mainloops.front()
                                 : fmt::format("MatmulPair<{}>", fmt::join(mainloops, ", ")));
}

} // namespace ingot
