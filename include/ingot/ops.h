// SPDX-License-Identifier: Apache-2.0
// Operators on values of a graph under construction. ingot/ingot.h includes this header, movement.h
// and losses.h. Each operator appends to the graph of its first operand. Semantics are PyTorch's;
// docs/functions.md lists all functions.
//
// Operands broadcast as in NumPy. An `Arg` operand is a value or a number; a number takes the
// element type of the other operand. Negative axes count from the end.
#pragma once

#include "ingot/ingot.h"

#pragma GCC visibility push(default)
namespace ingot {

namespace detail {
inline Var apply(const Var& x, const char* name, const std::vector<Arg>& arguments,
                 const std::vector<NamedArg>& named = {}) {
  return x.builder() ? x.builder()->call(name, arguments, named) : Var::of_no_graph(x, name);
}
/// Returns `count` values also after an error.
inline std::vector<Var> apply_all(const Var& x, const char* name, size_t count,
                                  const std::vector<Arg>& arguments,
                                  const std::vector<NamedArg>& named = {}) {
  if (!x.builder()) return std::vector<Var>(count, Var::of_no_graph(x, name));
  std::vector<Var> results = x.builder()->call_all(name, arguments, named);
  return results.empty() ? std::vector<Var>(count) : results;
}
inline Arg list(const std::vector<int64_t>& values) { return values; }
/// Returns as many values as the operator has results, and none after an error.
inline std::vector<Var> apply_any(const Var& x, const char* name,
                                  const std::vector<Arg>& arguments) {
  return x.builder() ? x.builder()->call_all(name, arguments)
                     : std::vector<Var>(1, Var::of_no_graph(x, name));
}
} // namespace detail

// ---- Arithmetic ---------------------------------------------------------------------------------

inline Var operator+(const Var& a, const Var& b) { return detail::apply(a, "add", {a, b}); }
inline Var operator-(const Var& a, const Var& b) { return detail::apply(a, "sub", {a, b}); }
inline Var operator*(const Var& a, const Var& b) { return detail::apply(a, "mul", {a, b}); }
inline Var operator/(const Var& a, const Var& b) { return detail::apply(a, "div", {a, b}); }
inline Var operator+(const Var& a, double b) { return detail::apply(a, "add", {a, b}); }
inline Var operator-(const Var& a, double b) { return detail::apply(a, "sub", {a, b}); }
inline Var operator*(const Var& a, double b) { return detail::apply(a, "mul", {a, b}); }
inline Var operator/(const Var& a, double b) { return detail::apply(a, "div", {a, b}); }
inline Var operator+(double a, const Var& b) { return detail::apply(b, "add", {a, b}); }
inline Var operator-(double a, const Var& b) { return detail::apply(b, "sub", {a, b}); }
inline Var operator*(double a, const Var& b) { return detail::apply(b, "mul", {a, b}); }
inline Var operator/(double a, const Var& b) { return detail::apply(b, "div", {a, b}); }
inline Var operator-(const Var& x) { return detail::apply(x, "neg", {x}); }

/// a + b, a - b, a * b, a / b. A quotient of integers is f32.
inline Var add(const Var& a, const Arg& b) { return detail::apply(a, "add", {a, b}); }
inline Var sub(const Var& a, const Arg& b) { return detail::apply(a, "sub", {a, b}); }
inline Var mul(const Var& a, const Arg& b) { return detail::apply(a, "mul", {a, b}); }
inline Var div(const Var& a, const Arg& b) { return detail::apply(a, "div", {a, b}); }
/// The quotient rounded to an integer: "trunc" or "floor".
inline Var div(const Var& a, const Arg& b, const std::string& rounding_mode) {
  return detail::apply(a, "div", {a, b, rounding_mode});
}
/// -x.
inline Var neg(const Var& x) { return detail::apply(x, "neg", {x}); }
/// |x|.
inline Var abs(const Var& x) { return detail::apply(x, "abs", {x}); }
/// -1, 0 or 1.
inline Var sign(const Var& x) { return detail::apply(x, "sign", {x}); }
/// 1 / x.
inline Var reciprocal(const Var& x) { return detail::apply(x, "reciprocal", {x}); }
/// e^x.
inline Var exp(const Var& x) { return detail::apply(x, "exp", {x}); }
/// 2^x, exact at integers.
inline Var exp2(const Var& x) { return detail::apply(x, "exp2", {x}); }
/// e^x - 1, exact near 0.
inline Var expm1(const Var& x) { return detail::apply(x, "expm1", {x}); }
/// Natural logarithm.
inline Var log(const Var& x) { return detail::apply(x, "log", {x}); }
/// Logarithm to the base 2, exact at powers of two.
inline Var log2(const Var& x) { return detail::apply(x, "log2", {x}); }
/// Logarithm to the base 10, exact at powers of ten.
inline Var log10(const Var& x) { return detail::apply(x, "log10", {x}); }
/// log(1 + x), exact near 0.
inline Var log1p(const Var& x) { return detail::apply(x, "log1p", {x}); }
/// Square root.
inline Var sqrt(const Var& x) { return detail::apply(x, "sqrt", {x}); }
/// 1 / sqrt(x).
inline Var rsqrt(const Var& x) { return detail::apply(x, "rsqrt", {x}); }
/// Hyperbolic tangent.
inline Var tanh(const Var& x) { return detail::apply(x, "tanh", {x}); }
/// Error function.
inline Var erf(const Var& x) { return detail::apply(x, "erf", {x}); }
/// Sine and cosine of radians.
inline Var sin(const Var& x) { return detail::apply(x, "sin", {x}); }
inline Var cos(const Var& x) { return detail::apply(x, "cos", {x}); }
/// Inverse tangent, in radians.
inline Var atan(const Var& x) { return detail::apply(x, "atan", {x}); }
/// Remainders of x / other: fmod rounds the quotient towards zero, remainder rounds it down.
inline Var fmod(const Var& x, const Arg& other) { return detail::apply(x, "fmod", {x, other}); }
inline Var remainder(const Var& x, const Arg& other) {
  return detail::apply(x, "remainder", {x, other});
}
/// Tangent of radians.
inline Var tan(const Var& x) { return detail::apply(x, "tan", {x}); }
/// Hyperbolic sine and cosine.
inline Var sinh(const Var& x) { return detail::apply(x, "sinh", {x}); }
inline Var cosh(const Var& x) { return detail::apply(x, "cosh", {x}); }
/// Round to an integer: down, up, to the nearest with ties to even.
inline Var floor(const Var& x) { return detail::apply(x, "floor", {x}); }
inline Var ceil(const Var& x) { return detail::apply(x, "ceil", {x}); }
inline Var round(const Var& x) { return detail::apply(x, "round", {x}); }
/// x^exponent by the power function.
inline Var pow(const Var& x, const Arg& exponent) { return detail::apply(x, "pow", {x, exponent}); }
/// x^exponent; exponents 2 and 3 become products.
inline Var power(const Var& x, const Arg& exponent) {
  return detail::apply(x, "power", {x, exponent});
}
/// x x.
inline Var square(const Var& x) { return detail::apply(x, "square", {x}); }
/// The smaller and the greater of two values; NaN if either is NaN.
inline Var minimum(const Var& a, const Arg& b) { return detail::apply(a, "minimum", {a, b}); }
inline Var maximum(const Var& a, const Arg& b) { return detail::apply(a, "maximum", {a, b}); }

// ---- Comparison and selection -------------------------------------------------------------------

/// Comparisons give bool.
inline Var equal(const Var& a, const Arg& b) { return detail::apply(a, "equal", {a, b}); }
inline Var not_equal(const Var& a, const Arg& b) { return detail::apply(a, "not_equal", {a, b}); }
inline Var less(const Var& a, const Arg& b) { return detail::apply(a, "less", {a, b}); }
inline Var less_equal(const Var& a, const Arg& b) { return detail::apply(a, "less_equal", {a, b}); }
inline Var greater(const Var& a, const Arg& b) { return detail::apply(a, "greater", {a, b}); }
inline Var greater_equal(const Var& a, const Arg& b) {
  return detail::apply(a, "greater_equal", {a, b});
}
/// Test each element for NaN, or for infinity.
inline Var is_nan(const Var& x) { return detail::apply(x, "is_nan", {x}); }
inline Var is_inf(const Var& x) { return detail::apply(x, "is_inf", {x}); }
/// Logic on bool.
inline Var logical_not(const Var& x) { return detail::apply(x, "not", {x}); }
inline Var logical_and(const Var& a, const Var& b) { return detail::apply(a, "and", {a, b}); }
inline Var logical_or(const Var& a, const Var& b) { return detail::apply(a, "or", {a, b}); }
/// a where the condition holds, else b.
inline Var select(const Var& condition, const Arg& a, const Arg& b) {
  return detail::apply(condition, "select", {condition, a, b});
}
/// value where the mask holds, else x.
inline Var masked_fill(const Var& x, const Var& mask, const Arg& value) {
  return detail::apply(x, "masked_fill", {x, mask, value});
}
/// x converted to another element type.
inline Var cast(const Var& x, ElementType type) { return detail::apply(x, "cast", {x, type}); }

// ---- Activations --------------------------------------------------------------------------------

/// max(x, 0).
inline Var relu(const Var& x) { return detail::apply(x, "relu", {x}); }
/// x clamped to 0..6.
inline Var relu6(const Var& x) { return detail::apply(x, "relu6", {x}); }
/// x clamped to min..max.
inline Var hardtanh(const Var& x, double min = -1, double max = 1) {
  return detail::apply(x, "hardtanh", {x, min, max});
}
/// x clamped to min..max. Either bound may be left out.
inline Var clamp(const Var& x, std::optional<double> min, std::optional<double> max) {
  return detail::apply(x, "clamp", {x, min, max});
}
/// 1 / (1 + exp(-x)).
inline Var sigmoid(const Var& x) { return detail::apply(x, "sigmoid", {x}); }
/// log(sigmoid(x)).
inline Var log_sigmoid(const Var& x) { return detail::apply(x, "log_sigmoid", {x}); }
/// x sigmoid(x), also called swish.
inline Var silu(const Var& x) { return detail::apply(x, "silu", {x}); }
/// x Phi(x) by erf.
inline Var gelu(const Var& x) { return detail::apply(x, "gelu", {x}); }
/// The tanh form of gelu.
inline Var gelu_tanh(const Var& x) {
  return detail::apply(x, "gelu", {x}, {{"approximate", "tanh"}});
}
/// x tanh(log1p(exp(x))).
inline Var mish(const Var& x) { return detail::apply(x, "mish", {x}); }
/// log1p(exp(beta x)) / beta; x where beta x > threshold.
inline Var softplus(const Var& x, double beta = 1, double threshold = 20) {
  return detail::apply(x, "softplus", {x, beta, threshold});
}
/// x / (1 + |x|).
inline Var softsign(const Var& x) { return detail::apply(x, "softsign", {x}); }
/// clamp(x + 3, 0, 6) / 6, and x times it.
inline Var hardsigmoid(const Var& x) { return detail::apply(x, "hardsigmoid", {x}); }
inline Var hardswish(const Var& x) { return detail::apply(x, "hardswish", {x}); }
/// x where x > 0, else slope x.
inline Var leaky_relu(const Var& x, double slope = 0.01) {
  return detail::apply(x, "leaky_relu", {x, slope});
}
/// x where x > 0, else alpha expm1(x).
inline Var elu(const Var& x, double alpha = 1) { return detail::apply(x, "elu", {x, alpha}); }
/// x where x > 0, else alpha expm1(x / alpha).
inline Var celu(const Var& x, double alpha = 1) { return detail::apply(x, "celu", {x, alpha}); }
/// x where x > 0, else weight x. `weight` holds one number, or one per channel (dim 1).
inline Var prelu(const Var& x, const Var& weight) { return detail::apply(x, "prelu", {x, weight}); }
/// a sigmoid(b), where a and b are the two halves of x along one axis.
inline Var glu(const Var& x, int64_t axis = -1) { return detail::apply(x, "glu", {x, axis}); }
/// Both are 0 where |x| <= lambd. Elsewhere hardshrink is x, and softshrink moves x towards 0 by
/// lambd.
inline Var hardshrink(const Var& x, double lambd = 0.5) {
  return detail::apply(x, "hardshrink", {x, lambd});
}
inline Var softshrink(const Var& x, double lambd = 0.5) {
  return detail::apply(x, "softshrink", {x, lambd});
}
/// value where x <= threshold, else x.
inline Var threshold(const Var& x, double threshold, double value) {
  return detail::apply(x, "threshold", {x, threshold, value});
}
/// x + weight (end - x).
inline Var lerp(const Var& x, const Var& end, const Arg& weight) {
  return detail::apply(x, "lerp", {x, end, weight});
}
/// x + value a b, and x + value a / b.
inline Var addcmul(const Var& x, const Var& a, const Var& b, double value = 1) {
  return detail::apply(x, "addcmul", {x, a, b, value});
}
inline Var addcdiv(const Var& x, const Var& a, const Var& b, double value = 1) {
  return detail::apply(x, "addcdiv", {x, a, b, value});
}
/// elu with a scale and the constants of self-normalising networks.
inline Var selu(const Var& x) { return detail::apply(x, "selu", {x}); }
/// x log(y); 0 where x is 0 and y is not NaN.
inline Var xlogy(const Var& x, const Arg& y) { return detail::apply(x, "xlogy", {x, y}); }
/// log(e^a + e^b).
inline Var logaddexp(const Var& a, const Arg& b) { return detail::apply(a, "logaddexp", {a, b}); }
/// sqrt(a^2 + b^2). It overflows only if the result does.
inline Var hypot(const Var& a, const Arg& b) { return detail::apply(a, "hypot", {a, b}); }
/// 0 where x < 0 or NaN, 1 where x > 0, values where x is 0.
inline Var heaviside(const Var& x, const Arg& values) {
  return detail::apply(x, "heaviside", {x, values});
}
/// Replaces NaN and infinities by numbers. Without `posinf` or `neginf` it uses the greatest or
/// least number of the type.
inline Var nan_to_num(const Var& x, double nan = 0, std::optional<double> posinf = {},
                      std::optional<double> neginf = {}) {
  return detail::apply(x, "nan_to_num", {x, nan, posinf, neginf});
}
/// Dropout at inference: x unchanged.
inline Var dropout(const Var& x, double p = 0.5) { return detail::apply(x, "dropout", {x, p}); }

// ---- Matrix products ----------------------------------------------------------------------------

/// Which operands of a matmul are transposed.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
/// a b over the last two dims. Batch dims broadcast.
inline Var matmul(const Var& a, const Var& b, MatmulOptions options = {}) {
  return detail::apply(
      a, "matmul", {a, b},
      {{"transpose_a", options.transpose_a}, {"transpose_b", options.transpose_b}});
}
/// x weight^T + bias. `weight` is [out, in], `bias` is [out].
inline Var linear(const Var& x, const Var& weight, std::optional<Var> bias = {}) {
  return detail::apply(x, "linear", {x, weight, bias});
}
/// mm multiplies two matrices, bmm two batches of them: [b, m, k] and [b, k, n].
inline Var mm(const Var& a, const Var& b) { return detail::apply(a, "mm", {a, b}); }
inline Var bmm(const Var& a, const Var& b) { return detail::apply(a, "bmm", {a, b}); }
/// beta x + alpha mat1 mat2.
inline Var addmm(const Var& x, const Var& mat1, const Var& mat2, double beta = 1,
                 double alpha = 1) {
  return detail::apply(x, "addmm", {x, mat1, mat2, beta, alpha});
}
/// Sums of products of one or two tensors, written with labels of dims such as "bij,bjk->bik".
inline Var einsum(const std::string& equation, const Var& a, std::optional<Var> b = {}) {
  return detail::apply(a, "einsum", {equation, a, b});
}
struct AttentionOptions {
  std::optional<Var> attn_mask = {}; ///< added to the scores; if bool, selects the scores to keep
  bool is_causal = false;            ///< row i sees columns 0 to i
  std::optional<double> scale = {};  ///< 1/sqrt(d) if left out
  bool enable_gqa = false;           ///< repeats the heads (dim -3) of k and v to the number of q
};
/// softmax(q k^T scale) v. d is the last extent of q.
inline Var scaled_dot_product_attention(const Var& q, const Var& k, const Var& v,
                                        const AttentionOptions& options = {}) {
  return detail::apply(q, "scaled_dot_product_attention", {q, k, v},
                       {{"attn_mask", options.attn_mask},
                        {"is_causal", options.is_causal},
                        {"scale", options.scale},
                        {"enable_gqa", options.enable_gqa}});
}

// ---- Reductions ---------------------------------------------------------------------------------

/// The axes to reduce; without any, all of them. `keepdim` keeps them with extent 1.
struct ReduceOptions {
  std::optional<std::vector<int64_t>> axes = {};
  bool keepdim = false;
};

namespace detail {
inline std::vector<NamedArg> named(const ReduceOptions& options) {
  return {{"axis", Arg(options.axes)}, {"keepdim", options.keepdim}};
}
} // namespace detail

inline Var sum(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "sum", {x}, detail::named(options));
}
inline Var mean(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "mean", {x}, detail::named(options));
}
/// Product of the elements.
inline Var prod(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "prod", {x}, detail::named(options));
}
/// Maximum and minimum; NaN if any element is NaN.
inline Var reduce_max(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "reduce_max", {x}, detail::named(options));
}
inline Var reduce_min(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "reduce_min", {x}, detail::named(options));
}
/// (m, s): the maximum m, and the sum of exp(x - m).
inline std::vector<Var> max_sumexp(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply_all(x, "max_sumexp", 2, {x}, detail::named(options));
}
/// (mean, biased variance).
inline std::vector<Var> moments(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply_all(x, "moments", 2, {x}, detail::named(options));
}
/// max + log(sum(exp(x - max))).
inline Var logsumexp(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "logsumexp", {x}, detail::named(options));
}
/// Variance with divisor n - correction, and its square root.
inline Var variance(const Var& x, double correction = 1, const ReduceOptions& options = {}) {
  std::vector<NamedArg> named = detail::named(options);
  named.push_back({"correction", correction});
  return detail::apply(x, "var", {x}, named);
}
inline Var stddev(const Var& x, double correction = 1, const ReduceOptions& options = {}) {
  std::vector<NamedArg> named = detail::named(options);
  named.push_back({"correction", correction});
  return detail::apply(x, "std", {x}, named);
}
/// Vector norm. p is 1, 2, infinity or any positive number.
inline Var norm(const Var& x, double p = 2, const ReduceOptions& options = {}) {
  std::vector<NamedArg> named = detail::named(options);
  named.push_back({"p", p});
  return detail::apply(x, "norm", {x}, named);
}
/// any: some element is not 0; false for no elements. all: no element is 0; true for no elements.
inline Var any(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "any", {x}, detail::named(options));
}
inline Var all(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "all", {x}, detail::named(options));
}
/// The number of elements that are not 0, as i64.
inline Var count_nonzero(const Var& x, const ReduceOptions& options = {}) {
  return detail::apply(x, "count_nonzero", {x}, detail::named(options));
}
/// (values, i64 indices) of the maxima or minima along one axis.
inline std::vector<Var> max(const Var& x, int64_t axis, bool keepdim = false) {
  return detail::apply_all(x, "max", 2, {x}, {{"axis", axis}, {"keepdim", keepdim}});
}
inline std::vector<Var> min(const Var& x, int64_t axis, bool keepdim = false) {
  return detail::apply_all(x, "min", 2, {x}, {{"axis", axis}, {"keepdim", keepdim}});
}
/// i64 index of the first maximum or minimum along one axis. Without an axis: of all elements in
/// row-major order.
inline Var argmax(const Var& x, std::optional<int64_t> axis = {}) {
  return detail::apply(x, "argmax", {x, axis});
}
inline Var argmin(const Var& x, std::optional<int64_t> axis = {}) {
  return detail::apply(x, "argmin", {x, axis});
}

