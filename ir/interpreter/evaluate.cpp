// SPDX-License-Identifier: Apache-2.0
// See evaluate.h.
#include "ir/interpreter/evaluate.h"

#include "ir/interpreter/evaluate_ops.h"

namespace ingot {

namespace {

const InputAttributes& input_of(const Graph& graph, ValueId value) {
  return graph.attributes<InputAttributes>(graph.producer(value));
}

/// Where a named dim was first seen.
struct Binding {
  int64_t size;
  std::string input;
};

/// Binds the one unbound name of `dim`, or checks a dim whose names are bound.
llvm::Error bind_dim(const Dim& dim, int64_t extent, llvm::StringRef input,
                     std::map<std::string, Binding>& bindings) {
  int64_t known = dim.coefficient();
  const std::string* open = nullptr;
  for (const std::string& name : dim.names()) {
    auto found = bindings.find(name);
    if (found != bindings.end()) {
      if (llvm::MulOverflow(known, found->second.size, known)) known = INT64_MAX;
    } else if (open && *open == name) {
      return make_error(ErrorCode::invalid_argument,
                        "input {}: cannot read {} off the extent {}; give {} an input dimension of "
                        "its own",
                        input.str(), name, dim.text(), name);
    } else if (!open) {
      open = &name;
    } else {
      return make_error(ErrorCode::invalid_argument,
                        "input {}: extent {} has two unknown names; give {} an input dimension of "
                        "its own",
                        input.str(), dim.text(), name);
    }
  }
  if (open && known > 0 && extent % known == 0) {
    bindings[*open] = {extent / known, input.str()};
    return llvm::Error::success();
  }
  if (!open && known == extent) return llvm::Error::success();
  std::string seen;
  for (const std::string& name : dim.names())
    if (auto found = bindings.find(name); found != bindings.end())
      seen += fmt::format("; {} is {} in input {}", name, found->second.size, found->second.input);
  return make_error(ErrorCode::invalid_argument, "input {}: expected an extent of {}, got {}{}",
                    input.str(), dim.text(), extent, seen);
}

} // namespace

llvm::Expected<DimBindings> bind_dims(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs) {
  if (inputs.size() != graph.inputs().size())
    return make_error(ErrorCode::invalid_argument, "graph {} has {} inputs, got {} tensors",
                      graph.name(), graph.inputs().size(), inputs.size());
  std::map<std::string, Binding> bindings;
  // Extents of one name first, so that products of names find them bound.
  for (size_t pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < inputs.size(); ++i) {
      const InputAttributes& input = input_of(graph, graph.inputs()[i]);
      const Tensor& tensor = *inputs[i];
      if (tensor.dtype() != input.type.dtype ||
          static_cast<int64_t>(tensor.extents().size()) != input.type.rank())
        return make_error(ErrorCode::invalid_argument, "input {}: expected {}, got {}", input.name,
                          input.type.text(), tensor.type_text());
      for (size_t d = 0; d < input.type.shape.size(); ++d) {
        const Dim& dim = input.type.shape[d];
        if ((dim.names().size() > 1) != (pass == 1)) continue;
        if (auto error = bind_dim(dim, tensor.extents()[d], input.name, bindings)) return error;
      }
    }
  DimBindings result;
  for (const auto& [name, binding] : bindings) result[name] = binding.size;
  return result;
}

llvm::SmallVector<int64_t, 4> evaluate_shape(const Shape& shape, const DimBindings& dims) {
  llvm::SmallVector<int64_t, 4> extents;
  for (const Dim& dim : shape) {
    int64_t extent = dim.coefficient();
    for (const std::string& name : dim.names()) {
      auto found = dims.find(name);
      INGOT_ASSERT(found != dims.end());
      INGOT_ASSERT(!llvm::MulOverflow(extent, found->second, extent));
    }
    extents.push_back(extent);
  }
  return extents;
}

llvm::ArrayRef<double> Evaluated::reals() const {
  INGOT_ASSERT(is_float(dtype));
  return {reinterpret_cast<const double*>(value.data), static_cast<size_t>(count())};
}

llvm::ArrayRef<int64_t> Evaluated::integers() const {
  INGOT_ASSERT(is_integer(dtype));
  return {reinterpret_cast<const int64_t*>(value.data), static_cast<size_t>(count())};
}

llvm::ArrayRef<uint8_t> Evaluated::booleans() const {
  INGOT_ASSERT(dtype == DType::boolean);
  return {reinterpret_cast<const uint8_t*>(value.data), static_cast<size_t>(count())};
}

llvm::ArrayRef<float> Evaluated::bounds(size_t index) const {
  if (!value.bounds[index]) return {};
  return {value.bounds[index].get(), static_cast<size_t>(count())};
}

Tensor Evaluated::to_tensor() const {
  Tensor tensor(dtype, extents());
  for (int64_t i = 0; i < count(); ++i) {
    if (is_float(dtype))
      tensor.set(i, reals()[i]);
    else
      tensor.set_integer(i, dtype == DType::boolean ? booleans()[i] : integers()[i]);
  }
  return tensor;
}

namespace {

class Evaluation {
public:
  Evaluation(const Graph& graph, const EvaluateOptions& options, DimBindings dims)
      : graph_(graph), options_(options), dims_(std::move(dims)), workers_(options.threads),
        values_(graph.values().size()), uses_(graph.values().size(), 0) {
    count_uses();
  }

