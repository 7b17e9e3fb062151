// SPDX-License-Identifier: Apache-2.0
// The operators that users write, by name: primitives of ops.def and composites of library.def,
// which are functions over primitives. The parser and the public builder call it.
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

/// An argument of a call. A number in the place of a tensor becomes a rank-0 constant. Its type is
/// the element type of the call's first numeric tensor, or a parameter of `call` if there is none.
struct LibraryArgument {
  std::variant<None, ValueId, int64_t, double, bool, DType, Dim, std::string, ArgumentList> value;
  SourceLocation location = {};
};

bool is_none(const LibraryArgument& argument);
/// Whether it is an integer or a real number, and its value.
bool is_number(const LibraryArgument& argument);
double real_of(const LibraryArgument& argument);
/// An integer or a named dimension as an extent.
std::optional<Dim> as_dim(const LibraryArgument& argument);

struct CallArgument {
  std::string name; ///< empty: by position
  LibraryArgument value;
  SourceLocation location = {}; ///< place of the name
};

/// The kinds of parameters, which library.def explains.
enum class ParameterKind : uint8_t {
#define INGOT_KIND(name) name,
#include "ir/library.def"
};
llvm::StringRef spelling(ParameterKind kind);

struct Parameter {
  llvm::StringRef name;
  ParameterKind kind = ParameterKind::tensor;
  bool is_required = true;
  LibraryArgument fallback = {None{}};   ///< value of an optional parameter that is left out
  std::vector<llvm::StringRef> synonyms; ///< other names for it in calls

  bool answers_to(llvm::StringRef written) const;
};

class Call;
/// The results of a composite: one or more values.
using Results = llvm::SmallVector<class Term, 2>;

struct LibraryFunction {
  llvm::StringRef name;
  std::vector<Parameter> parameters;
  /// PyTorch's order of positional arguments, as indices of parameters; empty if it is the same.
  std::vector<size_t> torch_order;
  /// The parameter whose list may be written as several positional arguments.
  std::optional<size_t> spread;
  llvm::StringRef summary; ///< one line; empty for elementwise primitives
  Results (*implementation)(Call&);
  std::optional<OpKind> primitive; ///< the op of the same name
  /// `layer_norm(x, gamma=none, beta=none, dims=1, eps=1e-05)`
  std::string signature() const;
  /// The parameter for an argument of this name.
  std::optional<size_t> find_parameter(llvm::StringRef written) const;
};

/// All functions, ordered by name. Aliases are entries of their own.
llvm::ArrayRef<LibraryFunction> library_functions();
/// nullptr if there is no function of that name.
const LibraryFunction* find_function(llvm::StringRef name);
bool is_function(llvm::StringRef name);
/// An argument as text for messages: `the tensor f32[4]`, `1.5`, `a list`.
std::string describe(const Graph& graph, const LibraryArgument& argument);

/// Appends the ops of one function. Errors: invalid_argument for an unknown name, argument or kind
/// (with the nearest known name), type_error for operands that do not fit together. `numbers` is
/// the type of numbers in a call without tensors.
llvm::Expected<llvm::SmallVector<ValueId, 2>> call(Graph& graph, llvm::StringRef name,
                                                   llvm::ArrayRef<CallArgument> arguments,
                                                   SourceLocation location = {},
                                                   DType numbers = DType::f32);

} // namespace ingot
