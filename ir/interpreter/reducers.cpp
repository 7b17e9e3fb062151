// SPDX-License-Identifier: Apache-2.0
// See reducers.h.
#include "ir/interpreter/reducers.h"

#include "ir/interpreter/rules.h"

namespace ingot {

namespace {

/// The error of merging two partial sums of exponentials: the relative error of exp on the device,
/// one multiplication and one addition.
constexpr double kMergeRounding = 2.5 * 0x1p-23 + 2 * kUnit;

} // namespace

// ---- sum, mean ---------------------------------------------------------------------------------

void SumReducer::absorb(const Piece& piece) {
  double sum = 0;
  for (double x : piece.x) {
    sum += x;
    if (!std::isfinite(x)) continue;
    (x > 0 ? positive_ : negative_) += std::fabs(x);
  }
  sum_ += sum;
  for (size_t g = 0; g < errors_.size(); ++g)
    if (const float* e = piece.errors[g])
      for (size_t i = 0; i < piece.x.size(); ++i) errors_[g].add(piece.x[i], e[i]);
}

float SumReducer::bound(const ErrorSums& errors, double divisor) const {
  if (errors.anything) return kAnything;
  if (std::isnan(sum_)) return 0;
  double rounding = shape_.depth * kUnit * (positive_ + negative_ + errors.sum);
  double error = errors.sum + rounding;
  // Some order of the additions may exceed the range of f32 even if the sum does not.
  bool above = errors.above || (shape_.length > 1 && positive_ + error > FLT_MAX);
  bool below = errors.below || (shape_.length > 1 && negative_ + error > FLT_MAX);
  if (above && below) return kAnything;
  if (std::isinf(sum_)) return (sum_ > 0 ? below : above) ? kAnything : 0;
  Interval image{below ? -kInfinity : sum_ - error, above ? kInfinity : sum_ + error};
  if (error == 0 && !above && !below && divisor == 1) return 0;
  image.lo /= divisor;
  image.hi /= divisor;
  double relative = divisor == 1 ? 0 : 2 * kUnit;
  return encode(sum_ / divisor, inflate(image, relative, divisor == 1 ? 0 : 2 * kTiny));
}

RowResult SumReducer::finish(double divisor) const {
  RowResult result;
  result.value = sum_ / divisor;
  for (const ErrorSums& errors : errors_) result.bounds.push_back(bound(errors, divisor));
  return result;
}

// ---- product -----------------------------------------------------------------------------------

void ProductReducer::absorb(const Piece& piece) {
  for (size_t i = 0; i < piece.x.size(); ++i) {
    double x = piece.x[i];
    product_ *= x;
    if (!std::isfinite(x)) endless_ = true;
    double size = std::fabs(x);
    for (size_t g = 0; g < reach_.size(); ++g) {
      float e = piece.errors[g] ? piece.errors[g][i] : 0;
      if (e == kAnything || e < 0) anything_[g] = true;
      reach_[g] *= size + std::fabs(e);
      size = std::max(size, std::fabs(x) + std::fabs(e));
    }
    if (std::isfinite(size)) grown_ *= std::max(size, 1.0);
  }
}

RowResult ProductReducer::finish() const {
  RowResult result;
  result.value = product_;
  for (size_t g = 0; g < reach_.size(); ++g) {
    double rounding = shape_.depth * kUnit * 1.01;
    double error = reach_[g] * (1 + rounding) - std::fabs(product_);
    error += static_cast<double>(shape_.length) * kTiny * grown_;
    if (shape_.length == 1) error = reach_[g] - std::fabs(product_);
    float bound;
    if (anything_[g] || (!endless_ && grown_ > FLT_MAX && shape_.length > 1))
      bound = kAnything;
    else if (endless_)
      bound = 0;
    else
      bound = encode(product_, {product_ - error, product_ + error});
    result.bounds.push_back(bound);
  }
  return result;
}

// ---- maximum -----------------------------------------------------------------------------------

void MaxReducer::absorb_bound(Group& group, double x, float e, int64_t index) {
  if (e == kAnything) group.anything = true;
  if (e != 0) group.exact = false;
  Interval interval = decode(x, e);
  if (index == index_) group.best_lo = interval.lo;
  group.lo = std::max(group.lo, interval.lo);
  if (interval.hi > group.first || group.first_index < 0) {
    group.second = group.first;
    group.first = interval.hi;
    group.first_index = index;
  } else {
    group.second = std::max(group.second, interval.hi);
  }
}

void MaxReducer::absorb(const Piece& piece) {
  for (size_t i = 0; i < piece.x.size(); ++i) {
    double x = piece.x[i];
    int64_t index = piece.first + static_cast<int64_t>(i);
    // The first NaN wins, then the first of the greatest elements.
    bool wins = index_ < 0 || (!std::isnan(best_) && (std::isnan(x) || x > best_));
    if (wins) {
      best_ = x;
      index_ = index;
    }
    for (size_t g = 0; g < groups_.size(); ++g)
      absorb_bound(groups_[g], x, piece.errors[g] ? piece.errors[g][i] : 0, index);
  }
}

RowResult MaxReducer::finish_value() const {
  RowResult result;
  result.value = best_;
  for (const Group& group : groups_) {
    if (std::isnan(best_))
      result.bounds.push_back(0);
    else if (group.anything)
      result.bounds.push_back(kAnything);
    else
      result.bounds.push_back(encode(best_, {group.lo, group.first}));
  }
  return result;
}

RowResult MaxReducer::finish_index() const {
  RowResult result;
  result.value = best_;
  result.index = index_;
  for (const Group& group : groups_) {
    double rival = group.first_index == index_ ? group.second : group.first;
    bool settled = group.exact || (!group.anything && (std::isnan(best_) || rival < group.best_lo));
    result.bounds.push_back(settled ? 0 : kAnything);
  }
  return result;
}

// ---- max and sum of exponentials ---------------------------------------------------------------

void MaxSumexpReducer::rescale(double new_max) {
  double factor = top_ == new_max ? 1 : std::exp(top_ - new_max);
  if (sum_ > 0) distance_ = factor * (distance_ + sum_ * (new_max - top_));
  sum_ *= factor;
  for (double& shifted : shifted_) shifted *= factor;
  top_ = new_max;
}

void MaxSumexpReducer::absorb(const Piece& piece) {
  max_.absorb(piece);
  double new_max = max_.finish_value().value;
  // An infinite or NaN maximum makes the sum NaN in finish_sum.
  if (!std::isfinite(new_max)) return;
  rescale(new_max);
  for (size_t i = 0; i < piece.x.size(); ++i) {
    double below = new_max - piece.x[i];
    double weight = std::exp(-below);
    sum_ += weight;
    if (weight > 0) distance_ += weight * below;
    for (size_t g = 0; g < shifted_.size(); ++g) {
      float e = piece.errors[g] ? piece.errors[g][i] : 0;
      if (e < 0 || e == kAnything)
        anything_[g] = true;
      else if (e > 0)
        shifted_[g] += weight * std::expm1(static_cast<double>(e));
    }
  }
}

double MaxSumexpReducer::rounding(double sum) const {
  // The errors of x - max, of exp, and of one merge per level of the tree.
  const double half = shape_.halves ? rules::exp::kHalfRounding : 0;
  const double floor = 4 * kTiny + (shape_.halves ? rules::kHalfFloor : 0);
  return sum * ((shape_.depth + 2) * kMergeRounding + half) + 2 * kUnit * distance_ +
         floor * static_cast<double>(shape_.length);
}

RowResult MaxSumexpReducer::finish_log() const {
  RowResult result;
  bool is_finite = std::isfinite(max_.finish_value().value);
  for (size_t g = 0; g < shifted_.size(); ++g) {
    // log((sum w exp(e)) / sum w) bounds the move up and, by Jensen's inequality, the move down.
    double moved = shifted_[g] + rounding(sum_ + shifted_[g]);
    bool is_open = anything_[g] || !is_finite;
    result.bounds.push_back(is_open ? kAnything : up(std::log1p(moved / sum_)));
  }
  return result;
}

RowResult MaxSumexpReducer::finish_sum() const {
  RowResult result;
  RowResult max = max_.finish_value();
  result.value = std::isfinite(max.value) ? sum_ : std::numeric_limits<double>::quiet_NaN();
  for (size_t g = 0; g < shifted_.size(); ++g) {
    if (anything_[g] || max.bounds[g] == kAnything || max.bounds[g] < 0) {
      result.bounds.push_back(kAnything);
      continue;
    }
    if (std::isnan(result.value)) {
      result.bounds.push_back(0);
      continue;
    }
    // A kernel subtracts its own maximum, which is off by at most e.
    double drift = std::expm1(static_cast<double>(max.bounds[g]));
    double moved = shifted_[g] * (1 + drift) + sum_ * drift;
    result.bounds.push_back(encode_error(result.value, moved + rounding(sum_ + moved)));
  }
  return result;
}

// ---- moments -----------------------------------------------------------------------------------

void MomentsReducer::absorb(const Piece& piece) {
  double sum = 0;
  for (double x : piece.x) {
    sum += x;
    magnitude_ += std::fabs(x);
    squares_ += x * x;
  }
  auto n = static_cast<double>(piece.x.size());
  double mean = sum / n;
  double m2 = 0;
  for (double x : piece.x) m2 += (x - mean) * (x - mean);
  double total = count_ + n;
  double delta = mean - mean_;
  m2_ += m2 + (count_ > 0 ? delta * delta * count_ * n / total : 0);
  sum_ += sum;
  count_ = total;
  mean_ = sum_ / count_;
  for (size_t g = 0; g < errors_.size(); ++g)
    if (const float* e = piece.errors[g])
      for (size_t i = 0; i < piece.x.size(); ++i) errors_[g].add(piece.x[i], e[i]);
}

RowResult MomentsReducer::finish_mean() const {
  RowResult result;
  const double mean = count_ > 0 ? mean_ : std::numeric_limits<double>::quiet_NaN();
  result.value = mean;
  for (const ErrorSums& errors : errors_) {
    double error = errors.sum + shape_.depth * kUnit * (magnitude_ + errors.sum);
    if (shape_.length > 1) error += 2 * kUnit * std::fabs(sum_) + 2 * kTiny * count_;
    bool open = errors.anything || errors.above || errors.below || magnitude_ + error > FLT_MAX;
    // Merged means turn an infinite element into NaN; summed ones give an infinity.
    if (std::isnan(mean) && !errors.anything)
      result.bounds.push_back(0);
    else
      result.bounds.push_back(open ? kAnything : encode_error(mean, error / count_));
  }
  return result;
}

RowResult MomentsReducer::finish_variance() const {
  RowResult result;
  double variance = shape_.length == 1 ? mean_ - mean_ : m2_ / count_;
  result.value = variance;
  for (const ErrorSums& errors : errors_) {
    if (errors.anything || errors.above || errors.below) {
      result.bounds.push_back(kAnything);
      continue;
    }
    if (std::isnan(variance) || shape_.length == 1) {
      result.bounds.push_back(0);
      continue;
    }
    // The deviation is 1-Lipschitz in the root mean square of the perturbation. The perturbation is
    // that of the operands' errors and of the means, each of which is off by depth roundings of
    // values of size rms(x). That holds both for two sweeps and for merges of (n, mean, M2).
    double deviation = std::sqrt(variance);
    double perturbation = std::sqrt(errors.squares / count_) +
                          (shape_.depth + 2) * kUnit * std::sqrt(squares_ / count_);
    double error = perturbation * (2 * deviation + perturbation);
    error += (shape_.depth + 4) * kUnit * (variance + error) + 2 * kTiny;
    // If the squares overflow, two sweeps give an infinity and other orders give NaN.
    bool overflows = (variance + error) * count_ > FLT_MAX || squares_ > FLT_MAX;
    result.bounds.push_back(overflows ? kAnything : encode_error(variance, error));
  }
  return result;
}

} // namespace ingot
