// SPDX-License-Identifier: Apache-2.0
// Reductions. Rows are read in pieces and passed to the reducers. If neighbouring rows are adjacent
// in memory, several rows are read at a time. See evaluate_ops.h.
#include "ir/interpreter/evaluate_ops.h"
#include "ir/interpreter/reducers.h"
#include "ir/interpreter/rules.h"

namespace ingot {

double reduction_depth(int64_t length) {
  if (length <= 1) return 0;
  auto n = static_cast<double>(length);
  return std::min(n - 1, 1024 + std::ceil(std::log2(n)) + std::ceil(n / 1024));
}

namespace {

constexpr int64_t kPiece = 512; ///< elements of a row per piece
constexpr int64_t kBlock = 32;  ///< rows read together

/// The operand as rows x length, for any reduced axes.
class RowSource {
public:
  RowSource(const HostValue& operand, llvm::ArrayRef<int64_t> axes, size_t precisions)
      : rows_view_(with_axes_last(operand, axes)),
        columns_view_(with_axes_last(operand, kept(operand, axes))), rows_(rows_view_),
        columns_(columns_view_), groups_(group_bounds({&operand}, precisions)) {
    for (int64_t axis : axes) length_ *= operand.extents[static_cast<size_t>(axis)];
    for (int64_t axis : kept(operand, axes)) count_ *= operand.extents[static_cast<size_t>(axis)];
    int64_t kept_axes = static_cast<int64_t>(operand.extents.size() - axes.size());
    across_ = count_ > 1 && length_ > 1 && kept_axes > 0 &&
              std::abs(columns_view_.strides.back()) < std::abs(rows_view_.strides.back());
  }

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  llvm::ArrayRef<BoundGroup> groups() const { return groups_; }
  RowShape shape() const {
    return {length_, reduction_depth(length_), groups_.size(), is_16_bit(rows_view_.dtype)};
  }

  /// Calls visit(row - first_row, piece) for every piece of rows [first_row, first_row + rows).
  template <typename Visit>
  void read(int64_t first_row, int64_t rows, bool negate, Visit visit) const {
    std::vector<double> x(static_cast<size_t>(rows * kPiece));
    std::vector<float> e(static_cast<size_t>(rows * kPiece) * groups_.size());
    llvm::SmallVector<const float*, 4> errors(groups_.size());
    for (int64_t at = 0; at < length_; at += kPiece) {
      int64_t length = std::min(kPiece, length_ - at);
      fill(x.data(), first_row, rows, at, length,
           [&](const Reader& r, int64_t i, int64_t n, double* dst) { r.reals(i, n, dst); });
      if (negate)
        for (double& value : x) value = -value;
      for (size_t g = 0; g < groups_.size(); ++g) {
        const float* array = groups_[g].arrays[0];
        if (!array) continue;
        fill(
            e.data() + static_cast<int64_t>(g) * rows * kPiece, first_row, rows, at, length,
            [&](const Reader& r, int64_t i, int64_t n, float* dst) { r.bounds(array, i, n, dst); });
      }
      for (int64_t row = 0; row < rows; ++row) {
        for (size_t g = 0; g < groups_.size(); ++g)
          errors[g] = groups_[g].arrays[0]
                          ? e.data() + (static_cast<int64_t>(g) * rows + row) * kPiece
                          : nullptr;
        visit(row, Piece{{x.data() + row * kPiece, static_cast<size_t>(length)}, errors, at});
      }
    }
  }

private:
  static Extents kept(const HostValue& operand, llvm::ArrayRef<int64_t> axes) {
    Extents result;
    for (size_t i = 0; i < operand.extents.size(); ++i)
      if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
        result.push_back(static_cast<int64_t>(i));
    return result;
  }

  template <typename T, typename Read>
  void fill(T* dst, int64_t first_row, int64_t rows, int64_t at, int64_t length, Read read) const {
    if (!across_) {
      for (int64_t row = 0; row < rows; ++row)
        read(rows_, (first_row + row) * length_ + at, length, dst + row * kPiece);
      return;
    }
    T line[kBlock];
    for (int64_t k = 0; k < length; ++k) {
      read(columns_, (at + k) * count_ + first_row, rows, line);
      for (int64_t row = 0; row < rows; ++row) dst[row * kPiece + k] = line[row];
    }
  }

