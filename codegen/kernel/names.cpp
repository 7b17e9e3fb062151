// SPDX-License-Identifier: Apache-2.0
// See names.h.
#include "codegen/kernel/names.h"

#include "ir/text/printer.h"

namespace ingot {

std::string value_name(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (!v.name.empty()) return v.name;
  const Op& op = graph.op(v.op);
  if (op.kind == OpKind::input) return graph.attributes<InputAttributes>(op).name;
  return fmt::format("v{}", value.index);
}

std::string moved_text(const Graph& graph, ValueId value) {
  std::string before, after;
  while (graph.value(value).name.empty() && root_of(graph, value) != value) {
    const Op& op = graph.producer(value);
    if (op.kind != OpKind::reshape && op.kind != OpKind::broadcast) {
      before += info(op.kind).name.str() + "(";
      after += ")";
    }
    value = op.operands[0];
  }
  return before + value_name(graph, value) + after;
}

std::string stored_text(const Graph& graph, ValueId value) {
  const Type& type = graph.type(value);
  const DType stored = graph.stored_type(value);
  return stored == type.dtype
             ? type.text()
             : fmt::format("{}, stored as {}", type.text(), spelling(stored).str());
}

std::string number_text(const ConstantAttributes& constant) {
  return is_float(constant.dtype) ? fmt::format("{}", constant.real)
                                  : fmt::format("{}", constant.integer);
}

std::string op_line(const Graph& graph, const Op& op,
                    llvm::function_ref<std::string(ValueId)> name) {
  std::string text;
  for (ValueId result : op.results) text += (text.empty() ? "" : ", ") + value_name(graph, result);
  text += fmt::format(" = {}(", info(op.kind).name.str());
  for (size_t k = 0; k < op.operands.size(); ++k) {
    const Op& producer = graph.producer(op.operands[k]);
    if (k) text += ", ";
    if (const auto* extent = std::get_if<ExtentAttributes>(&producer.attributes)) {
      text += element_count(extent->shape).text();
      continue;
    }
    if (producer.kind != OpKind::constant) {
      text += name ? name(op.operands[k]) : value_name(graph, op.operands[k]);
      continue;
    }
    text += number_text(graph.attributes<ConstantAttributes>(producer));
  }
  return text + attributes_text(graph, op) + ")";
}

} // namespace ingot
