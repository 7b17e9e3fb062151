// SPDX-License-Identifier: Apache-2.0
// See prologues.h.
#include "ir/fusion/prologues.h"

#include "ir/fusion/prologue_cost.h"
#include "ir/fusion/refusals.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

class Absorption {
public:
  Absorption(Partition& partition, const SetJudge& judge, std::vector<Apart>& apart)
      : partition_(partition), graph_(partition.graph()), judge_(judge), apart_(apart) {}

  void run();

private:
  /// An operand that a matmul of one set reads from another set.
  struct Operand {
    OpId matmul;
    ValueId value;
    uint32_t side = 0;
  };
  std::vector<Operand> operands(int matmuls, int producer) const;
  bool absorb(int matmuls, int producer);
  std::optional<Reason> apart(int matmuls, int producer) const;
  std::optional<Reason> used_elsewhere(int matmuls, int producer,
                                       llvm::ArrayRef<ValueId> values) const;
  std::optional<Reason> not_elementwise(int producer, const Operand& operand) const;
  std::map<OpId, OperandTile> tiles_taking(int matmuls, int producer) const;
  std::optional<Reason> join(int matmuls, int producer, llvm::ArrayRef<ValueId> values);

  Partition& partition_;
  const Graph& graph_;
  const SetJudge& judge_;
  std::vector<Apart>& apart_;
};

std::vector<Absorption::Operand> Absorption::operands(int matmuls, int producer) const {
  std::vector<Operand> result;
  for (OpId op : partition_.sets()[matmuls].ops) {
    if (graph_.op(op).kind != OpKind::matmul) continue;
    for (uint32_t side = 0; side < graph_.op(op).operands.size(); ++side) {
      const ValueId value = partition_.reached(op, graph_.op(op).operands[side]);
      if (partition_.maker(op, value) == producer) result.push_back({op, value, side});
    }
  }
  return result;
}

/// The reason why no prologue can evaluate an op on the way to an operand; none: all are
/// elementwise.
std::optional<Reason> Absorption::not_elementwise(int producer, const Operand& operand) const {
  std::set<OpId> seen;
  std::vector<ValueId> open = {operand.value};
  while (!open.empty()) {
    const OpId id = graph_.value(open.back()).op;
    open.pop_back();
    const OpClass op_class = info(graph_.op(id).kind).op_class;
    if (partition_.set_of(id) != producer || !seen.insert(id).second) continue;
    if (op_class == OpClass::reduce) return refusals::operand_reduced(graph_, operand.matmul, id);
    if (op_class != OpClass::elementwise)
      return refusals::operand_not_elementwise(graph_, operand.matmul, id);
    for (ValueId value : graph_.op(id).operands) open.push_back(partition_.reached(id, value));
  }
  return std::nullopt;
}

/// The reason why a value of `producer` must be stored anyway; none: only `matmuls` reads them.
std::optional<Reason> Absorption::used_elsewhere(int matmuls, int producer,
                                                 llvm::ArrayRef<ValueId> values) const {
  for (OpId op : partition_.sets()[producer].ops)
    for (ValueId value : graph_.op(op).results) {
      const bool output = llvm::any_of(graph_.outputs(), [&](const GraphOutput& o) {
        return root_of(graph_, o.value) == value;
      });
      const bool used = llvm::any_of(partition_.users(value), [&](OpId user) {
        const int set = partition_.set_of(user);
        return partition_.needed(user) && set != matmuls && set != producer;
      });
      if (output || used) return refusals::stored_for_others(graph_, values.front(), op);
    }
  for (size_t set = 0; set < partition_.sets().size(); ++set)
    if (partition_.sets()[set].live && partition_.sets()[set].stored &&
        llvm::is_contained(partition_.before(static_cast<int>(set)), producer))
      return refusals::rearranged_after();
  return std::nullopt;
}

/// The computed operands of `matmuls` whose tiles have a product that reads the producer, with the
/// producer's ops.
std::map<OpId, OperandTile> Absorption::tiles_taking(int matmuls, int producer) const {
  std::map<OpId, OperandTile> tiles;
  for (const Operand& operand : operands(matmuls, producer))
    tiles.merge(partition_.tiles_with(operand.matmul));
  for (auto& [matmul, tile] : tiles) {
    llvm::append_range(tile.ops, partition_.sets()[producer].ops);
    llvm::sort(tile.ops);
  }
  return tiles;
}

