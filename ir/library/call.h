// SPDX-License-Identifier: Apache-2.0
// One call of a library function, with its arguments checked and bound to parameters. The
// composites in this folder read their arguments from it by name and build terms. C++ does not fix
// the order in which operands are evaluated. Two operands that append ops are therefore named
// first, so that op order does not depend on the compiler.
#pragma once

#include "ir/builder.h"
#include "ir/library.h"

#include <optional>

namespace ingot {

/// Ops do nothing after an error. A composite therefore asks failed() only before it indexes a
/// shape or a list.
class Call {
public:
  Call(Builder& builder, const LibraryFunction& function, llvm::ArrayRef<CallArgument> arguments,
       DType numbers);

  Builder& builder() { return builder_; }
  const LibraryFunction& function() const { return function_; }

  /// Each function reads the parameter of that name, which must exist. After an error the result is
  /// arbitrary.
  Term tensor(llvm::StringRef name);
  /// Like tensor(), for the ops that have the trait rounds_literals: a number is rounded to the
  /// type of the float tensor beside it.
  Term rounded(llvm::StringRef name);
  /// Like tensor(), but the type must be a float, for formulas that do not hold for integers.
  Term float_tensor(llvm::StringRef name);
  std::vector<Term> tensors(llvm::StringRef name);
  double number(llvm::StringRef name);
  /// A number that must be above 0.
  double positive(llvm::StringRef name);
  /// A numeric argument as a literal of type `dtype`.
  ConstantAttributes literal(llvm::StringRef name, DType dtype);
  int64_t integer(llvm::StringRef name);
  bool boolean(llvm::StringRef name);
  llvm::StringRef text(llvm::StringRef name);
  DType dtype(llvm::StringRef name);
  /// An axis of a tensor of this rank; not negative.
  int64_t axis(llvm::StringRef name, int64_t rank);
  /// Axes in the given order, not negative; all axes if the argument is left out.
  llvm::SmallVector<int64_t, 4> axes(llvm::StringRef name, int64_t rank);
  llvm::SmallVector<int64_t, 4> ints(llvm::StringRef name);
  /// An extent as written. A negative one is a Dim with a negative coefficient.
  Dim dim(llvm::StringRef name);
  /// One extent or a list.
  Shape dims(llvm::StringRef name);
  bool has(llvm::StringRef name) const { return !is_none(argument(name)); }
  bool is_list(llvm::StringRef name) const { return holds<ArgumentList>(name); }
  bool is_tensor(llvm::StringRef name) const { return holds<ValueId>(name); }
  bool is_number(llvm::StringRef name) const { return ingot::is_number(argument(name)); }
  bool is_integer(llvm::StringRef name) const { return holds<int64_t>(name); }
  bool is_boolean(llvm::StringRef name) const { return holds<bool>(name); }
  /// Whether the argument is a named extent or a product with one.
  bool is_dim(llvm::StringRef name) const { return holds<Dim>(name); }
  bool is_nan(llvm::StringRef name) const;

  bool failed() const { return builder_.failed(); }
  /// Reports `NAME: text`, at the call or at one argument.
  template <typename... Args> Results fail(fmt::format_string<Args...> format, Args&&... args) {
    return fail_at({}, ErrorCode::type_error, fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  Results fail_argument(llvm::StringRef name, fmt::format_string<Args...> format, Args&&... args) {
    return fail_at(argument(name).location, ErrorCode::invalid_argument,
                   fmt::format(format, std::forward<Args>(args)...));
  }

private:
  Results fail_at(SourceLocation location, ErrorCode code, const std::string& message);
  void bind(llvm::ArrayRef<CallArgument> arguments);
  const LibraryArgument& argument(llvm::StringRef name) const;
  template <typename T> bool holds(llvm::StringRef name) const {
    return std::holds_alternative<T>(argument(name).value);
  }
  template <typename T> const T& get(llvm::StringRef name, llvm::StringRef expected);
  void refuse_kind(llvm::StringRef name, const LibraryArgument& argument, llvm::StringRef expected);
  Term to_term(llvm::StringRef name, const LibraryArgument& argument);
  ConstantAttributes to_literal(llvm::StringRef name, const LibraryArgument& argument, DType dtype);
  void choose_literal_dtype();
  int64_t resolve_axis(llvm::StringRef name, int64_t axis, int64_t rank);

  Builder& builder_;
  const LibraryFunction& function_;
  std::vector<LibraryArgument> bound_;
  DType literal_dtype_ = DType::f32;
};

} // namespace ingot
