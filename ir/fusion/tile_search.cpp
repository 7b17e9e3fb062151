// SPDX-License-Identifier: Apache-2.0
// See tile_search.h.
#include "ir/fusion/tile_search.h"

#include "ir/fusion/refusals.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

/// The ops from which the operand of one matmul is computed.
class TileSearch {
public:
  TileSearch(const Partition& partition, const SetJudge& judge, OpId matmul)
      : partition_(partition), graph_(partition.graph()), judge_(judge), matmul_(matmul),
        own_(partition.set_of(matmul)) {}

  /// None: the operand is in memory, or no product is behind it.
  std::optional<FoundTile> run();

private:
  bool is_made_here(OpId op) const {
    const int set = partition_.set_of(op);
    return set != Partition::kNone && set != own_ && partition_.prepared(op) == is_prepared_ &&
           !partition_.sets()[set].stored;
  }
  /// True if the op is in a kernel that becomes a part of the joined one.
  bool is_taken(OpId op) const {
    const int set = partition_.set_of(op);
    return set == own_ || llvm::is_contained(sets_, set);
  }
  void visit(ValueId value);
  void choose_product();
  void find_behind(OpId product);
  void check_ops();
  bool has_all_of_k() const;
  void choose_form();
  bool stream(OpId reduction);
  void peel_factors();
  bool is_of_rows(ValueId value) const;
  bool is_zero(ValueId value) const;
  std::optional<uint32_t> linear_operand(const Op& op) const;
  bool follows_product(OpId op) const { return behind_.count(op) != 0; }
  void find_ops();
  bool is_shared(OpId op) const;
  void find_shared(llvm::ArrayRef<OpId> results);
  bool is_in_shared(OpId op) const;
  bool runs_along_k() const;
  std::optional<Reason> check_uses();
  bool keep(ValueId value);
  std::vector<int> find_readers() const;

  const Partition& partition_;
  const Graph& graph_;
  const SetJudge& judge_;
  const OpId matmul_;
  const int own_;
  bool is_prepared_ = false;
  std::optional<OpId> product_;
  std::optional<OpId> reduction_; ///< the one that runs along K
  std::set<OpId> visited_;
  std::vector<OpId> products_; ///< those visited, sorted
  std::set<OpId> behind_;      ///< visited ops that depend on the product, and the product
  OperandTile tile_;
  std::vector<int> sets_;               ///< those of `behind_`
  std::map<OpId, OperandTile> earlier_; ///< those that keep more values, by the matmul
  std::vector<std::set<OpId>> shared_;  ///< see FoundTile
  std::optional<Reason> reason_;
};

/// Visits the ops that compute `value`, back to products and to memory. Ends at more ops than a
/// kernel has.
void TileSearch::visit(ValueId value) {
  std::vector<OpId> open;
  const auto enter = [&](OpId op) {
    if (!is_made_here(op) || !visited_.insert(op).second) return;
    (graph_.op(op).kind == OpKind::matmul ? products_ : open).push_back(op);
  };
  enter(graph_.value(value).op);
  while (!open.empty()) {
    if (static_cast<int64_t>(visited_.size()) > partition_.limits().most_ops) {
      reason_ = refusals::too_many_ops(partition_.limits().most_ops);
      break;
    }
    const OpId op = open.back();
    open.pop_back();
    for (ValueId operand : graph_.op(op).operands)
      enter(graph_.value(partition_.reached(op, operand)).op);
  }
  llvm::sort(products_);
}

/// Chooses the product of the tile: the last one whose kernels compute no other, but for those of
/// its own operand. The results of the others are in memory.
void TileSearch::choose_product() {
  for (OpId product : llvm::reverse(products_)) {
    find_behind(product);
    const OperandTile* inner = partition_.tile_of(product);
    const bool is_alone = llvm::none_of(products_, [&](OpId other) {
      return other != product && llvm::is_contained(sets_, partition_.set_of(other)) &&
             !(inner && llvm::is_contained(inner->ops, other));
    });
    if (is_alone) return;
  }
  reason_ = refusals::third_matmul(graph_, products_.back());
}

