// SPDX-License-Identifier: Apache-2.0
// See names.h.
#include "codegen/names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <cstring>

namespace ingot {

namespace {

/// What generated code and the device library spell out, and words and macros of the languages that
/// compile it. A name in capitals may be a macro anyway.
bool is_reserved(llvm::StringRef name) {
  static const llvm::StringSet<> words = {
      // C++ and CUDA.
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
      "case", "catch", "char", "char8_t", "char16_t", "char32_t", "class", "compl", "concept",
      "const", "consteval", "constexpr", "constinit", "const_cast", "continue", "co_await",
      "co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast",
      "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
      "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
      "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
      "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local",
      "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned",
      "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "warpSize",
      "threadIdx", "blockIdx", "blockDim", "gridDim",
      // Macros in small letters.
      "alloca", "assert", "errno", "linux", "major", "makedev", "minor", "offsetof", "stderr",
      "stdin", "stdout", "unix",
      // The device library, as generated code calls it.
      "bf16", "f16", "f32", "i32", "i64", "u16", "u32", "u64", "u8", "ingot", "math", "ptx", "std",
      "held", "streamed", "gathered", "merged", "nonzero", "ceil_div", "min_of", "max_of", "p", "x",
      "batch", "row", "col", "k", "mn", "value", "within", "Map", "Reduce", "Store", "StorePartial",
      "Combine", "Held", "Loaded", "Stored", "ColumnVector", "RowVector", "Matrix", "Reduction",
      "Merged", "ScanOf", "List", "Span", "Along", "Major", "OperandPath", "Compute", "SharedBytes",
      "TileGrid", "NoSource", "RowLayout", "LaneRowLayout", "SimtMainloop", "FmaMainloop",
      "MmaMainloop", "HalvesMainloop", "MatmulPair", "Unchanged", "SumReducer", "MeanReducer",
      "ProdReducer", "MaxReducer", "MinReducer", "ArgReducer", "MaxSumexpReducer", "MomentsReducer",
      // What every kernel declares.
      "Params", "Kernel", "V", "Source", "Stages", "MatrixA", "MatrixB", "SecondA", "SecondB"};
  if (words.contains(name)) return true;
  auto is_lower = [](char c) { return llvm::isLower(c); };
  return name.size() > 1 && llvm::none_of(name, is_lower);
}

} // namespace

std::string Names::unique(llvm::StringRef wanted) {
  std::string base;
  for (char c : wanted) base += llvm::isAlnum(c) || c == '_' ? c : '_';
  // Double underscores and a leading one are the compiler's.
  while (base.find("__") != std::string::npos) base.erase(base.find("__"), 1);
  if (base.empty() || llvm::isDigit(base[0]) || base[0] == '_') base = "v" + base;
  std::string result = is_reserved(base) ? base + "_" : base;
  for (int n = 2; !taken_.insert(result).second; ++n)
    result = fmt::format("{}{}{}", base, base.back() == '_' ? "" : "_", n);
  return result;
}

std::string value_name(const Graph& graph, ValueId value) {
  const Value& v = graph.value(value);
  if (!v.name.empty()) return v.name;
  const Op& op = graph.op(v.op);
  if (op.kind == OpKind::input) return graph.attributes<InputAttributes>(op).name;
  return fmt::format("v{}", value.index);
}

/// A value as a kernel reaches it: `x`, or `transpose(w)` of one that is rearranged on the way.
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

llvm::StringRef storage_type(DType dtype) {
  switch (dtype) {
  case DType::f32: return "f32";
  case DType::f16: return "f16";
  case DType::bf16: return "bf16";
  case DType::i32: return "i32";
  case DType::i64: return "i64";
  case DType::boolean: return "bool";
  }
  return "";
}

std::string stored_text(const Graph& graph, ValueId value) {
  const Type& type = graph.type(value);
  const DType stored = graph.stored_type(value);
  return stored == type.dtype
             ? type.text()
             : fmt::format("{}, stored as {}", type.text(), spelling(stored).str());
}

llvm::StringRef register_type(DType dtype) { return is_float(dtype) ? "f32" : storage_type(dtype); }

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
  if (const auto* reduce = std::get_if<ReduceAttributes>(&op.attributes))
    text += fmt::format(", axes=[{}]", fmt::join(reduce->axes, ", "));
  if (const auto* scan = std::get_if<ScanAttributes>(&op.attributes))
    text += fmt::format(", axis={}{}{}", scan->axis, scan->exclusive ? ", exclusive" : "",
                        scan->reverse ? ", reverse" : "");
  return text + ")";
}

} // namespace ingot
