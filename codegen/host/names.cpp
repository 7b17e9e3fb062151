// SPDX-License-Identifier: Apache-2.0
// See host_names.h.
#include "codegen/host/names.h"

#include "codegen/program/identifiers.h"
#include "src/support/error.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {

namespace {

using Kind = Expr::Kind;
using Spell = llvm::function_ref<std::string(const std::string&)>;

/// Names of generated Python code: keywords, what nn.Module has, and what the file itself uses.
bool is_python_reserved(llvm::StringRef name) {
  static const llvm::StringSet<> words = {
      // The language.
      "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class",
      "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
      "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return",
      "try", "type", "while", "with", "yield", "max", "min", "super", "tuple",
      // torch.nn.Module.
      "T_destination", "add_module", "apply", "bfloat16", "buffers", "call_super_init", "children",
      "compile", "cpu", "cuda", "double", "dump_patches", "eval", "extra_repr", "float", "forward",
      "get_buffer", "get_extra_state", "get_parameter", "get_submodule", "half", "ipu",
      "load_state_dict", "modules", "mtia", "named_buffers", "named_children", "named_modules",
      "named_parameters", "parameters", "requires_grad_", "set_extra_state", "set_submodule",
      "share_memory", "state_dict", "to", "to_empty", "train", "training", "xpu", "zero_grad",
      // The file.
      "torch", "nn", "self", "chain", "Chain", "ModelNew", "uniform", "outputs"};
  return words.contains(name) || name.starts_with("_") || name.starts_with("register_");
}

std::string python_text(const Expr& e, Spell spell) {
  if (auto value = e.constant()) return std::to_string(*value);
  if (e.kind() == Kind::symbol) return spell(e.name());
  const std::string a = python_text(e.lhs(), spell), b = python_text(e.rhs(), spell);
  switch (e.kind()) {
  case Kind::add: return "(" + a + " + " + b + ")";
  case Kind::sub: return "(" + a + " - " + b + ")";
  case Kind::mul: return a + " * " + b;
  case Kind::div: return "(" + a + " // (" + b + "))";
  case Kind::mod: return "(" + a + " % (" + b + "))";
  case Kind::ceil_div: return "-(-" + a + " // (" + b + "))";
  case Kind::min: return "min(" + a + ", " + b + ")";
  case Kind::max: return "max(" + a + ", " + b + ")";
  case Kind::constant:
  case Kind::symbol:
  case Kind::coordinate:
  case Kind::within: break;
  }
  llvm_unreachable("not a kind of expression");
}

std::string cpp_constant(int64_t value) {
  // The least int64 has no literal of its own.
  return value == INT64_MIN ? "Int(INT64_MIN)" : std::to_string(value);
}

std::string cpp_text(const Expr& e, Spell spell) {
  if (auto value = e.constant()) return cpp_constant(*value);
  if (e.kind() == Kind::symbol) return spell(e.name());
  std::string a = cpp_text(e.lhs(), spell), b = cpp_text(e.rhs(), spell);
  // One operand is an Int, so that its operators are taken: they watch for overflow.
  if (e.lhs().constant() && e.rhs().constant()) a = "Int(" + a + ")";
  // Sums within products and every divided operand stand in parentheses: few rules to read.
  auto product_operand = [](const Expr& operand, const std::string& text, bool right) {
    const Kind kind = operand.kind();
    const bool sum = kind == Kind::add || kind == Kind::sub;
    const bool quotient = kind == Kind::mul || kind == Kind::div || kind == Kind::mod;
    return sum || (right && quotient) ? "(" + text + ")" : text;
  };
  auto product = [&](const char* symbol) {
    return product_operand(e.lhs(), a, false) + symbol + product_operand(e.rhs(), b, true);
  };
  const bool right_sum = e.rhs().kind() == Kind::add || e.rhs().kind() == Kind::sub;
  switch (e.kind()) {
  case Kind::add: return a + " + " + b;
  case Kind::sub: return a + " - " + (right_sum ? "(" + b + ")" : b);
  case Kind::mul: return product(" * ");
  case Kind::div: return product(" / ");
  case Kind::mod: return product(" % ");
  case Kind::ceil_div: return "ceil_div(" + a + ", " + b + ")";
  case Kind::min: return "min(" + a + ", " + b + ")";
  case Kind::max: return "max(" + a + ", " + b + ")";
  case Kind::constant:
  case Kind::symbol:
  case Kind::coordinate:
  case Kind::within: break;
  }
  llvm_unreachable("not a kind of expression");
}

} // namespace

HostNames::HostNames(const Module& module) {
  Names names;
  for (const char* member : {"sm_count", "max_shared_bytes", "prepared", "workspace", "state"})
    names.unique(member);
  for (const DimInfo& dim : module.dims) dims[dim.name] = names.unique("dim_" + dim.name);
  for (const TensorInfo& t : module.inputs) inputs[t.name] = names.unique("input_" + t.name);
  for (const TensorInfo& t : module.params) params[t.name] = names.unique("param_" + t.name);
  for (const TensorInfo& t : module.outputs) outputs[t.name] = names.unique("output_" + t.name);
}

std::string HostNames::base(const Argument& argument) const {
  switch (argument.kind) {
  case ArgumentKind::input: return "call." + inputs.at(argument.name);
  case ArgumentKind::param: return "call." + params.at(argument.name);
  case ArgumentKind::output: return "call." + outputs.at(argument.name);
  case ArgumentKind::prepared: return "call.prepared";
  case ArgumentKind::workspace: return "call.workspace";
  case ArgumentKind::state: return "call.state";
  case ArgumentKind::dim:
  case ArgumentKind::scalar:
  case ArgumentKind::tensormap: break;
  }
  llvm_unreachable("the argument is no pointer that host code has");
}

std::string cpp_formula(const Expr& expr, const HostNames& names) {
  return cpp_text(expr, [&](const std::string& symbol) {
    llvm::StringRef name = symbol;
    if (name.consume_front("device.")) return "call." + name.str();
    return "call." + names.dims.at(symbol);
  });
}

std::string PythonNames::unique(llvm::StringRef wanted) {
  std::string name = wanted.str();
  if (is_python_reserved(name)) name += "_";
  if (name[0] == '_') name = "v" + name;
  while (!taken_.insert(name).second) name += "_";
  return name;
}

std::string python_formula(const Expr& expr, const std::map<std::string, std::string>& dims) {
  return python_text(expr, [&](const std::string& symbol) { return dims.at(symbol); });
}

std::set<std::string> dims_of(const Expr& expr) {
  std::set<std::string> dims;
  expr.for_each_leaf([&](const Expr& leaf) {
    if (!llvm::StringRef(leaf.name()).starts_with("device.")) dims.insert(leaf.name());
  });
  return dims;
}

} // namespace ingot
