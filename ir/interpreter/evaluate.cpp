// SPDX-License-Identifier: Apache-2.0
// See evaluate.h.
#include "ir/interpreter/evaluate.h"

#include "ir/interpreter/evaluate_ops.h"
#include "ir/interpreter/memory.h"
#include "ir/jumps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {

llvm::SmallVector<int64_t, 4> evaluate_shape(const Shape& shape, const DimBindings& dims) {
  llvm::SmallVector<int64_t, 4> extents;
  for (const Dim& dim : shape) {
    const std::optional<int64_t> extent = dim.evaluate(dims);
    INGOT_ASSERT(extent.has_value());
    extents.push_back(*extent);
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

/// The operand rounding of f32 matmuls under a precision.
OperandRounding rounding_of(MatmulPrecision precision) {
  switch (precision) {
  case MatmulPrecision::high: return OperandRounding::tf32;
  case MatmulPrecision::medium: return OperandRounding::bf16;
  default: return OperandRounding::none;
  }
}

bool has_f32_matmul(const Graph& graph) {
  return llvm::any_of(graph.ops(), [&](const Op& op) {
    return op.kind == OpKind::matmul && graph.type(op.results[0]).dtype == DType::f32;
  });
}

/// One evaluation of the whole graph, with one rounding of matmul operands.
struct Pass {
  OperandRounding rounding = OperandRounding::none;
  std::vector<MatmulPrecision> precisions;
};

class Evaluation {
public:
  Evaluation(const Graph& graph, const Pass& pass, const EvaluateOptions& options,
             const DimBindings& dims, Workers& workers)
      : graph_(graph), pass_(pass), options_(options), dims_(dims), workers_(workers),
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
  /// Counts the needed ops and outputs that read each value.
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
    value.bounds.resize(pass_.precisions.size());
    values_[id.index] = std::move(value);
  }

  llvm::Error run_op(const Op& op) {
    llvm::SmallVector<const HostValue*, 3> operands;
    for (ValueId operand : op.operands) operands.push_back(&values_[operand.index]);
    llvm::SmallVector<HostValue, 3> rounded;
    if (jumps(graph_, op))
      for (auto [id, operand] : llvm::zip_equal(op.operands, operands)) {
        const bool is_exact = graph_.producer(root_of(graph_, id)).kind == OpKind::constant;
        if (operand->borrowed || is_exact || !is_16_bit(operand->dtype)) continue;
        store(rounded.emplace_back(*operand), StorageRounding::of_values);
        operand = &rounded.back();
      }
    llvm::SmallVector<Extents, 2> extents;
    for (ValueId result : op.results) {
      const auto* counted = std::get_if<ExtentAttributes>(&op.attributes);
      extents.push_back(
          evaluate_shape(counted ? counted->shape : graph_.type(result).shape, dims_));
      if (!checked_count(extents.back()) || *checked_count(extents.back()) > INT64_MAX / 8)
        return make_error(ErrorCode::invalid_argument, "{} of {} elements is too large",
                          info(op.kind).name.str(), text_of(extents.back()));
    }
    OpSite site{graph_, op, operands, extents, pass_.precisions, pass_.rounding, workers_, dims_};
    HostValues results = evaluate_op(site);
    for (size_t i = 0; i < results.size(); ++i) {
      if (llvm::is_contained(options_.stored, op.results[i])) store(results[i]);
      if (llvm::is_contained(options_.rescaled, op.results[i]))
        store(results[i], StorageRounding::at_any_scale);
      values_[op.results[i].index] = std::move(results[i]);
    }
    keep_witnesses(op);
    for (ValueId operand : op.operands)
      if (--uses_[operand.index] == 0) values_[operand.index] = HostValue();
    return llvm::Error::success();
  }

  static HostValues evaluate_op(const OpSite& site) {
    switch (info(site.op.kind).op_class) {
    case OpClass::source:
      return {site.op.kind == OpKind::iota     ? evaluate_iota(site)
              : site.op.kind == OpKind::extent ? evaluate_extent(site)
                                               : evaluate_constant(site)};
    case OpClass::elementwise: return {evaluate_elementwise(site)};
    case OpClass::matmul: return {evaluate_matmul(site)};
    case OpClass::reduce: return evaluate_reduce(site);
    case OpClass::scan: return {evaluate_scan(site)};
    case OpClass::gather: return {evaluate_gather(site)};
    case OpClass::movement: return {evaluate_movement(site)};
    }
    llvm_unreachable("not a class of ops");
  }

  /// Rounds a copy, because other views of the storage must not change.
  void store(HostValue& value, StorageRounding rounding = StorageRounding::of_bounds) {
    if (value.borrowed || value.dtype == DType::f32 || !is_float(value.dtype)) return;
    value = densify(value, workers_);
    round_storage(value, pass_.precisions.size(), workers_, rounding);
  }

  void keep_witnesses(const Op& op) {
    // A reshape, for example of kept dims, does not change the order of elements.
    if (op.kind == OpKind::reshape)
      if (auto found = witnesses_.find(op.operands[0].index); found != witnesses_.end())
        witnesses_[op.results[0].index] = found->second;
    if (!is_index_reduction(op.kind)) return;
    auto& witnesses = witnesses_[op.results[0].index];
    const auto& axes = graph_.attributes<ReduceAttributes>(op).axes;
    for (size_t p = 0; p < pass_.precisions.size(); ++p) {
      HostValue operand = with_axes_last(values_[op.operands[0].index], axes);
      witnesses.push_back(std::make_shared<IndexWitness>(
          IndexWitness{std::move(operand), op.kind == OpKind::argmax, p}));
    }
  }

  std::vector<Evaluated> collect() {
    std::vector<Evaluated> results;
    for (const GraphOutput& output : graph_.outputs()) {
      const HostValue& value = values_[output.value.index];
      Evaluated result;
      result.name = output.name;
      result.dtype = value.dtype;
      result.precisions = pass_.precisions;
      bool half = is_16_bit(value.dtype);
      bool keeps = !value.borrowed && !half && value.is_dense() && value.offset == 0;
      result.value = keeps ? value : densify(value, workers_);
      if (half && !value.borrowed) round_storage(result.value, pass_.precisions.size(), workers_);
      if (auto found = witnesses_.find(output.value.index); found != witnesses_.end())
        result.witnesses = found->second;
      results.push_back(std::move(result));
    }
    return results;
  }

  const Graph& graph_;
  const Pass& pass_;
  const EvaluateOptions& options_;
  const DimBindings& dims_;
  Workers& workers_;
  std::vector<HostValue> values_;
  std::vector<int64_t> uses_;
  std::map<uint32_t, std::vector<std::shared_ptr<const IndexWitness>>> witnesses_;
};

/// The bound of element i of `exact` that also accepts all results within the bound of `rounded`.
float joined_bound(const Evaluated& exact, const Evaluated& rounded, const float* bounds,
                   size_t i) {
  float e = bounds ? bounds[i] : 0;
  if (exact.dtype == DType::boolean)
    return exact.booleans()[i] == rounded.booleans()[i] ? e : kAnything;
  if (!is_float(exact.dtype)) return exact.integers()[i] == rounded.integers()[i] ? e : kAnything;
  double v = exact.reals()[i], w = rounded.reals()[i];
  if (e == kAnything) return kAnything;
  if (std::isnan(v) || std::isnan(w)) return std::isnan(v) && std::isnan(w) ? 0 : kAnything;
  // A kernel may be more precise than its precision and stay near v.
  Interval near = decode(v, e), image = decode(w, e);
  return encode(v, {std::min(image.lo, near.lo), std::max(image.hi, near.hi)});
}

/// The bounds of `rounded` under its precision `index`, around the values of `exact`.
Bounds join(const Evaluated& exact, const Evaluated& rounded, size_t index, Workers& workers) {
  constexpr int64_t kChunk = 4096;
  int64_t count = exact.count();
  std::shared_ptr<float[]> joined = new_bounds(count);
  const float* bounds = rounded.value.bounds[index].get();
  workers.run_chunks(count, kChunk, [&](int64_t first, int64_t length) {
    for (int64_t i = first; i < first + length; ++i)
      joined[i] = joined_bound(exact, rounded, bounds, static_cast<size_t>(i));
  });
  return joined;
}

/// The passes over the graph. The exact pass comes first; its values are the reference. Then there
/// is one pass for each rounding of operands in `precisions`.
std::vector<Pass> plan_passes(const Graph& graph, llvm::ArrayRef<MatmulPrecision> precisions) {
  std::vector<Pass> passes(1);
  bool rounds = has_f32_matmul(graph);
  for (MatmulPrecision precision : precisions) {
    OperandRounding rounding = rounds ? rounding_of(precision) : OperandRounding::none;
    auto match = llvm::find_if(passes, [&](const Pass& p) { return p.rounding == rounding; });
    if (match == passes.end()) match = passes.insert(passes.end(), Pass{rounding, {}});
    match->precisions.push_back(precision);
  }
  return passes;
}

} // namespace

