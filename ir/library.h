// SPDX-License-Identifier: Apache-2.0
// The operators users write, by name: primitives of ops.def and the composites of library.def,
// which are functions over primitives. Called by the parser and by the public builder.
#pragma once

#include "ir/graph.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ingot {

struct LibraryArgument;
using ArgumentList = std::vector<LibraryArgument>;
/// The absent value of an optional parameter.
struct None {};

/// What a call is given. A number where a tensor is expected becomes a rank-0 constant of the
/// element type of the call's first numeric tensor, or what `call` says when it has none.
struct LibraryArgument {
  std::variant<None, ValueId, int64_t, double, bool, DType, Dim, std::string, ArgumentList> value;
  SourceLocation location = {};
};

struct CallArgument {
  std::string name; ///< empty: by position
  LibraryArgument value;
  SourceLocation location = {}; ///< of the name
};

enum class ParameterKind : uint8_t {
  tensor,
  tensors,
  number,
  integer,
  boolean,
  text,
  dtype,
  axis, ///< one axis, counted from the end when negative
  axes, ///< one axis or a list
  ints, ///< one integer or a list
  dim,  ///< an extent: a number, a named dimension or a sum of products
  dims, ///< one of them or a list
};

struct Parameter {
  llvm::StringRef name;
  ParameterKind kind = ParameterKind::tensor;
  bool is_required = true;
  LibraryArgument fallback = {None{}};   ///< of a parameter that is not required
  std::vector<llvm::StringRef> synonyms; ///< other names of arguments for it

  bool answers_to(llvm::StringRef written) const;
};

class Call;
/// What a composite gives: one or more values.
using Results = llvm::SmallVector<class Term, 2>;

struct LibraryFunction {
  llvm::StringRef name;
  std::vector<Parameter> parameters;
  /// PyTorch's order of arguments by position, as indices of parameters; empty where it is the
  /// same.
  std::vector<size_t> torch_order;
  /// The parameter whose list may be given as several arguments by position.
  std::optional<size_t> spread;
  llvm::StringRef summary; ///< one line; empty for elementwise primitives
  Results (*implementation)(Call&);
  std::optional<OpKind> primitive; ///< the op of the same name
  /// `layer_norm(x, gamma=none, beta=none, dims=1, eps=1e-05)`
  std::string signature() const;
  /// The parameter that an argument of this name is for.
  std::optional<size_t> find_parameter(llvm::StringRef written) const;
};

/// All functions, ordered by name. Aliases are entries of their own.
llvm::ArrayRef<LibraryFunction> library_functions();
/// nullptr where no function has the name.
const LibraryFunction* find_function(llvm::StringRef name);
bool is_function(llvm::StringRef name);
/// What an argument is, for messages: `the tensor f32[4]`, `1.5`, `a list`.
std::string describe(const Graph& graph, const LibraryArgument& argument);
/// docs/functions.md: every function with its parameters and what it gives.
std::string function_reference();

/// Appends the ops of one function. Errors: invalid_argument for a name, argument or kind that does
/// not fit (with the nearest known name), type_error for operands that do not fit together.
/// `numbers` is the element type of numbers beside which no tensor stands.
llvm::Expected<llvm::SmallVector<ValueId, 2>> call(Graph& graph, llvm::StringRef name,
                                                   llvm::ArrayRef<CallArgument> arguments,
                                                   SourceLocation location = {},
                                                   DType numbers = DType::f32);

} // namespace ingot
