// SPDX-License-Identifier: Apache-2.0
// See compare.h.
#include "ir/interpreter/compare.h"

#include <cstring>

namespace ingot {

namespace {

/// The multi-index of a row-major index: `[3, 17]`.
std::string index_text(int64_t index, llvm::ArrayRef<int64_t> extents) {
  llvm::SmallVector<int64_t, 4> place(extents.size());
  for (size_t i = extents.size(); i-- > 0;) {
    place[i] = index % extents[i];
    index /= extents[i];
  }
  return text_of(place);
}

bool admits(double reference, float bound, double got, const CompareOptions& options) {
  if (bound == kAnything) return true;
  bool any_kind = options.non_finite == CompareOptions::NonFinite::any_kind;
  if (std::isnan(reference)) return std::isnan(got) || (any_kind && std::isinf(got));
  if (std::isinf(reference) && bound == 0)
    return got == reference || (any_kind && !std::isfinite(got));
  return decode(reference, bound).contains(got);
}

class Comparing {
public:
  Comparing(const Evaluated& reference, const Tensor& result, size_t precision,
            const CompareOptions& options)
      : reference_(reference), result_(result), precision_(precision), options_(options),
        bounds_(reference.bounds(precision)) {}

  /// Whether any element is outside its bound. Stops at the first.
  bool rejects() {
    for (int64_t i = 0; i < result_.count() && comparison_.failures == 0; ++i) element(i);
    return comparison_.failures > 0;
  }

  /// Whether an element is further from `right`, which is accepted, than two results within the
  /// bound can be from each other. Then no tolerance that accepts `right` accepts this result too.
  bool must_reject(const Tensor& right) const {
    for (int64_t i = 0; i < result_.count(); ++i) {
      const float e = bound(i);
      if (e == kAnything) continue;
      if (!is_float(reference_.dtype)) {
        if (e == 0 && result_.integer(i) != right.integer(i)) return true;
        continue;
      }
      const double a = result_.real(i), b = right.real(i);
      const double expected = reference_.reals()[static_cast<size_t>(i)];
      if (!std::isfinite(expected)) {
        // If an exact result is not finite, no finite result is accepted.
        if (std::isfinite(a) && (std::isnan(expected) || e == 0)) return true;
        continue;
      }
      // If rounding near the end of a 16-bit type may overflow, infinity is within the bound.
      const bool overflows = std::isinf(a) && decode(expected, e).contains(a);
      if (a == b || overflows) continue;
      if (std::isnan(a) || std::fabs(a - b) > 2 * std::fabs(static_cast<double>(e))) return true;
    }
    return false;
  }

  Comparison run() {
    if (result_.dtype() != reference_.dtype || result_.extents() != reference_.extents()) {
      comparison_.problem = fmt::format("expected {}{}, got {}", spelling(reference_.dtype).str(),
                                        text_of(reference_.extents()), result_.type_text());
      return comparison_;
    }
    comparison_.count = result_.count();
    measure_reference();
    for (int64_t i = 0; i < result_.count(); ++i) element(i);
    finish();
    return comparison_;
  }

private:
  float bound(int64_t i) const { return bounds_.empty() ? 0 : bounds_[static_cast<size_t>(i)]; }

  void measure_reference() {
    if (!is_float(reference_.dtype)) return;
    for (double value : reference_.reals()) {
      if (std::isfinite(value))
        comparison_.max_value = std::max(comparison_.max_value, std::fabs(value));
      if (std::isnan(value)) ++comparison_.nan;
    }
  }

  /// Counts elements whose bound is too wide to prove anything. If all values are zero, a bound
  /// above zero is the only possible statement about them.
  void count_unproven(double reference, double bound) {
    const bool is_larger = comparison_.max_value > 0 && bound > comparison_.max_value;
    if (!std::isfinite(reference) && bound != kInfinity) return;
    comparison_.max_bound = std::max(comparison_.max_bound, bound);
    if (bound == kInfinity || is_larger) ++comparison_.unproven;
  }

  void fail(int64_t i, const std::string& expected, const std::string& got) {
    if (comparison_.failures++ == 0)
      comparison_.problem = fmt::format("{}{}: expected {}, got {}", reference_.name,
                                        index_text(i, reference_.extents()), expected, got);
  }

  void element(int64_t i) {
    if (is_float(reference_.dtype))
      real(i);
    else
      integer(i);
  }

