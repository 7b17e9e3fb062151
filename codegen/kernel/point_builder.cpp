// SPDX-License-Identifier: Apache-2.0
// See point_builder.h.
#include "codegen/kernel/point_builder.h"

#include "ir/assumed_size.h"
#include "ir/fusion/legality.h"
#include "ir/jumps.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

void PointBuilder::begin(const std::vector<TileValue>& slots) {
  expr_ = {};
  known_.clear();
  slots_ = slots;
}

/// Adds the steps of `target`, and returns the last of them.
uint32_t PointBuilder::complete(const TileValue& target) {
  // A chain of ops may be too long for recursion.
  std::vector<TileValue> open = {target};
  uint32_t last = 0;
  while (!open.empty()) {
    const auto missing = missing_operands(open.back());
    if (missing.empty()) {
      last = evaluate(open.back());
      open.pop_back();
    }
    open.insert(open.end(), missing.rbegin(), missing.rend());
  }
  return last;
}

PointExpr PointBuilder::build(const TileValue& target, const std::vector<TileValue>& slots) {
  begin(slots);
  const uint32_t last = complete(target);
  INGOT_ASSERT(last + 1 == expr_.ops.size());
  return std::move(expr_);
}

PointExpr PointBuilder::build_factors(DType dtype, llvm::ArrayRef<RowFactor> factors,
                                      const Dim& depth) {
  begin({});
  uint32_t step = push({.kind = Kind::slot, .dtype = dtype});
  for (const RowFactor& factor : factors) {
    const Op& op = graph_.op(factor.op);
    if (op.kind == OpKind::cast) continue; // the elements were rounded
    PointOp applied{.kind = Kind::call, .dtype = dtype, .function = function_of(op, op.results[0])};
    for (uint32_t k = 0; k < op.operands.size(); ++k)
      applied.operands.push_back(k == factor.element ? step
                                                     : complete(from_.values.source(factor.op, k)));
    step = push(std::move(applied));
  }
  if (depth.is_fixed()) return std::move(expr_);
  const uint32_t none = push({.kind = Kind::number, .dtype = DType::i64, .number = {}});
  const uint32_t terms =
      push({.kind = Kind::number, .dtype = DType::i64, .number = dim_expr(depth)});
  const uint32_t some = push({.kind = Kind::call,
                              .dtype = DType::boolean,
                              .function = {.op = OpKind::greater, .from = DType::i64},
                              .operands = {terms, none}});
  const uint32_t zero = push({.kind = Kind::constant, .dtype = dtype});
  push({.kind = Kind::call,
        .dtype = dtype,
        .function = {.op = OpKind::select, .from = DType::boolean},
        .operands = {some, step, zero}});
  return std::move(expr_);
}

uint32_t PointBuilder::push(PointOp op) {
  expr_.ops.push_back(std::move(op));
  return static_cast<uint32_t>(expr_.ops.size() - 1);
}

llvm::SmallVector<TileValue, 3> PointBuilder::missing_operands(const TileValue& target) const {
  if (llvm::is_contained(slots_, target)) return {};
  auto missing = from_.values.operands(target);
  llvm::erase_if(missing, [&](const TileValue& operand) {
    // Literals need no operands, and are not always an operand of the step.
    const bool is_literal =
        !operand.is_read && info(graph_.producer(operand.id()).kind).is_scalar();
    return is_literal || known_.count(operand);
  });
  return missing;
}

uint32_t PointBuilder::evaluate(const TileValue& target) {
  if (auto known = known_.find(target); known != known_.end()) return known->second;
  const ValueId value = target.is_read ? group_.reads[target.index].access.value : target.id();
  const DType dtype = graph_.type(value).dtype;
  const OpId id = graph_.value(value).op;
  const Op& op = graph_.op(id);
  uint32_t step = 0;
  if (const auto slot = llvm::find(slots_, target); slot != slots_.end()) {
    step = push({.kind = Kind::slot,
                 .dtype = dtype,
                 .index = static_cast<uint32_t>(slot - slots_.begin())});
    if (!target.is_read && is_product(group_, graph_, value)) step = rounded(value, step);
  } else if (target.is_read) {
    step = evaluate_read(target);
  } else if (info(op.kind).is_scalar()) {
    step = evaluate_source(op, dtype);
  } else if (from_.stages.count(id)) {
    step = result_of(graph_.value(value), Kind::result);
  } else {
    step = evaluate_op(id, value);
  }
  return known_[target] = step;
}

