// SPDX-License-Identifier: Apache-2.0
// See halves.h.
#include "codegen/halves.h"

#include "codegen/emit_matrix.h"
#include "codegen/parameters.h"
#include "codegen/predicates.h"
#include "codegen/schedule_choosers.h"
#include "codegen/shared_memory.h"
#include "ir/fusion/tile_step.h"
#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

// Three products of halves are 5 times as fast as one of f32; of less than 256 of K, making the
// halves takes as long as is won.
constexpr int64_t kLeastDepth = 256;
// Rows or columns that a product is counted with at least: fewer take the time of 64, of which a
// launch that makes the halves of the few takes about a half.
constexpr double kLeastCounted = 32;
// Multiply-adds whose time it takes to make the halves of an element in each launch, 8 bytes that
// are moved besides: from 43 on an A100 to 130 on an H100, by the cost model.
constexpr double kHalving = 100;
// Columns of a pair's tiles: of 64 rows by 128, 256 threads hold two sets of 32 sums and one of
// parts beside the fragments in 231 registers; by 256, they spill.
constexpr int64_t kWidestPair = 128;

// Halving.
constexpr int64_t kThreads = 256;
constexpr int64_t kRows = kThreads / 32; ///< of a block
constexpr int64_t kTileK = 512;
constexpr int64_t kSharedBytes = kRows * (kTileK + 4) * 4; ///< Halving::kSharedBytes
constexpr int64_t kAligned = 8;                            ///< Halves::kAligned
constexpr int64_t kRowBytes = 12;                          ///< HalvedRow

/// True when the halves of an operand take about as much memory as what it is made of: a tensor
/// that is broadcast along some of a batch, or to a matrix, would be stored many times.
bool is_as_large(const Graph& graph, const Group& group, MatmulSide of) {
  double largest = 0;
  for (size_t r : operand_reads(graph, group, of))
    largest = std::max(largest, likely_count(element_count(group.reads[r].access.shape)));
  const HalvesExtents extents = halves_extents(graph, group, of);
  return likely_count(extents.batches) * likely_count(extents.rows) * likely_count(extents.depth) <=
         2 * largest;
}

/// Elements whose halves each launch makes: of operands that are not made of params alone. (A size
/// that no param has would make it a launch's business too; what is broadcast to one has no
/// halves.)
double halved_in_launch(const Graph& graph, const Group& group, MatmulSide of,
                        const std::vector<bool>& params_only) {
  if (llvm::all_of(operand_reads(graph, group, of),
                   [&](size_t r) { return params_only[group.reads[r].access.value.index]; }))
    return 0;
  const HalvesExtents extents = halves_extents(graph, group, of);
  return likely_count(extents.batches) * likely_count(extents.rows) * likely_count(extents.depth);
}

/// True when the tile that the reductions behind a pair ask for leaves registers for its sums.
bool holds_pair(const Group& group) {
  const int64_t columns = assumed(group.space.extent(group.domain.columns));
  const auto tile = tile_columns(step_demand(group.reductions), columns, kTileWidths.back());
  return tile && tile->width <= kWidestPair;
}

} // namespace

std::vector<MatmulSide> matmul_sides(const Group& group) {
  std::vector<MatmulSide> sides;
  for (size_t matmul = 0; matmul < group.matmuls.size(); ++matmul)
    for (uint32_t side : {0u, 1u}) sides.push_back({matmul, side});
  return sides;
}

std::vector<size_t> operand_reads(const Graph& graph, const Group& group, MatmulSide of) {
  const Matmul& matmul = group.matmuls[of.matmul];
  const std::vector<OpId>& prologue = matmul.operands[of.side].prologue;
  std::vector<size_t> result;
  for (size_t r = 0; r < group.reads.size(); ++r) {
    const Read& read = group.reads[r];
    const bool direct = read.op == matmul.op && read.operand == of.side;
    if (direct || llvm::is_contained(prologue, read.op)) result.push_back(r);
  }
  return result;
}

bool multiplies_halves(const Graph& graph, const Group& group, const ScheduleOptions& options) {
  if (options.precision != MatmulPrecision::highest) return false;
  if (group.matmuls.size() > 1 && !holds_pair(group)) return false;
  for (MatmulSide of : matmul_sides(group)) {
    if (!is_as_large(graph, group, of)) return false;
    for (size_t r : operand_reads(graph, group, of))
      if (group.reads[r].combine) return false;
  }
  auto count = [&](const AtomList& atoms) { return likely_count(group.space.extent(atoms)); };
  const Domain& domain = group.domain;
  const double outputs = count(domain.batch) * std::max(count(domain.rows), kLeastCounted) *
                         std::max(count(domain.columns), kLeastCounted);
  const double least = static_cast<double>(options.halves_from);
  const bool is_large = llvm::all_of(group.matmuls, [&](const Matmul& matmul) {
    const double depth = count(matmul.contraction);
    return graph.type(graph.op(matmul.op).operands[0]).dtype == DType::f32 &&
           depth >= kLeastDepth && outputs * depth >= least;
  });
  if (!is_large) return false; // before the whole graph is looked at
  const std::vector<bool> params_only = depends_only_on_params(graph);
  for (size_t matmul = 0; matmul < group.matmuls.size(); ++matmul) {
    double gain = outputs * count(group.matmuls[matmul].contraction);
    for (uint32_t side : {0u, 1u})
      gain -= kHalving * halved_in_launch(graph, group, {matmul, side}, params_only);
    if (gain < least) return false;
  }
  return true;
}

