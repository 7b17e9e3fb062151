// SPDX-License-Identifier: Apache-2.0
// The graph of primitive ops. It only grows, so it is in SSA form and topologically sorted by
// construction. A value has its checked type from the start. The text language and the builder make
// graphs; passes rewrite them.
#pragma once

#include "ir/op_info.h"
#include "ir/types.h"
#include "src/support/error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace ingot {

struct ValueId {
  uint32_t index = UINT32_MAX;
  friend bool operator==(ValueId a, ValueId b) { return a.index == b.index; }
  friend auto operator<=>(ValueId a, ValueId b) = default;
};
struct OpId {
  uint32_t index = UINT32_MAX;
  friend bool operator==(OpId a, OpId b) { return a.index == b.index; }
  friend auto operator<=>(OpId a, OpId b) = default;
};

/// The place of an op in the text; line 0: not from text.
struct SourceLocation {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// The text of a graph spec, for diagnostics of later phases.
struct Spec {
  std::string text, file_name;
};

/// An error with a place in the spec.
class LocatedError : public llvm::ErrorInfo<LocatedError, IngotError> {
public:
  static char ID;
  LocatedError(ErrorCode code, std::string message, SourceLocation location)
      : ErrorInfo(code, std::move(message)), location_(location) {}
  SourceLocation location() const { return location_; }

private:
  SourceLocation location_;
};

/// Attributes of ops. Axes count from 0. In a graph they are neither negative nor repeated.
struct NoAttributes {
  friend bool operator==(const NoAttributes&, const NoAttributes&) = default;
};
/// The message about a number that overflows_f32.
inline constexpr const char* kBeyondF32 =
    "beyond f32, in which kernels hold literals: expected -3.4028235e+38 to 3.4028235e+38, or inf";

/// A literal. A float is stored as its exact value in f64 and compared by its bits; it never
/// overflows_f32. Integers and bool use `integer`.
struct ConstantAttributes {
  DType dtype = DType::f32;
  double real = 0;
  int64_t integer = 0;
  friend bool operator==(const ConstantAttributes& a, const ConstantAttributes& b);
};
struct InputAttributes {
  std::string name;
  enum class Role : uint8_t { input, param } role = Role::input;
  Type type;
  friend bool operator==(const InputAttributes&, const InputAttributes&) = default;
};
/// Values 0, 1, 2, ... along `axis`. The type is i32, i64 or a float type.
struct IotaAttributes {
  int64_t axis = 0;
  Type type;
  friend bool operator==(const IotaAttributes&, const IotaAttributes&) = default;
};
/// The number of elements of `shape`, as a scalar of i64 or a float type.
struct ExtentAttributes {
  DType dtype = DType::f32;
  Shape shape;
  friend bool operator==(const ExtentAttributes&, const ExtentAttributes&) = default;
};
struct CastAttributes {
  DType dtype = DType::f32;
  friend bool operator==(const CastAttributes&, const CastAttributes&) = default;
};
/// a: [batch.., M, K] or, transposed, [batch.., K, M]. b: [batch.., K, N] or [batch.., N, K]. Batch
/// dims of both are equal. The builder inserts broadcasts; Graph does not.
struct MatmulAttributes {
  bool transpose_a = false;
  bool transpose_b = false;
  friend bool operator==(const MatmulAttributes&, const MatmulAttributes&) = default;
};
/// The axes to reduce, sorted, at least one. argmax and argmin take exactly one.
struct ReduceAttributes {
  llvm::SmallVector<int64_t, 4> axes;
  friend bool operator==(const ReduceAttributes&, const ReduceAttributes&) = default;
};
/// The axis of gather and concat.
struct AxisAttributes {
  int64_t axis = 0;
  friend bool operator==(const AxisAttributes&, const AxisAttributes&) = default;
};
/// A scan along `axis`, from its end if reversed. An exclusive scan leaves out the element itself,
/// so its first result is the identity.
struct ScanAttributes {
  int64_t axis = 0;
  bool exclusive = false, reverse = false;
  friend bool operator==(const ScanAttributes&, const ScanAttributes&) = default;
};
/// reshape: same element count. broadcast: aligned at the last dim; extents of 1 are repeated.
struct ShapeAttributes {
  Shape shape;
  friend bool operator==(const ShapeAttributes&, const ShapeAttributes&) = default;
};
/// Dim i of the result is dim permutation[i] of the operand.
struct TransposeAttributes {
  llvm::SmallVector<int64_t, 4> permutation;
  friend bool operator==(const TransposeAttributes&, const TransposeAttributes&) = default;
};
/// One start, stop and step > 0 per dim; 0 <= start < stop <= extent. A dim with a named extent is
/// taken whole: start 0, stop -1 (its end), step 1.
struct SliceAttributes {
  llvm::SmallVector<int64_t, 4> starts, stops, steps;
  friend bool operator==(const SliceAttributes&, const SliceAttributes&) = default;
};
/// The slice that takes everything.
SliceAttributes whole_slice(const Shape& shape);
inline constexpr int64_t kMostWindow = (int64_t{1} << 62) - 1;
/// Positions start to start + extent of an axis. If |start| and extent are numbers, they are at
/// most kMostWindow.
struct WindowAttributes {
  int64_t axis = 0;
  Dim start = 0, extent = 1;
  bool is_inside = false; ///< all positions lie in the operand; other sizes are refused at launch
  friend bool operator==(const WindowAttributes&, const WindowAttributes&) = default;
};

using Attributes = std::variant<NoAttributes, ConstantAttributes, InputAttributes, IotaAttributes,
                                ExtentAttributes, CastAttributes, MatmulAttributes,
                                ReduceAttributes, AxisAttributes, ScanAttributes, ShapeAttributes,
                                TransposeAttributes, SliceAttributes, WindowAttributes>;

struct Op {
  OpKind kind;
  llvm::SmallVector<ValueId, 3> operands;
  llvm::SmallVector<ValueId, 2> results;
  Attributes attributes;
  SourceLocation location;
};

struct Value {
  Type type;
  OpId op;                       ///< the op that yields it
  uint32_t result = 0;           ///< the index among the op's results
  std::string name;              ///< from the text; may be empty, need not be unique
  std::optional<DType> stored{}; ///< element type in memory, if not the type's
};

struct GraphOutput {
  std::string name; ///< unique among inputs and outputs
  ValueId value;
};

class Graph {
public:
  explicit Graph(std::string name = "graph") : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  llvm::ArrayRef<Op> ops() const { return ops_; }
  llvm::ArrayRef<Value> values() const { return values_; }
  llvm::ArrayRef<GraphOutput> outputs() const { return outputs_; }
  /// Inputs and params in order of declaration.
  llvm::ArrayRef<ValueId> inputs() const { return inputs_; }

