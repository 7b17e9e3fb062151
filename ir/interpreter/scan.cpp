// SPDX-License-Identifier: Apache-2.0
// Running sums and products. Each row is processed in the order of its scan. See evaluate_ops.h.
#include "ir/interpreter/evaluate_ops.h"
#include "ir/interpreter/reducers.h"
#include "ir/interpreter/rules.h"

namespace ingot {
namespace {

/// The operand with the scanned axis last, as rows x length.
class ScanSource {
public:
  explicit ScanSource(const OpSite& site)
      : view(with_axes_last(*site.operands[0], {attributes(site).axis})), reader(view),
        length(view.extents.back()), rows(length > 0 ? view.count() / length : 0),
        is_sum(site.op.kind == OpKind::cumsum), options_(attributes(site)) {}

  static const ScanAttributes& attributes(const OpSite& site) {
    return site.graph.attributes<ScanAttributes>(site.op);
  }
  /// Calls visit(i) for the elements of a row in the order of the scan; i is the index in the view.
  template <typename Visit> void walk(int64_t row, Visit visit) const {
    for (int64_t k = 0; k < length; ++k)
      visit(row * length + (options_.reverse ? length - 1 - k : k));
  }
  /// The result at an element: the scan without it (`before`) or including it (`with`).
  template <typename T> T shown(T before, T with) const {
    return options_.exclusive ? before : with;
  }

  const HostValue view;
  const Reader reader;
  const int64_t length, rows;
  const bool is_sum;

private:
  const ScanAttributes options_;
};

void scan_reals(const ScanSource& source, int64_t row, double* results) {
  double running = source.is_sum ? 0.0 : 1.0; // a running sum starts from +0
  source.walk(row, [&](int64_t i) {
    double x;
    source.reader.reals(i, 1, &x);
    const double with = source.is_sum ? running + x : running * x;
    results[i] = source.shown(running, with);
    running = with;
  });
}

void scan_integers(const ScanSource& source, int64_t row, DType dtype, int64_t* results) {
  int64_t running = source.is_sum ? 0 : 1;
  source.walk(row, [&](int64_t i) {
    int64_t x;
    source.reader.integers(i, 1, &x);
    int64_t with = source.is_sum ? rules::add::value(running, x) : rules::mul::value(running, x);
    if (dtype == DType::i32) with = static_cast<int32_t>(with);
    results[i] = source.shown(running, with);
    running = with;
  });
}

/// The bounds of one row. For integers, everything from the first inexact element on is unknown.
void scan_bounds(const ScanSource& source, int64_t row, bool is_real, const float* operand,
                 float* results) {
  const RowShape shape{source.length, reduction_depth(source.length), 1};
  SumReducer sums(shape);
  ProductReducer products(shape);
  float running = 0;
  source.walk(row, [&](int64_t i) {
    double x = 0;
    float e;
    source.reader.reals(i, 1, &x);
    source.reader.bounds(operand, i, 1, &e);
    const float* errors[1] = {&e};
    const Piece piece{{&x, 1}, errors, i - row * source.length};
    float with = running;
    if (!is_real) {
      if (e != 0) with = kAnything;
    } else if (source.is_sum) {
      sums.absorb(piece);
      with = sums.finish_sum().bounds[0];
    } else {
      products.absorb(piece);
      with = products.finish().bounds[0];
    }
    results[i] = source.shown(running, with);
    running = with;
  });
}

/// Restores the order of the operand's axes.
HostValue with_last_axis_at(const HostValue& moved, size_t axis) {
  HostValue restored = moved;
  for (size_t i = 0, from = 0; i < moved.extents.size(); ++i) {
    const size_t source = i == axis ? moved.extents.size() - 1 : from++;
    restored.extents[i] = moved.extents[source];
    restored.strides[i] = moved.strides[source];
  }
  return restored;
}

} // namespace

HostValue evaluate_scan(const OpSite& site) {
  const ScanSource source(site);
  NewValue result(site.result_dtype(), source.view.extents);
  site.workers.run(source.rows, [&](int64_t row) {
    if (result.reals)
      scan_reals(source, row, result.reals);
    else
      scan_integers(source, row, result.value.dtype, result.integers);
  });
  const bool is_real = result.reals != nullptr;
  auto fill = [&](const BoundGroup& group, float* out) {
    site.workers.run(source.rows,
                     [&](int64_t row) { scan_bounds(source, row, is_real, group.arrays[0], out); });
  };
  fill_bounds(result.value, {&source.view}, site.precisions.size(), !is_real, fill);
  return with_last_axis_at(result.value, static_cast<size_t>(ScanSource::attributes(site).axis));
}

} // namespace ingot
