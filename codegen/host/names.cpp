// SPDX-License-Identifier: Apache-2.0
// See names.h.
#include "codegen/host/names.h"

#include "codegen/program/identifiers.h"

#include "llvm/ADT/StringSet.h"

namespace ingot {

namespace {

using Kind = Expr::Kind;

/// Names that Python code must not use: keywords, attributes of nn.Module, names of the file
/// itself.
bool is_python_reserved(llvm::StringRef name) {
  static const llvm::StringSet<> words = {
      // Keywords of Python.
      "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class",
      "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
      "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return",
      "try", "type", "while", "with", "yield", "max", "min", "super", "tuple",
      // Attributes of torch.nn.Module.
      "T_destination", "add_module", "apply", "bfloat16", "buffers", "call_super_init", "children",
      "compile", "cpu", "cuda", "double", "dump_patches", "eval", "extra_repr", "float", "forward",
      "get_buffer", "get_extra_state", "get_parameter", "get_submodule", "half", "ipu",
      "load_state_dict", "modules", "mtia", "named_buffers", "named_children", "named_modules",
      "named_parameters", "parameters", "requires_grad_", "set_extra_state", "set_submodule",
      "share_memory", "state_dict", "to", "to_empty", "train", "training", "xpu", "zero_grad",
      // Names in the generated file.
      "torch", "nn", "self", "chain", "Chain", "ModelNew", "uniform", "outputs"};
  return words.contains(name) || name.starts_with("_") || name.starts_with("register_");
}

/// Python's forms need no parentheses around them, so that few precedence rules matter.
Expr::Form python_form(const Expr& e) {
  switch (e.kind()) {
  case Kind::add: return {"(", " + ", ")"};
  case Kind::sub: return {"(", " - ", ")"};
  case Kind::mul: return {"", " * ", ""};
  case Kind::div: return {"(", " // (", "))"};
  case Kind::mod: return {"(", " % (", "))"};
  case Kind::ceil_div: return {"-(-", " // (", "))"};
  default: return Expr::plain_form(e);
  }
}

} // namespace

HostNames::HostNames(const Module& module) {
  Names names;
  for (const char* member : {"max_shared_bytes", "prepared", "workspace", "state"})
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
  case ArgumentKind::tensormap: break;
  }
  llvm_unreachable("the argument is no pointer that host code has");
}

std::string cpp_formula(const Expr& expr, const HostNames& names) {
  const auto leaf = [&](const Expr& symbol) { return "call." + names.dims.at(symbol.name()); };
  return expr.text({leaf, Expr::plain_form, {}, "Int"});
}

std::string PythonNames::unique(llvm::StringRef wanted) {
  std::string name = wanted.str();
  if (is_python_reserved(name)) name += "_";
  if (name[0] == '_') name = "v" + name;
  while (!taken_.insert(name).second) name += "_";
  return name;
}

std::string python_formula(const Expr& expr, const std::map<std::string, std::string>& dims) {
  return expr.text({[&](const Expr& symbol) { return dims.at(symbol.name()); }, python_form});
}

std::set<std::string> dims_of(const Expr& expr) {
  std::set<std::string> dims;
  expr.for_each_leaf([&](const Expr& leaf) { dims.insert(leaf.name()); });
  return dims;
}

} // namespace ingot