  const Op& op(OpId id) const { return ops_[id.index]; }
  const Value& value(ValueId id) const { return values_[id.index]; }
  const Type& type(ValueId id) const { return values_[id.index].type; }
  /// The element type of a value in memory. It is the value's own, unless store_in chose another.
  DType stored_type(ValueId id) const {
    return values_[id.index].stored.value_or(values_[id.index].type.dtype);
  }
  /// Chooses the element type in memory of an intermediate float value, between kernels.
  void store_in(ValueId id, DType dtype) { values_[id.index].stored = dtype; }
  /// The op that yields a value.
  const Op& producer(ValueId id) const { return ops_[values_[id.index].op.index]; }
  template <typename T> const T& attributes(const Op& op) const {
    return std::get<T>(op.attributes);
  }

  /// Appends an op. Checks its operands and attributes and infers its result types. Elementwise
  /// operands have the same shape or rank 0 (a rank-0 operand is broadcast). Equal rank-0 constants
  /// are shared. Extents are at least 1. A tensor has at most kMaxRank dims and less than 2^63
  /// bytes. Its named dims are names of the inputs. Errors: ErrorCode::type_error, with the op,
  /// both shapes and the rule.
  llvm::Expected<OpId> add(OpKind kind, llvm::ArrayRef<ValueId> operands,
                           Attributes attributes = NoAttributes{}, SourceLocation location = {});
  /// Appends an op with one result.
  llvm::Expected<ValueId> add_value(OpKind kind, llvm::ArrayRef<ValueId> operands,
                                    Attributes attributes = NoAttributes{},
                                    SourceLocation location = {});