uint32_t PointBuilder::evaluate_source(const Op& op, DType dtype) {
  if (const auto* constant = std::get_if<ConstantAttributes>(&op.attributes))
    return push({.kind = Kind::constant, .dtype = dtype, .constant = *constant});
  const auto& extent = graph_.attributes<ExtentAttributes>(op);
  return push({.kind = Kind::number,
               .dtype = extent.dtype,
               .number = dim_expr(element_count(extent.shape))});
}

uint32_t PointBuilder::result_of(const Value& value, Kind kind) {
  return push({.kind = kind,
               .dtype = value.type.dtype,
               .index = from_.stages.at(value.op),
               .result = value.result});
}

uint32_t PointBuilder::evaluate_read(const TileValue& target) {
  const Read& read = group_.reads[target.index];
  const Value& value = graph_.value(read.access.value);
  const DType dtype = value.type.dtype;
  if (read.combine || read.computed)
    return result_of(value, read.at_points ? Kind::merged : Kind::result);
  if (is_computed_iota(graph_, read)) {
    const uint32_t number =
        push({.kind = Kind::number, .dtype = dtype, .number = iota_number(read)});
    // Its values are rounded to its type, as if it were in memory.
    return is_16_bit(dtype) ? push({.kind = Kind::round, .dtype = dtype, .operands = {number}})
                            : number;
  }
  return push({.kind = Kind::read, .dtype = dtype, .index = frame_read(target.index)});
}

/// The index of a read in the frame. Reads of the same element are merged.
uint32_t PointBuilder::frame_read(size_t index) {
  const auto [entry, added] = reads_.try_emplace(index, static_cast<uint32_t>(frame_.reads.size()));
  if (!added) return entry->second;
  const Access& access = group_.reads[index].access;
  MemoryRead read{from_.parameters.at(access.value), index_map(group_, access, coordinates_),
                  dim_expr(reached_elements(group_, access))};
  const auto same = llvm::find_if(frame_.reads, [&](const MemoryRead& known) {
    return known.parameter == read.parameter && known.map.index == read.map.index;
  });
  if (same == frame_.reads.end()) {
    frame_.reads.push_back(std::move(read));
    return entry->second;
  }
  // An access must be legal for both.
  llvm::append_range(same->map.multiples, read.map.multiples);
  return entry->second = static_cast<uint32_t>(same - frame_.reads.begin());
}

/// The position along the axis of the iota, from the index that the element would have in memory.
Expr PointBuilder::iota_number(const Read& read) const {
  const Op& op = graph_.producer(read.access.value);
  const Shape& shape = graph_.type(read.access.value).shape;
  const auto axis = static_cast<size_t>(graph_.attributes<IotaAttributes>(op).axis);
  if (read.access.shape == shape) { // one dim is the axis, or a slice of it
    Access along = read.access;
    along.shape = {shape[axis]};
    along.dims = AtomShape{read.access.dims[axis]};
    if (!along.ranges.empty()) along.ranges = {read.access.ranges[axis]};
    return index_map(group_, along, coordinates_).index;
  }
  Dim below = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d) below = below * shape[d];
  const Expr index = index_map(group_, read.access, coordinates_).index / dim_expr(below);
  return axis == 0 ? index : index % dim_expr(shape[axis]);
}

