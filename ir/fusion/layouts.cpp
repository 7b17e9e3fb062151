// SPDX-License-Identifier: Apache-2.0
// See layouts.h.
#include "ir/fusion/layouts.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {
namespace {

class Layouts {
public:
  explicit Layouts(Partition& partition) : partition_(partition), graph_(partition.graph()) {}

  void run();

private:
  std::vector<ValueId> views_of(OpId reader, ValueId operand) const;
  std::optional<ValueId> unstrided(OpId reader, ValueId operand) const;
  bool is_all_read_through(ValueId value, ValueId view) const;
  bool stores(int set, ValueId view) const;

  Partition& partition_;
  const Graph& graph_;
};

void Layouts::run() {
  for (uint32_t index = 0; index < graph_.ops().size(); ++index) {
    const OpId matmul{index};
    const Op& op = graph_.op(matmul);
    if (op.kind != OpKind::matmul || !partition_.needed(matmul)) continue;
    for (ValueId operand : op.operands) {
      const ValueId value = partition_.reached(matmul, operand);
      const int maker = partition_.maker(matmul, value);
      if (maker == Partition::kNone || maker == partition_.set_of(matmul)) continue;
      const auto view = unstrided(matmul, operand);
      if (!view || !is_all_read_through(value, *view) || !stores(maker, *view)) continue;
      for (OpId user : partition_.users(value))
        if (partition_.needed(user)) partition_.read_stored(user, *view);
    }
  }
}

/// The views between an operand and the value in memory: the operand first, the value last.
std::vector<ValueId> Layouts::views_of(OpId reader, ValueId operand) const {
  std::vector<ValueId> views = {operand};
  for (const ValueId value = partition_.reached(reader, operand); views.back() != value;)
    views.push_back(graph_.producer(views.back()).operands[0]);
  return views;
}

/// The sizes of a tensor's dims, and how many elements apart neighbours along each one lie.
struct Strides {
  std::vector<int64_t> sizes, steps;
};

std::optional<Strides> dense(const Shape& shape) {
  Strides strides;
  int64_t step = 1;
  for (const Dim& dim : llvm::reverse(shape)) {
    if (!dim.is_fixed()) return std::nullopt;
    strides.sizes.insert(strides.sizes.begin(), dim.fixed());
    strides.steps.insert(strides.steps.begin(), step);
    step *= dim.fixed();
  }
  return strides;
}

/// The strides of the same elements in another shape; none: it has no strides. The dims of both are
/// walked from the last one on, and split or joined where their products meet.
std::optional<Strides> reshaped(const Strides& from, const Shape& shape) {
  auto to = dense(shape);
  if (!to) return std::nullopt;
  size_t dim = from.sizes.size();
  int64_t left = 1, step = 1; // of the dim of `from` that is taken apart
  for (size_t own = to->sizes.size(); own-- > 0;) {
    int64_t open = to->sizes[own];
    for (bool is_first = true; open > 1; is_first = false) {
      while (left == 1) {
        if (dim == 0) return std::nullopt;
        left = from.sizes[--dim];
        const bool follows = is_first || from.steps[dim] == step;
        if (left > 1 && !follows) return std::nullopt;
        if (left > 1) step = from.steps[dim];
      }
      const int64_t part = std::min(open, left);
      if (open % part != 0 || left % part != 0) return std::nullopt;
      if (is_first) to->steps[own] = step;
      open /= part;
      left /= part;
      step *= part;
    }
  }
  return to;
}

/// The view before a reshape that leaves the operand without strides; none: it has strides, or is
/// more than a permutation of a dense tensor.
std::optional<ValueId> Layouts::unstrided(OpId reader, ValueId operand) const {
  const std::vector<ValueId> views = views_of(reader, operand);
  auto strides = dense(graph_.type(views.back()).shape);
  for (size_t i = views.size() - 1; strides && i-- > 0;) {
    const Op& op = graph_.producer(views[i]);
    if (op.kind == OpKind::transpose) {
      const Strides before = *strides;
      const auto& permutation = graph_.attributes<TransposeAttributes>(op).permutation;
      for (size_t dim = 0; dim < permutation.size(); ++dim) {
        strides->sizes[dim] = before.sizes[permutation[dim]];
        strides->steps[dim] = before.steps[permutation[dim]];
      }
    } else if (op.kind == OpKind::reshape) {
      auto next = reshaped(*strides, graph_.type(views[i]).shape);
      if (!next) return views[i + 1];
      strides = std::move(next);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// True if every reader of `value` in another kernel reads it through `view`.
bool Layouts::is_all_read_through(ValueId value, ValueId view) const {
  if (llvm::any_of(graph_.outputs(), [&](const GraphOutput& output) {
        return root_of(graph_, output.value) == value;
      }))
    return false;
  return llvm::all_of(partition_.users(value), [&](OpId user) {
    if (!partition_.needed(user)) return true;
    if (partition_.set_of(user) == partition_.maker(user, value) || !is_compute(graph_.op(user)))
      return false;
    return llvm::all_of(graph_.op(user).operands, [&](ValueId operand) {
      return partition_.reached(user, operand) != value ||
             llvm::is_contained(views_of(user, operand), view);
    });
  });
}

/// True if the kernel that computes the value can store the view.
bool Layouts::stores(int set, ValueId view) const {
  const Partition::Set& own = partition_.sets()[set];
  if (own.stored) return false;
  const auto group = analyze_group(partition_.context_for(own.ops, own.merges), own.ops,
                                   {StoreTarget::whole(view)});
  return std::holds_alternative<Group>(group);
}

} // namespace

void choose_layouts(Partition& partition) { Layouts(partition).run(); }

} // namespace ingot