/// Joins two sets so that `values` are computed where they are multiplied, or returns the reason
/// against it.
std::optional<Reason> Absorption::join(int matmuls, int producer, llvm::ArrayRef<ValueId> values) {
  const Partition::Set& from = partition_.sets()[producer];
  OpSet ops = partition_.sets()[matmuls].ops;
  llvm::append_range(ops, from.ops);
  llvm::sort(ops);
  if (const auto op = partition_.between(ops, {matmuls, producer}))
    return refusals::runs_between(graph_, *op);
  // A separate kernel merges partials from which the operand is computed.
  GroupContext context = partition_.context_for(ops);
  std::vector<OpId> merged;
  for (OpId op : from.ops)
    for (ValueId operand : graph_.op(op).operands) {
      const OpId source = graph_.value(partition_.reached(op, operand)).op;
      if (context.global_reductions.erase(source)) merged.push_back(source);
    }
  const auto tiles = tiles_taking(matmuls, producer);
  for (const auto& [matmul, tile] : tiles) context.tiles[matmul] = tile;
  auto result = analyze_group(context, ops, {});
  if (auto* refusal = std::get_if<Refusal>(&result)) return *refusal;
  const Group& group = std::get<Group>(result);
  auto reason = costly_prologue(graph_, group, values, partition_.limits());
  if (!reason) reason = judge_.obstacle(ops, group);
  if (!reason && !tiles.empty()) {
    auto storing = analyze_group(context, ops, judge_.stored_values(ops, group));
    if (auto* refusal = std::get_if<Refusal>(&storing)) return *refusal;
    reason = judge_.slower(std::get<Group>(storing), values.front(), {matmuls, producer}, {});
  }
  if (reason) return reason;
  for (OpId op : merged) partition_.finish(op);
  for (const auto& [matmul, tile] : tiles) partition_.compute_operand(matmul, tile);
  partition_.join(ops, {matmuls, producer}, partition_.sets()[matmuls].prepare);
  return std::nullopt;
}

/// The reason why a producer cannot be an operand's prologue, whatever it computes; none: it can.
std::optional<Reason> Absorption::apart(int matmuls, int producer) const {
  const Partition::Set& from = partition_.sets()[producer];
  if (auto reason = partition_.made_before(producer, partition_.sets()[matmuls].prepare))
    return reason;
  auto product =
      llvm::find_if(from.ops, [&](OpId op) { return graph_.op(op).kind == OpKind::matmul; });
  if (product != from.ops.end())
    return refusals::second_matmul(graph_, operands(matmuls, producer).front().matmul);
  if (!from.merges.empty()) return refusals::merged_before(graph_, from.merges.front());
  // Between the products, the sums leave no registers to compute an operand.
  for (const Operand& operand : operands(matmuls, producer))
    if (operand.side == 1 && !partition_.tiles_with(operand.matmul).empty())
      return refusals::operand_in_steps(graph_, operand.matmul);
  return std::nullopt;
}

bool Absorption::absorb(int matmuls, int producer) {
  const std::vector<Operand> read = operands(matmuls, producer);
  if (read.empty()) return false; // an epilogue reads it, and grouping noted the reason
  std::vector<ValueId> values;
  values.reserve(read.size());
  for (const Operand& operand : read) values.push_back(operand.value);
  auto reason = apart(matmuls, producer);
  for (const Operand& operand : read)
    if (!reason) reason = not_elementwise(producer, operand);
  if (!reason) reason = used_elsewhere(matmuls, producer, values);
  if (!reason) reason = join(matmuls, producer, values);
  if (!reason) return true;
  // Of an operand that a product computes, an earlier reason is known.
  const bool says_least = llvm::any_of(partition_.sets()[producer].ops, [&](OpId op) {
    return graph_.op(op).kind == OpKind::matmul;
  });
  for (const Operand& operand : read)
    apart_.push_back({operand.matmul, operand.value, *reason, says_least});
  return false;
}

void Absorption::run() {
  // A joined set comes again, at the end.
  for (int set = 0; set < static_cast<int>(partition_.sets().size()); ++set) {
    const Partition::Set& own = partition_.sets()[set];
    if (!own.live || own.stored ||
        llvm::none_of(own.ops, [&](OpId op) { return graph_.op(op).kind == OpKind::matmul; }))
      continue;
    for (int producer : partition_.before(set))
      if (absorb(set, producer)) break;
  }
}

} // namespace

void absorb_prologues(Partition& partition, const SetJudge& judge, std::vector<Apart>& apart) {
  Absorption(partition, judge, apart).run();
}

} // namespace ingot
