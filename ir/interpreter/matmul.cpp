// SPDX-License-Identifier: Apache-2.0
// Matmul in f64, with the error bound of each precision from a second product |A||B| in f32. See
// evaluate_ops.h.
#include "ir/float_bits.h"
#include "ir/interpreter/evaluate_ops.h"
#include "ir/interpreter/gemm.h"

namespace ingot {
namespace {

/// One operand of one batch as lines (rows of A, columns of B) by k.
struct Side {
  const HostValue& value;
  int64_t base;
  int64_t line_stride;
  int64_t k_stride;
};

/// Reads a panel, mapping storage runs through emit(storage index, stride, length, out): runs go
/// along whichever of line and k is closer together in memory.
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

/// To TF32 as cvt.rna does (the only conversion of sm_80): ties away from zero.
float to_tf32(float x) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(x) + 0x1000u) & 0xffffe000u);
}

/// What an f32 product is made of. Elements that are not finite count as 0: their effect is not an
/// error.
struct Factor {
  enum class Kind : uint8_t { magnitude, square, tf32, bf16 } kind = Kind::magnitude;
  const float* errors = nullptr; ///< encoded bounds; an unbounded one counts as infinity
  bool error_only = false;       ///< e alone, without |x|

  float of(double x, float e) const {
    if (!std::isfinite(x)) x = 0;
    switch (kind) {
    case Kind::square: return up(x * x);
    case Kind::tf32: return to_tf32(static_cast<float>(x));
    case Kind::bf16: return static_cast<float>(round_to_bf16(x));
    case Kind::magnitude: break;
    }
    return up((error_only ? 0 : std::fabs(x)) + (e < 0 ? kAnything : e));
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

/// What one precision adds: `operands` from rounding the operands, `accumulation` per step of K.
struct PrecisionCost {
  double operands = 0; ///< relative error of a product from rounding both factors
  Factor::Kind rounding = Factor::Kind::magnitude; ///< of an operand, where it is rounded
  double accumulation = 0;
  double promise = 0; ///< the whole error as a share of |A||B|; replaces the others
};

/// Tensor cores align the products of a step and the running sum to the largest exponent and
/// truncate. A100 adds 8 products of 16-bit operands (4 of TF32) with one extra bit, H100 twice as
/// many with two; the sum is truncated to f32. A step of p products loses at most
/// ((p + 1)/2 + 1) * 2^-23 of the largest magnitude present, so K/p steps lose at most
/// 0.69 K * 2^-23 (16-bit) or 0.88 K * 2^-23 (TF32) of it: one 2^-23 for each of K covers all.
PrecisionCost cost_of(DType dtype, MatmulPrecision precision) {
  if (dtype != DType::f32) return {0, Factor::Kind::magnitude, 0x1p-23, 0};
  switch (precision) {
  case MatmulPrecision::pedantic: return {0, Factor::Kind::magnitude, kUnit, 0};
  case MatmulPrecision::highest: return {0, Factor::Kind::magnitude, 0, 0x1p-20};
  // Two operands, each rounded to nearest with 11 or 8 significant bits.
  case MatmulPrecision::high: return {0x1p-10 + 0x1p-22, Factor::Kind::tf32, 0x1p-23, 0};
  case MatmulPrecision::medium: return {0x1p-7 + 0x1p-16, Factor::Kind::bf16, 0x1p-23, 0};
  }
  llvm_unreachable("not a precision");
}

/// One batch of one matmul.
class MatmulTask {
public:
  MatmulTask(const OpSite& site, Side a, Side b, Extents extents)
      : site_(site), a_(a), b_(b), m_(extents[0]), n_(extents[1]), k_(extents[2]) {}

  void run(double* c, llvm::ArrayRef<BoundGroup> groups, llvm::ArrayRef<float*> bounds) {
    c_ = c;
    std::vector<float> peak;
    if (!groups.empty() && k_ > kGemmBlockK) peak.resize(static_cast<size_t>(m_ * n_));
    auto load = [](const Side& side, const PanelRequest<double>& request) {
      load_panel(side, request, [&](int64_t index, int64_t stride, int64_t length, double* out) {
        read_reals(side.value, index, stride, length, out);
      });
    };
    run_gemm(Gemm<double>{m_, n_, k_, [&](const PanelRequest<double>& r) { load(a_, r); },
                          [&](const PanelRequest<double>& r) { load(b_, r); }, c,
                          peak.empty() ? nullptr : peak.data()},
             site_.workers);
    if (groups.empty()) return;
    std::vector<float> magnitude = product({}, {});
    std::vector<float> squares;
    for (size_t g = 0; g < groups.size(); ++g) {
      std::vector<float> inherited = propagate(groups[g]);
      for (size_t member : groups[g].members) {
        PrecisionCost cost = cost_of(a_.value.dtype, site_.precisions[member]);
        std::vector<float> rounded;
        if (cost.operands > 0) {
          Factor factor{cost.rounding, nullptr, false};
          rounded = product(factor, factor);
          Factor square{Factor::Kind::square, nullptr, false};
          if (squares.empty()) squares = product(square, square);
        }
        fill_bounds(groups[g], cost, {magnitude, peak, inherited, rounded, squares},
                    bounds[member]);
      }
    }
  }

private:
  struct Sums {
    llvm::ArrayRef<float> magnitude; ///< |A||B| of the finite elements
    llvm::ArrayRef<float> peak;      ///< greatest partial sum; empty for K of one block
    llvm::ArrayRef<float> inherited; ///< from the operands' bounds; empty when exact
    llvm::ArrayRef<float> rounded;   ///< product of the rounded operands; empty if not rounded
    llvm::ArrayRef<float> squares;   ///< sum over k of (a b)^2; with `rounded`
  };

  std::vector<float> product(const Factor& a, const Factor& b) {
    std::vector<float> result(static_cast<size_t>(m_ * n_));
    run_gemm(Gemm<float>{m_, n_, k_, [&](const PanelRequest<float>& r) { load_factor(a_, r, a); },
                         [&](const PanelRequest<float>& r) { load_factor(b_, r, b); },
                         result.data()},
             site_.workers);
    return result;
  }

  /// Ea (|B| + Eb) + |A| Eb.
  std::vector<float> propagate(const BoundGroup& group) {
    const float* ea = group.arrays[0];
    const float* eb = group.arrays[1];
    auto factor = [](const float* errors, bool error_only) {
      return Factor{Factor::Kind::magnitude, errors, error_only};
    };
    std::vector<float> result;
    if (ea) result = product(factor(ea, true), factor(eb, false));
    if (!eb) return result;
    std::vector<float> rest = product({}, factor(eb, true));
    if (result.empty()) return rest;
    for (size_t i = 0; i < result.size(); ++i) result[i] += rest[i];
    return result;
  }

  /// Error of the operands' roundings in element i. Never more than cost.operands of |A||B|, but
  /// roundings hardly ever conspire so: the reference knows what rounding to nearest does to these
  /// operands, and what a kernel does otherwise (ties, scaled formats, operands that are themselves
  /// inexact) are K errors of mean zero, each at most cost.operands * |a b|. By Hoeffding's
  /// inequality their sum passes 8 times the root of the sum of squares once in 4e13 elements.
  double operand_error(const Sums& sums, const PrecisionCost& cost, size_t i, double size) const {
    double worst = cost.operands * size;
    // Below this the squares underflow f32.
    if (sums.rounded.empty() || !(sums.magnitude[i] > 0x1p-30)) return worst;
    double inherited = size - sums.magnitude[i];
    double actual = std::fabs(sums.rounded[i] - c_[i]);
    double random = 8 * cost.operands * std::sqrt(sums.squares[i]);
    double likely = actual + random + cost.operands * inherited;
    return likely < worst ? likely : worst;
  }

  void fill_bounds(const BoundGroup& group, const PrecisionCost& cost, const Sums& sums,
                   float* out) {
    auto steps = static_cast<double>(k_);
    auto block = static_cast<double>(std::min(k_, kGemmBlockK));
    site_.workers.run(m_, [&](int64_t row) {
      for (int64_t i = row * n_; i < (row + 1) * n_; ++i) {
        // The f32 products themselves round: 2^-10 covers chains of 256 and K/256 block sums.
        double inherited = sums.inherited.empty() ? 0 : sums.inherited[i] * (1 + 0x1p-10);
        double size = sums.magnitude[i] * (1 + 0x1p-10) + inherited;
        // An accumulator never holds more than two partial sums (two, for a range of K that starts
        // inside) plus the products of one block.
        double held = steps * size;
        if (!sums.peak.empty())
          held = std::min(held, block * size + 2 * steps * (sums.peak[i] + inherited));
        double own = cost.promise > 0 ? cost.promise * size
                                      : operand_error(sums, cost, static_cast<size_t>(i), size) +
                                            cost.accumulation * held;
        double error = inherited + own + steps * kTiny;
        if (!(size <= FLT_MAX))
          out[i] = kAnything;
        else if (std::isfinite(c_[i]))
          out[i] = encode_error(c_[i], error);
        else
          out[i] = is_settled(group, row, i - row * n_) ? 0 : kAnything;
      }
    });
  }

  /// Whether an infinite or NaN element comes out the same for all admitted operands: each factor
  /// of an infinity keeps its sign.
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
  double* c_ = nullptr;
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

  NewValue result(site.result_dtype(), extents);
  size_t precisions = site.precisions.size();
  llvm::SmallVector<BoundGroup, 4> groups = group_bounds(site.operands, precisions);
  // Precisions that cost the same share an array.
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
                    {b, b_base, b.strides[b_column], b.strides[b_k]}, {m, n, k});
    task.run(result.reals + batch * m * n, groups, bounds);
  }
  for (auto& array : arrays) result.value.bounds.push_back(array);
  return std::move(result.value);
}

} // namespace ingot