  llvm::Expected<std::vector<Evaluated>> run(llvm::ArrayRef<const Tensor*> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) borrow(graph_.inputs()[i], *inputs[i]);
    for (const Op& op : graph_.ops()) {
      bool is_needed = llvm::any_of(op.results, [&](ValueId r) { return uses_[r.index] > 0; });
      if (op.kind == OpKind::input || !is_needed) continue;
      if (auto error = run_op(op)) return error;
    }
    return collect();
  }

private:
  /// How many needed ops and outputs read each value.
  void count_uses() {
    for (const GraphOutput& output : graph_.outputs()) ++uses_[output.value.index];
    for (size_t i = graph_.ops().size(); i-- > 0;) {
      const Op& op = graph_.ops()[i];
      bool is_needed = llvm::any_of(op.results, [&](ValueId r) { return uses_[r.index] > 0; });
      if (!is_needed) continue;
      for (ValueId operand : op.operands) ++uses_[operand.index];
    }
  }

  void borrow(ValueId id, const Tensor& tensor) {
    HostValue value;
    value.dtype = tensor.dtype();
    value.extents.assign(tensor.extents().begin(), tensor.extents().end());
    value.strides = dense_strides(value.extents);
    value.borrowed = true;
    value.data = tensor.bytes();
    value.bounds.resize(options_.precisions.size());
    values_[id.index] = std::move(value);
  }

  llvm::Error run_op(const Op& op) {
    llvm::SmallVector<const HostValue*, 3> operands;
    for (ValueId operand : op.operands) operands.push_back(&values_[operand.index]);
    llvm::SmallVector<Extents, 2> extents;
    for (ValueId result : op.results) {
      extents.push_back(evaluate_shape(graph_.type(result).shape, dims_));
      if (!checked_count(extents.back()) || *checked_count(extents.back()) > INT64_MAX / 8)
        return make_error(ErrorCode::invalid_argument, "{} of {} elements is too large",
                          info(op.kind).name.str(), text_of(extents.back()));
    }
    OpSite site{graph_, op, operands, extents, options_.precisions, workers_};
    HostValues results = evaluate_op(site);
    for (size_t i = 0; i < results.size(); ++i) {
      if (llvm::is_contained(options_.stored, op.results[i])) store(results[i]);
      values_[op.results[i].index] = std::move(results[i]);
    }
    keep_witness(op);
    for (ValueId operand : op.operands)
      if (--uses_[operand.index] == 0) values_[operand.index] = HostValue();
    return llvm::Error::success();
  }

  static HostValues evaluate_op(const OpSite& site) {
    switch (info(site.op.kind).op_class) {
    case OpClass::source:
      return {site.op.kind == OpKind::iota ? evaluate_iota(site) : evaluate_constant(site)};
    case OpClass::elementwise: return {evaluate_elementwise(site)};
    case OpClass::matmul: return {evaluate_matmul(site)};
    case OpClass::reduce: return evaluate_reduce(site);
    case OpClass::scan: return {evaluate_scan(site)};
    case OpClass::gather: return {evaluate_gather(site)};
    case OpClass::movement: return {evaluate_movement(site)};
    }
    llvm_unreachable("not a class of ops");
  }

  /// Rounds a copy: other views of the storage stay as they are.
  void store(HostValue& value) {
    if (value.borrowed || value.dtype == DType::f32 || !is_float(value.dtype)) return;
    value = densify(value, workers_);
    round_storage(value, options_.precisions.size(), workers_);
  }

  void keep_witness(const Op& op) {
    if (op.kind != OpKind::argmax && op.kind != OpKind::argmin) return;
    bool is_output = llvm::any_of(
        graph_.outputs(), [&](const GraphOutput& output) { return output.value == op.results[0]; });
    if (!is_output) return;
    auto witness = std::make_shared<IndexWitness>();
    const auto& axes = graph_.attributes<ReduceAttributes>(op).axes;
    witness->operand = with_axes_last(values_[op.operands[0].index], axes);
    witness->is_max = op.kind == OpKind::argmax;
    witnesses_[op.results[0].index] = std::move(witness);
  }

  std::vector<Evaluated> collect() {
    std::vector<Evaluated> results;
    for (const GraphOutput& output : graph_.outputs()) {
      const HostValue& value = values_[output.value.index];
      Evaluated result;
      result.name = output.name;
      result.dtype = value.dtype;
      result.precisions = options_.precisions;
      bool half = value.dtype == DType::f16 || value.dtype == DType::bf16;
      bool keeps = !value.borrowed && !half && value.is_dense() && value.offset == 0;
      result.value = keeps ? value : densify(value, workers_);
      if (half && !value.borrowed)
        round_storage(result.value, options_.precisions.size(), workers_);
      if (auto witness = witnesses_.find(output.value.index); witness != witnesses_.end())
        result.witness = witness->second;
      results.push_back(std::move(result));
    }
    return results;
  }

  const Graph& graph_;
  const EvaluateOptions& options_;
  DimBindings dims_;
  Workers workers_;
  std::vector<HostValue> values_;
  std::vector<int64_t> uses_;
  std::map<uint32_t, std::shared_ptr<const IndexWitness>> witnesses_;
};

} // namespace

llvm::Expected<std::vector<Evaluated>>
evaluate(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs, const EvaluateOptions& options) {
  auto dims = bind_dims(graph, inputs);
  if (!dims) return dims.takeError();
  return Evaluation(graph, options, std::move(*dims)).run(inputs);
}

} // namespace ingot
