// SPDX-License-Identifier: Apache-2.0
// See predicates.h.
#include "codegen/kernel/predicates.h"

#include "codegen/kernel/index_map.h"
#include "codegen/kernel/mapping.h"
#include "codegen/kernel/visit.h"
#include "codegen/kernel/widths.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace ingot {
namespace {

class Collector {
public:
  explicit Collector(const Kernel& kernel) : kernel_(kernel) {}

  void add(const MatrixOperand& operand, int64_t vec) {
    add(operand.from.parameter, operand.from.map, vec);
    for (const MemoryRead& read : operand.frame.reads)
      add(read.parameter, read.map, prologue_width(read.map, dtype(read.parameter), operand, vec));
  }

  void add(const TileBody& body, const Schedule& s) {
    for (const auto& [number, operand] : llvm::enumerate(matrix_operands(body))) {
      const OperandSchedule& fetched = s.operands[number];
      if (fetched.path == PathKind::mapped)
        add_aligned(operand->from.parameter, kMapAlignment);
      else if (!is_wgmma(s.mainloop) || (s.packs_a && number == 0)) // else it is packed
        add(*operand, fetched.vec);
    }
    add(body.frame, s);
    for (const ComputedTile* tile : computed_tiles(body)) add(tile->body.frame, s);
    for (const Stage& stage : body.stages)
      if (const auto* store = std::get_if<StoreStage>(&stage.step))
        for (uint32_t parameter : store->parameters)
          add(parameter, store->map,
              store_width(store->map, dtype(parameter), store->is_whole, s).vec);
  }

  std::vector<Predicate> take() {
    llvm::append_range(divisible_, aligned_);
    return std::move(divisible_);
  }

private:
  void add(const PointFrame& frame, const Schedule& s) {
    for (const MemoryRead& read : frame.reads)
      add(read.parameter, read.map, read_width(read.map, dtype(read.parameter), s));
  }

  DType dtype(uint32_t parameter) const { return kernel_.parameters[parameter].dtype; }

  void add(uint32_t parameter, const IndexMap& map, int64_t width) {
    if (width == 1) return;
    for (const Dim& dim : map.needed(width))
      if (asked_.emplace(dim.text(), width).second)
        divisible_.push_back({PredicateKind::divisible, dim_expr(dim), 0, width});
    add_aligned(parameter, width * size_of(dtype(parameter)));
  }

  void add_aligned(uint32_t parameter, int64_t bytes) {
    const bool known = llvm::any_of(
        aligned_, [&](const Predicate& p) { return p.argument == parameter && p.number >= bytes; });
    if (!known && is_callers(kernel_.parameters[parameter].buffer.argument.kind))
      aligned_.push_back({PredicateKind::aligned, 0, parameter, bytes});
  }

  const Kernel& kernel_;
  std::set<std::pair<std::string, int64_t>> asked_;
  std::vector<Predicate> divisible_, aligned_;
};

} // namespace

std::vector<Predicate> predicates_of(const Kernel& kernel, const Schedule& schedule) {
  Collector collector(kernel);
  if (const auto* tile = std::get_if<TileBody>(&kernel.body))
    collector.add(*tile, schedule);
  else
    collector.add(std::get<PackingBody>(kernel.body).operand, schedule.operands.front().vec);
  return collector.take();
}

} // namespace ingot
