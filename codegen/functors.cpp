// SPDX-License-Identifier: Apache-2.0
// See functors.h.
#include "codegen/functors.h"

#include "ir/fusion/legality.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace ingot {

static const char* const kParams = "[[maybe_unused]] const auto& p = x.params;";

void AccessNeeds::add(ValueId value, DType dtype, const IndexFormula& formula, int64_t vec) {
  if (vec == 1) return;
  alignments.push_back({value, vec * size_of(dtype)});
  for (const Dim& dim : formula.divisible) divisible.push_back({dim, vec});
}

bool is_computed_iota(const Graph& graph, const Read& read) {
  return graph.producer(read.access.value).kind == OpKind::iota &&
         !reads_memory(graph.op(read.op), read.operand);
}

std::string along_of(const IndexFormula& formula) {
  const bool row = formula.varies[1], col = formula.varies[2];
  return row && col ? "Along::both" : row ? "Along::row" : col ? "Along::col" : "Along::none";
}

void FunctorWriter::write(CodeWriter& out, const std::string& name, const TileValue& target,
                          const std::vector<TileValue>& slots,
                          llvm::ArrayRef<std::string> comment) {
  Body body;
  body.slots = slots;
  const std::string result = evaluate_all(body, target);
  for (const OperandStruct& operand : pending_) write_operand(out, operand);
  pending_.clear();
  const DType dtype =
      graph_.type(target.is_read ? group_.reads[target.index].access.value : target.id()).dtype;
  for (const std::string& line : comment) out.line("/// {}", line);
  auto block = out.block(fmt::format("struct {}", name), "};");
  out.line("using Operands = List<{}>;", fmt::join(body.operands, ", "));
  auto eval = out.block(fmt::format("template <class X> static INGOT_DEVICE {} eval(const X& x)",
                                    register_type(dtype).str()));
  for (const std::string& line : body.lines) out.line("{}", line);
  out.line("return {};", result);
}

std::string FunctorWriter::assign(Body& body, const TileValue& target, ValueId named, DType dtype,
                                  const std::string& code) {
  // Locals begin with a small letter and so hide no type.
  std::string wanted = value_name(graph_, named);
  if (llvm::isUpper(wanted[0])) wanted = "v" + wanted;
  const std::string name = body.names.unique(wanted);
  body.lines.push_back(fmt::format("const {} {} = {};", register_type(dtype).str(), name, code));
  return body.known[target] = name;
}

llvm::SmallVector<TileValue, 3> FunctorWriter::missing_operands(const Body& body,
                                                                const TileValue& target) const {
  if (target.is_read || llvm::is_contained(body.slots, target)) return {};
  const OpId id = graph_.value(target.id()).op;
  const Op& op = graph_.op(id);
  const OpClass op_class = info(op.kind).op_class;
  if (op_class != OpClass::elementwise && op_class != OpClass::gather) return {};
  llvm::SmallVector<TileValue, 3> missing;
  for (uint32_t k = 0; k < op.operands.size(); ++k) {
    if (reads_memory(op, k)) continue;
    const TileValue operand = source_of(graph_, group_, id, k);
    const bool scalar = !operand.is_read && is_scalar_source(graph_.producer(operand.id()).kind);
    if (!scalar && !body.known.count(operand)) missing.push_back(operand);
  }
  return missing;
}

std::string FunctorWriter::evaluate_all(Body& body, const TileValue& target) {
  // A chain may be longer than any call stack is deep.
  std::vector<TileValue> open = {target};
  std::string result;
  while (!open.empty()) {
    const auto missing = missing_operands(body, open.back());
    if (missing.empty()) {
      result = evaluate(body, open.back());
      open.pop_back();
    }
    open.insert(open.end(), missing.rbegin(), missing.rend());
  }
  return result;
}

std::string FunctorWriter::evaluate(Body& body, const TileValue& target) {
  if (auto known = body.known.find(target); known != body.known.end()) return known->second;
  const ValueId value = target.is_read ? group_.reads[target.index].access.value : target.id();
  for (size_t slot = 0; slot < body.slots.size(); ++slot)
    if (body.slots[slot] == target) {
      const std::string held = fmt::format("x.template tile<{}>()", slot);
      const bool is_product = !target.is_read && graph_.producer(value).kind == OpKind::matmul;
      return assign(body, target, value, graph_.type(value).dtype,
                    is_product ? rounded(value, held) : held);
    }
  if (target.is_read) return evaluate_read(body, target);
  const OpId op = graph_.value(value).op;
  if (graph_.op(op).kind == OpKind::constant)
    return literal(graph_.attributes<ConstantAttributes>(graph_.op(op)));
  if (graph_.op(op).kind == OpKind::extent) {
    need_params(body);
    const auto& extent = graph_.attributes<ExtentAttributes>(graph_.op(op));
    return fmt::format("static_cast<{}>({})", register_type(extent.dtype).str(),
                       dim_code(element_count(extent.shape)));
  }
  if (auto reduction = reduction_names.find(op); reduction != reduction_names.end())
    return assign(
        body, target, value, graph_.type(value).dtype,
        fmt::format("x.template result<{}, {}>()", reduction->second, graph_.value(value).result));
  return evaluate_op(body, op, value);
}

