// SPDX-License-Identifier: Apache-2.0
// See random.h.
#include "ir/random.h"

#include "src/support/philox.h"

#include <cmath>

namespace ingot {

uint64_t random_key(llvm::StringRef name, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3u;
  return hash ^ (seed * 0x9E3779B97F4A7C15u);
}

namespace {

/// Element i of a distribution. Products of 24-bit numbers are exact in f64, so fused and separate
/// multiply-adds give the same bits.
double draw(const Distribution& distribution, uint64_t key, int64_t index) {
  auto counter = static_cast<uint64_t>(index);
  if (distribution.kind == Distribution::Kind::normal) {
    double z = near_normal(philox4x32(key, counter));
    return distribution.low + static_cast<double>(static_cast<float>(z)) *
                                  static_cast<double>(static_cast<float>(distribution.high));
  }
  uint32_t word = philox4x32(key, counter / 4).word[counter % 4];
  double width = static_cast<float>(distribution.high - distribution.low);
  if (distribution.kind == Distribution::Kind::integer) {
    auto range = static_cast<uint64_t>(std::fmax(distribution.high - distribution.low, 1));
    return distribution.low + static_cast<double>((uint64_t{word} * range) >> 32);
  }
  return static_cast<float>(distribution.low) + width * unit_uniform(word);
}

/// Searches the uses of an input for constraints. It looks through movement, and through arithmetic
/// with other values.
struct UseSearch {
  const Graph& graph;
  bool in_matmul;
  bool positive;
  std::optional<Dim> gather_extent;
  Dim contracted;

  void visit(ValueId value, int depth) {
    if (depth > 4) return;
    for (const Op& op : graph.ops())
      for (size_t i = 0; i < op.operands.size(); ++i)
        if (op.operands[i] == value) visit_use(op, i, depth);
  }

  void visit_use(const Op& op, size_t operand, int depth) {
    if (info(op.kind).needs_positive()) {
      positive = true;
      return;
    }
    switch (op.kind) {
    case OpKind::matmul: {
      if (depth > 2) return;
      const auto& attributes = graph.attributes<MatmulAttributes>(op);
      const Shape& shape = graph.type(op.operands[operand]).shape;
      bool inner = operand == 0 ? !attributes.transpose_a : attributes.transpose_b;
      in_matmul = true;
      contracted = shape[shape.size() - (inner ? 1 : 2)];
      return;
    }
    case OpKind::gather:
      if (operand == 1) {
        int64_t axis = graph.attributes<AxisAttributes>(op).axis;
        gather_extent = graph.type(op.operands[0]).shape[static_cast<size_t>(axis)];
      }
      return;
    case OpKind::add:
    case OpKind::cast: return visit(op.results[0], depth + 1);
    default:
      if (info(op.kind).op_class == OpClass::movement) visit(op.results[0], depth + 1);
    }
  }
};

} // namespace

void fill_random(Tensor& tensor, const Distribution& distribution, uint64_t key) {
  bool integers = !is_float(tensor.dtype());
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double value = draw(distribution, key, i);
    if (integers)
      tensor.set_integer(i, static_cast<int64_t>(std::floor(value)));
    else
      tensor.set(i, value);
  }
}

Distribution default_distribution(const Graph& graph, ValueId input,
                                  llvm::ArrayRef<int64_t> extents) {
  using Kind = Distribution::Kind;
  const auto& attributes = graph.attributes<InputAttributes>(graph.producer(input));
  UseSearch search{graph, false, false, std::nullopt, 1};
  search.visit(input, 0);
  if (!is_float(attributes.type.dtype)) {
    if (attributes.type.dtype == DType::boolean) return {Kind::integer, 0, 2};
    bool known = search.gather_extent && search.gather_extent->is_fixed();
    double count = known ? static_cast<double>(search.gather_extent->fixed()) : 10;
    return {Kind::integer, 0, count};
  }
  if (search.positive) return {Kind::uniform, 0.5, 1.5};
  if (attributes.role == InputAttributes::Role::input) return {Kind::uniform, 0, 1};
  if (!search.in_matmul) return {Kind::normal, 0, 1};
  // A named contracted extent is taken from the tensor: in the usual layout it is the last one. A
  // scalar that is broadcast to a matrix has none.
  double fan_in = search.contracted.is_fixed() ? static_cast<double>(search.contracted.fixed())
                  : extents.empty()            ? 1.0
                                               : static_cast<double>(extents.back());
  double limit = 1 / std::sqrt(std::fmax(fan_in, 1));
  return {Kind::uniform, -limit, limit};
}

} // namespace ingot
