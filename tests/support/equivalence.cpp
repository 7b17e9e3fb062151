// SPDX-License-Identifier: Apache-2.0
// Each value of both graphs gets the number of its expression; equal expressions get equal numbers.
#include "tests/support/equivalence.h"

#include "llvm/ADT/bit.h"

#include <map>

namespace ingot {

namespace {

void append_numbers(std::string& key, llvm::ArrayRef<int64_t> numbers) {
  for (int64_t number : numbers) fmt::format_to(std::back_inserter(key), " {}", number);
  key += ';';
}

/// A text of attributes, injective among ops of one kind.
struct AttributesText {
  std::string& key;

  void operator()(const NoAttributes&) const {}
  void operator()(const ConstantAttributes& a) const {
    fmt::format_to(std::back_inserter(key), "{} {} {}", spelling(a.dtype),
                   llvm::bit_cast<uint64_t>(a.real), a.integer);
  }
  void operator()(const InputAttributes& a) const { key += a.name; }
  void operator()(const IotaAttributes& a) const {
    fmt::format_to(std::back_inserter(key), "{} {}", a.axis, a.type.text());
  }
  void operator()(const ExtentAttributes& a) const {
    fmt::format_to(std::back_inserter(key), "{} {}", spelling(a.dtype), text_of(a.shape));
  }
  void operator()(const CastAttributes& a) const { key += spelling(a.dtype); }
  void operator()(const MatmulAttributes& a) const {
    fmt::format_to(std::back_inserter(key), "{} {}", a.transpose_a, a.transpose_b);
  }
  void operator()(const ReduceAttributes& a) const { append_numbers(key, a.axes); }
  void operator()(const AxisAttributes& a) const { append_numbers(key, {a.axis}); }
  void operator()(const ScanAttributes& a) const {
    append_numbers(key, {a.axis, a.exclusive, a.reverse});
  }
  void operator()(const ShapeAttributes& a) const { key += text_of(a.shape); }
  void operator()(const TransposeAttributes& a) const { append_numbers(key, a.permutation); }
  void operator()(const SliceAttributes& a) const {
    append_numbers(key, a.starts);
    append_numbers(key, a.stops);
    append_numbers(key, a.steps);
  }
  void operator()(const WindowAttributes& a) {
    append_numbers(key, {a.axis, a.is_inside});
    key += text_of({a.start, a.extent});
  }
};

/// Gives numbers to expressions, across graphs.
class Numbering {
public:
  /// The expression number of each value of a graph.
  std::vector<uint64_t> number(const Graph& graph) {
    std::vector<uint64_t> numbers(graph.values().size());
    for (const Op& op : graph.ops()) {
      std::string key = fmt::format("{} ", info(op.kind).name);
      std::visit(AttributesText{key}, op.attributes);
      for (ValueId operand : op.operands)
        fmt::format_to(std::back_inserter(key), " %{}", numbers[operand.index]);
      auto [entry, is_new] = numbers_.try_emplace(std::move(key), next_);
      if (is_new) next_ += op.results.size();
      for (size_t i = 0; i < op.results.size(); ++i)
        numbers[op.results[i].index] = entry->second + i;
    }
    return numbers;
  }

private:
  std::map<std::string, uint64_t> numbers_;
  uint64_t next_ = 0;
};

bool same_inputs(const Graph& a, const Graph& b) {
  if (a.inputs().size() != b.inputs().size()) return false;
  for (size_t i = 0; i < a.inputs().size(); ++i) {
    const auto& input_a = a.attributes<InputAttributes>(a.producer(a.inputs()[i]));
    const auto& input_b = b.attributes<InputAttributes>(b.producer(b.inputs()[i]));
    if (!(input_a == input_b)) return false;
  }
  return true;
}

} // namespace

bool equivalent(const Graph& a, const Graph& b) {
  if (!same_inputs(a, b) || a.outputs().size() != b.outputs().size()) return false;
  Numbering numbering;
  std::vector<uint64_t> numbers_a = numbering.number(a);
  std::vector<uint64_t> numbers_b = numbering.number(b);
  std::map<std::string, uint64_t> outputs;
  for (const GraphOutput& output : a.outputs())
    outputs[output.name] = numbers_a[output.value.index];
  for (const GraphOutput& output : b.outputs()) {
    auto found = outputs.find(output.name);
    if (found == outputs.end() || found->second != numbers_b[output.value.index]) return false;
  }
  return true;
}

} // namespace ingot
