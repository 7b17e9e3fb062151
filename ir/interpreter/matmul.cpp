// SPDX-License-Identifier: Apache-2.0
// Matmul in f64, with operands rounded for a precision. Error bounds come from |A||B| and from the
// same product summed in f32. See evaluate_ops.h.
#include "ir/float_bits.h"
#include "ir/interpreter/evaluate_ops.h"
#include "ir/interpreter/gemm.h"

#include <algorithm>
#include <cmath>

namespace ingot {
namespace {

/// One operand of one batch, as lines (rows of A, columns of B) by k.
struct Side {
  const HostValue& value;
  int64_t base;
  int64_t line_stride;
  int64_t k_stride;
};

/// Reads a panel. Calls emit(storage index, stride, length, out) for runs in storage. A run goes
/// along line or k, whichever has the smaller stride.
template <typename T, typename Read>
void load_panel(const Side& side, const PanelRequest<T>& request, Read read) {
  int64_t base =
      side.base + request.first_line * side.line_stride + request.first_k * side.k_stride;
  if (std::abs(side.line_stride) < std::abs(side.k_stride)) {
    for (int64_t k = 0; k < request.depth; ++k)
      read(base + k * side.k_stride, side.line_stride, request.lines,
           request.dst + k * request.lead);
    return;
  }
  T line[kGemmBlockK];
  for (int64_t l = 0; l < request.lines; ++l) {
    read(base + l * side.line_stride, side.k_stride, request.depth, line);
    for (int64_t k = 0; k < request.depth; ++k) request.dst[k * request.lead + l] = line[k];
  }
}

/// Rounds to nearest TF32, as cvt.rna does (the only conversion of sm_80): ties away from zero.
double to_tf32(double x) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(x));
  return std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

/// The distance between the two TF32 numbers to which a tie may be rounded: copies of sm_90a round
/// it to even. 0: `x` is no tie.
double tie_of_tf32(double x) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(x));
  if ((bits & 0x1fffu) != 0x1000u) return 0;
  return std::fabs(to_tf32(x) - std::bit_cast<float>(bits & 0xffffe000u));
}

double round_operand(OperandRounding rounding, double x) {
  if (rounding == OperandRounding::none || !std::isfinite(x)) return x;
  return rounding == OperandRounding::tf32 ? to_tf32(x) : round_to_bf16(x);
}

/// One operand of an f32 product after rounding. Elements that are not finite count as 0, because
/// their effect is not an error.
struct Factor {
  enum class Part : uint8_t { value, magnitude, error, reach } part;
  OperandRounding rounding;
  const float* errors; ///< encoded bounds; null: exact

  /// `magnitude` is |x|. `error` bounds the distance of a kernel's rounded operand from x. `reach`
  /// is the sum of both.
  float of(double x, float e) const {
    if (!std::isfinite(x)) x = 0;
    double rounded = round_operand(rounding, x);
    if (part == Part::value) return static_cast<float>(rounded);
    double error = 0;
    if (part != Part::magnitude && rounding == OperandRounding::tf32) error = tie_of_tf32(x);
    if (part != Part::magnitude && e != 0) {
      if (e < 0 || e == kAnything) return kAnything;
      error = std::max({error, round_operand(rounding, x + e) - rounded,
                        rounded - round_operand(rounding, x - e)});
    }
    return up((part == Part::error ? 0 : std::fabs(rounded)) + error);
  }
};

void load_factor(const Side& side, const PanelRequest<float>& request, const Factor& factor) {
  load_panel(side, request, [&](int64_t index, int64_t stride, int64_t length, float* out) {
    double x[kGemmBlockK];
    for (int64_t at = 0; at < length; at += kGemmBlockK) {
      int64_t count = std::min(kGemmBlockK, length - at);
      read_reals(side.value, index + at * stride, stride, count, x);
      for (int64_t i = 0; i < count; ++i) {
        float e = factor.errors ? factor.errors[index + (at + i) * stride] : 0;
        out[at + i] = factor.of(x[i], e);
      }
    }
  });
}

/// The error of accumulating in f32.
struct AccumulationCost {
  double unit = 0;    ///< error of one step of K, relative to the sum so far and its products
  double promise = 0; ///< the whole error as a share of |A||B|; replaces `unit`
  Gemm<float>::Order order = Gemm<float>::Order::chain_toward_zero;
};

/// Tensor cores align the products of a step and the running sum to the largest exponent and
/// truncate. A100 adds 8 products of 16-bit operands (4 of TF32) with one extra bit. H100 adds
/// twice as many with two extra bits. The sum is truncated to f32. A step of p products loses at
/// most ((p + 1)/2 + 1) * 2^-23 of the largest magnitude present. So K/p steps lose at most 0.69 K
/// * 2^-23 (16-bit) or 0.88 K * 2^-23 (TF32) of it. That is less than a chain of K multiply-adds
/// that rounds toward zero.
AccumulationCost cost_of(DType dtype, MatmulPrecision precision) {
  if (dtype == DType::f32 && precision == MatmulPrecision::highest) return {0, 0x1p-20};
  if (dtype == DType::f32 && precision == MatmulPrecision::pedantic)
    return {kUnit, 0, Gemm<float>::Order::chain};
  return {0x1p-23, 0};
}

