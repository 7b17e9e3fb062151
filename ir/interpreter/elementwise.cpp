// SPDX-License-Identifier: Apache-2.0
// Elementwise ops. Operands are read in chunks that stay in L1; lanes.h computes values and bounds.
// See evaluate_ops.h.
#include "ir/float_bits.h"
#include "ir/interpreter/evaluate_ops.h"
#include "ir/interpreter/lanes.h"
#include "ir/interpreter/rules.h"

#include <cstring>

namespace ingot {
namespace {

constexpr int64_t kChunk = 1024;

/// HostValue::least of the result.
double least_result(const OpSite& site) {
  auto least = [&](size_t k) { return site.operands[k]->least; };
  switch (site.op.kind) {
  case OpKind::abs:
  case OpKind::exp:
  case OpKind::exp2: return 0;
  case OpKind::sqrt: return least(0) >= 0 ? std::sqrt(least(0)) : 0;
  case OpKind::add: return least(0) + least(1);
  case OpKind::mul: {
    bool is_square = site.op.operands[0] == site.op.operands[1];
    return is_square || (least(0) >= 0 && least(1) >= 0) ? 0 : -kInfinity;
  }
  case OpKind::maximum: return std::max(least(0), least(1));
  case OpKind::minimum: return std::min(least(0), least(1));
  case OpKind::select: return std::min(least(1), least(2));
  default: return -kInfinity;
  }
}

/// Evaluates one op chunk by chunk.
class ElementwiseTask {
public:
  explicit ElementwiseTask(const OpSite& site)
      : site_(site), kind_(site.op.kind), handler_(handler_of(site.op.kind)),
        result_(site.result_dtype(), site.result_extents[0]), count_(result_.value.count()) {
    // The product of a value with itself is a square.
    if (kind_ == OpKind::mul && site.op.operands[0] == site.op.operands[1] &&
        is_float(site.result_dtype()))
      handler_ = square_handler();
    for (const HostValue* operand : site.operands) readers_.emplace_back(*spread(operand));
    groups_ = group_bounds(site.operands, site.precisions.size());
    for (BoundGroup& group : groups_) {
      bool is_exact = group.is_exact() && !rounds();
      arrays_.push_back(is_exact ? nullptr : new_bounds(count_));
    }
  }

  HostValue run() {
    find_log_sum();
    int64_t chunks = (count_ + kChunk - 1) / kChunk;
    // A task is a run of chunks, so that one increment of the task counter serves many chunks.
    int64_t per_task = std::max<int64_t>(1, std::min<int64_t>(64, chunks / 64));
    site_.workers.run((chunks + per_task - 1) / per_task, [&](int64_t task) {
      for (int64_t c = task * per_task; c < std::min(chunks, (task + 1) * per_task); ++c)
        run_chunk(c * kChunk);
    });
    result_.value.least = least_result(site_);
    result_.value.bounds.resize(site_.precisions.size());
    for (size_t g = 0; g < groups_.size(); ++g)
      for (size_t member : groups_[g].members) result_.value.bounds[member] = arrays_[g];
    if (kind_ == OpKind::log) tag_log();
    return std::move(result_.value);
  }

private:
  /// Recognises m + log(s) of one max_sumexp.
  void find_log_sum() {
    if (kind_ != OpKind::add) return;
    for (size_t k = 0; k < 2; ++k) {
      const LogSumTag* log = site_.operands[k]->log_sum.get();
      const LogSumTag* max = site_.operands[1 - k]->log_sum.get();
      if (!log || !max || log->op != max->op) continue;
      if (log->part == LogSumTag::Part::log && max->part == LogSumTag::Part::maximum)
        log_of_sum_ = k;
    }
  }

  void tighten_log_sum(const Lanes& lanes, int64_t first, size_t precision) const {
    float joint[kChunk];
    const Bounds& errors = site_.operands[*log_of_sum_]->log_sum->errors[precision];
    readers_[*log_of_sum_].bounds(errors.get(), first, lanes.length, joint);
    for (int64_t i = 0; i < lanes.length; ++i) {
      double log = lanes.reals[*log_of_sum_][i];
      double rounding = rules::add::rounding(lanes.reals[0][i], lanes.reals[1][i], lanes.y[i]) +
                        rules::log::kRounding * std::fabs(log) + 2 * kTiny;
      if (joint[i] == kAnything || !std::isfinite(lanes.y[i])) continue;
      lanes.bound[i] =
          std::min(std::fabs(lanes.bound[i]), encode_error(lanes.y[i], joint[i] + rounding));
    }
  }

  /// The log(s) of a max_sumexp keeps its mark. A view of it has none.
  void tag_log() {
    const HostValue& sum = *site_.operands[0];
    if (!sum.log_sum || sum.log_sum->part != LogSumTag::Part::sum) return;
    if (!sum.is_dense() || sum.offset != 0) return;
    LogSumTag tag = *sum.log_sum;
    tag.part = LogSumTag::Part::log;
    result_.value.log_sum = std::make_shared<LogSumTag>(std::move(tag));
  }

  /// Whether the result is inexact for exact operands.
  bool rounds() const {
    return is_float(site_.result_dtype()) && info(kind_).accuracy != Accuracy::exact;
  }

  /// A rank-0 operand as a view of the result's extents.
  const HostValue* spread(const HostValue* operand) {
    if (operand->extents.size() == site_.result_extents[0].size()) return operand;
    HostValue view = *operand;
    view.extents = site_.result_extents[0];
    view.strides.assign(view.extents.size(), 0);
    return views_.emplace_back(std::make_unique<HostValue>(std::move(view))).get();
  }

