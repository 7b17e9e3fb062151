// SPDX-License-Identifier: Apache-2.0
// See op_info.h.
#include "ir/op_info.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

// Enum values that would be C++ keywords end in an underscore, which is not part of the name.
llvm::StringRef written(llvm::StringRef name) {
  return name.back() == '_' ? name.drop_back() : name;
}

} // namespace

llvm::ArrayRef<OpInfo> all_ops() {
  using namespace op_trait;
  static const OpInfo ops[] = {
#define INGOT_OP(name, op_class, arity, results, rule, accuracy, order, instructions, traits)      \
  {OpKind::name,   written(#name),     #name,        OpClass::op_class, arity, results,            \
   TypeRule::rule, Accuracy::accuracy, Order::order, instructions,      traits},
#include "ir/ops.def"
  };
  return ops;
}

const OpInfo& info(OpKind kind) { return all_ops()[static_cast<size_t>(kind)]; }

llvm::ArrayRef<ReducerInfo> all_reducers() {
  using enum OpKind;
  constexpr auto none = std::nullopt;
  static const ReducerInfo reducers[] = {
#define INGOT_REDUCER(op, device, values, indices, sweeps, combine, identity, of_parts)            \
  {op, device, values, indices, sweeps, combine, identity, OfParts::of_parts},
#include "ir/ops.def"
  };
  return reducers;
}

const ReducerInfo* reducer_of(OpKind kind) {
  const auto* found =
      llvm::find_if(all_reducers(), [&](const ReducerInfo& reducer) { return reducer.op == kind; });
  return found == all_reducers().end() ? nullptr : found;
}

int64_t state_bytes(OpKind kind, DType dtype) {
  const ReducerInfo& reducer = *reducer_of(kind);
  const int64_t in_register = size_of(dtype) == 8 ? 8 : 4;
  const int64_t values = reducer.values * in_register;
  return reducer.indices == 0 ? values : (values + 7) / 8 * 8 + 8 * reducer.indices;
}

bool is_computed_source(OpKind kind) {
  return info(kind).op_class == OpClass::source && kind != OpKind::input;
}

bool is_view(OpKind kind) {
  return info(kind).op_class == OpClass::movement && info(kind).arity == 1;
}

bool is_index_reduction(OpKind kind) { return info(kind).rule == TypeRule::reduce_index; }

bool is_extremum(OpKind kind) {
  const ReducerInfo* reducer = reducer_of(kind);
  return reducer != nullptr && reducer->combine && info(*reducer->combine).is_idempotent();
}

} // namespace ingot
