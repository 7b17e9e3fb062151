// SPDX-License-Identifier: Apache-2.0
// See graph.h. Type rules are in type_rules.cpp.
#include "ir/graph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

namespace ingot {

char LocatedError::ID = 0;

namespace {

// Every NaN has the same bits, and each kind uses one field, so that equal literals compare equal.
ConstantAttributes canonical(ConstantAttributes constant) {
  if (!is_float(constant.dtype)) {
    constant.real = 0;
    if (constant.dtype == DType::boolean) constant.integer = constant.integer != 0;
    return constant;
  }
  constant.integer = 0;
  if (std::isnan(constant.real)) constant.real = std::numeric_limits<double>::quiet_NaN();
  return constant;
}

/// Adds the names in `dim` that `names` lacks.
void add_names(const Dim& dim, std::vector<std::string>& names) {
  for (const std::string& name : dim.names())
    if (!llvm::is_contained(names, name)) names.push_back(name);
}

} // namespace

bool operator==(const ConstantAttributes& a, const ConstantAttributes& b) {
  return a.dtype == b.dtype && a.integer == b.integer &&
         llvm::bit_cast<uint64_t>(a.real) == llvm::bit_cast<uint64_t>(b.real);
}

SliceAttributes whole_slice(const Shape& shape) {
  SliceAttributes slice;
  for (const Dim& dim : shape) slice.stops.push_back(dim.is_fixed() ? dim.fixed() : -1);
  slice.starts.assign(shape.size(), 0);
  slice.steps.assign(shape.size(), 1);
  return slice;
}

bool is_identifier(llvm::StringRef text) {
  if (text.empty() || llvm::isDigit(text.front())) return false;
  if (!llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; })) return false;
  static const llvm::StringSet<> words = {"graph", "param", "return", "and", "or",  "not",
                                          "true",  "false", "none",   "inf", "nan", "f32",
                                          "f16",   "bf16",  "i32",    "i64", "bool"};
  return !words.contains(text);
}

llvm::Error Graph::claim_name(llvm::StringRef what, llvm::StringRef name) {
  if (!is_identifier(name))
    return make_error(ErrorCode::invalid_argument,
                      "{} name '{}' is not an identifier; expected a letter or _, then letters, "
                      "digits and _, and no word of the language",
                      what, name);
  if (llvm::is_contained(dim_names_, name))
    return make_error(ErrorCode::invalid_argument,
                      "{} name '{}' is the name of a dimension; use another", what, name);
  if (!taken_names_.insert(name).second)
    return make_error(ErrorCode::invalid_argument,
                      "{} name '{}' is already the name of an input or output; use another", what,
                      name);
  return llvm::Error::success();
}

llvm::Error Graph::check_dim_names(const Op& op, const Shape& shape) const {
  const auto* iota = std::get_if<IotaAttributes>(&op.attributes);
  const auto* extent = std::get_if<ExtentAttributes>(&op.attributes);
  const DType dtype = iota ? iota->type.dtype : extent ? extent->dtype : type(op.operands[0]).dtype;
  for (const Dim& dim : shape)
    for (const std::string& name : dim.names())
      if (!llvm::is_contained(dim_names_, name))
        return make_error(ErrorCode::type_error,
                          "{}: {} has the dimension '{}', which no input has; named dimensions "
                          "get their sizes from inputs",
                          info(op.kind).name, Type{dtype, shape}.text(), name);
  return llvm::Error::success();
}

llvm::Expected<OpId> Graph::append(Op op) {
  llvm::SmallVector<Type, 4> operand_types;
  for (ValueId operand : op.operands) {
    INGOT_ASSERT(operand.index < values_.size());
    operand_types.push_back(type(operand));
  }
  auto types = infer_types(op.kind, operand_types, op.attributes);
  if (!types) return types.takeError();
  if (info(op.kind).is_shaped()) {
    const auto* extent = std::get_if<ExtentAttributes>(&op.attributes);
    if (auto error = check_dim_names(op, extent ? extent->shape : types->front().shape))
      return error;
  }
  return push(std::move(op), *types);
}