std::string FunctorWriter::evaluate_read(Body& body, const TileValue& target) {
  const Read& read = group_.reads[target.index];
  const Value& value = graph_.value(read.access.value);
  const DType dtype = value.type.dtype;
  if (read.at_points) {
    need_params(body);
    return assign(body, target, read.access.value, dtype,
                  fmt::format("merged<{}, {}>(p, x.row() < {} && x.col() < {}, x.batch(), x.row(), "
                              "x.col())",
                              reduction_names.at(value.op), value.result,
                              dim_code(group_.space.extent(group_.domain.rows)),
                              dim_code(group_.space.extent(group_.domain.columns))));
  }
  if (read.combine)
    return assign(
        body, target, read.access.value, dtype,
        fmt::format("x.template result<{}, {}>()", reduction_names.at(value.op), value.result));
  if (is_computed_iota(graph_, read)) {
    need_params(body);
    // Its values are those of its type, as if it lay in memory.
    const std::string number =
        fmt::format("static_cast<{}>({})", register_type(dtype).str(), iota_code(read));
    return assign(body, target, read.access.value, dtype,
                  is_half(dtype) ? fmt::format("math::Cast<{}, f32>::apply({})",
                                               storage_type(dtype).str(), number)
                                 : number);
  }
  const std::string& operand = operand_struct(target.index);
  if (std::find(body.operands.begin(), body.operands.end(), operand) == body.operands.end())
    body.operands.push_back(operand);
  return assign(body, target, read.access.value, dtype,
                fmt::format("x.template operand<{}>()", operand));
}

/// As a functor asks its point for them.
std::vector<Coordinate> FunctorWriter::point_coordinates() const {
  std::vector<Coordinate> coordinates = frame_.coordinates;
  for (Coordinate& coordinate : coordinates) coordinate.name = "x." + coordinate.name + "()";
  return coordinates;
}

void FunctorWriter::need_params(Body& body) const {
  if (body.lines.empty() || body.lines[0] != kParams)
    body.lines.insert(body.lines.begin(), kParams);
}

/// The index of the element that lies here, were the iota in memory, says where along its axis.
std::string FunctorWriter::iota_code(const Read& read) const {
  const Op& op = graph_.producer(read.access.value);
  const Shape& shape = graph_.type(read.access.value).shape;
  const auto axis = static_cast<size_t>(graph_.attributes<IotaAttributes>(op).axis);
  Dim below = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d) below = below * shape[d];
  const auto coordinates = point_coordinates();
  if (read.access.shape == shape) { // one dim is the axis, or a slice of it
    Access along = read.access;
    along.shape = {shape[axis]};
    along.dims = AtomShape{read.access.dims[axis]};
    if (!along.ranges.empty()) along.ranges = {read.access.ranges[axis]};
    return index_formula(group_, along, coordinates, 1).text;
  }
  std::string text = index_formula(group_, read.access, coordinates, 1).text;
  if (!below.is(1)) text = fmt::format("({}) / {}", text, divisor_code(below));
  return axis == 0 ? text : fmt::format("({}) % {}", text, divisor_code(shape[axis]));
}

/// A load at a computed place. The index is checked; so are the rows and columns that the table
/// has: outside of the domain there is nothing to load. Of those that it has not, any may be asked
/// for.
std::string FunctorWriter::evaluate_gather(Body& body, OpId id, ValueId value) {
  const Op& op = graph_.op(id);
  const auto table = llvm::find_if(
      group_.reads, [&](const Read& r) { return r.op == id && reads_memory(op, r.operand); });
  const DType dtype = graph_.type(value).dtype;
  const std::string index = evaluate(body, source_of(graph_, group_, id, 1));
  need_params(body);
  const std::string at = body.names.unique("at");
  body.lines.push_back(fmt::format("const i64 {} = {};", at, index));
  auto coordinates = point_coordinates();
  const AtomList indexed = group_.space.leaves(table->indexed);
  coordinates.push_back({at, indexed});
  const IndexFormula formula = index_formula(group_, table->access, coordinates, 1);
  const auto axis = graph_.attributes<AxisAttributes>(op).axis;
  std::string inside =
      fmt::format("{0} >= 0 && {0} < {1}", at, dim_code(graph_.type(op.operands[0]).shape[axis]));
  const AtomList leaves = group_.space.leaves(table->access.dims);
  const auto check = [&](const char* coordinate, const AtomList& along) {
    const bool varies = llvm::any_of(along, [&](Atom atom) {
      return llvm::is_contained(leaves, atom) && !llvm::is_contained(indexed, atom);
    });
    if (varies)
      inside += fmt::format(" && {} < {}", coordinate, dim_code(group_.space.extent(along)));
  };
  check("x.row()", group_.domain.rows);
  check("x.col()", group_.domain.columns);
  return assign(body, TileValue::value(value), value, dtype,
                fmt::format("gathered({}, {})",
                            read_address(pointer_names_.at(table->access.value), formula,
                                         storage_type(graph_.stored_type(table->access.value))),
                            inside));
}

