// SPDX-License-Identifier: Apache-2.0
// Elementwise steps of a random chain.
#include "tests/support/chain_maker.h"

namespace ingot::testing {

bool ChainMaker::unary(ValueId x) {
  static const char* const names[] = {
      "relu",      "gelu",     "tanh", "sigmoid",  "mish",        "neg",   "abs",
      "square",    "hardtanh", "silu", "softplus", "leaky_relu",  "floor", "softsign",
      "hardswish", "elu",      "erf",  "sin",      "log_sigmoid", "relu6", "selu"};
  return made(pick(names), x);
}

bool ChainMaker::with_number(ValueId x) {
  static const char* const names[] = {"add", "mul", "sub", "div", "maximum", "minimum"};
  static const double numbers[] = {0.5, 2, -1, 1.5, 0.1, 3, -0.25};
  return made(pick(names), x, by_position({pick(numbers)}));
}

Shape ChainMaker::operand_shape(Shape shape) {
  switch (below(4)) {
  case 0: shape.clear(); break;
  case 1: shape = {Dim(shape.back())}; break;
  case 2:
    for (Dim& dim : shape)
      if (chance(60)) dim = 1;
    break;
  default: break;
  }
  return shape;
}

/// An operand from memory.
bool ChainMaker::with_operand(ValueId x) {
  static const char* const names[] = {"add", "mul", "sub", "maximum", "add"};
  if (type(x).shape.empty()) return false;
  const ValueId operand = another_input(type(x).dtype, operand_shape(type(x).shape));
  return chance(30) ? made(pick(names), operand, by_position({x}))
                    : made(pick(names), x, by_position({operand}));
}

bool ChainMaker::with_earlier(ValueId x) {
  static const char* const names[] = {"add", "mul", "sub", "maximum"};
  std::vector<ValueId> fitting;
  for (ValueId value : values_)
    if (type(value).dtype == type(x).dtype && !(value == x)) fitting.push_back(value);
  return !fitting.empty() && made(pick(names), x, by_position({pick(fitting)}));
}

/// An operand that no memory holds.
bool ChainMaker::with_source(ValueId x) {
  if (type(x).shape.empty()) return false;
  const DType dtype = type(x).dtype;
  llvm::SmallVector<ValueId, 2> operand;
  if (chance(30)) {
    operand = call("constant", {by_position({0.75}), by_position({dtype})});
  } else {
    Shape shape = operand_shape(type(x).shape);
    if (shape.empty()) shape.push_back(1);
    const auto axis = static_cast<int64_t>(below(shape.size()));
    const bool is_whole = chance(30);
    operand = call("iota", {by_position({is_whole ? DType::i32 : dtype}), by_position(list(shape)),
                            named("axis", {axis})});
    if (is_whole && !operand.empty())
      operand = call("cast", {by_position({operand[0]}), by_position({dtype})});
  }
  if (operand.empty()) return false;
  auto scaled = value("mul", operand[0], by_position({0.125}));
  if (!scaled || !made(chance(50) ? "add" : "mul", x, by_position({*scaled}))) return false;
  features_.insert(Feature::source);
  return true;
}

bool ChainMaker::residuals(ValueId x) {
  const Type of = type(x);
  auto once = value("add", x, by_position({another_input(of.dtype, of.shape)}));
  if (!once) return false;
  if (chance(50)) once = value("relu", *once);
  if (!once || !made("add", another_input(of.dtype, of.shape), by_position({*once}))) return false;
  features_.insert(Feature::residuals);
  return true;
}

bool ChainMaker::convert(ValueId x) {
  static const DType types[] = {DType::f32, DType::f16, DType::bf16, DType::f32};
  const DType to = pick(types);
  if (to == type(x).dtype) return false;
  if (to != DType::f32) features_.insert(Feature::half);
  return made("cast", x, by_position({to}));
}

bool ChainMaker::selected(ValueId x) {
  auto condition = value(chance(50) ? "greater" : "less_equal", x, by_position({0.25}));
  return condition && made("select", *condition, by_position({x}), by_position({0.5}));
}

/// Through integers, cast from the value or given, and back or not.
bool ChainMaker::integers(ValueId x) {
  static const char* const names[] = {"add", "sub", "mul", "maximum", "minimum", "div"};
  const DType whole = chance(50) ? DType::i32 : DType::i64;
  const Shape shape = type(x).shape;
  if (shape.empty()) return false;
  auto at = chance(50) ? value("cast", x, by_position({whole}))
                       : std::optional(another_input(whole, shape));
  for (size_t i = 1 + below(2); at && i > 0; --i) {
    const CallArgument other =
        by_position(chance(50) ? LibraryArgument{int64_t{3}}
                               : LibraryArgument{another_input(whole, operand_shape(shape))});
    const llvm::StringRef name = pick(names);
    at = name == "div" ? value(name, *at, other, named("rounding_mode", {std::string("trunc")}))
                       : value(name, *at, other);
  }
  if (!at) return false;
  features_.insert(Feature::integer);
  if (chance(25)) return true;
  if (chance(30)) at = value("sum", *at, named("axis", {axis_of(*at)}), named("keepdim", {true}));
  if (at) at = value("cast", *at, by_position({type(x).dtype}));
  return at && made("mul", x, by_position({*at}));
}

/// Conditions, compared or given, combined, and chosen by or counted.
bool ChainMaker::booleans(ValueId x) {
  const Shape shape = type(x).shape;
  if (shape.empty()) return false;
  auto a = value("less", x, by_position({another_input(type(x).dtype, operand_shape(shape))}));
  auto b = chance(50) ? std::optional(another_input(DType::boolean, operand_shape(shape)))
                      : value("greater", x, by_position({0.25}));
  if (!a || !b) return false;
  auto both = value(chance(50) ? "and" : "or", *a, by_position({*b}));
  if (both && chance(30)) both = value("not", *both);
  if (!both) return false;
  features_.insert(Feature::boolean);
  if (chance(25)) return true;
  if (chance(50))
    return made("select", *both, by_position({x}),
                by_position({another_input(type(x).dtype, operand_shape(shape))}));
  auto number = value("cast", *both, by_position({type(x).dtype}));
  return number && made("mul", x, by_position({*number}));
}

} // namespace ingot::testing
