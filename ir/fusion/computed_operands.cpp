// SPDX-License-Identifier: Apache-2.0
// See computed_operands.h.
#include "ir/fusion/computed_operands.h"

#include "ir/fusion/refusals.h"
#include "ir/fusion/tile_search.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

class Computing {
public:
  Computing(Partition& partition, const SetJudge& judge, std::vector<Apart>& apart)
      : partition_(partition), graph_(partition.graph()), judge_(judge), apart_(apart) {}

  void run();

private:
  enum class Outcome : uint8_t { joined, apart, used_elsewhere };
  bool is_first(OpId matmul) const;
  Outcome join(OpId matmul);
  std::map<OpId, OperandTile> tiles_with(OpId matmul, const OperandTile& tile) const;
  std::optional<Reason> join(OpId matmul, const FoundTile& found, std::vector<int> sets);
  void split_off(const OpSet& shared);

  Partition& partition_;
  const Graph& graph_;
  const SetJudge& judge_;
  std::vector<Apart>& apart_;
};

/// Tries a product before those that multiply its result. Where a kernel that has not joined yet
/// reads the operand too, the product is tried again.
void Computing::run() {
  if (!partition_.limits().reassociates) return;
  std::vector<OpId> open;
  for (uint32_t index = 0; index < graph_.ops().size(); ++index)
    if (const OpId op{index}; graph_.op(op).kind == OpKind::matmul && partition_.needed(op))
      open.push_back(op);
  for (bool has_joined = true; has_joined;) {
    has_joined = false;
    std::vector<OpId> again;
    for (OpId op : open) {
      const Outcome outcome = is_first(op) ? join(op) : Outcome::apart;
      has_joined |= outcome == Outcome::joined;
      if (outcome == Outcome::used_elsewhere) again.push_back(op);
    }
    open = std::move(again);
  }
}

/// True if the other products of the matmul's kernel have computed operands, and it merges no
/// partials.
bool Computing::is_first(OpId matmul) const {
  const Partition::Set& set = partition_.sets()[partition_.set_of(matmul)];
  return set.merges.empty() && llvm::all_of(set.ops, [&](OpId op) {
           return graph_.op(op).kind != OpKind::matmul || op == matmul || partition_.tile_of(op);
         });
}

/// The tiles of the kernel that have `matmul`, with the ops of its operand's tile.
std::map<OpId, OperandTile> Computing::tiles_with(OpId matmul, const OperandTile& tile) const {
  std::map<OpId, OperandTile> tiles = partition_.tiles_with(matmul);
  for (auto& [op, other] : tiles) {
    llvm::append_range(other.ops, tile.ops);
    llvm::sort(other.ops);
    other.ops.erase(llvm::unique(other.ops), other.ops.end());
  }
  return tiles;
}

/// Makes one kernel of sets, in which `matmul` computes its operand, or returns the reason against
/// it.
std::optional<Reason> Computing::join(OpId matmul, const FoundTile& found, std::vector<int> sets) {
  const OperandTile& tile = found.tile;
  llvm::sort(sets);
  OpSet ops = partition_.ops_of(sets);
  for (const OpSet& shared : found.shared) {
    if (!std::holds_alternative<Group>(analyze_group(partition_.context_for(shared), shared, {})))
      return refusals::stored_for_others(graph_, tile.value, shared.back());
    llvm::erase_if(ops, [&](OpId op) { return llvm::is_contained(shared, op); });
  }
  if (const auto op = partition_.between(ops, sets)) return refusals::runs_between(graph_, *op);
  std::map<OpId, OperandTile> tiles = tiles_with(matmul, tile);
  for (const auto& [op, other] : tiles)
    if (!other.resident || !tile.resident)
      return refusals::operand_not_resident(graph_, op, partition_.limits());
  tiles.insert(found.earlier.begin(), found.earlier.end());
  tiles[matmul] = tile;
  GroupContext context = partition_.context_for(ops);
  for (OpId op : tile.ops) context.global_reductions.erase(op);
  for (const auto& [op, own] : tiles) context.tiles[op] = own;
  auto result = analyze_group(context, ops, {});
  if (auto* refusal = std::get_if<Refusal>(&result)) return *refusal;
  auto storing = analyze_group(context, ops, judge_.stored_values(ops, std::get<Group>(result)));
  if (auto* refusal = std::get_if<Refusal>(&storing)) return *refusal;
  const Group& group = std::get<Group>(storing);
  auto reason = judge_.obstacle(ops, group);
  if (!reason) reason = judge_.slower(group, tile.value, sets, found.shared);
  if (reason) return reason;
  for (const auto& [op, own] : tiles) partition_.compute_operand(op, own);
  partition_.join(ops, sets, partition_.prepared(matmul));
  for (const OpSet& shared : found.shared) split_off(shared);
  return std::nullopt;
}

/// Makes a kernel of ops that others use too.
void Computing::split_off(const OpSet& shared) {
  partition_.join(shared, {}, partition_.prepared(shared.front()));
  for (OpId op : shared)
    for (ValueId value : graph_.op(op).results)
      for (OpId user : partition_.users(value))
        if (!llvm::is_contained(shared, user))
          apart_.push_back({user,
                            value,
                            {fmt::format("{} is computed once for all kernels that read it",
                                         refusals::named(graph_, value)),
                             kNoChange}});
}

Computing::Outcome Computing::join(OpId matmul) {
  auto found = find_tile(partition_, judge_, matmul);
  if (!found) return Outcome::apart;
  std::vector<int> sets = found->sets;
  sets.push_back(partition_.set_of(matmul));
  if (!found->reason && !found->readers.empty()) {
    std::vector<int> all = sets;
    llvm::append_range(all, found->readers);
    if (!join(matmul, *found, std::move(all))) return Outcome::joined;
  }
  if (!found->reason) found->reason = join(matmul, *found, std::move(sets));
  if (!found->reason) return Outcome::joined;
  apart_.push_back({matmul, found->tile.value, *found->reason});
  return found->has_other_users ? Outcome::used_elsewhere : Outcome::apart;
}

} // namespace

void compute_operands(Partition& partition, const SetJudge& judge, std::vector<Apart>& apart) {
  Computing(partition, judge, apart).run();
}

} // namespace ingot
