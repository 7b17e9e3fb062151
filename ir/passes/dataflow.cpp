// SPDX-License-Identifier: Apache-2.0
// Computes each fact of dataflow.h in one sweep over the ops.
#include "ir/passes/dataflow.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace ingot {

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

namespace {

/// Appends numbers, text and shapes, and hashes them as one run of bytes.
class Hasher {
public:
  template <typename... Parts> void add(const Parts&... parts) { (append(parts), ...); }
  uint64_t hash() const { return llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(bytes_)); }

private:
  template <typename Number>
    requires(std::is_integral_v<Number> || std::is_enum_v<Number>)
  void append(Number number) {
    const auto word = static_cast<uint64_t>(number);
    for (int byte = 0; byte < 8; ++byte) bytes_.push_back(static_cast<uint8_t>(word >> (8 * byte)));
  }
  void append(llvm::StringRef text) {
    append(text.size());
    bytes_.append(text.bytes_begin(), text.bytes_end());
  }
  template <typename Part, unsigned N> void append(const llvm::SmallVector<Part, N>& parts) {
    append(parts.size());
    for (const Part& part : parts) append(part);
  }
  void append(const Dim& dim) {
    add(dim.constant(), dim.products().size());
    for (const Dim::Product& product : dim.products()) {
      add(product.coefficient, product.names.size());
      for (const std::string& name : product.names) append(llvm::StringRef(name));
    }
  }
  void append(const Type& type) { add(type.dtype, type.shape); }

  llvm::SmallVector<uint8_t, 128> bytes_;
};

struct AttributesHasher {
  Hasher& hasher;
  void operator()(const NoAttributes&) {}
  void operator()(const ConstantAttributes& a) {
    hasher.add(a.dtype, std::bit_cast<uint64_t>(a.real), a.integer);
  }
  void operator()(const InputAttributes& a) { hasher.add(a.role, a.type); }
  void operator()(const IotaAttributes& a) { hasher.add(a.axis, a.type); }
  void operator()(const ExtentAttributes& a) { hasher.add(a.dtype, a.shape); }
  void operator()(const CastAttributes& a) { hasher.add(a.dtype); }
  void operator()(const MatmulAttributes& a) { hasher.add(a.transpose_a, a.transpose_b); }
  void operator()(const ReduceAttributes& a) { hasher.add(a.axes); }
  void operator()(const AxisAttributes& a) { hasher.add(a.axis); }
  void operator()(const ScanAttributes& a) { hasher.add(a.axis, a.exclusive, a.reverse); }
  void operator()(const ShapeAttributes& a) { hasher.add(a.shape); }
  void operator()(const TransposeAttributes& a) { hasher.add(a.permutation); }
  void operator()(const SliceAttributes& a) { hasher.add(a.starts, a.stops, a.steps); }
  void operator()(const WindowAttributes& a) { hasher.add(a.axis, a.start, a.extent, a.is_inside); }
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