void TileSearch::find_behind(OpId product) {
  product_ = product;
  behind_ = {product};
  for (OpId op : visited_) // operands first
    if (llvm::any_of(graph_.op(op).operands, [&](ValueId operand) {
          return behind_.count(graph_.value(partition_.reached(op, operand)).op) != 0;
        }))
      behind_.insert(op);
  std::set<int> kernels;
  for (OpId op : behind_) kernels.insert(partition_.set_of(op));
  sets_.assign(kernels.begin(), kernels.end());
}

/// Checks the ops behind the product one by one.
void TileSearch::check_ops() {
  for (OpId op : behind_) {
    const OpClass op_class = info(graph_.op(op).kind).op_class;
    if (op_class != OpClass::reduce && op_class != OpClass::elementwise && op != *product_)
      reason_ = refusals::operand_not_elementwise(graph_, matmul_, op);
  }
}

/// True if a tile holds all of K.
bool TileSearch::has_all_of_k() const {
  const Op& op = graph_.op(matmul_);
  const Shape& a = graph_.type(op.operands[0]).shape;
  const Dim& k = graph_.attributes<MatmulAttributes>(op).transpose_a ? a[a.size() - 2] : a.back();
  return k.is_fixed() && k.fixed() <= partition_.limits().widest_segment;
}

/// True for numbers, and for values that a broadcast repeats along K.
bool TileSearch::is_of_rows(ValueId value) const {
  const Op& op = graph_.producer(value);
  if (op.kind != OpKind::broadcast) return graph_.type(value).rank() == 0;
  const Shape& from = graph_.type(op.operands[0]).shape;
  return from.empty() || from.back().is(1);
}

bool TileSearch::is_zero(ValueId value) const {
  const Op& op = graph_.producer(root_of(graph_, value));
  return op.kind == OpKind::constant && graph_.attributes<ConstantAttributes>(op).real == 0;
}

/// The number of the operand in which an op of floats is linear, if its others are values of the
/// rows.
std::optional<uint32_t> TileSearch::linear_operand(const Op& op) const {
  const bool chooses = info(op.kind).rule == TypeRule::choose;
  for (uint32_t k = 0; k < op.operands.size(); ++k) {
    const bool is_linear = chooses ? k != 0 && is_zero(op.operands[k == 1 ? 2 : 1])
                                   : info(op.kind).scales() && (k == 0 || info(op.kind).commutes());
    const OpId maker = graph_.value(op.operands[k]).op;
    // The element is computed in the operand's own shape.
    if (!is_linear || !is_float(graph_.type(op.operands[k]).dtype) || !follows_product(maker) ||
        !is_compute(graph_.op(maker)))
      continue;
    bool are_of_rows = true;
    for (uint32_t other = 0; other < op.operands.size(); ++other)
      are_of_rows &= other == k || is_of_rows(op.operands[other]);
    if (are_of_rows) return k;
  }
  return std::nullopt;
}

/// Splits the operand into the value that is multiplied and the factors of its rows.
void TileSearch::peel_factors() {
  while (const auto element = linear_operand(graph_.producer(tile_.element))) {
    const OpId op = graph_.value(tile_.element).op;
    tile_.factors.insert(tile_.factors.begin(), {op, *element});
    tile_.element = graph_.op(op).operands[*element];
  }
}

/// True if a kernel that stays apart reads an elementwise result that does not depend on the
/// product, such as a mask of several layers.
bool TileSearch::is_shared(OpId op) const {
  if (follows_product(op) || info(graph_.op(op).kind).op_class != OpClass::elementwise)
    return false;
  return llvm::any_of(graph_.op(op).results, [&](ValueId value) {
    return judge_.returns(value) || llvm::any_of(partition_.users(value), [&](OpId user) {
             return partition_.needed(user) && !is_taken(user);
           });
  });
}

/// Collects the ops of the tile's kernels that compute the shared results: one set for results that
/// have ops in common.
void TileSearch::find_shared(llvm::ArrayRef<OpId> results) {
  shared_.clear();
  for (OpId result : results) {
    std::set<OpId> ops;
    std::vector<OpId> open = {result};
    while (!open.empty()) {
      const OpId op = open.back();
      open.pop_back();
      if (!visited_.count(op) || !llvm::is_contained(sets_, partition_.set_of(op)) ||
          !ops.insert(op).second)
        continue;
      for (ValueId operand : graph_.op(op).operands)
        open.push_back(graph_.value(partition_.reached(op, operand)).op);
    }
    const auto meets = [&](const std::set<OpId>& others) {
      return llvm::any_of(others, [&](OpId op) { return ops.count(op) != 0; });
    };
    for (const std::set<OpId>& others : shared_)
      if (meets(others)) ops.insert(others.begin(), others.end());
    llvm::erase_if(shared_, meets);
    shared_.push_back(std::move(ops));
  }
}