  HostValue rows_view_, columns_view_;
  Reader rows_, columns_;
  llvm::SmallVector<BoundGroup, 4> groups_;
  int64_t count_ = 1;
  int64_t length_ = 1;
  bool across_ = false; ///< rows interleave in memory: several are read together
};

/// The place for finished rows: result `which` of the op.
class ResultSink {
public:
  ResultSink(const OpSite& site, size_t which, const RowSource& source)
      : result_(site.result_dtype(which), site.result_extents[which]), source_(source) {
    for (size_t g = 0; g < source.groups().size(); ++g)
      arrays_.push_back(new_bounds(result_.value.count()));
  }

  void store(int64_t row, const RowResult& finished, bool negate) {
    if (result_.reals)
      result_.reals[row] = negate ? -finished.value : finished.value;
    else
      result_.integers[row] = finished.index;
    for (size_t g = 0; g < arrays_.size(); ++g) arrays_[g][row] = finished.bounds[g];
  }

  HostValue take(size_t precisions) {
    result_.value.bounds.resize(precisions);
    for (size_t g = 0; g < arrays_.size(); ++g)
      for (size_t member : source_.groups()[g].members) result_.value.bounds[member] = arrays_[g];
    return std::move(result_.value);
  }

private:
  NewValue result_;
  const RowSource& source_;
  llvm::SmallVector<std::shared_ptr<float[]>, 4> arrays_;
};

/// Runs one reducer per row, then calls finish(reducer, row).
template <typename Reducer, typename Finish>
void reduce_rows(Workers& workers, const RowSource& source, bool negate, Finish finish) {
  RowShape shape = source.shape();
  workers.run_chunks(source.count(), kBlock, [&](int64_t first, int64_t rows) {
    std::vector<Reducer> reducers(static_cast<size_t>(rows), Reducer(shape));
    source.read(first, rows, negate, [&](int64_t row, const Piece& piece) {
      reducers[static_cast<size_t>(row)].absorb(piece);
    });
    for (int64_t row = 0; row < rows; ++row)
      finish(reducers[static_cast<size_t>(row)], first + row);
  });
}

/// The result of a reduction of no integers.
int64_t empty_reduction(OpKind kind, DType dtype) {
  const double identity = reducer_of(kind)->identity;
  if (std::isnan(identity)) return -1; // no index
  if (std::isfinite(identity)) return static_cast<int64_t>(identity);
  if (identity < 0) return dtype == DType::i32 ? int64_t{INT32_MIN} : INT64_MIN;
  return dtype == DType::i32 ? int64_t{INT32_MAX} : INT64_MAX;
}

/// Reductions of i32 and i64. A result is exact, or unknown if any element is.
HostValue reduce_integers(const OpSite& site, llvm::ArrayRef<int64_t> axes) {
  HostValue view = with_axes_last(*site.operands[0], axes);
  NewValue result(site.result_dtype(), site.result_extents[0]);
  int64_t rows = result.value.count();
  int64_t length = 1;
  for (int64_t axis : axes) length *= site.operands[0]->extents[static_cast<size_t>(axis)];
  Reader reader(view);
  auto combine = [&](int64_t a, int64_t b) {
    switch (site.op.kind) {
    case OpKind::sum: return rules::add::value(a, b);
    case OpKind::prod: return rules::mul::value(a, b);
    case OpKind::reduce_min:
    case OpKind::argmin: return std::min(a, b);
    default: return std::max(a, b);
    }
  };
  bool is_index = is_index_reduction(site.op.kind);
  site.workers.run(rows, [&](int64_t row) {
    std::vector<int64_t> x(static_cast<size_t>(length));
    reader.integers(row * length, length, x.data());
    if (length == 0) {
      result.integers[row] = empty_reduction(site.op.kind, result.value.dtype);
      return;
    }
    int64_t total = x[0], index = 0;
    for (int64_t k = 1; k < length; ++k) {
      int64_t next = combine(total, x[k]);
      if (next != total) index = k;
      total = next;
    }
    if (is_index) total = index;
    result.integers[row] = result.value.dtype == DType::i32 ? static_cast<int32_t>(total) : total;
  });
  auto fill = [&](const BoundGroup& group, float* out) {
    site.workers.run(rows, [&](int64_t row) {
      std::vector<float> e(static_cast<size_t>(length));
      reader.bounds(group.arrays[0], row * length, length, e.data());
      out[row] = llvm::all_of(e, [](float one) { return one == 0; }) ? 0 : kAnything;
    });
  };
  fill_bounds(result.value, site.operands, site.precisions.size(), true, fill);
  return std::move(result.value);
}

HostValues evaluate_max_sumexp(const OpSite& site, const RowSource& source) {
  ResultSink max(site, 0, source), sum(site, 1, source);
  llvm::SmallVector<std::shared_ptr<float[]>, 4> log_bounds;
  for (size_t g = 0; g < source.groups().size(); ++g)
    log_bounds.push_back(new_bounds(source.count()));
  reduce_rows<MaxSumexpReducer>(site.workers, source, false,
                                [&](const MaxSumexpReducer& r, int64_t row) {
                                  max.store(row, r.finish_max(), false);
                                  sum.store(row, r.finish_sum(), false);
                                  RowResult log = r.finish_log();
                                  for (size_t g = 0; g < log_bounds.size(); ++g)
                                    log_bounds[g][row] = log.bounds[g];
                                });
  HostValues results{max.take(site.precisions.size()), sum.take(site.precisions.size())};
  results[0].least = site.operands[0]->least;
  // The greatest element adds exp(0), for any kernel value of the maximum.
  results[1].least = 0;
  uint32_t op = site.graph.value(site.op.results[0]).op.index;
  LogSumTag tag{LogSumTag::Part::maximum, op, {}};
  results[0].log_sum = std::make_shared<LogSumTag>(tag);
  tag.part = LogSumTag::Part::sum;
  tag.errors.resize(site.precisions.size());
  for (size_t g = 0; g < log_bounds.size(); ++g)
    for (size_t member : source.groups()[g].members) tag.errors[member] = log_bounds[g];
  results[1].log_sum = std::make_shared<LogSumTag>(std::move(tag));
  return results;
}

/// The results of a reduction of floats, one per function of the reducer that finishes a row. If
/// `negates` is set, the reducer reads negated elements, and its values are negated back.
template <typename Reducer>
HostValues reduce_reals(const OpSite& site, const RowSource& source,
                        std::initializer_list<RowResult (Reducer::*)() const> finish,
                        bool negates = false) {
  std::vector<ResultSink> sinks;
  for (size_t i = 0; i < finish.size(); ++i) sinks.emplace_back(site, i, source);
  reduce_rows<Reducer>(site.workers, source, negates, [&](const Reducer& reducer, int64_t row) {
    for (auto [sink, function] : llvm::zip_equal(sinks, finish))
      sink.store(row, (reducer.*function)(), negates);
  });
  HostValues results;
  for (ResultSink& sink : sinks) results.push_back(sink.take(site.precisions.size()));
  return results;
}

} // namespace

HostValues evaluate_reduce(const OpSite& site) {
  const auto& axes = site.graph.attributes<ReduceAttributes>(site.op).axes;
  const HostValue& operand = *site.operands[0];
  if (!is_float(operand.dtype)) return {reduce_integers(site, axes)};
  RowSource source(operand, axes, site.precisions.size());
  const bool is_least = site.op.kind == OpKind::reduce_min || site.op.kind == OpKind::argmin;
  switch (site.op.kind) {
  case OpKind::sum:
  case OpKind::mean: {
    bool is_mean = site.op.kind == OpKind::mean && source.length() != 1;
    HostValues results = reduce_reals<SumReducer>(
        site, source, {is_mean ? &SumReducer::finish_mean : &SumReducer::finish_sum});
    if (operand.least >= 0) results[0].least = 0;
    return results;
  }
  case OpKind::prod: return reduce_reals<ProductReducer>(site, source, {&ProductReducer::finish});
  case OpKind::reduce_max:
  case OpKind::reduce_min: {
    HostValues results =
        reduce_reals<MaxReducer>(site, source, {&MaxReducer::finish_value}, is_least);
    results[0].least = operand.least;
    return results;
  }
  case OpKind::argmax:
  case OpKind::argmin:
    return reduce_reals<MaxReducer>(site, source, {&MaxReducer::finish_index}, is_least);
  case OpKind::max_sumexp: return evaluate_max_sumexp(site, source);
  case OpKind::moments: {
    HostValues results = reduce_reals<MomentsReducer>(
        site, source, {&MomentsReducer::finish_mean, &MomentsReducer::finish_variance});
    results[1].least = 0;
    return results;
  }
  default: llvm_unreachable("not a reduction");
  }
}

} // namespace ingot