/// One batch of one matmul.
class MatmulTask {
public:
  /// `depth` is K as the graph declares it.
  MatmulTask(const OpSite& site, Side a, Side b, Extents extents, const Dim& depth)
      : site_(site), a_(a), b_(b), m_(extents[0]), n_(extents[1]), k_(extents[2]), depth_(depth) {
    const bool rounds = a.value.dtype == DType::f32 && !is_short_contraction(depth);
    rounding_ = rounds ? site.rounding : OperandRounding::none;
  }

  void run(double* c, llvm::ArrayRef<BoundGroup> groups, llvm::ArrayRef<float*> bounds) {
    c_ = c;
    if (!groups.empty() && k_ > kGemmBlockK) peak_.resize(static_cast<size_t>(m_ * n_));
    auto load = [&](const Side& side, const PanelRequest<double>& request) {
      load_panel(side, request, [&](int64_t index, int64_t stride, int64_t length, double* out) {
        read_reals(side.value, index, stride, length, out);
        if (rounding_ == OperandRounding::none) return;
        for (int64_t i = 0; i < length; ++i) out[i] = round_operand(rounding_, out[i]);
      });
    };
    run_gemm(Gemm<double>{m_, n_, k_, [&](const PanelRequest<double>& r) { load(a_, r); },
                          [&](const PanelRequest<double>& r) { load(b_, r); }, c,
                          peak_.empty() ? nullptr : peak_.data()},
             site_.workers);
    if (groups.empty()) return;
    block_peak_.resize(static_cast<size_t>(m_ * n_));
    Factor magnitude = factor(Factor::Part::magnitude);
    magnitude_ = product(magnitude, magnitude, Gemm<float>::Order::blocks, block_peak_.data());
    for (const BoundGroup& group : groups) {
      inherited_ = propagate(group);
      for (size_t member : group.members) {
        AccumulationCost cost =
            cost_of(a_.value.dtype, precision_of(site_.precisions[member], depth_));
        Factor value = factor(Factor::Part::value);
        if (cost.promise == 0) emulated_ = product(value, value, cost.order);
        fill_bounds(group, cost, bounds[member]);
      }
    }
  }

private:
  Factor factor(Factor::Part part, const float* errors = nullptr) const {
    return {part, rounding_, errors};
  }

  std::vector<float> product(const Factor& a, const Factor& b,
                             Gemm<float>::Order order = Gemm<float>::Order::blocks,
                             float* block_peak = nullptr) {
    std::vector<float> result(static_cast<size_t>(m_ * n_));
    run_gemm(Gemm<float>{m_, n_, k_, [&](const PanelRequest<float>& r) { load_factor(a_, r, a); },
                         [&](const PanelRequest<float>& r) { load_factor(b_, r, b); },
                         result.data(), nullptr, block_peak, order},
             site_.workers);
    return result;
  }

  /// Whether an operand of so many lines has a tie that kernels round either way.
  bool has_ties(const Side& side, int64_t lines) const {
    if (rounding_ != OperandRounding::tf32) return false;
    std::vector<double> line(static_cast<size_t>(k_));
    for (int64_t l = 0; l < lines; ++l) {
      read_reals(side.value, side.base + l * side.line_stride, side.k_stride, k_, line.data());
      for (double x : line)
        if (std::isfinite(x) && tie_of_tf32(x) != 0) return true;
    }
    return false;
  }

  /// Computes Ea (|B| + Eb) + |A| Eb.
  std::vector<float> propagate(const BoundGroup& group) {
    const float* ea = group.arrays[0];
    const float* eb = group.arrays[1];
    using Part = Factor::Part;
    std::vector<float> result;
    if (ea || has_ties(a_, m_)) result = product(factor(Part::error, ea), factor(Part::reach, eb));
    if (!eb && !has_ties(b_, n_)) return result;
    std::vector<float> rest = product(factor(Part::magnitude), factor(Part::error, eb));
    if (result.empty()) return rest;
    for (size_t i = 0; i < result.size(); ++i) result[i] += rest[i];
    return result;
  }

  /// The error of summing element i in f32. It is at most a unit of the accumulator for each step
  /// of K. Its systematic part is the loss of a chain of K multiply-adds on the same data, measured
  /// here, and doubled for kernels that add in another order. The rest is K roundings of mean zero.
  /// By Azuma's inequality, their sum exceeds 8 times the root of the sum of their squares once in
  /// 4e13 elements.
  double accumulation_error(const AccumulationCost& cost, size_t i, double size,
                            double inherited) const {
    auto steps = static_cast<double>(k_);
    auto block = static_cast<double>(std::min(k_, kGemmBlockK));
    double peak = peak_.empty() ? 0 : peak_[i];
    double worst = steps * size;
    // A range of K that starts inside holds the difference of two partial sums, plus products of
    // the current block.
    if (!peak_.empty()) worst = std::min(worst, block * size + 2 * steps * (peak + inherited));
    worst *= cost.unit;
    double systematic = 2 * std::fabs(emulated_[i] - c_[i]);
    double random = 8 * cost.unit * std::sqrt(steps) * (peak + block_peak_[i]);
    double likely = systematic + random + cost.unit * steps * inherited;
    return likely < worst ? likely : worst;
  }