bool TileSearch::is_in_shared(OpId op) const {
  return llvm::any_of(shared_, [&](const std::set<OpId>& ops) { return ops.count(op) != 0; });
}

/// Collects the ops of the tile: those that depend on the product, those of the same kernels that
/// they read, and those that compute the product's operand.
void TileSearch::find_ops() {
  std::set<OpId> ops;
  std::vector<OpId> shared;
  if (const OperandTile* inner = partition_.tile_of(*product_))
    ops.insert(inner->ops.begin(), inner->ops.end());
  std::vector<ValueId> open = {tile_.element};
  while (!open.empty()) {
    const OpId op = graph_.value(open.back()).op;
    open.pop_back();
    if (!visited_.count(op) || !llvm::is_contained(sets_, partition_.set_of(op)) || ops.count(op))
      continue;
    if (is_shared(op)) {
      shared.push_back(op);
      continue;
    }
    ops.insert(op);
    if (op == *product_) continue;
    for (ValueId operand : graph_.op(op).operands) open.push_back(partition_.reached(op, operand));
  }
  // The results of the reduction are used by factors too.
  if (reduction_) ops.insert(*reduction_);
  find_shared(shared);
  std::erase_if(ops, [&](OpId op) { return is_in_shared(op); });
  tile_.ops.assign(ops.begin(), ops.end());
}

/// Decides how the operand comes. It is streamed if a softmax can run along K, or if K is long.
/// Other reductions, and a product whose operand is computed in turn, need all of K at once.
void TileSearch::choose_form() {
  const OperandTile* inner = partition_.tile_of(*product_);
  tile_.element = tile_.value;
  find_ops();
  std::vector<OpId> reductions;
  llvm::copy_if(tile_.ops, std::back_inserter(reductions), [&](OpId op) {
    return info(graph_.op(op).kind).op_class == OpClass::reduce &&
           !(inner && llvm::is_contained(inner->ops, op));
  });
  if (!inner && reductions.size() == 1 && stream(reductions.front())) return;
  tile_.resident = has_all_of_k();
  const int64_t layers =
      1 + llvm::count_if(tile_.ops, [&](OpId op) { return graph_.op(op).kind == OpKind::matmul; });
  if (layers > partition_.limits().most_layers)
    reason_ = refusals::too_many_layers(partition_.limits().most_layers);
  else if (inner && !inner->resident)
    reason_ = refusals::product_in_steps(graph_, *product_);
  else if (!reductions.empty() && !tile_.resident)
    reason_ = refusals::cannot_run(graph_, reductions.front(), partition_.limits());
  else if (inner && !tile_.resident)
    reason_ = refusals::operand_not_resident(graph_, matmul_, partition_.limits());
}

/// Makes the tile one along whose K the reduction runs. Returns false if it cannot run there.
bool TileSearch::stream(OpId reduction) {
  OperandTile whole = tile_;
  reduction_ = reduction;
  peel_factors();
  find_ops();
  if (runs_along_k()) return true;
  reduction_.reset();
  tile_ = std::move(whole);
  return false;
}

/// True if the tile's reduction can run along K: the element is an exponential below the maximum,
/// which moves to another maximum by a factor, and the sum of all of them divides the product. A
/// row of -Inf then is NaN, whatever its exponentials are.
bool TileSearch::runs_along_k() const {
  const Op& reduction = graph_.op(*reduction_);
  if (!info(reduction.kind).rescales()) return false;
  const bool divides = llvm::any_of(tile_.factors, [&](const RowFactor& factor) {
    const Op& op = graph_.op(factor.op);
    return op.kind == OpKind::div && root_of(graph_, op.operands[1]) == reduction.results[1];
  });
  const Op& element = graph_.producer(tile_.element);
  if (!divides || element.kind != OpKind::exp) return false;
  const Op& below = graph_.producer(element.operands[0]);
  return below.kind == OpKind::sub &&
         before_reshapes(graph_, below.operands[0]) ==
             before_reshapes(graph_, reduction.operands[0]) &&
         root_of(graph_, below.operands[1]) == reduction.results[0];
}