std::string FunctorWriter::evaluate_op(Body& body, OpId id, ValueId value) {
  const Op& op = graph_.op(id);
  if (op.kind == OpKind::gather) return evaluate_gather(body, id, value);
  INGOT_ASSERT(info(op.kind).op_class == OpClass::elementwise);
  std::vector<std::string> arguments;
  arguments.reserve(op.operands.size());
  for (uint32_t k = 0; k < op.operands.size(); ++k)
    arguments.push_back(evaluate(body, source_of(graph_, group_, id, k)));
  return assign(body, TileValue::value(value), value, graph_.type(value).dtype,
                rounded(value, functor_call(op, value, arguments)));
}

std::string FunctorWriter::rounded(ValueId value, const std::string& code) const {
  if (!llvm::is_contained(group_.rounded, value)) return code;
  return fmt::format("math::Cast<{}, f32>::apply({})", storage_type(graph_.type(value).dtype).str(),
                     code);
}

std::string FunctorWriter::functor_call(const Op& op, ValueId value,
                                        llvm::ArrayRef<std::string> arguments) const {
  const DType from = graph_.type(op.operands[0]).dtype, to = graph_.type(value).dtype;
  if (op.kind == OpKind::cast)
    return fmt::format("math::Cast<{}, {}>::apply({})", storage_type(to).str(),
                       register_type(from).str(), arguments[0]);
  const char* const space = is_half(to) ? "math::half" : "math";
  if (op.kind == OpKind::exp || op.kind == OpKind::erf)
    return fmt::format("{}::{}({})", space, info(op.kind).name.str(), arguments[0]);
  if (op.kind == OpKind::div && is_float(to)) {
    const Range& divisor = ranges_[op.operands[1].index];
    if (divisor.low >= 0.5 && is_one(op.operands[0]))
      return fmt::format("{}::reciprocal_bounded({})", space, arguments[1]);
    if (divisor.low >= 0.5 && divisor.high <= 0x1p120)
      return fmt::format("{}::div_bounded({}, {})", space, arguments[0], arguments[1]);
  }
  std::string functor = info(op.kind).name.str();
  if (functor == "and" || functor == "or" || functor == "not") functor += "_";
  return fmt::format("math::{}({})", functor, fmt::join(arguments, ", "));
}

bool FunctorWriter::is_one(ValueId value) const {
  const Op& op = graph_.producer(value);
  return op.kind == OpKind::constant && graph_.attributes<ConstantAttributes>(op).real == 1;
}

const std::string& FunctorWriter::operand_struct(size_t read) {
  auto [entry, added] = structs_.try_emplace(read);
  if (added) {
    entry->second =
        names_.unique("Load" + pascal(value_name(graph_, group_.reads[read].access.value)));
    pending_.push_back({entry->second, read});
  }
  return entry->second;
}

void FunctorWriter::write_operand(CodeWriter& out, const OperandStruct& operand) {
  const Access& access = group_.reads[operand.read].access;
  const DType dtype = graph_.stored_type(access.value);
  const int64_t limit = std::min<int64_t>(frame_.vec, 16 / size_of(dtype));
  const IndexFormula formula = index_formula(group_, access, frame_.coordinates, limit);
  const int64_t vec = formula.contiguous == frame_.along ? formula.widest : 1;
  needs_.add(access.value, dtype, formula, vec);
  out.line("/// {}: {}", value_name(graph_, access.value), stored_text(graph_, access.value));
  auto block = out.block(fmt::format("struct {}", operand.name), "};");
  out.line("using Element = {};", storage_type(dtype).str());
  out.line("static constexpr Along kAlong = {};", along_of(formula));
  out.line("static constexpr int kVec = {};", vec);
  auto at = out.block(fmt::format(
      "static INGOT_DEVICE const Element* at(const Params& p, i64 {}, i64 {}, i64 {})",
      frame_.coordinates[0].name, frame_.coordinates[1].name, frame_.coordinates[2].name));
  out.line("return {};", read_address(pointer_names_.at(access.value), formula));
}

} // namespace ingot
