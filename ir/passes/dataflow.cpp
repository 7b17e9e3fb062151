// SPDX-License-Identifier: Apache-2.0
// Computes each fact of dataflow.h in one sweep over the ops.
#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <bit>

namespace ingot {

std::vector<uint32_t> count_uses(const Graph& graph) {
  std::vector<uint32_t> uses(graph.values().size(), 0);
  for (const Op& op : graph.ops()) {
    for (ValueId operand : op.operands) ++uses[operand.index];
  }
  for (const GraphOutput& output : graph.outputs()) ++uses[output.value.index];
  return uses;
}

std::vector<std::vector<OpId>> users_of_values(const Graph& graph) {
  std::vector<std::vector<OpId>> users(graph.values().size());
  for (uint32_t index = 0; index < graph.ops().size(); ++index)
    for (ValueId operand : graph.op(OpId{index}).operands)
      users[operand.index].push_back(OpId{index});
  return users;
}

LaunchSizes::LaunchSizes(const Graph& graph) {
  for (ValueId id : graph.inputs()) {
    const auto& input = graph.attributes<InputAttributes>(graph.producer(id));
    if (input.role != InputAttributes::Role::param) continue;
    for (const Dim& dim : input.type.shape)
      for (const std::string& name : dim.names()) of_params_.insert(name);
  }
}

bool LaunchSizes::appear_in(const Graph& graph, const Op& op) const {
  if (op.kind == OpKind::extent) return true;
  auto is_one = [&](const std::string& name) { return !of_params_.contains(name); };
  if (const auto* window = std::get_if<WindowAttributes>(&op.attributes))
    return llvm::any_of(window->start.names(), is_one) ||
           llvm::any_of(window->extent.names(), is_one);
  if (is_view(op.kind)) return false;
  auto has_one = [&](ValueId value) {
    return llvm::any_of(graph.type(value).shape,
                        [&](const Dim& dim) { return llvm::any_of(dim.names(), is_one); });
  };
  return llvm::any_of(op.operands, has_one) || llvm::any_of(op.results, has_one);
}

std::vector<bool> depends_only_on_params(const Graph& graph) {
  std::vector<bool> result(graph.values().size(), false);
  const LaunchSizes sizes(graph);
  for (const Op& op : graph.ops()) {
    bool bit = llvm::all_of(op.operands, [&](ValueId operand) { return result[operand.index]; });
    if (op.kind == OpKind::input) {
      bit = graph.attributes<InputAttributes>(op).role == InputAttributes::Role::param;
    }
    if (sizes.appear_in(graph, op)) bit = false;
    for (ValueId value : op.results) result[value.index] = bit;
  }
  return result;
}

std::vector<bool> find_live_ops(const Graph& graph) {
  std::vector<bool> live(graph.ops().size(), false);
  for (const GraphOutput& output : graph.outputs()) {
    live[graph.value(output.value).op.index] = true;
  }
  for (size_t index = graph.ops().size(); index-- > 0;) {
    if (!live[index]) continue;
    for (ValueId operand : graph.ops()[index].operands) {
      live[graph.value(operand).op.index] = true;
    }
  }
  return live;
}

std::vector<uint32_t> measure_depths(const Graph& graph) {
  std::vector<uint32_t> depths(graph.values().size(), 0);
  for (const Op& op : graph.ops()) {
    OpClass op_class = info(op.kind).op_class;
    uint32_t depth = 0;
    for (ValueId operand : op.operands) depth = std::max(depth, depths[operand.index]);
    if (op_class != OpClass::movement && op_class != OpClass::source) ++depth;
    for (ValueId value : op.results) depths[value.index] = depth;
  }
  return depths;
}

namespace {

/// Appends words and text and hashes them as one run of bytes.
class Hasher {
public:
  void add(uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) bytes_.push_back(static_cast<uint8_t>(word >> (8 * byte)));
  }
  void add(llvm::StringRef text) {
    add(text.size());
    bytes_.append(text.bytes_begin(), text.bytes_end());
  }
  template <typename Range> void add_all(const Range& words) {
    add(words.size());
    for (auto word : words) add(static_cast<uint64_t>(word));
  }
  void add(const Shape& shape) {
    add(shape.size());
    for (const Dim& dim : shape) add(dim);
  }
  void add(const Dim& dim) {
    add(static_cast<uint64_t>(dim.constant()));
    add(dim.products().size());
    for (const Dim::Product& product : dim.products()) {
      add(static_cast<uint64_t>(product.coefficient));
      add(product.names.size());
      for (const std::string& name : product.names) add(llvm::StringRef(name));
    }
  }
  void add(const Type& type) {
    add(static_cast<uint64_t>(type.dtype));
    add(type.shape);
  }
  uint64_t hash() const { return llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(bytes_)); }

private:
  llvm::SmallVector<uint8_t, 128> bytes_;
};

