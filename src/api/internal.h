// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the public API: conversions between its types and the library's own.
#pragma once

#include "ingot/ingot.h"
#include "ir/graph.h"
#include "runtime/compile_service.h"
#include "src/api/out_of_memory.h"

namespace ingot {

/// Maximum depth of nested lists of arguments. Operators need two.
inline constexpr int kMostNestedArguments = 8;

struct GraphSpec::State {
  explicit State(Graph the_graph, std::vector<std::string> the_warnings = {});
  const Graph graph;
  const std::vector<std::string> warnings; ///< about the text of the graph
  std::vector<TensorSpec> inputs, params, outputs;
};

/// The public description of a tensor of a graph.
TensorSpec to_spec(const std::string& name, const Type& type);

/// Whether two enumerators, of the public API and of the library, can be converted by their number.
template <typename A, typename B> constexpr bool same_number(A a, B b) {
  return static_cast<int>(a) == static_cast<int>(b);
}

/// Errors: invalid_argument for a number that is not an enumerator.
llvm::Expected<DType> to_dtype(ElementType type);
ElementType to_element_type(DType dtype);

/// The compile service of the process, made at its first use. Its warnings go to the handler that
/// is set at that time.
std::shared_ptr<CompileService> shared_service();

} // namespace ingot
