// SPDX-License-Identifier: Apache-2.0
// See printer.h.
#include "ir/text/printer.h"

#include "ir/float_bits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>

namespace ingot {

namespace {

std::string text_of_real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string number_text(const ConstantAttributes& literal) {
  if (literal.dtype == DType::boolean) return literal.integer ? "true" : "false";
  return is_float(literal.dtype) ? text_of_real(literal.real) : std::to_string(literal.integer);
}

std::string list_of(llvm::ArrayRef<int64_t> numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

} // namespace

std::string attributes_text(const Graph& graph, const Op& op) {
  struct Text {
    const Op& op;
    bool is_integer_division; ///< without a mode, the parser would read a float division
    std::string operator()(const NoAttributes&) const {
      return is_integer_division ? ", rounding_mode=\"trunc\"" : "";
    }
    std::string operator()(const ConstantAttributes&) const { return ""; }
    std::string operator()(const InputAttributes&) const { return ""; }
    std::string operator()(const IotaAttributes& a) const {
      return fmt::format("{}, shape={}, axis={}", spelling(a.type.dtype), text_of(a.type.shape),
                         a.axis);
    }
    std::string operator()(const ExtentAttributes& a) const {
      return fmt::format("{}, shape={}", spelling(a.dtype), text_of(a.shape));
    }
    std::string operator()(const CastAttributes& a) const {
      return fmt::format(", {}", spelling(a.dtype));
    }
    std::string operator()(const MatmulAttributes& a) const {
      return fmt::format("{}{}", a.transpose_a ? ", transpose_a=true" : "",
                         a.transpose_b ? ", transpose_b=true" : "");
    }
    std::string operator()(const ReduceAttributes& a) const {
      if (is_index_reduction(op.kind)) return fmt::format(", axis={}", a.axes.front());
      return ", axes=" + list_of(a.axes);
    }
    std::string operator()(const AxisAttributes& a) const {
      return fmt::format(", axis={}", a.axis);
    }
    std::string operator()(const ScanAttributes& a) const {
      return fmt::format(", axis={}{}{}", a.axis, a.exclusive ? ", exclusive=true" : "",
                         a.reverse ? ", reverse=true" : "");
    }
    std::string operator()(const ShapeAttributes& a) const { return ", shape=" + text_of(a.shape); }
    std::string operator()(const TransposeAttributes& a) const {
      return ", permutation=" + list_of(a.permutation);
    }
    std::string operator()(const SliceAttributes& a) const {
      return fmt::format(", starts={}, stops={}, steps={}", list_of(a.starts), list_of(a.stops),
                         list_of(a.steps));
    }
    std::string operator()(const WindowAttributes& a) const {
      return fmt::format(", axis={}, start={}, extent={}{}", a.axis, a.start.text(),
                         a.extent.text(), a.is_inside ? ", inside=true" : "");
    }
  };
  const bool is_integer_division =
      op.kind == OpKind::div && is_integer(graph.type(op.results.front()).dtype);
  return std::visit(Text{op, is_integer_division}, op.attributes);
}

namespace {

class Printer {
public:
  explicit Printer(const Graph& graph) : graph_(graph) { choose_names(); }
  std::string print();

private:
  void choose_names();
  std::string inputs_text() const;
  std::string op_text(const Op& op) const;
  std::string operand_text(const Op& op, size_t index) const;
  bool adopts_dtype(const Op& op, DType dtype) const;
  bool is_of_numbers(const Op& op) const;
  std::string outputs_text() const;
  const ConstantAttributes* constant(ValueId id) const {
    return std::get_if<ConstantAttributes>(&graph_.producer(id).attributes);
  }