struct AttributesHasher {
  Hasher& hasher;
  void operator()(const NoAttributes&) {}
  void operator()(const ConstantAttributes& a) {
    hasher.add(static_cast<uint64_t>(a.dtype));
    hasher.add(std::bit_cast<uint64_t>(a.real));
    hasher.add(static_cast<uint64_t>(a.integer));
  }
  void operator()(const InputAttributes& a) {
    hasher.add(static_cast<uint64_t>(a.role));
    hasher.add(a.type);
  }
  void operator()(const IotaAttributes& a) {
    hasher.add(static_cast<uint64_t>(a.axis));
    hasher.add(a.type);
  }
  void operator()(const ExtentAttributes& a) {
    hasher.add(static_cast<uint64_t>(a.dtype));
    hasher.add(a.shape);
  }
  void operator()(const CastAttributes& a) { hasher.add(static_cast<uint64_t>(a.dtype)); }
  void operator()(const MatmulAttributes& a) {
    hasher.add(static_cast<uint64_t>(a.transpose_a));
    hasher.add(static_cast<uint64_t>(a.transpose_b));
  }
  void operator()(const ReduceAttributes& a) { hasher.add_all(a.axes); }
  void operator()(const AxisAttributes& a) { hasher.add(static_cast<uint64_t>(a.axis)); }
  void operator()(const ScanAttributes& a) {
    hasher.add(static_cast<uint64_t>(a.axis));
    hasher.add(static_cast<uint64_t>(a.exclusive));
    hasher.add(static_cast<uint64_t>(a.reverse));
  }
  void operator()(const ShapeAttributes& a) { hasher.add(a.shape); }
  void operator()(const TransposeAttributes& a) { hasher.add_all(a.permutation); }
  void operator()(const SliceAttributes& a) {
    hasher.add_all(a.starts);
    hasher.add_all(a.stops);
    hasher.add_all(a.steps);
  }
  void operator()(const WindowAttributes& a) {
    hasher.add(static_cast<uint64_t>(a.axis));
    hasher.add(a.start);
    hasher.add(a.extent);
    hasher.add(static_cast<uint64_t>(a.is_inside));
  }
};

} // namespace

std::vector<uint64_t> hash_definitions(const Graph& graph) {
  return hash_swapped(graph, [](const Op&, llvm::ArrayRef<uint64_t>) { return false; });
}

std::vector<uint64_t> hash_swapped(const Graph& graph, SwapsOperands swaps) {
  std::vector<uint64_t> hashes(graph.values().size(), 0);
  uint64_t input_position = 0;
  for (const Op& op : graph.ops()) {
    Hasher hasher;
    hasher.add(info(op.kind).name);
    // Two inputs of one type differ only by position.
    if (op.kind == OpKind::input) hasher.add(input_position++);
    auto operands = op.operands;
    if (operands.size() == 2 && swaps(op, hashes)) std::swap(operands[0], operands[1]);
    for (ValueId operand : operands) hasher.add(hashes[operand.index]);
    std::visit(AttributesHasher{hasher}, op.attributes);
    uint64_t hash = hasher.hash();
    for (size_t result = 0; result < op.results.size(); ++result) {
      hashes[op.results[result].index] = hash + result;
    }
  }
  return hashes;
}

bool identical(const Graph& a, const Graph& b) {
  auto same_op = [](const Op& x, const Op& y) {
    return x.kind == y.kind && x.operands == y.operands && x.results == y.results &&
           x.attributes == y.attributes;
  };
  auto same_output = [](const GraphOutput& x, const GraphOutput& y) {
    return x.name == y.name && x.value == y.value;
  };
  return a.name() == b.name() && a.inputs() == b.inputs() &&
         llvm::equal(a.ops(), b.ops(), same_op) &&
         llvm::equal(a.outputs(), b.outputs(), same_output);
}

} // namespace ingot
