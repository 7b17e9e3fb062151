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
      if (!view || *view == value || !is_all_read_through(value, *view) || !stores(maker, *view))
        continue;
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
  std::vector<Dim> sizes, steps;
};

Strides dense(const Shape& shape) {
  Strides strides{{shape.begin(), shape.end()}, std::vector<Dim>(shape.size(), 1)};
  for (size_t dim = shape.size(); dim-- > 1;)
    strides.steps[dim - 1] = strides.steps[dim] * strides.sizes[dim];
  return strides;
}

/// The same elements by as few dims as possible, the last one first.
std::vector<std::pair<Dim, Dim>> joined(const Strides& strides) {
  std::vector<std::pair<Dim, Dim>> dims; // size and step
  for (size_t dim = strides.sizes.size(); dim-- > 0;) {
    const Dim &size = strides.sizes[dim], &step = strides.steps[dim];
    if (size.is(1)) continue;
    if (!dims.empty() && dims.back().first * dims.back().second == step)
      dims.back().first = dims.back().first * size;
    else
      dims.emplace_back(size, step);
  }
  return dims;
}

/// The strides of the same elements in another shape; none: it has no strides. Each of its dims is
/// a part of one dim of the joined ones.
std::optional<Strides> reshaped(const Strides& from, const Shape& shape) {
  Strides to = dense(shape);
  std::vector<std::pair<Dim, Dim>> dims = joined(from);
  auto left = dims.begin();
  for (size_t own = shape.size(); own-- > 0;) {
    if (shape[own].is(1)) continue;
    while (left != dims.end() && left->first.is(1)) ++left;
    if (left == dims.end()) return std::nullopt;
    const auto rest = left->first.divided_by(shape[own]);
    if (!rest) return std::nullopt;
    to.steps[own] = left->second;
    *left = {*rest, left->second * shape[own]};
  }
  return to;
}

/// The view before a reshape that leaves the operand without strides; none: it has strides, or is
/// more than a permutation of a dense tensor.
std::optional<ValueId> Layouts::unstrided(OpId reader, ValueId operand) const {
  const std::vector<ValueId> views = views_of(reader, operand);
  Strides strides = dense(graph_.type(views.back()).shape);
  for (size_t i = views.size() - 1; i-- > 0;) {
    const Op& op = graph_.producer(views[i]);
    if (op.kind == OpKind::transpose) {
      const Strides before = strides;
      const auto& permutation = graph_.attributes<TransposeAttributes>(op).permutation;
      for (size_t dim = 0; dim < permutation.size(); ++dim) {
        strides.sizes[dim] = before.sizes[permutation[dim]];
        strides.steps[dim] = before.steps[permutation[dim]];
      }
    } else if (op.kind == OpKind::reshape) {
      auto next = reshaped(strides, graph_.type(views[i]).shape);
      if (!next) return views[i + 1];
      strides = std::move(*next);
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
