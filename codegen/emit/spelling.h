// SPDX-License-Identifier: Apache-2.0
// The spelling of a kernel's parts in generated code: integers, addresses, types, literals and
// functions.
#pragma once

#include "codegen/kernel/kernel.h"

#include <map>
#include <set>

namespace ingot {

/// Spells integers and addresses in code that calls the parameters `p`.
class CodeSpelling {
public:
  explicit CodeSpelling(const Kernel& kernel);

  /// An expression in code that has variables such as `row`.
  std::string integer(const Expr& expr) const;
  /// An expression in a functor, whose point is `x`. `at` is the variable of Coordinate::at.
  std::string integer_at_point(const Expr& expr, const std::string& at = "") const;
  const std::vector<std::string>& parameters() const { return names_; }
  /// `in0`
  const std::string& parameter(uint32_t index) const { return names_[index]; }
  DType dtype(uint32_t parameter) const { return kernel_.parameters[parameter].dtype; }
  /// `p.in0 + (row * 64 + col)`. If the tensor has no elements, the address is that of zeros.
  std::string address(uint32_t parameter, const IndexMap& map, const std::string& index) const;
  /// `row == 0 && col < 64`; `true` without conditions.
  std::string all_of(llvm::ArrayRef<Condition> conditions) const;
  const Kernel& kernel() const { return kernel_; }

private:
  std::string text(const Expr& expr, llvm::function_ref<std::string(const Expr&)> coordinate) const;

  bool fits_u32(const Expr& expr) const;

  const Kernel& kernel_;
  const std::vector<std::string> names_;
  const std::set<std::string> u32_coordinates_;
  std::map<std::string, std::string> dims_; ///< the parameter of each named dimension
};

/// `batch_norm` -> `BatchNorm`
std::string pascal(llvm::StringRef name);
/// The type in registers: f32 for every float.
llvm::StringRef register_type(DType dtype);
/// A literal that the compiler reads back to the same value.
std::string literal(const ConstantAttributes& constant);
/// `SumReducer<f32>`
std::string reducer_text(const Reducer& reducer);
/// `math::div_bounded`, for a result of type `to`.
std::string function_text(const DeviceFunction& function, DType to);
/// `Along::col`; the second and third of the `coordinates` count as row and column.
std::string along_text(const IndexMap& map, const PointCoordinates& coordinates);
/// `const bf16*`, `i64`: the type of a member of Params.
std::string type_text(const KernelParameter& parameter);

} // namespace ingot