/// Lets the tile that has a value keep it for the stages behind, as it keeps its element. Returns
/// false if that is not possible.
bool TileSearch::keep(ValueId value) {
  OperandTile* tile = &tile_;
  const std::map<OpId, OperandTile> tiles = partition_.tiles_with(graph_.value(value).op);
  for (const auto& [matmul, earlier] : tiles)
    if (earlier.ops.size() < tile->ops.size()) // a tile has the ops of those before it
      tile = &earlier_.try_emplace(matmul, earlier).first->second;
  const Type &own = graph_.type(value), &element = graph_.type(tile->value);
  if (!tile->resident || own.dtype != element.dtype ||
      element_count(own.shape) != element_count(element.shape))
    return false;
  if (value != tile->value && !llvm::is_contained(tile->kept, value)) tile->kept.push_back(value);
  return true;
}

/// The reason why a value of the tile must be stored; none: no other kernel reads it. Notes the
/// values that the tile keeps.
std::optional<Reason> TileSearch::check_uses() {
  std::vector<OpId> made = tile_.ops;
  for (const RowFactor& factor : tile_.factors) made.push_back(factor.op);
  // The results of its rows are known behind the product, and can be stored.
  if (reduction_) llvm::erase(made, *reduction_);
  for (OpId op : tile_.ops)
    if (partition_.is_finished(op)) return refusals::merged_before(graph_, op);
  for (OpId op : made)
    for (ValueId value : graph_.op(op).results) {
      const auto is_used = [&](auto&& by) {
        return llvm::any_of(partition_.users(value),
                            [&](OpId user) { return partition_.needed(user) && by(user); });
      };
      if (judge_.returns(value) || is_used([&](OpId user) { return !is_taken(user); }))
        return refusals::stored_for_others(graph_, tile_.value, op);
      // Behind the tile, its values are at other points, unless it has whole rows.
      const auto leaves = [&](OpId user) {
        return user != matmul_ && user != reduction_ && !llvm::is_contained(made, user);
      };
      const auto is_reduced = [&](OpId user) {
        return leaves(user) && info(graph_.op(user).kind).op_class != OpClass::elementwise;
      };
      if (is_used(leaves) && (is_used(is_reduced) || !keep(value)))
        return refusals::stored_for_others(graph_, tile_.value, op);
    }
  for (int set : sets_)
    if (!partition_.sets()[set].merges.empty())
      return refusals::merged_before(graph_, partition_.sets()[set].merges.front());
  return std::nullopt;
}

/// Other sets that read the results of the reduction: a logarithm of its sum.
std::vector<int> TileSearch::find_readers() const {
  std::set<int> readers;
  if (reduction_)
    for (ValueId value : graph_.op(*reduction_).results)
      for (OpId user : partition_.users(value))
        if (partition_.needed(user) && is_made_here(user)) readers.insert(partition_.set_of(user));
  for (int set : sets_) readers.erase(set);
  std::erase_if(readers, [&](int set) { return !partition_.sets()[set].merges.empty(); });
  return {readers.begin(), readers.end()};
}

std::optional<FoundTile> TileSearch::run() {
  is_prepared_ = partition_.prepared(matmul_);
  tile_.value = partition_.reached(matmul_, graph_.op(matmul_).operands[0]);
  if (!is_made_here(graph_.value(tile_.value).op)) return std::nullopt;
  visit(tile_.value);
  if (products_.empty()) return std::nullopt;
  if (!reason_) choose_product();
  if (!reason_) check_ops();
  if (!reason_) choose_form();
  const bool is_possible = !reason_;
  if (is_possible) reason_ = check_uses();
  std::vector<int> readers = find_readers();
  const bool has_other_users = is_possible && reason_;
  FoundTile found{std::move(tile_)};
  found.sets = std::move(sets_);
  found.readers = std::move(readers);
  for (const std::set<OpId>& ops : shared_) found.shared.emplace_back(ops.begin(), ops.end());
  found.reason = std::move(reason_);
  found.has_other_users = has_other_users;
  found.earlier = std::move(earlier_);
  return found;
}

} // namespace

std::optional<FoundTile> find_tile(const Partition& partition, const SetJudge& judge, OpId matmul) {
  return TileSearch(partition, judge, matmul).run();
}

} // namespace ingot
