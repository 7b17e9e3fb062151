// SPDX-License-Identifier: Apache-2.0
// What the files of the public API share: conversions between its types and the library's own.
#pragma once

#include "ingot/ingot.h"
#include "ir/graph.h"
#include "runtime/compile_service.h"

namespace ingot {

/// Lists of arguments within each other; operators take two.
inline constexpr int kMostNestedArguments = 8;

struct GraphSpec::State {
  explicit State(Graph the_graph, std::vector<std::string> the_warnings = {});
  const Graph graph;
  const std::vector<std::string> warnings; ///< of the text that it was parsed from
  std::vector<TensorSpec> inputs, params, outputs;
};

/// A tensor of a graph as the public API describes it.
TensorSpec to_spec(const std::string& name, const Type& type);

/// Consumes an error.
Status to_status(llvm::Error error);
/// Errors: invalid_argument for a number that is no enumerator.
llvm::Expected<DType> to_dtype(ElementType type);
ElementType to_element_type(DType dtype);

/// The compile service of the process, made at its first use; its warnings go to the handler that
/// is set then.
std::shared_ptr<CompileService> shared_service();

} // namespace ingot
