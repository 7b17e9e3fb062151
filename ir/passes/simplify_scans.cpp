// SPDX-License-Identifier: Apache-2.0
// Scans of one element, and scans of reversed values whose results are reversed again.
#include "ir/passes/match.h"
#include "ir/passes/passes.h"
#include "ir/passes/rewriter.h"

namespace ingot {
namespace {

/// `value` is the number of elements along `dim`, less one.
bool is_last_position(const Graph& graph, ValueId value, const Dim& dim) {
  const auto is_integer = [&](ValueId id, int64_t expected) {
    const auto literal = splat_literal(graph, id);
    return literal && !is_float(literal->dtype) && literal->integer == expected;
  };
  if (dim.is_fixed()) return is_integer(value, dim.fixed() - 1);
  const Op& less = graph.producer(value);
  if (less.kind != OpKind::sub || !is_integer(less.operands[1], 1)) return false;
  const Op& extent = graph.producer(less.operands[0]);
  return extent.kind == OpKind::extent &&
         graph.attributes<ExtentAttributes>(extent).shape == Shape{dim};
}

/// `gather` reverses what it reads along `axis`: element i is that at extent - 1 - i.
bool is_flip(const Graph& graph, const Op& gather, int64_t axis) {
  if (gather.kind != OpKind::gather || graph.attributes<AxisAttributes>(gather).axis != axis)
    return false;
  const Shape& shape = graph.type(gather.operands[0]).shape;
  const Op& index = graph.producer(gather.operands[1]);
  if (index.kind != OpKind::sub || !(graph.type(gather.operands[1]).shape == shape)) return false;
  const Op& position = graph.producer(index.operands[1]);
  return position.kind == OpKind::iota && graph.attributes<IotaAttributes>(position).axis == axis &&
         is_last_position(graph, index.operands[0], shape[axis]);
}

/// A scan of one element is the element, or where it is left out, the scan's identity.
Replacement drop_unit_scan(GraphRewriter& rewriter, const Candidate& candidate) {
  if (info(candidate.kind()).op_class != OpClass::scan) return {};
  const auto& scan = std::get<ScanAttributes>(candidate.op.attributes);
  const ValueId x = candidate.operands[0];
  const Type type = rewriter.type(x);
  if (!type.shape[scan.axis].is(1)) return {};
  if (!scan.exclusive) return {x};
  const double identity = candidate.kind() == OpKind::cumsum ? 0 : 1;
  return {rewriter.broadcast(rewriter.constant(type.dtype, identity), type.shape)};
}

/// flip(scan(flip(x))) is the scan from the other end.
Replacement turn_scan(GraphRewriter& rewriter, const Candidate& candidate) {
  const Graph& graph = rewriter.graph();
  if (candidate.kind() != OpKind::gather || rewriter.source_uses(candidate.source_operand()) != 1)
    return {};
  const Op& scan = graph.producer(candidate.operands[0]);
  if (info(scan.kind).op_class != OpClass::scan) return {};
  ScanAttributes turned = graph.attributes<ScanAttributes>(scan);
  const Op& before = graph.producer(scan.operands[0]);
  Op after = candidate.op;
  after.operands = candidate.operands;
  if (!is_flip(graph, before, turned.axis) || !is_flip(graph, after, turned.axis)) return {};
  turned.reverse = !turned.reverse;
  return {rewriter.make(scan.kind, {before.operands[0]}, turned)};
}

Replacement simplify(GraphRewriter& rewriter, const Candidate& candidate) {
  return first_match({drop_unit_scan, turn_scan}, rewriter, candidate);
}

} // namespace

llvm::Expected<Graph> simplify_scans(const Graph& graph, const PassContext&) {
  return rewrite(graph, simplify);
}

} // namespace ingot