  void real(int64_t i) {
    double expected = reference_.reals()[static_cast<size_t>(i)];
    double got = result_.real(i);
    float e = bound(i);
    const double reach = e == kAnything ? kInfinity : std::fabs(e);
    if (e == kAnything) ++comparison_.unbounded;
    count_unproven(expected, reach);
    if (!admits(expected, e, got, options_))
      fail(i, fmt::format("{:.9g} within {:.3g}", expected, std::fabs(e)),
           fmt::format("{:.9g}", got));
    if (!std::isfinite(expected) || !std::isfinite(got)) return;
    double error = std::fabs(got - expected);
    comparison_.max_error = std::max(comparison_.max_error, error);
    squares_ += error * error;
    ++finite_;
    if (e == kAnything) return;
    double ratio = error == 0 ? 0 : reach > 0 ? error / reach : kInfinity;
    if (comparison_.worst < 0 || ratio > comparison_.max_bound_ratio) {
      comparison_.max_bound_ratio = ratio;
      comparison_.worst = i;
    }
  }

  void integer(int64_t i) {
    bool is_bool = reference_.dtype == DType::boolean;
    auto at = static_cast<size_t>(i);
    int64_t expected = is_bool ? reference_.booleans()[at] : reference_.integers()[at];
    int64_t got = result_.integer(i);
    bool is_open = bound(i) != 0;
    const bool has_witness = !reference_.witnesses.empty();
    if (is_open) ++comparison_.unbounded;
    if (is_open && !has_witness) {
      ++comparison_.unproven;
      comparison_.max_bound = kInfinity;
    }
    bool fits = got == expected;
    if (!fits && is_open) fits = !has_witness || reference_.witnesses[precision_]->admits(i, got);
    if (!fits) fail(i, std::to_string(expected), std::to_string(got));
  }

  void finish() {
    if (finite_ > 0) comparison_.rms_error = std::sqrt(squares_ / static_cast<double>(finite_));
    comparison_.pass = comparison_.failures == 0;
  }