// ---- Softmax and normalisation ------------------------------------------------------------------

/// softmax is exp(x - max) / sum(exp(x - max)); log_softmax is its logarithm.
inline Var softmax(const Var& x, int64_t axis = -1) {
  return detail::apply(x, "softmax", {x, axis});
}
inline Var log_softmax(const Var& x, int64_t axis = -1) {
  return detail::apply(x, "log_softmax", {x, axis});
}
/// x / max(norm(x), eps).
inline Var normalize(const Var& x, double p = 2, int64_t axis = 1, double eps = 1e-12) {
  return detail::apply(x, "normalize", {x, p, axis, eps});
}

/// Factor and summand after a normalisation. Either may be left out.
struct Affine {
  std::optional<Var> gamma = {};
  std::optional<Var> beta = {};
};
/// Normalises over the last `dims` dims.
inline Var layer_norm(const Var& x, const Affine& affine = {}, int64_t dims = 1,
                      double eps = 1e-5) {
  return detail::apply(x, "layer_norm", {x, affine.gamma, affine.beta, dims, eps});
}
/// Normalises per sample and group of adjacent channels (dim 1). `groups` divides the number of
/// channels.
inline Var group_norm(const Var& x, int64_t groups, const Affine& affine = {}, double eps = 1e-5) {
  return detail::apply(x, "group_norm", {x, affine.gamma, affine.beta, groups, eps});
}
/// Normalises per sample and channel, over the dims after dim 1.
inline Var instance_norm(const Var& x, const Affine& affine = {}, double eps = 1e-5) {
  return detail::apply(x, "instance_norm", {x, affine.gamma, affine.beta, eps});
}
/// x / sqrt(mean(x^2) + eps) over one axis, times gamma.
inline Var rms_norm(const Var& x, std::optional<Var> gamma = {}, int64_t axis = -1,
                    double eps = 0x1p-23) {
  return detail::apply(x, "rms_norm", {x, gamma, axis, eps});
}

struct BatchNormOptions {
  Affine affine = {};
  std::optional<Var> running_mean = {};
  std::optional<Var> running_var = {};
  bool training = false;
  double momentum = 0.1;
  double eps = 1e-5;
};
/// Normalises per channel (dim 1). Gives one result. With training and running statistics it gives
/// (y, new_mean, new_var).
inline std::vector<Var> batch_norm(const Var& x, const BatchNormOptions& options = {}) {
  return detail::apply_all(x, "batch_norm", 3,
                           {x, options.running_mean, options.running_var, options.affine.gamma,
                            options.affine.beta, options.training, options.momentum, options.eps});
}

/// Maxima and means over runs of `kernel` elements of the last dim.
inline Var max_pool1d(const Var& x, int64_t kernel) {
  return detail::apply(x, "max_pool1d", {x, kernel});
}
inline Var avg_pool1d(const Var& x, int64_t kernel) {
  return detail::apply(x, "avg_pool1d", {x, kernel});
}

} // namespace ingot
#pragma GCC visibility pop