  void run_chunk(int64_t first) {
    double real_buffers[3][kChunk];
    int64_t integer_buffers[3][kChunk];
    float error_buffers[3][kChunk];
    int64_t flags[kChunk];
    float errors[kChunk];
    Lanes lanes;
    lanes.length = std::min(kChunk, count_ - first);
    lanes.halves = is_16_bit(site_.result_dtype());
    for (size_t k = 0; k < readers_.size(); ++k) {
      lanes.errors[k] = error_buffers[k];
      lanes.least[k] = site_.operands[k]->least;
      if (is_float(site_.operands[k]->dtype)) {
        readers_[k].reals(first, lanes.length, real_buffers[k]);
        lanes.reals[k] = real_buffers[k];
      } else {
        readers_[k].integers(first, lanes.length, integer_buffers[k]);
        lanes.integers[k] = integer_buffers[k];
      }
    }
    if (result_.reals)
      lanes.y = result_.reals + first;
    else
      lanes.n = result_.integers ? result_.integers + first : flags;
    compute_values(lanes);
    if (result_.booleans)
      for (int64_t i = 0; i < lanes.length; ++i) result_.booleans[first + i] = flags[i] != 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (!arrays_[g]) continue;
      for (size_t k = 0; k < readers_.size(); ++k)
        readers_[k].bounds(groups_[g].arrays[k], first, lanes.length, error_buffers[k]);
      lanes.bound = errors;
      compute_bounds(lanes);
      if (log_of_sum_) tighten_log_sum(lanes, first, groups_[g].members[0]);
      std::memcpy(arrays_[g].get() + first, errors, sizeof(float) * lanes.length);
    }
  }

  void compute_values(const Lanes& lanes) {
    DType dtype = site_.result_dtype();
    if (kind_ == OpKind::cast) return cast_values(lanes, dtype);
    bool is_real = kind_ == OpKind::select ? result_.reals != nullptr : lanes.reals[0] != nullptr;
    (is_real ? handler_.reals : handler_.integers)(lanes);
    if (dtype == DType::i32)
      for (int64_t i = 0; i < lanes.length; ++i) lanes.n[i] = static_cast<int32_t>(lanes.n[i]);
  }

  void compute_bounds(const Lanes& lanes) {
    if (kind_ == OpKind::cast) return cast_bounds(lanes, site_.result_dtype());
    handler_.bounds(lanes);
  }

  const OpSite& site_;
  OpKind kind_;
  Handler handler_;
  NewValue result_;
  int64_t count_;
  llvm::SmallVector<std::unique_ptr<HostValue>, 2> views_;
  llvm::SmallVector<Reader, 3> readers_;
  llvm::SmallVector<BoundGroup, 4> groups_;
  llvm::SmallVector<std::shared_ptr<float[]>, 4> arrays_;
  std::optional<size_t> log_of_sum_; ///< operand log(s) of an m + log(s)
};

} // namespace

HostValue evaluate_elementwise(const OpSite& site) { return ElementwiseTask(site).run(); }

namespace {

/// The numbers that `x` may become if it is rounded to `dtype` at another scale, from its own up.
Interval rounded_at_any_scale(DType dtype, const Interval& x) {
  const double unit = dtype == DType::f16 ? 0x1p-11 : 0x1p-8;    // of a normal number
  const double least = dtype == DType::f16 ? 0x1p-25 : 0x1p-134; // of a subnormal one
  const auto error = [&](double end) { return end == 0 ? 0 : std::fabs(end) * unit + least; };
  return {x.lo - error(x.lo), x.hi + error(x.hi)};
}

} // namespace

void round_storage(HostValue& value, size_t precisions, Workers& workers,
                   StorageRounding rounding) {
  if (value.dtype != DType::f16 && value.dtype != DType::bf16) return;
  if (value.borrowed) return;
  int64_t count = value.count();
  INGOT_ASSERT(value.is_dense() && value.offset == 0);
  auto* reals = reinterpret_cast<double*>(const_cast<std::byte*>(value.data));
  const HostValue unrounded = value;
  const auto is_kept = [&](double rounded) {
    return rounding != StorageRounding::of_values && !std::isinf(rounded);
  };
  auto fill = [&](const BoundGroup& group, float* fresh) {
    const float* old = group.arrays[0];
    workers.run_chunks(count, kChunk, [&](int64_t first, int64_t length) {
      for (int64_t i = first; i < first + length; ++i) {
        double rounded = round_to(value.dtype, reals[i]);
        double kept = is_kept(rounded) ? reals[i] : rounded;
        Interval x = decode(reals[i], old ? old[i] : 0);
        Interval stored = rounding == StorageRounding::at_any_scale
                              ? rounded_at_any_scale(value.dtype, x)
                              : Interval{round_to(value.dtype, x.lo), round_to(value.dtype, x.hi)};
        fresh[i] = old && old[i] == kAnything ? kAnything : encode(kept, stored);
      }
    });
  };
  fill_bounds(value, {&unrounded}, precisions, false, fill);
  value.least = round_to(value.dtype, value.least);
  workers.run_chunks(count, kChunk, [&](int64_t first, int64_t length) {
    for (int64_t i = first; i < first + length; ++i)
      if (const double rounded = round_to(value.dtype, reals[i]); !is_kept(rounded))
        reals[i] = rounded;
  });
}

} // namespace ingot
