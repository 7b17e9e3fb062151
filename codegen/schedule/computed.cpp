// SPDX-License-Identifier: Apache-2.0
// See computed.h.
#include "codegen/schedule/computed.h"

#include "codegen/kernel/mapping.h"
#include "codegen/kernel/shared_memory.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

constexpr int64_t kGeneralDepth = 64; ///< k of a slot whose operands are staged
constexpr int64_t kMostThreads = 256; ///< by mma.sync, with 255 registers each

/// `usual` as a variant beside `mapped`. None: it is not legal.
std::optional<Schedule> beside(const ScheduleSite& site, const Schedule& mapped,
                               const Schedule& usual) {
  if (!shares_rows(site.group) || usual.cuts_like(mapped)) return usual;
  Schedule s = usual;
  s.tile_m = mapped.tile_m;
  set_general_warps(site, s);
  s.shared_bytes = shared_bytes(site.kernel, s);
  const bool is_legal = s.threads <= kMostThreads && s.shared_bytes <= site.device.shared_per_block;
  return is_legal && s.cuts_like(mapped) ? std::optional(s) : std::nullopt;
}

DType type_of(const Graph& graph, const Group& group) {
  return graph.type(graph.op(group.matmuls.front().op).operands[0]).dtype;
}

/// True if a product of the kernel has so few terms that it keeps f32's accuracy in any precision.
bool has_short_product(const Group& group) {
  return llvm::any_of(parts_of(group), [](const Group* part) {
    return llvm::any_of(part->matmuls, [&](const Matmul& matmul) {
      return is_short_contraction(part->space.extent(matmul.contraction));
    });
  });
}

/// The path and the width by which copies fetch an operand.
OperandSchedule copied_operand(const Kernel& kernel, const MatrixOperand& operand) {
  const int64_t size = size_of(kernel.parameters[operand.from.parameter].dtype);
  const IndexMap& map = operand.from.map;
  OperandSchedule result;
  result.vec = map.contiguous == Coordinate::batch ? 1 : map.widest(kWidestAccess / size);
  const bool is_copied = operand.prologue.empty() && result.vec * size == kWidestAccess;
  result.path = is_copied ? PathKind::direct : PathKind::staged;
  return result;
}

} // namespace

llvm::Expected<ComputeType> compute_of_products(const ScheduleSite& site) {
  const DType type = type_of(site.graph, site.group);
  for (const Group* tile : tiles_of(site.group))
    if (type_of(site.graph, *tile) != type)
      return make_error(ErrorCode::unsupported,
                        "a product that computes an operand, and the product of that operand, "
                        "have one type");
  if (type == DType::f16) return ComputeType::f16;
  if (type == DType::bf16) return ComputeType::bf16;
  if (type == DType::f32) switch (site.options.precision) {
    case MatmulPrecision::highest: return ComputeType::bf16x3;
    case MatmulPrecision::high: // TF32 keeps 11 bits of an operand, two parts keep 16
    case MatmulPrecision::medium:
      return has_short_product(site.group) ? ComputeType::bf16x3 : ComputeType::bf16x2;
    case MatmulPrecision::pedantic: break;
    }
  return make_error(ErrorCode::unsupported,
                    "a product that computes an operand is one of f16, bf16 or f32, and in f32 "
                    "not by FMA alone");
}

bool reads_memory(const TileBody& tile) {
  return !tile.frame.reads.empty() || !tile.frame.gathers.empty();
}

Schedule computed_schedule(ComputeType compute) {
  Schedule s;
  s.compute = compute;
  s.slots = 2;
  s.group_rows = 1;
  s.vec = 2;
  s.staged_stores = true;
  return s;
}

std::vector<Schedule> copied_variants(const ScheduleSite& site, Schedule fast) {
  for (const MatrixOperand* operand : matrix_operands(std::get<TileBody>(site.kernel.body)))
    fast.operands.push_back(copied_operand(site.kernel, *operand));
  Schedule narrow = fast;
  narrow.staged_stores = false;
  Schedule general = narrow;
  general.operands.assign(fast.operands.size(), {PathKind::staged, 1});
  general.vec = 1;
  general.tile_k = std::min(fast.tile_k, kGeneralDepth);
  set_general_warps(site, general);
  if (staging_needs_sizes(site.kernel, fast)) return {fast, narrow, general};
  return {fast, general};
}

void set_general_warps(const ScheduleSite& site, Schedule& general) {
  general.warp_m = 16;
  if (shares_rows(site.group))
    general.threads = general.tile_m / general.warp_m * 32;
  else
    general.tile_m = general.warp_m * general.threads / 32;
  general.min_blocks_per_sm = 1;
}

void add_with_usual(const ScheduleSite& site, const Schedule& mapped,
                    llvm::ArrayRef<Schedule> usual,
                    std::vector<std::vector<Schedule>>& candidates) {
  std::vector<Schedule> variants = {mapped};
  if (staging_needs_sizes(site.kernel, mapped)) {
    variants.push_back(mapped);
    variants.back().staged_stores = false;
    variants.back().shared_bytes = shared_bytes(site.kernel, variants.back());
  }
  for (const Schedule& of_any : usual) {
    const auto variant = beside(site, mapped, of_any);
    if (!variant) return;
    variants.push_back(*variant);
  }
  candidates.push_back(std::move(variants));
}

bool set_mapped(const ScheduleSite& site, Schedule& s) {
  const auto& body = std::get<TileBody>(site.kernel.body);
  if (matrix_operands(body).size() > kMostTensorMaps) return false;
  for (const Expr& extent : {body.batch, body.rows}) // copies count in 32 bits
    if (extent.constant().value_or(0) > INT32_MAX) return false;
  for (const MatrixOperand* operand : matrix_operands(body)) {
    if (!can_map(site.kernel, *operand) || !multiplies_copied(site.kernel, *operand, s.compute))
      return false;
    const int64_t size = size_of(site.kernel.parameters[operand->from.parameter].dtype);
    s.operands.push_back({PathKind::mapped, kWidestAccess / size});
  }
  s.shared_bytes = shared_bytes(site.kernel, s);
  return s.shared_bytes <= site.device.shared_per_block;
}

} // namespace ingot