/// Records that `dim` must be at least 0, if some sizes make it negative.
void Graph::require(const Dim& dim) {
  if (dim.may_be_negative() && !llvm::is_contained(requirements_, dim))
    requirements_.push_back(dim);
}

void Graph::require_sizes(const Op& op, llvm::ArrayRef<Type> types) {
  for (const Type& type : types)
    for (const Dim& dim : type.shape) require(dim);
  if (const auto* extent = std::get_if<ExtentAttributes>(&op.attributes))
    for (const Dim& dim : extent->shape) require(dim);
  const auto* window = std::get_if<WindowAttributes>(&op.attributes);
  if (!window || !window->is_inside) return;
  require(window->start);
  require(type(op.operands[0]).shape[window->axis] - (window->start + window->extent));
}

OpId Graph::push(Op op, llvm::MutableArrayRef<Type> types) {
  require_sizes(op, types);
  OpId id{static_cast<uint32_t>(ops_.size())};
  for (Type& type : types) {
    op.results.push_back(ValueId{static_cast<uint32_t>(values_.size())});
    values_.push_back({std::move(type), id, static_cast<uint32_t>(op.results.size() - 1), ""});
  }
  ops_.push_back(std::move(op));
  return id;
}

llvm::Expected<OpId> Graph::add(OpKind kind, llvm::ArrayRef<ValueId> operands,
                                Attributes attributes, SourceLocation location) {
  INGOT_ASSERT(kind != OpKind::input && "inputs are declared by add_input");
  Op op{kind, {operands.begin(), operands.end()}, {}, std::move(attributes), location};
  if (kind != OpKind::constant) return append(std::move(op));

  auto& constant = std::get<ConstantAttributes>(op.attributes);
  constant = canonical(constant);
  auto key =
      std::make_tuple(constant.dtype, llvm::bit_cast<uint64_t>(constant.real), constant.integer);
  if (auto found = constants_.find(key); found != constants_.end()) return found->second;
  auto id = append(std::move(op));
  if (id) constants_[key] = *id;
  return id;
}

OpId Graph::copy_op(const Graph& from, OpId id, llvm::ArrayRef<ValueId> operands) {
  const Op& source = from.op(id);
  INGOT_ASSERT(source.kind != OpKind::input && operands.size() == source.operands.size());
  for (auto [own, operand] : llvm::zip_equal(operands, source.operands))
    INGOT_ASSERT(type(own) == from.type(operand));
  if (source.kind == OpKind::constant)
    return llvm::cantFail(add(source.kind, {}, source.attributes, source.location));
  llvm::SmallVector<Type, 2> types;
  for (ValueId result : source.results) types.push_back(from.type(result));
  return push(
      {source.kind, {operands.begin(), operands.end()}, {}, source.attributes, source.location},
      types);
}

Graph::Mark Graph::mark() const {
  return {ops_.size(),     values_.size(),    inputs_.size(),
          outputs_.size(), dim_names_.size(), requirements_.size()};
}

void Graph::rewind(const Mark& mark) {
  ops_.erase(ops_.begin() + mark.ops, ops_.end());
  values_.erase(values_.begin() + mark.values, values_.end());
  inputs_.erase(inputs_.begin() + mark.inputs, inputs_.end());
  outputs_.erase(outputs_.begin() + mark.outputs, outputs_.end());
  dim_names_.erase(dim_names_.begin() + mark.dim_names, dim_names_.end());
  requirements_.erase(requirements_.begin() + mark.requirements, requirements_.end());
  std::erase_if(constants_, [&](const auto& entry) { return entry.second.index >= mark.ops; });
  const auto is_held = [&](llvm::StringRef name) {
    return llvm::any_of(inputs_,
                        [&](ValueId id) {
                          return attributes<InputAttributes>(producer(id)).name == name;
                        }) ||
           llvm::any_of(outputs_, [&](const GraphOutput& output) { return output.name == name; });
  };
  for (auto it = taken_names_.begin(); it != taken_names_.end();) {
    const auto entry = it++;
    if (!is_held(entry->getKey())) taken_names_.erase(entry);
  }
}