llvm::Expected<std::vector<Evaluated>>
evaluate(const Graph& graph, llvm::ArrayRef<const Tensor*> inputs, const EvaluateOptions& options) {
  auto dims = bind_dims(graph, inputs);
  if (!dims) return dims.takeError();
  if (auto error = check_memory(graph, *dims, options.precisions.size())) return error;
  Workers workers(options.threads);
  std::vector<Evaluated> results;
  // Bounds and witnesses by precision. At the end they go into the caller's order.
  std::vector<std::map<MatmulPrecision, Bounds>> bounds;
  std::vector<std::map<MatmulPrecision, std::shared_ptr<const IndexWitness>>> witnesses;
  for (const Pass& pass : plan_passes(graph, options.precisions)) {
    auto evaluated = Evaluation(graph, pass, options, *dims, workers).run(inputs);
    if (!evaluated) return evaluated.takeError();
    bool is_exact = pass.rounding == OperandRounding::none;
    if (is_exact) results = *evaluated;
    bounds.resize(results.size());
    witnesses.resize(results.size());
    for (size_t i = 0; i < results.size(); ++i)
      for (size_t p = 0; p < pass.precisions.size(); ++p) {
        const Evaluated& output = (*evaluated)[i];
        bounds[i][pass.precisions[p]] =
            is_exact ? output.value.bounds[p] : join(results[i], output, p, workers);
        if (!output.witnesses.empty()) witnesses[i][pass.precisions[p]] = output.witnesses[p];
      }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].precisions = options.precisions;
    results[i].value.bounds.clear();
    results[i].witnesses.clear();
    for (MatmulPrecision precision : options.precisions) {
      results[i].value.bounds.push_back(bounds[i][precision]);
      if (!witnesses[i].empty()) results[i].witnesses.push_back(witnesses[i][precision]);
    }
  }
  return results;
}

} // namespace ingot