  void fill_bounds(const BoundGroup& group, const AccumulationCost& cost, float* out) {
    site_.workers.run(m_, [&](int64_t row) {
      for (int64_t i = row * n_; i < (row + 1) * n_; ++i) {
        auto at = static_cast<size_t>(i);
        // The f32 products themselves round. 2^-10 covers chains of 256 and K/256 block sums.
        double inherited = inherited_.empty() ? 0 : inherited_[at] * (1 + 0x1p-10);
        double size = magnitude_[at] * (1 + 0x1p-10) + inherited;
        double own =
            cost.promise > 0 ? cost.promise * size : accumulation_error(cost, at, size, inherited);
        double error = inherited + own + static_cast<double>(k_) * kTiny;
        if (!(size <= FLT_MAX))
          out[i] = kAnything;
        else if (std::isfinite(c_[i]))
          out[i] = encode_error(c_[i], error);
        else
          out[i] = is_settled(group, row, i - row * n_) ? 0 : kAnything;
      }
    });
  }

  /// Whether an infinite or NaN element is the same for all admissible operands: every factor of an
  /// infinity keeps its sign.
  bool is_settled(const BoundGroup& group, int64_t row, int64_t column) {
    if (group.is_exact()) return true;
    for (int64_t k = 0; k < k_; ++k) {
      Interval factors[2];
      const Side* sides[2] = {&a_, &b_};
      for (int s = 0; s < 2; ++s) {
        int64_t index = sides[s]->base + (s == 0 ? row : column) * sides[s]->line_stride +
                        k * sides[s]->k_stride;
        double x;
        read_reals(sides[s]->value, index, 1, 1, &x);
        float e = group.arrays[s] ? group.arrays[s][index] : 0;
        if (e == kAnything) return false;
        factors[s] = decode(x, e);
      }
      for (int s = 0; s < 2; ++s)
        if (std::isinf(factors[s].lo) && !factors[1 - s].is_point() && factors[1 - s].contains(0))
          return false;
    }
    return true;
  }

  const OpSite& site_;
  Side a_, b_;
  int64_t m_, n_, k_;
  const Dim& depth_;
  OperandRounding rounding_;
  double* c_ = nullptr;
  std::vector<float> peak_;       ///< greatest partial sum; empty if K is one block
  std::vector<float> magnitude_;  ///< |A||B| over the finite elements
  std::vector<float> block_peak_; ///< its greatest part from one block of K
  std::vector<float> inherited_;  ///< error from the operands' bounds; empty if exact
  std::vector<float> emulated_;   ///< the sum as one chain of f32 multiply-adds
};

} // namespace

HostValue evaluate_matmul(const OpSite& site) {
  const auto& attributes = site.graph.attributes<MatmulAttributes>(site.op);
  const HostValue& a = *site.operands[0];
  const HostValue& b = *site.operands[1];
  const Extents& extents = site.result_extents[0];
  size_t batch_rank = extents.size() - 2;
  size_t a_row = batch_rank + (attributes.transpose_a ? 1 : 0);
  size_t a_k = batch_rank + (attributes.transpose_a ? 0 : 1);
  size_t b_column = batch_rank + (attributes.transpose_b ? 0 : 1);
  size_t b_k = batch_rank + (attributes.transpose_b ? 1 : 0);
  int64_t m = extents[batch_rank], n = extents[batch_rank + 1], k = a.extents[a_k];

  const Dim& depth = site.graph.type(site.op.operands[0]).shape[a_k];
  NewValue result(site.result_dtype(), extents);
  size_t precisions = site.precisions.size();
  llvm::SmallVector<BoundGroup, 4> groups = group_bounds(site.operands, precisions);
  // Precisions with the same cost share an array.
  llvm::SmallVector<std::shared_ptr<float[]>, 4> arrays;
  for (size_t p = 0; p < precisions; ++p) arrays.push_back(new_bounds(result.value.count()));
  int64_t batches = 1;
  for (size_t i = 0; i < batch_rank; ++i) batches *= extents[i];
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t a_base = a.offset, b_base = b.offset, rest = batch;
    for (size_t i = batch_rank; i-- > 0;) {
      a_base += rest % extents[i] * a.strides[i];
      b_base += rest % extents[i] * b.strides[i];
      rest /= extents[i];
    }
    llvm::SmallVector<float*, 4> bounds;
    for (auto& array : arrays) bounds.push_back(array.get() + batch * m * n);
    MatmulTask task(site, {a, a_base, a.strides[a_row], a.strides[a_k]},
                    {b, b_base, b.strides[b_column], b.strides[b_k]}, {m, n, k}, depth);
    task.run(result.reals + batch * m * n, groups, bounds);
  }
  for (auto& array : arrays) result.value.bounds.push_back(array);
  return std::move(result.value);
}

} // namespace ingot