Graph Graph::first_ops(size_t count) const {
  Graph result(name_);
  result.ops_.reserve(ops_.size());
  result.values_.reserve(values_.size());
  result.requirements_ = requirements_;
  result.ops_.assign(ops_.begin(), ops_.begin() + count);
  const size_t end = count == ops_.size() ? values_.size() : ops_[count].results.front().index;
  result.values_.assign(values_.begin(), values_.begin() + end);
  for (ValueId input : inputs_) {
    if (input.index >= end) break;
    result.inputs_.push_back(input);
    result.taken_names_.insert(attributes<InputAttributes>(producer(input)).name);
    for (const Dim& dim : type(input).shape) add_names(dim, result.dim_names_);
  }
  for (const auto& [key, op] : constants_)
    if (op.index < count) result.constants_.emplace(key, op);
  return result;
}

llvm::Expected<ValueId> Graph::add_value(OpKind kind, llvm::ArrayRef<ValueId> operands,
                                         Attributes attributes, SourceLocation location) {
  INGOT_ASSERT(info(kind).results == 1);
  auto id = add(kind, operands, std::move(attributes), location);
  if (!id) return id.takeError();
  return op(*id).results[0];
}

llvm::Expected<ValueId> Graph::add_input(llvm::StringRef name, Type type,
                                         InputAttributes::Role role, SourceLocation location) {
  for (const Dim& dim : type.shape)
    for (const std::string& dim_name : dim.names()) {
      if (!is_identifier(dim_name))
        return make_error(ErrorCode::invalid_argument,
                          "input '{}': dimension name '{}' is not an identifier", name, dim_name);
      if (dim_name == name || taken_names_.contains(dim_name))
        return make_error(ErrorCode::invalid_argument,
                          "input '{}': dimension '{}' has the name of an input or output; use "
                          "another",
                          name, dim_name);
    }
  std::vector<std::string> dim_names = dim_names_;
  for (const Dim& dim : type.shape) add_names(dim, dim_names);
  if (dim_names.size() > kMaxDimNames)
    return make_error(ErrorCode::invalid_argument,
                      "input '{}': more than {} named dimensions in one graph", name, kMaxDimNames);
  // The type is checked before the name is taken, so that a failed call changes nothing.
  Op op{OpKind::input, {}, {}, InputAttributes{name.str(), role, std::move(type)}, location};
  if (auto types = infer_types(op.kind, {}, op.attributes); !types) return types.takeError();
  if (auto error = claim_name("input", name)) return error;
  auto id = append(std::move(op));
  if (!id) return id.takeError();
  dim_names_ = std::move(dim_names);
  ValueId value = this->op(*id).results[0];
  set_name(value, name);
  inputs_.push_back(value);
  return value;
}

llvm::Expected<ValueId> Graph::add_constant(DType dtype, double value, SourceLocation location) {
  ConstantAttributes constant{dtype};
  if (is_float(dtype)) {
    constant.real = value;
  } else if (dtype == DType::boolean) {
    constant.integer = value != 0;
  } else {
    const double limit = dtype == DType::i32 ? 0x1p31 : 0x1p63;
    if (!(value >= -limit && value < limit) || std::trunc(value) != value)
      return make_error(ErrorCode::type_error,
                        "constant: {} is no value of {}; write cast(x, f32) in place of the tensor",
                        value, spelling(dtype));
    constant.integer = static_cast<int64_t>(value);
  }
  return add_value(OpKind::constant, {}, constant, location);
}

llvm::Error Graph::add_output(llvm::StringRef name, ValueId value) {
  INGOT_ASSERT(value.index < values_.size());
  if (auto error = claim_name("output", name)) return error;
  outputs_.push_back({name.str(), value});
  return llvm::Error::success();
}

std::vector<uint32_t> count_uses(const Graph& graph) {
  std::vector<uint32_t> uses(graph.values().size(), 0);
  for (const Op& op : graph.ops()) {
    for (ValueId operand : op.operands) ++uses[operand.index];
  }
  for (const GraphOutput& output : graph.outputs()) ++uses[output.value.index];
  return uses;
}

ValueId root_of(const Graph& graph, ValueId value) {
  const Op* op = &graph.producer(value);
  while (is_view(op->kind)) {
    value = op->operands[0];
    op = &graph.producer(value);
  }
  return value;
}

} // namespace ingot
