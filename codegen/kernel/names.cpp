// SPDX-License-Identifier: Apache-2.0
// See names.h.
#include "codegen/kernel/names.h"

#include "ir/text/printer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstring>

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

std::string pascal(llvm::StringRef name) {
  std::string result;
  bool up = true;
  for (char c : name) {
    if (!llvm::isAlnum(c)) {
      up = true;
      continue;
    }
    result += up ? llvm::toUpper(c) : c;
    up = false;
  }
  return result;
}

std::string stored_text(const Graph& graph, ValueId value) {
  const Type& type = graph.type(value);
  const DType stored = graph.stored_type(value);
  return stored == type.dtype
             ? type.text()
             : fmt::format("{}, stored as {}", type.text(), spelling(stored).str());
}

llvm::StringRef register_type(DType dtype) { return is_float(dtype) ? "f32" : spelling(dtype); }

std::string literal(const ConstantAttributes& constant) {
  if (constant.dtype == DType::boolean) return constant.integer ? "true" : "false";
  if (constant.dtype == DType::i32) return fmt::format("i32({}ll)", constant.integer);
  if (constant.dtype == DType::i64)
    return constant.integer == INT64_MIN ? std::string("(-9223372036854775807ll - 1)")
                                         : fmt::format("i64({}ll)", constant.integer);
  const float value = static_cast<float>(constant.real);
  if (!std::isfinite(value)) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return fmt::format("ptx::as_f32({:#010x}u)", std::isnan(value) ? 0x7fc00000u : bits);
  }
  std::string text = fmt::format("{}", value); // shortest text that reads back to the same f32
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
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
    const auto& c = graph.attributes<ConstantAttributes>(producer);
    text += is_float(c.dtype) ? fmt::format("{}", c.real) : fmt::format("{}", c.integer);
  }
  return text + attributes_text(graph, op) + ")";
}

} // namespace ingot
