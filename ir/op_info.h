// SPDX-License-Identifier: Apache-2.0
// The rows of ops.def as data: properties of a primitive op that hold in every part of Ingot.
// Passes, the planner, the interpreter and codegen read them instead of listing ops.
#pragma once

#include "ir/types.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace ingot {

enum class OpKind : uint8_t {
#define INGOT_OP(name, ...) name,
#include "ir/ops.def"
};

enum class OpClass : uint8_t { source, elementwise, matmul, reduce, scan, gather, movement };

enum class TypeRule : uint8_t {
  input,
  constant,
  iota,
  extent,
  numeric,
  floating,
  compare,
  equality,
  logical,
  classify,
  choose,
  convert,
  matmul,
  reduce,
  reduce_float,
  reduce_index,
  scan,
  gather,
  reshape,
  transpose,
  broadcast,
  slice,
  concat,
  window,
};

/// The error of a float result, for operands that f32 holds.
enum class Accuracy : uint8_t {
  exact,
  rounded,
  exact_at_0,
  exact_at_1,
  exact_at_some,
  approximate,
};

/// How a float result moves while operand 0 grows.
enum class Order : uint8_t { none, rises, falls, by_sign };

/// The bits of OpInfo::traits.
namespace op_trait {
enum : uint16_t {
  commutes = 1 << 0,
  idempotent = 1 << 1,
  linear = 1 << 2,
  divides = 1 << 3,
  picks = 1 << 4,
  keeps_all = 1 << 5,
  positive = 1 << 6,
  rounds_literals = 1 << 7,
  short_form = 1 << 8,
  scalar = 1 << 9,
  shaped = 1 << 10,
  rescales = 1 << 11,
  scales = 1 << 12,
  jumps = 1 << 13,
};
} // namespace op_trait

/// One row of ops.def, which explains the columns.
struct OpInfo {
  OpKind kind;
  llvm::StringRef name;    ///< as spelled in the text language
  llvm::StringRef functor; ///< in the device library, of an elementwise op
  OpClass op_class;
  int arity;
  int results;
  TypeRule rule;
  Accuracy accuracy;
  Order order;
  double instructions; ///< per element, roughly
  uint16_t traits;

  bool commutes() const { return (traits & op_trait::commutes) != 0; }
  bool is_idempotent() const { return (traits & op_trait::idempotent) != 0; }
  bool is_linear() const { return (traits & op_trait::linear) != 0; }
  bool divides() const { return (traits & op_trait::divides) != 0; }
  bool picks() const { return (traits & op_trait::picks) != 0; }
  bool keeps_all() const { return (traits & op_trait::keeps_all) != 0; }
  bool needs_positive() const { return (traits & op_trait::positive) != 0; }
  bool rounds_literals() const { return (traits & op_trait::rounds_literals) != 0; }
  bool has_short_form() const { return (traits & op_trait::short_form) != 0; }
  bool rescales() const { return (traits & op_trait::rescales) != 0; }
  bool jumps() const { return (traits & op_trait::jumps) != 0; }
  bool scales() const { return (traits & op_trait::scales) != 0; }
  bool is_scalar() const { return (traits & op_trait::scalar) != 0; }
  bool is_shaped() const { return (traits & op_trait::shaped) != 0; }
};
const OpInfo& info(OpKind kind);
llvm::ArrayRef<OpInfo> all_ops();

/// A reduction of the results of parts of equal length.
enum class OfParts : uint8_t { none, same, spread };

/// One row INGOT_REDUCER of ops.def, which explains the columns.
struct ReducerInfo {
  OpKind op;
  const char* device; ///< a format of the element type
  int values;
  int indices;
  int sweeps;
  std::optional<OpKind> combine;
  double identity;
  OfParts of_parts;
};
/// The reducer of a reduction or scan; null for other ops.
const ReducerInfo* reducer_of(OpKind kind);
llvm::ArrayRef<ReducerInfo> all_reducers();
/// The bytes of a reducer's state in the device library. `dtype`: type of the reduced elements.
int64_t state_bytes(OpKind kind, DType dtype);

/// True for values that kernels recompute unless they are stored: constants, iotas, extents.
bool is_computed_source(OpKind kind);
/// True for movement ops of one operand: the result has elements of it at other places.
bool is_view(OpKind kind);
/// True for argmax and argmin.
bool is_index_reduction(OpKind kind);
/// True for reduce_max and reduce_min: reductions by an idempotent op.
bool is_extremum(OpKind kind);

} // namespace ingot
