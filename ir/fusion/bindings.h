// SPDX-License-Identifier: Apache-2.0
// Binds the values of a set of ops to atoms. Walks from each operand through movement ops back to a
// computed value of the set or to memory. Used by legality alone.
#pragma once

#include "ir/fusion/legality.h"

#include <map>
#include <optional>

namespace ingot {

/// A value as a function of a point of the domain.
struct Bound {
  AtomShape dims;
  std::optional<Access> access; ///< set if it comes from memory
  /// The access's dims are this value's dims, one to one and in order. A reshape may then replace
  /// the shape of the access.
  bool plain = false;
  /// If a slice of a computed value is stored: the stored elements, dim by dim. `dims` then has the
  /// dims of the whole value.
  llvm::SmallVector<AxisRange, 2> shown{};
  /// Dims of which one element is stored, and which a reshape has dropped.
  llvm::SmallVector<std::pair<AtomList, AxisRange>, 1> dropped{};
};

/// The relation of two reads of one tensor. Shared reads see the same point of the tensor, so that
/// softmax(x) reads x once. Independent reads let x + transpose(x) read it at two points.
enum class ReadSharing : uint8_t { shared, independent };

class Bindings {
public:
  Bindings(const GroupContext& context, ReadSharing sharing)
      : context_(context), graph_(context.graph), sharing_(sharing) {}
  /// `bound` in a context that says the same about its ops.
  Bindings(const Bindings& bound, const GroupContext& context)
      : space(bound.space), context_(context), graph_(context.graph), sharing_(bound.sharing_),
        defined_(bound.defined_), shared_(bound.shared_) {}

  AxisSpace space;

  /// The atoms of `value` at `reader`, and its access if it comes from memory. Refuses a movement
  /// op that cannot be expressed as index arithmetic here.
  std::variant<Bound, Refusal> bind(OpId reader, ValueId value);
  /// The same, at points of its own that no other read shares.
  std::variant<Bound, Refusal> bind_alone(OpId reader, ValueId value);
  /// The elements of a computed value that `reader` stores, which may be a slice of it.
  std::variant<Bound, Refusal> bind_stored(OpId reader, ValueId value);
  /// Declares that the set computes a value.
  void define(ValueId value, AtomShape dims) { defined_[value] = std::move(dims); }
  bool defines(ValueId value) const { return defined_.count(value) != 0; }
  const std::map<ValueId, AtomShape>& defined() const { return defined_; }

private:
  std::variant<Bound, Refusal> bind_memory(OpId reader, ValueId value);
  Bound bind_tensor(ValueId value);
  std::variant<Bound, Refusal> move(const Op& op, Bound operand);
  std::variant<Bound, Refusal> reshape(const Op& op, Bound operand);
  std::variant<Bound, Refusal> slice(const Op& op, Bound operand);
  std::variant<Bound, Refusal> window(const Op& op, Bound operand);
  std::variant<Bound, Refusal> reshape_shown(const Op& op, Bound operand);
  std::variant<Bound, Refusal> show(const Op& op, Bound operand) const;
  bool narrow(Bound& operand, size_t d, const Dim& extent, const AxisRange& part);
  bool is_partial(ValueId value) const;
  bool repeats(const Bound& bound, size_t d) const;

  const GroupContext& context_;
  const Graph& graph_;
  ReadSharing sharing_;
  bool storing_ = false; ///< a slice of a computed value may be bound
  std::map<ValueId, AtomShape> defined_;
  std::map<ValueId, Bound> shared_; ///< by value or movement, the binding that its reads share
};

} // namespace ingot