void set_halves_warps(const Group& group, Schedule& s) {
  constexpr int64_t kTotalEvery = 2048;
  const int64_t sums = s.tile_m * s.tile_n;
  s.promote_every = 32;
  const bool short_sums = llvm::all_of(group.matmuls, [&](const Matmul& matmul) {
    const Dim depth = group.space.extent(matmul.contraction);
    return depth.is_fixed() && depth.fixed() <= kTotalEvery;
  });
  s.total_every = short_sums ? 0 : kTotalEvery;
  s.tile_k = 32;
  s.stages = 3;
  s.threads = 256; // as the SIMT mainloop has
  s.warp_m = sums > 64 * 128 ? 64 : 32;
  s.warp_n = sums > 64 * 64 ? 32 : 16;
  s.min_blocks_per_sm = 1;
}

void deepen_halves_stages(const Graph& graph, const Group& group, const DeviceSpec& device,
                          Schedule& s) {
  auto is_number = [&](const AtomList& atoms) { return group.space.extent(atoms).is_fixed(); };
  const Domain& domain = group.domain;
  if (s.scheduler == TileScheduler::split_k || group.matmuls.size() > 1 ||
      !is_number(domain.batch) || !is_number(domain.rows) || !is_number(domain.columns) ||
      !is_number(group.matmuls.front().contraction))
    return;
  Schedule deep = s;
  deep.tile_k = 64;
  deep.stages = 2;
  if (shared_bytes(graph, group, deep) <= device.shared_per_block) s = deep;
}

HalvesExtents halves_extents(const Graph& graph, const Group& group, MatmulSide of) {
  const AtomList batch = group.space.leaves(group.domain.batch);
  bool batched = false;
  for (size_t r : operand_reads(graph, group, of))
    for (const AtomList& dim : group.reads[r].access.dims)
      for (const Atom& atom : group.space.leaves(dim)) batched |= llvm::is_contained(batch, atom);
  return {batched ? group.space.extent(group.domain.batch) : Dim(1),
          group.space.extent(of.side == 0 ? group.domain.rows : group.domain.columns),
          group.space.extent(group.matmuls[of.matmul].contraction)};
}

Expr halves_bytes(const HalvesExtents& extents) {
  const Expr rows = dim_expr(extents.batches) * dim_expr(extents.rows);
  return rows * (ceil_div(dim_expr(extents.depth), kAligned) * (4 * kAligned) + kRowBytes);
}

std::string halves_code(const HalvesExtents& extents, const std::string& pointer) {
  return fmt::format("{{p.{}, {}, {}, {}}}", pointer, dim_code(extents.batches),
                     dim_code(extents.rows), dim_code(extents.depth));
}

namespace {

/// A warp for each row, as far as a grid reaches.
void set_launch(const HalvesExtents& extents, KernelVariant& variant) {
  const Expr blocks = dim_expr(extents.batches) * ceil_div(dim_expr(extents.rows), kRows);
  variant.launch.grid = {min(blocks, 2147483647), 1, 1};
  variant.launch.block = {kThreads, 1, 1};
  variant.launch.shared_bytes = kSharedBytes;
  variant.launch.max_threads = kThreads;
}

} // namespace

KernelVariant emit_halving(const Graph& graph, const Ranges& ranges, const HalvedOperand& operand,
                           const BufferMap& buffers, const std::string& entry) {
  const auto& [group, schedule, of] = operand;
  KernelVariant variant;
  variant.entry = entry;
  variant.includes = {"kernels/halving.cuh"};
  variant.schedule = fmt::format("halving {}x{} threads {} vec {}", kRows, kTileK, kThreads,
                                 schedule.operands[of.index()].vec);
  const Matmul& matmul = group.matmuls[of.matmul];
  Parameters parameters(graph);
  std::map<ValueId, std::string> pointers;
  for (size_t r : operand_reads(graph, group, of)) {
    const ValueId value = group.reads[r].access.value;
    if (!is_computed_iota(graph, group.reads[r]) && !pointers.count(value))
      pointers[value] =
          parameters.add_pointer(buffers.values.at(value), graph.stored_type(value), false);
  }
  const Buffer& target = buffers.halves.at({matmul.op, of.side});
  const std::string halves = parameters.add("u8*", target.name, target.argument);

  Names structs;
  AccessNeeds needs;
  CodeWriter types;
  write_operand_matrix(types,
                       {graph, ranges, group, schedule, pointers,
                        std::vector(schedule.operands.size(), halves), structs, needs},
                       of, "Matrix");
  {
    auto block = types.block("struct Kernel", "};");
    types.line("using Params = struct Params;");
    types.line("using Operand = Matrix;");
  }
  const std::string text = types.take();
  parameters.add_dims(text);

  CodeWriter out;
  out.line("// {}", variant.schedule);
  out.line("//   operand {} of {}", of.side == 0 ? "a" : "b", op_line(graph, graph.op(matmul.op)));
  out.line("namespace in_{} {{", entry);
  out.line("using namespace ingot;");
  out.blank();
  parameters.write_struct(out);
  out.text(text);
  out.line("static_assert(Halving<Kernel>::kSharedBytes == {}, \"the host plans shared memory\");",
           kSharedBytes);
  out.blank();
  parameters.write_entry(out, entry, kThreads, 1, "halving");
  out.blank();
  out.line("}} // namespace in_{}", entry);
  variant.body = out.take();
  variant.arguments = parameters.arguments();

  set_launch(halves_extents(graph, group, of), variant);
  variant.when = predicates_of(needs, buffers, variant.arguments);
  return variant;
}

} // namespace ingot
