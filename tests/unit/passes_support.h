// SPDX-License-Identifier: Apache-2.0
// Builds small graphs for the tests of passes and runs passes that must succeed.
#pragma once

#include "ir/passes/dataflow.h"
#include "ir/passes/passes.h"

#include <doctest/doctest.h>

namespace ingot::test {

/// A graph under construction whose every step must type.
class GraphMaker {
public:
  ValueId input(llvm::StringRef name, const Shape& shape, DType dtype = DType::f32) {
    return llvm::cantFail(graph_.add_input(name, {dtype, shape}, InputAttributes::Role::input));
  }
  ValueId param(llvm::StringRef name, const Shape& shape, DType dtype = DType::f32) {
    return llvm::cantFail(graph_.add_input(name, {dtype, shape}, InputAttributes::Role::param));
  }
  ValueId number(double value, DType dtype = DType::f32) {
    return graph_.add_constant(dtype, value);
  }
  ValueId op(OpKind kind, llvm::ArrayRef<ValueId> operands,
             Attributes attributes = NoAttributes{}) {
    return llvm::cantFail(graph_.add_value(kind, operands, std::move(attributes)));
  }
  ValueId reshape(ValueId x, const Shape& shape) {
    return op(OpKind::reshape, {x}, ShapeAttributes{shape});
  }
  ValueId broadcast(ValueId x, const Shape& shape) {
    return op(OpKind::broadcast, {x}, ShapeAttributes{shape});
  }
  ValueId transpose(ValueId x, llvm::ArrayRef<int64_t> permutation) {
    return op(OpKind::transpose, {x},
              TransposeAttributes{{permutation.begin(), permutation.end()}});
  }
  ValueId cast(ValueId x, DType dtype) { return op(OpKind::cast, {x}, CastAttributes{dtype}); }
  ValueId reduce(OpKind kind, ValueId x, llvm::ArrayRef<int64_t> axes) {
    return op(kind, {x}, ReduceAttributes{{axes.begin(), axes.end()}});
  }
  /// The graph so far with these outputs, named y0, y1, ...
  Graph with_outputs(llvm::ArrayRef<ValueId> values) const {
    Graph result = graph_;
    for (size_t index = 0; index < values.size(); ++index) {
      llvm::cantFail(result.add_output("y" + std::to_string(index), values[index]));
    }
    return result;
  }

private:
  Graph graph_;
};

inline Graph run(PassFunction pass, const Graph& graph, MathMode math = MathMode::relaxed) {
  return llvm::cantFail(pass(graph, {math}));
}

inline Graph run_all(const Graph& graph, MathMode math = MathMode::relaxed) {
  return llvm::cantFail(run_passes(graph, {math}));
}

inline size_t count(const Graph& graph, OpKind kind) {
  size_t result = 0;
  for (const Op& op : graph.ops()) result += op.kind == kind;
  return result;
}

} // namespace ingot::test
