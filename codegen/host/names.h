// SPDX-License-Identifier: Apache-2.0
// The spelling of a module's names and size formulas in generated host code, C++ and Python. Only
// the writers of standalone files use it.
#pragma once

#include "codegen/program/program.h"

#include "llvm/ADT/StringRef.h"

#include <map>
#include <set>
#include <string>

namespace ingot {

/// The members of the generated `Call` that hold a module's sizes and addresses.
struct HostNames {
  std::map<std::string, std::string> dims;    ///< m -> dim_m
  std::map<std::string, std::string> inputs;  ///< x -> input_x
  std::map<std::string, std::string> params;  ///< w -> param_w
  std::map<std::string, std::string> outputs; ///< y -> output_y

  explicit HostNames(const Module& module);
  /// The pointer of an argument without its offset. Covers memories too.
  std::string base(const Argument& argument) const;
};

/// A formula as C++ over `Int` and the members of `call`.
std::string cpp_formula(const Expr& expr, const HostNames& names);

/// The `cpp_formula` of each expression, in braces: `{ceil_div(call.dim_m, 128), 1, 1}`.
template <typename Range> std::string cpp_formulas(const Range& exprs, const HostNames& names) {
  std::string text;
  for (const Expr& expr : exprs) text += (text.empty() ? "" : ", ") + cpp_formula(expr, names);
  return "{" + text + "}";
}

/// Hands out Python names. None is a keyword, an attribute of a PyTorch module, or already in use.
class PythonNames {
public:
  std::string unique(llvm::StringRef wanted);

private:
  std::set<std::string> taken_;
};

/// A formula as Python over integers. `dims` gives the spelling of named dimensions.
std::string python_formula(const Expr& expr, const std::map<std::string, std::string>& dims);

/// The names of dimensions in a formula.
std::set<std::string> dims_of(const Expr& expr);

} // namespace ingot