/// A load at a computed index. The index is checked. The rows and columns along which the table
/// varies are checked too: outside of the domain there is no element to load. Other rows or columns
/// need no check.
uint32_t PointBuilder::evaluate_gather(OpId id, ValueId value) {
  const Op& op = graph_.op(id);
  const auto table = llvm::find_if(
      group_.reads, [&](const Read& r) { return r.op == id && reads_memory(op, r.operand); });
  const uint32_t position = evaluate(from_.values.source(id, 1));
  std::vector<CoordinateFactors> coordinates = coordinates_;
  const AtomList indexed = group_.space.leaves(table->indexed);
  coordinates.push_back({Coordinate::at, indexed});
  const AtomList leaves = group_.space.leaves(table->access.dims);
  const auto varies = [&](const AtomList& along) {
    return llvm::any_of(along, [&](Atom atom) {
      return llvm::is_contained(leaves, atom) && !llvm::is_contained(indexed, atom);
    });
  };
  const auto axis = graph_.attributes<AxisAttributes>(op).axis;
  frame_.gathers.push_back(
      {from_.parameters.at(table->access.value), index_map(group_, table->access, coordinates),
       dim_expr(graph_.type(op.operands[0]).shape[axis]), varies(group_.domain.rows),
       varies(group_.domain.columns), dim_expr(element_count(graph_.type(op.results[0]).shape))});
  return push({.kind = Kind::gather,
               .dtype = graph_.type(value).dtype,
               .index = static_cast<uint32_t>(frame_.gathers.size() - 1),
               .operands = {position}});
}

uint32_t PointBuilder::evaluate_op(OpId id, ValueId value) {
  const Op& op = graph_.op(id);
  if (op.kind == OpKind::gather) return evaluate_gather(id, value);
  INGOT_ASSERT(info(op.kind).op_class == OpClass::elementwise);
  PointOp step{
      .kind = Kind::call, .dtype = graph_.type(value).dtype, .function = function_of(op, value)};
  const bool is_reciprocal = step.function.form == DeviceFunction::Form::reciprocal;
  const bool rounds = jumps(graph_, op);
  for (uint32_t k = is_reciprocal ? 1 : 0; k < op.operands.size(); ++k) {
    const TileValue operand = from_.values.source(id, k);
    step.operands.push_back(rounds ? evaluate_rounded(operand) : evaluate(operand));
  }
  return rounded(value, push(std::move(step)));
}

/// A value of a 16-bit type, rounded to it if it was computed in f32.
uint32_t PointBuilder::evaluate_rounded(const TileValue& target) {
  const uint32_t step = evaluate(target);
  const DType dtype = expr_.ops[step].dtype;
  const Kind kind = expr_.ops[step].kind;
  const bool is_loaded =
      target.is_read && is_16_bit(graph_.stored_type(group_.reads[target.index].access.value));
  if (!is_16_bit(dtype) || is_loaded || kind == Kind::round || kind == Kind::constant) return step;
  return push({.kind = Kind::round, .dtype = dtype, .operands = {step}});
}

/// Rounds a value if it is in Group::rounded.
uint32_t PointBuilder::rounded(ValueId value, uint32_t step) {
  if (!llvm::is_contained(group_.rounded, value)) return step;
  return push({.kind = Kind::round, .dtype = graph_.type(value).dtype, .operands = {step}});
}

DeviceFunction PointBuilder::function_of(const Op& op, ValueId value) const {
  using Form = DeviceFunction::Form;
  const DType to = graph_.type(value).dtype;
  DeviceFunction function{Form::usual, op.kind, false, graph_.type(op.operands[0]).dtype};
  if (op.kind == OpKind::div && is_float(to)) {
    const Range& divisor = from_.ranges[op.operands[1].index];
    if (divisor.low >= 0.5 && is_one(op.operands[0]))
      function.form = Form::reciprocal;
    else if (divisor.low >= 0.5 && divisor.high <= 0x1p120)
      function.form = Form::bounded;
    else if (is_shared(op.operands[1], value))
      function.form = Form::shared;
  }
  const bool is_bounded = function.form == Form::bounded || function.form == Form::reciprocal;
  const bool has_short_form = info(op.kind).has_short_form() || is_bounded;
  function.is_short = has_short_form && is_16_bit(to);
  return function;
}

/// True if several elements of `value` are computed from each element of `operand`.
bool PointBuilder::is_shared(ValueId operand, ValueId value) const {
  const auto count = [&](ValueId of) { return likely_count(element_count(graph_.type(of).shape)); };
  return count(root_of(graph_, operand)) < count(value);
}

bool PointBuilder::is_one(ValueId value) const {
  const Op& op = graph_.producer(value);
  return op.kind == OpKind::constant && graph_.attributes<ConstantAttributes>(op).real == 1;
}

} // namespace ingot
