// SPDX-License-Identifier: Apache-2.0
// Elementwise ops: operands are read in chunks that stay in L1, rules.h gives values and bounds.
// See evaluate_ops.h.
#include "ir/float_bits.h"
#include "ir/interpreter/evaluate_ops.h"
#include "ir/interpreter/rules.h"

#include <cstring>

namespace ingot {
namespace {

constexpr int64_t kChunk = 1024;

/// One chunk: operands and results as contiguous arrays. Float operands come in `reals`, others in
/// `integers`; the same holds for results.
struct Lanes {
  int64_t length = 0;
  const double* reals[3] = {};
  const int64_t* integers[3] = {};
  const float* errors[3] = {};
  double least[3] = {-kInfinity, -kInfinity, -kInfinity};
  bool halves = false; ///< results are half-typed
  double* y = nullptr;
  int64_t* n = nullptr;
  float* bound = nullptr;

  /// What operand k admits at i.
  Interval interval(int k, int64_t i) const {
    Interval x = decode(reals[k][i], errors[k][i]);
    if (x.lo < least[k]) x.lo = std::min(least[k], reals[k][i]);
    return x;
  }

  float error_sum(int64_t i, int operands) const {
    float sum = 0;
    for (int k = 0; k < operands; ++k) sum += std::fabs(errors[k][i]);
    return sum;
  }
};

template <typename Rule, typename... T> auto value_of(T... x) {
  if constexpr (requires { Rule::template value<std::common_type_t<T...>>(x...); })
    return Rule::template value<std::common_type_t<T...>>(x...);
  else
    return Rule::value(x...);
}

bool is_small(float e) { return e >= 0 && e <= FLT_MAX; }

/// What the function of half-typed results adds to the rounding of `Rule`.
struct Rounding {
  double relative = 0, floor = 0;
};
template <typename Rule> Rounding half_rounding(const Lanes& lanes) {
  if constexpr (requires { Rule::kHalfRounding; })
    if (lanes.halves) return {Rule::kHalfRounding, rules::kHalfFloor};
  return {};
}

template <typename Rule> float unary_bound(const Lanes& lanes, int64_t i) {
  double x = lanes.reals[0][i], y = lanes.y[i];
  float e = lanes.errors[0][i];
  const Rounding half = half_rounding<Rule>(lanes);
  double rounding = Rule::kRounding + half.relative;
  double floor = Rule::kRounding / kUnit * kTiny + half.floor;
  if constexpr (requires { Rule::is_exact_at(x); }) {
    if (e == 0 && Rule::is_exact_at(x)) rounding = floor = 0;
  }
  if (is_small(e) && std::fabs(x) + e <= FLT_MAX && std::fabs(y) <= FLT_MAX) {
    double reach = e == 0 ? 0 : Rule::slope(x, y, e);
    double error = reach + rounding * (std::fabs(y) + reach) + floor;
    if (std::fabs(y) + error <= FLT_MAX) return up(error);
  }
  if (e == kAnything) return kAnything;
  Interval image = Rule::image(lanes.interval(0, i));
  return encode(y, inflate(image, rounding, floor));
}

template <typename Rule> float binary_bound(const Lanes& lanes, int64_t i) {
  double a = lanes.reals[0][i], b = lanes.reals[1][i], y = lanes.y[i];
  float ea = lanes.errors[0][i], eb = lanes.errors[1][i];
  const Rounding half = half_rounding<Rule>(lanes);
  double rounding = Rule::rounding(a, b, y) + half.relative * std::fabs(y);
  bool exact = ea == 0 && eb == 0;
  if (is_small(ea) && is_small(eb) && std::fabs(a) + ea <= FLT_MAX &&
      std::fabs(b) + eb <= FLT_MAX && std::fabs(y) <= FLT_MAX) {
    double reach = exact ? 0 : Rule::slope(a, b, y, ea, eb);
    double floor = rounding > 0 ? 2 * kTiny + half.floor : 0;
    // Operand errors enter the rounding too; 4u covers every rule's share.
    double error = reach * (1 + 4 * kUnit) + rounding + floor;
    if (std::fabs(y) + error <= FLT_MAX) return up(error);
  }
  if (ea == kAnything || eb == kAnything) return kAnything;
  Interval image = Rule::image(lanes.interval(0, i), lanes.interval(1, i));
  if (rounding == 0 || exact)
    return encode(y, inflate(image, exact ? 2 * kUnit + half.relative : 0, half.floor));
  double relative =
      std::isfinite(rounding / y) ? std::fabs(rounding / y) : 2 * kUnit + half.relative;
  return encode(y, inflate(image, relative, 2 * kTiny + half.floor));
}

template <typename Rule, int Arity> struct Driver {
  using RealResult = decltype([] {
    if constexpr (Arity == 1)
      return value_of<Rule>(0.0);
    else
      return value_of<Rule>(0.0, 0.0);
  }());
  static constexpr bool kYieldsReal = std::is_same_v<RealResult, double>;

  static void reals(const Lanes& lanes) {
    for (int64_t i = 0; i < lanes.length; ++i) {
      RealResult result;
      if constexpr (Arity == 1)
        result = value_of<Rule>(lanes.reals[0][i]);
      else
        result = value_of<Rule>(lanes.reals[0][i], lanes.reals[1][i]);
      if constexpr (kYieldsReal)
        lanes.y[i] = result;
      else
        lanes.n[i] = result;
    }
  }

  static void integers(const Lanes& lanes) {
    for (int64_t i = 0; i < lanes.length; ++i) {
      if constexpr (Arity == 1)
        lanes.n[i] = static_cast<int64_t>(value_of<Rule>(lanes.integers[0][i]));
      else
        lanes.n[i] =
            static_cast<int64_t>(value_of<Rule>(lanes.integers[0][i], lanes.integers[1][i]));
    }
  }

  static float real_bound(const Lanes& lanes, int64_t i) {
    if constexpr (Arity == 1 && kYieldsReal) {
      return unary_bound<Rule>(lanes, i);
    } else if constexpr (Arity == 1) {
      Interval x = lanes.interval(0, i);
      return x.is_point() || x.has_nan() || x.is_finite() ? 0 : kAnything;
    } else if constexpr (requires { Rule::kSettles; }) {
      return integer_bound(lanes, i); // logic has no floats
    } else if constexpr (kYieldsReal) {
      return binary_bound<Rule>(lanes, i);
    } else {
      if (lanes.error_sum(i, 2) == kAnything) return kAnything;
      Interval a = lanes.interval(0, i);
      Interval b = lanes.interval(1, i);
      return a.has_nan() || b.has_nan() || Rule::decide(a, b) ? 0 : kAnything;
    }
  }

  static float integer_bound(const Lanes& lanes, int64_t i) {
    if (lanes.error_sum(i, Arity) == 0) return 0;
    if constexpr (requires { Rule::kSettles; })
      for (int k = 0; k < 2; ++k)
        if (lanes.errors[k][i] == 0 && (lanes.integers[k][i] != 0) == Rule::kSettles) return 0;
    return kAnything;
  }

  static void bounds(const Lanes& lanes) {
    bool is_real = lanes.reals[0] != nullptr;
    for (int64_t i = 0; i < lanes.length; ++i)
      lanes.bound[i] = is_real ? real_bound(lanes, i) : integer_bound(lanes, i);
  }
};

// ---- select ------------------------------------------------------------------------------------

void select_reals(const Lanes& lanes) {
  for (int64_t i = 0; i < lanes.length; ++i)
    lanes.y[i] = lanes.reals[lanes.integers[0][i] ? 1 : 2][i];
}

void select_integers(const Lanes& lanes) {
  for (int64_t i = 0; i < lanes.length; ++i)
    lanes.n[i] = lanes.integers[lanes.integers[0][i] ? 1 : 2][i];
}

void select_bounds(const Lanes& lanes) {
  for (int64_t i = 0; i < lanes.length; ++i) {
    int taken = lanes.integers[0][i] ? 1 : 2;
    float e = lanes.errors[taken][i];
    if (lanes.errors[0][i] == 0) {
      lanes.bound[i] = e;
    } else if (!lanes.reals[1]) {
      lanes.bound[i] = kAnything;
    } else {
      // Either branch may be taken: the hull of both.
      Interval a = lanes.interval(1, i);
      Interval b = lanes.interval(2, i);
      bool both_nan = std::isnan(a.lo) && std::isnan(b.lo);
      bool nan =
          a.has_nan() || b.has_nan() || lanes.error_sum(i, 3) - lanes.errors[0][i] == kAnything;
      Interval hull =
          nan && !both_nan ? kMaybeNaN : Interval{std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
      lanes.bound[i] = encode(lanes.y[i], hull);
    }
  }
}

// ---- cast --------------------------------------------------------------------------------------

double round_to(DType dtype, double x) {
  switch (dtype) {
  case DType::f16: return round_to_f16(x);
  case DType::bf16: return round_to_bf16(x);
  default: return x;
  }
}

/// Float to integer truncates and saturates; NaN gives 0.
int64_t to_integer(DType dtype, double x) {
  if (dtype == DType::boolean) return x != 0;
  double limit = dtype == DType::i32 ? 0x1p31 : 0x1p63;
  auto least = dtype == DType::i32 ? int64_t{INT32_MIN} : INT64_MIN;
  if (std::isnan(x)) return 0;
  if (x >= limit) return dtype == DType::i32 ? int64_t{INT32_MAX} : INT64_MAX;
  return x <= -limit ? least : static_cast<int64_t>(x);
}

int64_t wrap(DType dtype, int64_t n) {
  if (dtype == DType::boolean) return n != 0;
  return dtype == DType::i32 ? static_cast<int32_t>(n) : n;
}

/// By way of f32, as kernels and PyTorch do.
double from_integer(DType dtype, int64_t n) { return round_to(dtype, static_cast<float>(n)); }

void cast_values(const Lanes& lanes, DType to) {
  for (int64_t i = 0; i < lanes.length; ++i) {
    if (lanes.reals[0] && lanes.y)
      lanes.y[i] = round_to(to, lanes.reals[0][i]);
    else if (lanes.reals[0])
      lanes.n[i] = to_integer(to, lanes.reals[0][i]);
    else if (lanes.y)
      lanes.y[i] = from_integer(to, lanes.integers[0][i]);
    else
      lanes.n[i] = wrap(to, lanes.integers[0][i]);
  }
}

float cast_bound(const Lanes& lanes, int64_t i, DType to) {
  float e = lanes.errors[0][i];
  if (e == 0 || e == kAnything) return e;
  if (!lanes.reals[0]) return kAnything;
  Interval x = lanes.interval(0, i);
  if (lanes.y) return encode(lanes.y[i], {round_to(to, x.lo), round_to(to, x.hi)});
  bool settled =
      to == DType::boolean ? !x.contains(0) : to_integer(to, x.lo) == to_integer(to, x.hi);
  return settled ? 0 : kAnything;
}

// ---- driver ------------------------------------------------------------------------------------

struct Handler {
  void (*reals)(const Lanes&) = nullptr;
  void (*integers)(const Lanes&) = nullptr;
  void (*bounds)(const Lanes&) = nullptr;
};

/// Ops without a rule (select; cast has its own code) go by select.
template <typename Rule, int Arity> Handler handler() {
  if constexpr (requires { sizeof(Rule); })
    return {Driver<Rule, Arity>::reals, Driver<Rule, Arity>::integers, Driver<Rule, Arity>::bounds};
  else
    return {select_reals, select_integers, select_bounds};
}

Handler handler_of(OpKind kind) {
  static const Handler kHandlers[] = {
#define INGOT_OP(name, op_class, arity, results, rule) handler<rules::name, arity>(),
#include "ir/ops.def"
  };
  return kHandlers[static_cast<size_t>(kind)];
}

/// HostValue::least of a result.
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
    // A product of a value with itself is a square.
    if (kind_ == OpKind::mul && site.op.operands[0] == site.op.operands[1] &&
        is_float(site.result_dtype()))
      handler_ = handler<rules::Square, 1>();
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
    // A task is a run of chunks, so that one fetch of the counter pays.
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

  /// log(s) of a max_sumexp keeps the mark; a view is left without one.
  void tag_log() {
    const HostValue& sum = *site_.operands[0];
    if (!sum.log_sum || sum.log_sum->part != LogSumTag::Part::sum) return;
    if (!sum.is_dense() || sum.offset != 0) return;
    LogSumTag tag = *sum.log_sum;
    tag.part = LogSumTag::Part::log;
    result_.value.log_sum = std::make_shared<LogSumTag>(std::move(tag));
  }

  /// Whether exact operands still give an inexact result.
  bool rounds() const {
    switch (kind_) {
    case OpKind::neg:
    case OpKind::abs:
    case OpKind::sign:
    case OpKind::floor:
    case OpKind::ceil:
    case OpKind::round:
    case OpKind::minimum:
    case OpKind::maximum:
    case OpKind::select:
    case OpKind::cast: return false;
    default: return is_float(site_.result_dtype());
    }
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
    lanes.halves = is_half(site_.result_dtype());
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
    if (kind_ != OpKind::cast) return handler_.bounds(lanes);
    for (int64_t i = 0; i < lanes.length; ++i)
      lanes.bound[i] = cast_bound(lanes, i, site_.result_dtype());
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

void round_storage(HostValue& value, size_t precisions, Workers& workers) {
  if (value.dtype != DType::f16 && value.dtype != DType::bf16) return;
  if (value.borrowed) return;
  int64_t count = value.count();
  INGOT_ASSERT(value.is_dense() && value.offset == 0);
  auto* reals = reinterpret_cast<double*>(const_cast<std::byte*>(value.data));
  llvm::SmallVector<BoundGroup, 4> groups = group_bounds({&value}, precisions);
  value.bounds.resize(precisions);
  value.least = round_to(value.dtype, value.least);
  for (const BoundGroup& group : groups) {
    const float* old = group.arrays[0];
    std::shared_ptr<float[]> fresh = new_bounds(count);
    workers.run((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
      for (int64_t i = chunk * kChunk; i < std::min(count, (chunk + 1) * kChunk); ++i) {
        double rounded = round_to(value.dtype, reals[i]);
        double kept = std::isinf(rounded) ? rounded : reals[i];
        Interval x = decode(reals[i], old ? old[i] : 0);
        Interval stored{round_to(value.dtype, x.lo), round_to(value.dtype, x.hi)};
        fresh[i] = old && old[i] == kAnything ? kAnything : encode(kept, stored);
      }
    });
    for (size_t member : group.members) value.bounds[member] = fresh;
  }
  workers.run((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
    for (int64_t i = chunk * kChunk; i < std::min(count, (chunk + 1) * kChunk); ++i)
      if (std::isinf(round_to(value.dtype, reals[i]))) reals[i] = round_to(value.dtype, reals[i]);
  });
}

} // namespace ingot
