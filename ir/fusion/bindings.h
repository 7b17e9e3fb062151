// SPDX-License-Identifier: Apache-2.0
// Binds the values of a set of ops to atoms: walks each operand through movement ops back to a
// computed value of the set or to memory. Used by legality alone.
#pragma once

#include "ir/fusion/legality.h"

#include <map>
#include <optional>

namespace ingot {

/// A value as a point of the domain sees it.
struct Bound {
  AtomShape dims;
  std::optional<Access> access; ///< when it comes from memory
  /// The access's dims are this value's dims, one to one and in order: a reshape may re-root it.
  bool plain = false;
  /// Of a computed value that is stored in part: which of its elements, dim by dim. Its dims are
  /// those of the whole.
  llvm::SmallVector<AxisRange, 2> shown{};
  /// Dims of which one element is shown, and which a reshape has dropped.
  llvm::SmallVector<std::pair<AtomList, AxisRange>, 1> dropped{};
};

/// How two reads of one tensor relate. Shared reads see one point of the tensor together, so that
/// softmax(x) reads x once; independent reads let x + transpose(x) read it at two points.
enum class ReadSharing : uint8_t { shared, independent };

class Bindings {
public:
  Bindings(const GroupContext& context, ReadSharing sharing)
      : context_(context), graph_(context.graph), sharing_(sharing) {}

  AxisSpace space;

  /// The atoms of `value` as `reader` sees it, and its access when it comes from memory. A refusal
  /// when a movement op cannot be expressed as index arithmetic here.
  std::variant<Bound, Refusal> bind(OpId reader, ValueId value);
  /// The same, at points that no other read sees.
  std::variant<Bound, Refusal> bind_alone(OpId reader, ValueId value);
  /// What a computed value's `reader` stores of it, which may be a part.
  std::variant<Bound, Refusal> bind_stored(OpId reader, ValueId value);
  /// Declares a value computed by the set.
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
  bool storing_ = false; ///< a computed value may be bound in part
  std::map<ValueId, AtomShape> defined_;
  std::map<ValueId, Bound> shared_; ///< what reads of a value, or of a movement of one, share
};

} // namespace ingot