  /// Appends an op of another graph. The operands must have the types that they have there. The op
  /// is not an input, and this graph must accept it.
  OpId copy_op(const Graph& from, OpId id, llvm::ArrayRef<ValueId> operands);
  /// The sizes of a graph's lists at some time. rewind cuts the lists back to them.
  struct Mark {
    size_t ops, values, inputs, outputs, dim_names, requirements;
  };
  Mark mark() const;
  /// Removes everything that was added since the mark, including the remains of an add that ran out
  /// of memory. Names and stored types that older values got since then stay. Allocates nothing.
  void rewind(const Mark& mark);
  /// The graph of the first `count` ops, with capacity for all.
  Graph first_ops(size_t count) const;

  /// Names are identifiers ([A-Za-z_][A-Za-z0-9_]*) and no words of the language. Each is used
  /// once.
  llvm::Expected<ValueId> add_input(llvm::StringRef name, Type type, InputAttributes::Role role,
                                    SourceLocation location = {});
  /// Appends a rank-0 constant; for bool it is `value != 0`. Errors: type_error if an integer type
  /// does not have the value.
  llvm::Expected<ValueId> add_constant(DType dtype, double value, SourceLocation location = {});

  void set_name(ValueId id, llvm::StringRef name) { values_[id.index].name = name.str(); }
  /// Declares a result. Errors: the name is taken or is not an identifier.
  llvm::Error add_output(llvm::StringRef name, ValueId value);

  /// The text of a parsed graph; null for a built one.
  const std::shared_ptr<const Spec>& spec() const { return spec_; }
  void set_spec(std::shared_ptr<const Spec> spec) { spec_ = std::move(spec); }

  /// Expressions that must be at least 0 at launch: extents with a difference, and the distance of
  /// a slice from the end of its tensor. Each occurs once. They stay when their ops are removed.
  llvm::ArrayRef<Dim> requirements() const { return requirements_; }

  /// All named dimensions, in order of first use in inputs.
  const std::vector<std::string>& dim_names() const { return dim_names_; }

private:
  llvm::Expected<OpId> append(Op op);
  OpId push(Op op, llvm::MutableArrayRef<Type> types);
  void require(const Dim& dim);
  void require_sizes(const Op& op, llvm::ArrayRef<Type> types);
  llvm::Error claim_name(llvm::StringRef what, llvm::StringRef name);
  llvm::Error check_dim_names(const Op& op, const Shape& shape) const;

  std::string name_;
  std::vector<Op> ops_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<GraphOutput> outputs_;
  std::vector<std::string> dim_names_;
  std::vector<Dim> requirements_;
  std::shared_ptr<const Spec> spec_;
  llvm::StringSet<> taken_names_; // names of inputs and outputs
  std::map<std::tuple<DType, uint64_t, int64_t>, OpId> constants_;
};

/// [A-Za-z_][A-Za-z0-9_]*, and no word of the language such as `return` or `f32`.
bool is_identifier(llvm::StringRef text);

/// The result types of an op, or a type_error. Graph::add and the verifier share it.
llvm::Expected<llvm::SmallVector<Type, 2>> infer_types(OpKind kind, llvm::ArrayRef<Type> operands,
                                                       const Attributes& attributes);

/// For each value, how often it is an operand or an output.
std::vector<uint32_t> count_uses(const Graph& graph);

/// Follows movement ops from `value` back to a source, a compute op or a concat.
ValueId root_of(const Graph& graph, ValueId value);

/// Checks all invariants that Graph::add guarantees.
llvm::Error verify(const Graph& graph);

} // namespace ingot