  const Graph& graph_;
  std::vector<std::string> names_; // per value; empty for constants
};

void Printer::choose_names() {
  names_.resize(graph_.values().size());
  llvm::StringMap<int> uses;
  for (const std::string& dim : graph_.dim_names()) uses[dim] = 2;
  // Inputs keep their names even if other values have the same.
  for (ValueId input : graph_.inputs())
    uses[graph_.attributes<InputAttributes>(graph_.producer(input)).name] = 2;
  for (const Value& value : graph_.values())
    if (!value.name.empty()) ++uses[value.name];
  for (size_t i = 0; i < names_.size(); ++i) {
    const Value& value = graph_.values()[i];
    const Op& op = graph_.op(value.op);
    if (op.kind == OpKind::constant) continue;
    if (op.kind == OpKind::input) {
      names_[i] = graph_.attributes<InputAttributes>(op).name;
    } else if (is_identifier(value.name) && uses[value.name] == 1) {
      names_[i] = value.name;
    } else {
      std::string name = fmt::format("v{}", i);
      while (uses.contains(name)) name += '_';
      uses[name] = 1;
      names_[i] = name;
    }
  }
}

std::string Printer::inputs_text() const {
  std::string result;
  size_t column = graph_.name().size() + 7;
  std::string separator = ",\n" + std::string(column, ' ');
  for (ValueId id : graph_.inputs()) {
    const auto& input = graph_.attributes<InputAttributes>(graph_.producer(id));
    if (!result.empty()) result += separator;
    if (input.role == InputAttributes::Role::param) result += "param ";
    result += input.name + ": " + input.type.text();
  }
  return result;
}

/// Whether the parser would read a literal operand of `op` with this type.
bool Printer::adopts_dtype(const Op& op, DType dtype) const {
  if (dtype == DType::boolean) return true;
  for (ValueId operand : op.operands) {
    const ConstantAttributes* literal = constant(operand);
    DType other = graph_.type(operand).dtype;
    // The parser takes constant(...) for a tensor, but this printer decides which constants it
    // writes so. Only real tensors count here.
    if (!literal && other != DType::boolean) return other == dtype;
  }
  return dtype == DType::f32;
}

/// Whether the parser would read `op`, written with numbers, as a number.
bool Printer::is_of_numbers(const Op& op) const {
  return info(op.kind).op_class == OpClass::elementwise && op.kind != OpKind::cast &&
         llvm::all_of(op.operands, [&](ValueId operand) { return constant(operand) != nullptr; });
}

std::string Printer::operand_text(const Op& op, size_t index) const {
  ValueId operand = op.operands[index];
  const ConstantAttributes* literal = constant(operand);
  if (!literal) return names_[operand.index];
  const std::string number = number_text(*literal);
  const std::string typed = fmt::format("constant({}, {})", number, spelling(literal->dtype));
  if (index == 0 && is_of_numbers(op)) return typed;
  if (literal->dtype == DType::boolean) return number;
  // The op would round a number that the type does not hold.
  const bool is_rounded = info(op.kind).rounds_literals() && is_float(literal->dtype) &&
                          !std::isnan(literal->real) &&
                          round_by_f32(literal->dtype, literal->real) != literal->real;
  return !is_rounded && adopts_dtype(op, literal->dtype) ? number : typed;
}

std::string Printer::op_text(const Op& op) const {
  std::string results, operands;
  for (ValueId result : op.results) results += (results.empty() ? "" : ", ") + names_[result.index];
  for (size_t i = 0; i < op.operands.size(); ++i)
    operands += (i == 0 ? "" : ", ") + operand_text(op, i);
  if (op.kind == OpKind::concat) operands = '[' + operands + ']';
  return fmt::format("  {} = {}({}{})\n", results, info(op.kind).name, operands,
                     attributes_text(graph_, op));
}

std::string Printer::outputs_text() const {
  std::string result;
  for (const GraphOutput& output : graph_.outputs()) {
    if (!result.empty()) result += ", ";
    const std::string& name = names_[output.value.index];
    if (const ConstantAttributes* literal = constant(output.value)) {
      const std::string number = number_text(*literal);
      result += literal->dtype == DType::boolean ? fmt::format("{}={}", output.name, number)
                                                 : fmt::format("{}=constant({}, {})", output.name,
                                                               number, spelling(literal->dtype));
    } else if (name == output.name) {
      result += name;
    } else {
      result += output.name + "=" + name;
    }
  }
  return result;
}

std::string Printer::print() {
  std::string body;
  for (const Op& op : graph_.ops())
    if (op.kind != OpKind::input && op.kind != OpKind::constant) body += op_text(op);
  return fmt::format("graph {}({}) {{\n{}  return {}\n}}\n", graph_.name(), inputs_text(), body,
                     outputs_text());
}

} // namespace

std::string print_graph(const Graph& graph) { return Printer(graph).print(); }

} // namespace ingot
