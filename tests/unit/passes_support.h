// SPDX-License-Identifier: Apache-2.0
// Builds small graphs for the tests of passes and runs passes that must succeed.
#pragma once

#include "ir/passes/dataflow.h"
#include "ir/passes/passes.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tests/support/equivalence.h"

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
    return llvm::cantFail(graph_.add_constant(dtype, value));
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
  ValueId matmul(ValueId a, ValueId b, MatmulAttributes flags = {}) {
    return op(OpKind::matmul, {a, b}, flags);
  }
  llvm::SmallVector<ValueId, 2> reduce_pair(OpKind kind, ValueId x, llvm::ArrayRef<int64_t> axes) {
    OpId id = llvm::cantFail(graph_.add(kind, {x}, ReduceAttributes{{axes.begin(), axes.end()}}));
    return graph_.op(id).results;
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
  return pass(graph, {math});
}

inline Graph run_all(const Graph& graph, MathMode math = MathMode::relaxed) {
  return llvm::cantFail(run_passes(graph, {math}));
}

inline size_t count(const Graph& graph, OpKind kind) {
  size_t result = 0;
  for (const Op& op : graph.ops()) result += op.kind == kind;
  return result;
}

/// The passes of `math` turn `before` into `after`, and leave `after` as it is.
inline void check_becomes(const Graph& before, const Graph& after, MathMode math) {
  Graph actual = run_all(before, math), again = run_all(after, math);
  CAPTURE(print_graph(actual));
  CAPTURE(print_graph(after));
  CAPTURE(print_graph(again));
  CHECK(equivalent(actual, after));
  CHECK(equivalent(again, after));
}

inline void check_becomes(const GraphMaker& g, ValueId before, ValueId after,
                          MathMode math = MathMode::strict) {
  check_becomes(g.with_outputs({before}), run(remove_dead_code, g.with_outputs({after})), math);
}

inline void check_stays(const GraphMaker& g, ValueId value, MathMode math = MathMode::strict) {
  check_becomes(g, value, value, math);
}

} // namespace ingot::test