  const Evaluated& reference_;
  const Tensor& result_;
  size_t precision_;
  const CompareOptions& options_;
  llvm::ArrayRef<float> bounds_;
  Comparison comparison_;
  double squares_ = 0;
  int64_t finite_ = 0;
};

/// A tensor as rows of its last dim, with the ways to break it.
class Broken {
public:
  explicit Broken(const Tensor& right) : tensor_(right.clone()) {
    columns_ = right.extents().empty() ? 1 : right.extents().back();
    rows_ = columns_ ? right.count() / columns_ : 0;
    width_ = static_cast<size_t>(size_of(right.dtype()));
  }
  const Tensor& tensor() const { return tensor_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t count() const { return tensor_.count(); }
  std::byte* at(int64_t i) { return tensor_.bytes() + static_cast<size_t>(i) * width_; }

  void zero(int64_t first, int64_t length) { std::memset(at(first), 0, bytes(length)); }
  void copy(int64_t to, int64_t from, int64_t length) {
    std::memmove(at(to), at(from), bytes(length));
  }
  void fill(double value) {
    for (int64_t i = 0; i < count(); ++i) tensor_.set(i, value);
  }
  void map(int64_t i, llvm::function_ref<double(double)> f) {
    if (is_float(tensor_.dtype()))
      tensor_.set(i, f(tensor_.real(i)));
    else
      tensor_.set_integer(i, static_cast<int64_t>(f(static_cast<double>(tensor_.integer(i)))));
  }
  /// Adds one to every element, or inverts every bool.
  void step() {
    for (int64_t i = 0; i < count(); ++i) {
      if (tensor_.dtype() == DType::boolean)
        tensor_.set_integer(i, tensor_.integer(i) == 0);
      else if (is_float(tensor_.dtype()))
        tensor_.set(i, tensor_.real(i) + 1);
      else
        tensor_.set_integer(i, static_cast<int64_t>(static_cast<uint64_t>(tensor_.integer(i)) + 1));
    }
  }
  double real(int64_t row, int64_t column) const { return tensor_.real(row * columns_ + column); }
  /// The finite element of greatest magnitude.
  int64_t largest() const {
    int64_t best = 0;
    for (int64_t i = 0; i < tensor_.count(); ++i)
      if (std::isfinite(tensor_.real(i)) &&
          !(std::fabs(tensor_.real(i)) <= std::fabs(tensor_.real(best))))
        best = i;
    return best;
  }
  double mean() const {
    double sum = 0;
    for (int64_t i = 0; i < tensor_.count(); ++i) sum += tensor_.real(i);
    return sum / static_cast<double>(std::max<int64_t>(tensor_.count(), 1));
  }

private:
  size_t bytes(int64_t length) const { return static_cast<size_t>(length) * width_; }
  Tensor tensor_;
  int64_t rows_ = 0, columns_ = 0;
  size_t width_ = 1;
};

struct Plant {
  llvm::StringRef name;
  void (*apply)(Broken&);
  bool is_finite = true;
};

/// Moves a tile in the middle, of up to 128 rows and columns, one column to the right.
void shift_tile(Broken& b) {
  int64_t width = std::min<int64_t>(128, b.columns() - 1);
  int64_t height = std::min<int64_t>(128, b.rows());
  int64_t row = (b.rows() - height) / 2, column = (b.columns() - 1 - width) / 2;
  for (int64_t r = row; r < row + height; ++r) {
    int64_t first = r * b.columns() + column;
    b.copy(first + 1, first, width);
  }
}

/// Swaps the neighbouring rows that differ most.
void swap_rows(Broken& b) {
  int64_t first = 0;
  double widest = -1;
  for (int64_t r = 0; r + 1 < b.rows(); ++r) {
    double distance = 0;
    for (int64_t c = 0; c < b.columns(); ++c) {
      double gap = std::fabs(b.real(r, c) - b.real(r + 1, c));
      if (gap > distance) distance = gap;
    }
    if (distance <= widest) continue;
    widest = distance;
    first = r * b.columns();
  }
  if (b.rows() < 2) return;
  Broken original(b.tensor());
  int64_t second = first + b.columns();
  auto bytes = static_cast<size_t>(b.at(second) - b.at(first));
  std::memcpy(b.at(first), original.at(second), bytes);
  std::memcpy(b.at(second), original.at(first), bytes);
}

constexpr Plant kPlants[] = {
    {"all zeros", [](Broken& b) { b.zero(0, b.count()); }},
    {"all equal to the mean", [](Broken& b) { b.fill(b.mean()); }},
    {"every element doubled",
     [](Broken& b) {
       for (int64_t i = 0; i < b.count(); ++i) b.map(i, [](double x) { return 2 * x; });
     }},
    {"every sign flipped",
     [](Broken& b) {
       for (int64_t i = 0; i < b.count(); ++i) b.map(i, [](double x) { return -x; });
     }},
    {"a tile shifted by one column", shift_tile},
    {"two rows swapped", swap_rows},
    {"the last row zero", [](Broken& b) { b.zero((b.rows() - 1) * b.columns(), b.columns()); }},
    {"the last column zero",
     [](Broken& b) {
       for (int64_t r = 1; r <= b.rows(); ++r) b.zero(r * b.columns() - 1, 1);
     }},
    {"the first row repeated",
     [](Broken& b) {
       for (int64_t r = 1; r < b.rows(); ++r) b.copy(r * b.columns(), 0, b.columns());
     }},
    {"the largest element doubled",
     [](Broken& b) { b.map(b.largest(), [](double x) { return 2 * x; }); }},
    {"the last element not written", [](Broken& b) { b.zero(b.count() - 1, 1); }},
    {"every element one more", [](Broken& b) { b.step(); }},
    {"one element NaN",
     [](Broken& b) {
       b.map(b.count() / 3, [](double) { return std::numeric_limits<double>::quiet_NaN(); });
     },
     false},
};

} // namespace

Comparison compare(const Evaluated& reference, const Tensor& result, size_t precision,
                   const CompareOptions& options) {
  return Comparing(reference, result, precision, options).run();
}

std::vector<PlantedError> plant_errors(const Evaluated& reference, const Tensor& result,
                                       size_t precision, const CompareOptions& options) {
  std::vector<PlantedError> planted;
  for (const Plant& plant : kPlants) {
    PlantedError error{plant.name.str(), false, false, plant.is_finite};
    if (result.count() > 0) {
      Broken broken(result);
      plant.apply(broken);
      Comparing comparing(reference, broken.tensor(), precision, options);
      error.applies = comparing.must_reject(result);
      error.rejected = error.applies && comparing.rejects();
    }
    planted.push_back(std::move(error));
  }
  return planted;
}

} // namespace ingot
