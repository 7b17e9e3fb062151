# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py.
from collections.abc import Sequence
from typing import Any

from ingot.specs import Extent
from ingot.value import Operand, Value

class BuilderMethods:
    def abs(self, x: Operand) -> Any:
        """elementwise."""

    def add(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def addcdiv(self, x: Operand, tensor1: Operand, tensor2: Operand, value: float = 1) -> Any:
        """x + value tensor1 / tensor2."""

    def addcmul(self, x: Operand, tensor1: Operand, tensor2: Operand, value: float = 1) -> Any:
        """x + value tensor1 tensor2."""

    def addmm(self, x: Operand, mat1: Operand, mat2: Operand, beta: float = 1,
              alpha: float = 1) -> Any:
        """beta x + alpha mat1 mat2; with beta 0, x does not count."""

    def all(self, x: Operand, axis: int | Sequence[int] | None = None,
            keepdim: bool = False) -> Any:
        """whether no element over axes is 0; true for none."""

    def amax(self, x: Operand, axis: int | Sequence[int] | None = None,
             keepdim: bool = False) -> Any:
        """maximum over axes; NaN if any is NaN."""

    def amin(self, x: Operand, axis: int | Sequence[int] | None = None,
             keepdim: bool = False) -> Any:
        """minimum over axes; NaN if any is NaN."""

    def and_(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def any(self, x: Operand, axis: int | Sequence[int] | None = None,
            keepdim: bool = False) -> Any:
        """whether any element over axes is not 0; false for none."""

    def arange(self, start: float | None = None, stop: float | None = None,
               step: float | None = None, dtype: Any | None = None) -> Any:
        """start, start + step, ... below stop; arange(n) is 0 to n - 1. i64 of integers, else f32,
        where no type is given. Of a named extent from 0 by 1 alone."""

    def argmax(self, x: Operand, axis: int | None = None, keepdim: bool = False) -> Any:
        """index of the first maximum; of all elements in order when no axis is given."""

    def argmin(self, x: Operand, axis: int | None = None, keepdim: bool = False) -> Any:
        """index of the first minimum."""

    def atan(self, x: Operand) -> Any:
        """elementwise."""

    def avg_pool1d(self, x: Operand, kernel: int) -> Any:
        """means of runs of kernel elements of the last dim."""

    def batch_norm(self, x: Operand, running_mean: Operand | None = None,
                   running_var: Operand | None = None, gamma: Operand | None = None,
                   beta: Operand | None = None, training: bool = False, momentum: float = 0.1,
                   eps: float = 1e-05) -> Any:
        """per channel (dim 1); training with running statistics gives (y, new_mean, new_var)."""

    def binary_cross_entropy(self, x: Operand, target: Operand, weight: Operand | None = None,
                             reduction: str = 'mean') -> Any:
        """-(target log(x) + (1 - target) log(1 - x)), logarithms at least -100."""

    def binary_cross_entropy_with_logits(self, x: Operand, target: Operand,
                                         weight: Operand | None = None, reduction: str = 'mean',
                                         pos_weight: Operand | None = None) -> Any:
        """the same of sigmoid(x); pos_weight multiplies the first term."""

    def bmm(self, x: Operand, mat2: Operand) -> Any:
        """matrix products of two batches, [b, m, k] and [b, k, n]."""

    def broadcast(self, x: Operand, shape: Sequence[Extent]) -> Any:
        """extents of 1 and missing leading dims repeated; -1 keeps the extent of x."""

    def broadcast_to(self, x: Operand, shape: Sequence[Extent]) -> Any:
        """extents of 1 and missing leading dims repeated; -1 keeps the extent of x."""

    def cast(self, x: Operand, dtype: Any) -> Any:
        """x rounded to that element type."""

    def cat(self, parts: Sequence[Value], axis: int = 0) -> Any:
        """joined along one axis."""

    def ceil(self, x: Operand) -> Any:
        """elementwise."""

    def celu(self, x: Operand, alpha: float = 1) -> Any:
        """x where x > 0, else alpha expm1(x / alpha)."""

    def chunk(self, x: Operand, chunks: int, axis: int = 0) -> Any:
        """at most that many parts along one axis, of one extent but for the last."""

    def clamp(self, x: Operand, min: float | None = None, max: float | None = None) -> Any:
        """clamped to min..max, numbers or tensors, either may be left out."""

    def clip(self, x: Operand, min: float | None = None, max: float | None = None) -> Any:
        """clamped to min..max, numbers or tensors, either may be left out."""

    def concat(self, parts: Sequence[Value], axis: int = 0) -> Any:
        """joined along one axis."""

    def cos(self, x: Operand) -> Any:
        """elementwise."""

    def cosh(self, x: Operand) -> Any:
        """(exp(x) + exp(-x)) / 2."""

    def cosine_embedding_loss(self, a: Operand, b: Operand, target: Operand, margin: float = 0,
                              reduction: str = 'mean') -> Any:
        """of each row 1 - cosine where the target is 1, max(cosine - margin, 0) where it is -1."""

    def cosine_similarity(self, a: Operand, b: Operand, axis: int = 1, eps: float = 1e-08) -> Any:
        """sum of a/max(|a|, eps) b/max(|b|, eps)."""

    def count_nonzero(self, x: Operand, axis: int | Sequence[int] | None = None,
                      keepdim: bool = False) -> Any:
        """how many elements are not 0, as i64."""

    def cross_entropy(self, logits: Operand, target: Operand, weight: Operand | None = None,
                      ignore_index: int = -100, reduction: str = 'mean',
                      label_smoothing: float = 0) -> Any:
        """-log_softmax(logits)[target], classes on dim 1; targets are integers, or probabilities
        of the shape of logits. Targets of ignore_index do not count; weight has a number a class,
        by which mean divides, too."""

    def cumprod(self, x: Operand, axis: int = -1, exclusive: bool = False,
                reverse: bool = False) -> Any:
        """running product."""

    def cumsum(self, x: Operand, axis: int = -1, exclusive: bool = False,
               reverse: bool = False) -> Any:
        """running sum."""

    def div(self, a: Operand, b: Operand, rounding_mode: str | None = None) -> Any:
        """a / b, of integers in f32 as PyTorch's. With rounding_mode "trunc" or "floor" to whole
        numbers, of integers in their type, 0 where the divisor is 0; floor of floats is exact, by
        fmod."""

    def dropout(self, x: Operand, p: float = 0.5, training: bool = False) -> Any:
        """x; training with p > 0 is refused."""

    def einsum(self, equation: str, a: Operand, b: Operand | None = None) -> Any:
        """sums of products of one or two tensors, "bij,bjk->bik"; no label twice in one tensor, no
        ellipsis."""

    def elu(self, x: Operand, alpha: float = 1) -> Any:
        """x where x > 0, else alpha expm1(x)."""

    def embedding(self, x: Operand, weight: Operand) -> Any:
        """rows of weight at the integers x, [.., d]; NaN for integers that are no row of
        weight."""

    def equal(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def erf(self, x: Operand) -> Any:
        """elementwise."""

    def exp(self, x: Operand) -> Any:
        """elementwise."""

    def exp2(self, x: Operand) -> Any:
        """elementwise."""

    def expand(self, x: Operand, shape: Sequence[Extent]) -> Any:
        """extents of 1 and missing leading dims repeated; -1 keeps the extent of x."""

    def expm1(self, x: Operand) -> Any:
        """elementwise."""

    def extent(self, dtype: Any, shape: Sequence[Extent]) -> Any:
        """the number of elements of a shape, as a scalar."""

    def flatten(self, x: Operand, start: int = 0, stop: int = -1) -> Any:
        """dims start to stop as one."""

    def flip(self, x: Operand, axis: int | Sequence[int]) -> Any:
        """reversed along axes."""

    def floor(self, x: Operand) -> Any:
        """elementwise."""

    def fmod(self, x: Operand, other: Operand) -> Any:
        """remainder of x / other rounded towards zero, with the sign of x; x where an integer
        divisor is 0."""

    def full(self, shape: Sequence[Extent], value: float, dtype: Any | None = None) -> Any:
        """one number throughout; f32, i64 or bool as the number is where no type is given."""

    def full_like(self, x: Operand, value: float, dtype: Any | None = None) -> Any:
        """one number throughout, of the shape of x and of its type where none is given."""

    def gather(self, x: Operand, index: Operand, axis: int = -1) -> Any:
        """x at index along one axis."""

    def gaussian_nll_loss(self, x: Operand, target: Operand, var: Operand, full: bool = False,
                          eps: float = 1e-06, reduction: str = 'mean') -> Any:
        """(log(v) + (x - target)^2 / v) / 2, v = max(var, eps); full adds log(2 pi) / 2."""

    def gelu(self, x: Operand, approximate: str = 'none') -> Any:
        """x Phi(x) by erf, or its tanh form with approximate="tanh"."""

    def glu(self, x: Operand, axis: int = -1) -> Any:
        """a sigmoid(b) of the halves a and b of one axis."""

    def greater(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def greater_equal(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def group_norm(self, x: Operand, gamma: Operand | None = None, beta: Operand | None = None, *,
                   groups: int, eps: float = 1e-05) -> Any:
        """per sample and group of adjacent channels (dim 1)."""

    def hardshrink(self, x: Operand, lambd: float = 0.5) -> Any:
        """0 where -lambd <= x <= lambd, else x."""

    def hardsigmoid(self, x: Operand) -> Any:
        """clamp(x + 3, 0, 6) / 6."""

    def hardswish(self, x: Operand) -> Any:
        """x clamp(x + 3, 0, 6) / 6."""

    def hardtanh(self, x: Operand, min: float = -1, max: float = 1) -> Any:
        """clamped to min..max."""

    def heaviside(self, x: Operand, values: Operand) -> Any:
        """0 where x < 0 or NaN, 1 where x > 0, values where x is 0."""

    def hinge_embedding_loss(self, x: Operand, target: Operand, margin: float = 1,
                             reduction: str = 'mean') -> Any:
        """x where the target is 1, max(margin - x, 0) where it is -1."""

    def hinge_loss(self, x: Operand, target: Operand) -> Any:
        """mean of max(1 - x target, 0)."""

    def huber(self, x: Operand, target: Operand, delta: float = 1, reduction: str = 'mean') -> Any:
        """d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2)."""

    def huber_loss(self, x: Operand, target: Operand, delta: float = 1,
                   reduction: str = 'mean') -> Any:
        """d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2)."""

    def hypot(self, a: Operand, b: Operand) -> Any:
        """sqrt(a^2 + b^2), which overflows only where the result does."""

    def index_select(self, x: Operand, axis: int, index: Operand) -> Any:
        """x at a vector of positions along one axis; NaN, 0 or false for positions outside of
        x."""

    def instance_norm(self, x: Operand, gamma: Operand | None = None, beta: Operand | None = None,
                      eps: float = 1e-05) -> Any:
        """per sample and channel, over the dims after dim 1."""

    def iota(self, dtype: Any, shape: Sequence[Extent], axis: int = 0) -> Any:
        """0, 1, 2, ... along an axis."""

    def is_inf(self, x: Operand) -> Any:
        """elementwise."""

    def is_nan(self, x: Operand) -> Any:
        """elementwise."""

    def kl_div(self, x: Operand, target: Operand, reduction: str = 'mean',
               log_target: bool = False) -> Any:
        """target (log target - x); x holds log-probabilities. batchmean divides by the first
        extent."""

    def l1_loss(self, x: Operand, target: Operand, reduction: str = 'mean') -> Any:
        """|x - target|."""

    def layer_norm(self, x: Operand, gamma: Operand | None = None, beta: Operand | None = None,
                   dims: int | Sequence[int] = 1, eps: float = 1e-05) -> Any:
        """over the last dims: a count, or the list of their extents."""

    def leaky_relu(self, x: Operand, slope: float = 0.01) -> Any:
        """x where x > 0, else slope x."""

    def lerp(self, x: Operand, end: Operand, weight: Operand) -> Any:
        """x + weight (end - x); from the end where |weight| >= 0.5."""

    def less(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def less_equal(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def linear(self, x: Operand, weight: Operand, bias: Operand | None = None) -> Any:
        """x weight^T + bias; weight is [out, in]."""

    def log(self, x: Operand) -> Any:
        """elementwise."""

    def log10(self, x: Operand) -> Any:
        """elementwise."""

    def log1p(self, x: Operand) -> Any:
        """elementwise."""

    def log2(self, x: Operand) -> Any:
        """elementwise."""

    def log_sigmoid(self, x: Operand) -> Any:
        """log(sigmoid(x))."""

    def log_softmax(self, x: Operand, axis: int = -1) -> Any:
        """(x - max) - log(sum(exp(x - max)))."""

    def logaddexp(self, a: Operand, b: Operand) -> Any:
        """log(exp(a) + exp(b))."""

    def logsumexp(self, x: Operand, axis: int | Sequence[int] | None = None,
                  keepdim: bool = False) -> Any:
        """max + log(sum(exp(x - max)))."""

    def margin_ranking_loss(self, a: Operand, b: Operand, target: Operand, margin: float = 0,
                            reduction: str = 'mean') -> Any:
        """max(margin - target (a - b), 0), targets 1 and -1."""

    def masked_fill(self, x: Operand, mask: Operand, value: Operand) -> Any:
        """value where mask holds, else x."""

    def matmul(self, a: Operand, b: Operand, transpose_a: bool = False,
               transpose_b: bool = False) -> Any:
        """matrix product over the last two dims, batch dims broadcast."""

    def max(self, x: Operand, other: Operand | None = None, axis: int | None = None,
            keepdim: bool = False) -> Any:
        """max(x): the greatest element; max(x, axis=1): (values, indices) along one axis; max(x,
        other): maximum(x, other)."""

    def max_pool1d(self, x: Operand, kernel: int) -> Any:
        """maxima of runs of kernel elements of the last dim."""

    def max_sumexp(self, x: Operand, axis: int | Sequence[int] | None = None,
                   keepdim: bool = False) -> Any:
        """(m, s): maximum, and sum of exp(x - m)."""

    def maximum(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def mean(self, x: Operand, axis: int | Sequence[int] | None = None,
             keepdim: bool = False) -> Any:
        """mean over axes."""

    def min(self, x: Operand, other: Operand | None = None, axis: int | None = None,
            keepdim: bool = False) -> Any:
        """the same of the least."""

    def minimum(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def mish(self, x: Operand) -> Any:
        """x tanh(log1p(exp(x)))."""

    def mm(self, x: Operand, mat2: Operand) -> Any:
        """matrix product of two matrices."""

    def moments(self, x: Operand, axis: int | Sequence[int] | None = None,
                keepdim: bool = False) -> Any:
        """(mean, biased variance) over axes."""

    def moveaxis(self, x: Operand, source: int | Sequence[int],
                 destination: int | Sequence[int]) -> Any:
        """dims moved to other places, the others in order."""

    def movedim(self, x: Operand, source: int | Sequence[int],
                destination: int | Sequence[int]) -> Any:
        """dims moved to other places, the others in order."""

    def mse_loss(self, x: Operand, target: Operand, reduction: str = 'mean') -> Any:
        """(x - target)^2."""

    def mul(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def nan_to_num(self, x: Operand, nan: float = 0, posinf: float | None = None,
                   neginf: float | None = None) -> Any:
        """numbers in place of NaN and infinities; the greatest and least of the type when none are
        given."""

    def narrow(self, x: Operand, axis: int, start: Extent, length: Extent) -> Any:
        """length elements from start along one axis."""

    def neg(self, x: Operand) -> Any:
        """elementwise."""

    def nll_loss(self, x: Operand, target: Operand, weight: Operand | None = None,
                 ignore_index: int = -100, reduction: str = 'mean') -> Any:
        """-x[target], classes on dim 1; the same of log-probabilities."""

    def norm(self, x: Operand, p: float = 2, axis: int | Sequence[int] | None = None,
             keepdim: bool = False) -> Any:
        """vector norm: p of 1, 2, inf or any positive number."""

    def normalize(self, x: Operand, p: float = 2, axis: int = 1, eps: float = 1e-12) -> Any:
        """x / max(norm(x), eps)."""

    def not_(self, x: Operand) -> Any:
        """elementwise."""

    def not_equal(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def one_hot(self, x: Operand, num_classes: int) -> Any:
        """i64 with a new last dim: 1 at the place that x says, else 0."""

    def ones(self, shape: Sequence[Extent], dtype: Any | None = None) -> Any:
        """1 throughout; f32 where no type is given."""

    def ones_like(self, x: Operand, dtype: Any | None = None) -> Any:
        """1 throughout, likewise."""

    def or_(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def pad(self, x: Operand, pad: int | Sequence[int], mode: str = 'constant',
            value: float = 0) -> Any:
        """value before and behind the elements: pad is [before, behind] of the last dim, then of
        the one before it, and so on; negative numbers cut. The mode is "constant"."""

    def permute(self, x: Operand, permutation: int | Sequence[int] | None = None) -> Any:
        """dims permuted; the last two swapped when no permutation is given."""

    def poisson_nll_loss(self, x: Operand, target: Operand, log_input: bool = True,
                         full: bool = False, eps: float = 1e-08, reduction: str = 'mean') -> Any:
        """exp(x) - target x; without log_input x - target log(x + eps); full adds Stirling's
        log(target!) where the target is above 1."""

    def pow(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def power(self, x: Operand, exponent: Operand) -> Any:
        """x^exponent, also written **; products for 2 and 3."""

    def prelu(self, x: Operand, weight: Operand) -> Any:
        """x where x > 0, else weight x; one weight, or one a channel (dim 1)."""

    def prod(self, x: Operand, axis: int | Sequence[int] | None = None,
             keepdim: bool = False) -> Any:
        """product over axes."""

    def reciprocal(self, x: Operand) -> Any:
        """elementwise."""

    def reduce_max(self, x: Operand, axis: int | Sequence[int] | None = None,
                   keepdim: bool = False) -> Any:
        """maximum over axes; NaN if any is NaN."""

    def reduce_min(self, x: Operand, axis: int | Sequence[int] | None = None,
                   keepdim: bool = False) -> Any:
        """minimum over axes; NaN if any is NaN."""

    def relu(self, x: Operand) -> Any:
        """max(x, 0)."""

    def relu6(self, x: Operand) -> Any:
        """clamped to 0..6."""

    def remainder(self, x: Operand, other: Operand) -> Any:
        """remainder of x / other rounded down, with the sign of other; x where an integer divisor
        is 0."""

    def repeat(self, x: Operand, repeats: Sequence[Extent]) -> Any:
        """copies behind each other, so many along each dim; more numbers than dims put dims in
        front."""

    def repeat_interleave(self, x: Operand, repeats: int, axis: int | None = None) -> Any:
        """each element that many times in a row along one axis; of all elements in order when no
        axis is given."""

    def reshape(self, x: Operand, shape: Sequence[Extent]) -> Any:
        """the same elements in order; one extent may be -1."""

    def rms_norm(self, x: Operand, gamma: Operand | None = None,
                 axis: int | Sequence[int] | None = None, eps: float = 1.1920928955078125e-07,
                 dims: int | Sequence[int] | None = None) -> Any:
        """x / sqrt(mean(x^2) + eps) gamma, over axes, or over the last dims as layer_norm; over
        the last one when none are given."""

    def roll(self, x: Operand, shifts: int | Sequence[int],
             axis: int | Sequence[int] | None = None) -> Any:
        """shifted towards the end along axes, and from the end to the start; of all elements in
        order when no axis is given."""

    def round(self, x: Operand) -> Any:
        """elementwise."""

    def rsqrt(self, x: Operand) -> Any:
        """elementwise."""

    def scaled_dot_product_attention(self, q: Operand, k: Operand, v: Operand,
                                     attn_mask: Operand | None = None, dropout_p: float = 0,
                                     is_causal: bool = False, scale: float | None = None,
                                     enable_gqa: bool = False) -> Any:
        """softmax(q k^T scale) v; scale is 1/sqrt(d) when none. attn_mask is added to the scores,
        or of bool says which count; a row where none does gives 0. is_causal: a row sees the
        columns up to its own number. enable_gqa: heads (dim -3) of k and v are repeated to those
        of q."""

    def select(self, condition: Operand, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def selu(self, x: Operand) -> Any:
        """scaled elu with the fixed constants of self-normalising networks."""

    def sigmoid(self, x: Operand) -> Any:
        """1 / (1 + exp(-x))."""

    def sign(self, x: Operand) -> Any:
        """elementwise."""

    def silu(self, x: Operand) -> Any:
        """x sigmoid(x)."""

    def sin(self, x: Operand) -> Any:
        """elementwise."""

    def sinh(self, x: Operand) -> Any:
        """(exp(x) - exp(-x)) / 2, exact near 0."""

    def slice(self, x: Operand, starts: int | Sequence[int], stops: int | Sequence[int],
              steps: int | Sequence[int] | None = None) -> Any:
        """start:stop:step of every dim."""

    def smooth_l1_loss(self, x: Operand, target: Operand, beta: float = 1,
                       reduction: str = 'mean') -> Any:
        """d^2 / (2 beta) where |d| < beta, else |d| - beta / 2."""

    def softmax(self, x: Operand, axis: int = -1) -> Any:
        """exp(x - max) / sum(exp(x - max))."""

    def softplus(self, x: Operand, beta: float = 1, threshold: float = 20) -> Any:
        """log1p(exp(beta x)) / beta, x where beta x > threshold."""

    def softshrink(self, x: Operand, lambd: float = 0.5) -> Any:
        """x - lambd where x > lambd, x + lambd where x < -lambd, else 0."""

    def softsign(self, x: Operand) -> Any:
        """x / (1 + |x|)."""

    def split(self, x: Operand, sizes: Sequence[Extent], axis: int = 0) -> Any:
        """parts along one axis, each of one extent, or of the listed ones; the last of one extent
        may be shorter."""

    def sqrt(self, x: Operand) -> Any:
        """elementwise."""

    def square(self, x: Operand) -> Any:
        """x x."""

    def squeeze(self, x: Operand, axis: int | Sequence[int] | None = None) -> Any:
        """without extents of 1, all of them or those of the axes."""

    def stack(self, parts: Sequence[Value], axis: int = 0) -> Any:
        """joined along a new axis."""

    def std(self, x: Operand, axis: int | Sequence[int] | None = None, correction: float = 1,
            keepdim: bool = False) -> Any:
        """square root of var."""

    def sub(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def sum(self, x: Operand, axis: int | Sequence[int] | None = None,
            keepdim: bool = False) -> Any:
        """sum over axes, all when none are given."""

    def swapaxes(self, x: Operand, permutation: int | Sequence[int] | None = None,
                 dim1: int | None = None, dim0: int | None = None) -> Any:
        """transpose(x, dim0, dim1): two dims swapped, the last two when none are given;
        transpose(x, [2, 0, 1]): dims permuted."""

    def swapdims(self, x: Operand, permutation: int | Sequence[int] | None = None,
                 dim1: int | None = None, dim0: int | None = None) -> Any:
        """transpose(x, dim0, dim1): two dims swapped, the last two when none are given;
        transpose(x, [2, 0, 1]): dims permuted."""

    def swish(self, x: Operand) -> Any:
        """x sigmoid(x)."""

    def tan(self, x: Operand) -> Any:
        """sin(x) / cos(x)."""

    def tanh(self, x: Operand) -> Any:
        """elementwise."""

    def threshold(self, x: Operand, threshold: float, value: float) -> Any:
        """value where x <= threshold, else x."""

    def tile(self, x: Operand, repeats: Sequence[Extent]) -> Any:
        """the same, where numbers of the first dims may be left out."""

    def transpose(self, x: Operand, permutation: int | Sequence[int] | None = None,
                  dim1: int | None = None, dim0: int | None = None) -> Any:
        """transpose(x, dim0, dim1): two dims swapped, the last two when none are given;
        transpose(x, [2, 0, 1]): dims permuted."""

    def tril(self, x: Operand, diagonal: int = 0) -> Any:
        """0 above a diagonal of the last two dims."""

    def triplet_margin_loss(self, anchor: Operand, positive: Operand, negative: Operand,
                            margin: float = 1, eps: float = 1e-06) -> Any:
        """mean of max(|a - p| - |a - n| + margin, 0), norms over the last dim."""

    def triu(self, x: Operand, diagonal: int = 0) -> Any:
        """0 below a diagonal of the last two dims; 1 is the one above the main one."""

    def type_as(self, x: Operand, other: Operand) -> Any:
        """x rounded to the element type of other."""

    def unflatten(self, x: Operand, axis: int, sizes: Sequence[Extent]) -> Any:
        """one dim as several; one extent may be -1."""

    def unsqueeze(self, x: Operand, axis: int) -> Any:
        """with an extent of 1 before an axis."""

    def var(self, x: Operand, axis: int | Sequence[int] | None = None, correction: float = 1,
            keepdim: bool = False) -> Any:
        """variance, divided by n - correction."""

    def view(self, x: Operand, shape: Sequence[Extent]) -> Any:
        """the same elements in order; one extent may be -1."""

    def where(self, condition: Operand, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def window(self, x: Operand, axis: int, start: Extent, extent: Extent,
               inside: bool = False) -> Any:
        """the elements at start to start + extent along one axis; at positions outside of x, any
        of its elements."""

    def xlogy(self, x: Operand, y: Operand) -> Any:
        """x log(y), 0 where x is 0 and y is no NaN."""

    def zeros(self, shape: Sequence[Extent], dtype: Any | None = None) -> Any:
        """0 throughout; f32 where no type is given."""

    def zeros_like(self, x: Operand, dtype: Any | None = None) -> Any:
        """0 throughout, likewise."""

class ValueMethods:
    def abs(self) -> Any:
        """elementwise."""

    def add(self, b: Operand) -> Any:
        """elementwise."""

    def addcdiv(self, tensor1: Operand, tensor2: Operand, value: float = 1) -> Any:
        """x + value tensor1 / tensor2."""

    def addcmul(self, tensor1: Operand, tensor2: Operand, value: float = 1) -> Any:
        """x + value tensor1 tensor2."""

    def addmm(self, mat1: Operand, mat2: Operand, beta: float = 1, alpha: float = 1) -> Any:
        """beta x + alpha mat1 mat2; with beta 0, x does not count."""

    def all(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """whether no element over axes is 0; true for none."""

    def amax(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """maximum over axes; NaN if any is NaN."""

    def amin(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """minimum over axes; NaN if any is NaN."""

    def and_(self, b: Operand) -> Any:
        """elementwise."""

    def any(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """whether any element over axes is not 0; false for none."""

    def argmax(self, axis: int | None = None, keepdim: bool = False) -> Any:
        """index of the first maximum; of all elements in order when no axis is given."""

    def argmin(self, axis: int | None = None, keepdim: bool = False) -> Any:
        """index of the first minimum."""

    def atan(self) -> Any:
        """elementwise."""

    def avg_pool1d(self, kernel: int) -> Any:
        """means of runs of kernel elements of the last dim."""

    def batch_norm(self, running_mean: Operand | None = None, running_var: Operand | None = None,
                   gamma: Operand | None = None, beta: Operand | None = None,
                   training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Any:
        """per channel (dim 1); training with running statistics gives (y, new_mean, new_var)."""

    def binary_cross_entropy(self, target: Operand, weight: Operand | None = None,
                             reduction: str = 'mean') -> Any:
        """-(target log(x) + (1 - target) log(1 - x)), logarithms at least -100."""

    def binary_cross_entropy_with_logits(self, target: Operand, weight: Operand | None = None,
                                         reduction: str = 'mean',
                                         pos_weight: Operand | None = None) -> Any:
        """the same of sigmoid(x); pos_weight multiplies the first term."""

    def bmm(self, mat2: Operand) -> Any:
        """matrix products of two batches, [b, m, k] and [b, k, n]."""

    def broadcast(self, shape: Sequence[Extent]) -> Any:
        """extents of 1 and missing leading dims repeated; -1 keeps the extent of x."""

    def broadcast_to(self, shape: Sequence[Extent]) -> Any:
        """extents of 1 and missing leading dims repeated; -1 keeps the extent of x."""

    def cast(self, dtype: Any) -> Any:
        """x rounded to that element type."""

    def ceil(self) -> Any:
        """elementwise."""

    def celu(self, alpha: float = 1) -> Any:
        """x where x > 0, else alpha expm1(x / alpha)."""

    def chunk(self, chunks: int, axis: int = 0) -> Any:
        """at most that many parts along one axis, of one extent but for the last."""

    def clamp(self, min: float | None = None, max: float | None = None) -> Any:
        """clamped to min..max, numbers or tensors, either may be left out."""

    def clip(self, min: float | None = None, max: float | None = None) -> Any:
        """clamped to min..max, numbers or tensors, either may be left out."""

    def cos(self) -> Any:
        """elementwise."""

    def cosh(self) -> Any:
        """(exp(x) + exp(-x)) / 2."""

    def cosine_embedding_loss(self, b: Operand, target: Operand, margin: float = 0,
                              reduction: str = 'mean') -> Any:
        """of each row 1 - cosine where the target is 1, max(cosine - margin, 0) where it is -1."""

    def cosine_similarity(self, b: Operand, axis: int = 1, eps: float = 1e-08) -> Any:
        """sum of a/max(|a|, eps) b/max(|b|, eps)."""

    def count_nonzero(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """how many elements are not 0, as i64."""

    def cross_entropy(self, target: Operand, weight: Operand | None = None,
                      ignore_index: int = -100, reduction: str = 'mean',
                      label_smoothing: float = 0) -> Any:
        """-log_softmax(logits)[target], classes on dim 1; targets are integers, or probabilities
        of the shape of logits. Targets of ignore_index do not count; weight has a number a class,
        by which mean divides, too."""

    def cumprod(self, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Any:
        """running product."""

    def cumsum(self, axis: int = -1, exclusive: bool = False, reverse: bool = False) -> Any:
        """running sum."""

    def div(self, b: Operand, rounding_mode: str | None = None) -> Any:
        """a / b, of integers in f32 as PyTorch's. With rounding_mode "trunc" or "floor" to whole
        numbers, of integers in their type, 0 where the divisor is 0; floor of floats is exact, by
        fmod."""

    def dropout(self, p: float = 0.5, training: bool = False) -> Any:
        """x; training with p > 0 is refused."""

    def elu(self, alpha: float = 1) -> Any:
        """x where x > 0, else alpha expm1(x)."""

    def embedding(self, weight: Operand) -> Any:
        """rows of weight at the integers x, [.., d]; NaN for integers that are no row of
        weight."""

    def equal(self, b: Operand) -> Any:
        """elementwise."""

    def erf(self) -> Any:
        """elementwise."""

    def exp(self) -> Any:
        """elementwise."""

    def exp2(self) -> Any:
        """elementwise."""

    def expand(self, shape: Sequence[Extent]) -> Any:
        """extents of 1 and missing leading dims repeated; -1 keeps the extent of x."""

    def expm1(self) -> Any:
        """elementwise."""

    def flatten(self, start: int = 0, stop: int = -1) -> Any:
        """dims start to stop as one."""

    def flip(self, axis: int | Sequence[int]) -> Any:
        """reversed along axes."""

    def floor(self) -> Any:
        """elementwise."""

    def fmod(self, other: Operand) -> Any:
        """remainder of x / other rounded towards zero, with the sign of x; x where an integer
        divisor is 0."""

    def full_like(self, value: float, dtype: Any | None = None) -> Any:
        """one number throughout, of the shape of x and of its type where none is given."""

    def gather(self, index: Operand, axis: int = -1) -> Any:
        """x at index along one axis."""

    def gaussian_nll_loss(self, target: Operand, var: Operand, full: bool = False,
                          eps: float = 1e-06, reduction: str = 'mean') -> Any:
        """(log(v) + (x - target)^2 / v) / 2, v = max(var, eps); full adds log(2 pi) / 2."""

    def gelu(self, approximate: str = 'none') -> Any:
        """x Phi(x) by erf, or its tanh form with approximate="tanh"."""

    def glu(self, axis: int = -1) -> Any:
        """a sigmoid(b) of the halves a and b of one axis."""

    def greater(self, b: Operand) -> Any:
        """elementwise."""

    def greater_equal(self, b: Operand) -> Any:
        """elementwise."""

    def group_norm(self, gamma: Operand | None = None, beta: Operand | None = None, *, groups: int,
                   eps: float = 1e-05) -> Any:
        """per sample and group of adjacent channels (dim 1)."""

    def hardshrink(self, lambd: float = 0.5) -> Any:
        """0 where -lambd <= x <= lambd, else x."""

    def hardsigmoid(self) -> Any:
        """clamp(x + 3, 0, 6) / 6."""

    def hardswish(self) -> Any:
        """x clamp(x + 3, 0, 6) / 6."""

    def hardtanh(self, min: float = -1, max: float = 1) -> Any:
        """clamped to min..max."""

    def heaviside(self, values: Operand) -> Any:
        """0 where x < 0 or NaN, 1 where x > 0, values where x is 0."""

    def hinge_embedding_loss(self, target: Operand, margin: float = 1,
                             reduction: str = 'mean') -> Any:
        """x where the target is 1, max(margin - x, 0) where it is -1."""

    def hinge_loss(self, target: Operand) -> Any:
        """mean of max(1 - x target, 0)."""

    def huber(self, target: Operand, delta: float = 1, reduction: str = 'mean') -> Any:
        """d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2)."""

    def huber_loss(self, target: Operand, delta: float = 1, reduction: str = 'mean') -> Any:
        """d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2)."""

    def hypot(self, b: Operand) -> Any:
        """sqrt(a^2 + b^2), which overflows only where the result does."""

    def index_select(self, axis: int, index: Operand) -> Any:
        """x at a vector of positions along one axis; NaN, 0 or false for positions outside of
        x."""

    def instance_norm(self, gamma: Operand | None = None, beta: Operand | None = None,
                      eps: float = 1e-05) -> Any:
        """per sample and channel, over the dims after dim 1."""

    def is_inf(self) -> Any:
        """elementwise."""

    def is_nan(self) -> Any:
        """elementwise."""

    def kl_div(self, target: Operand, reduction: str = 'mean', log_target: bool = False) -> Any:
        """target (log target - x); x holds log-probabilities. batchmean divides by the first
        extent."""

    def l1_loss(self, target: Operand, reduction: str = 'mean') -> Any:
        """|x - target|."""

    def layer_norm(self, gamma: Operand | None = None, beta: Operand | None = None,
                   dims: int | Sequence[int] = 1, eps: float = 1e-05) -> Any:
        """over the last dims: a count, or the list of their extents."""

    def leaky_relu(self, slope: float = 0.01) -> Any:
        """x where x > 0, else slope x."""

    def lerp(self, end: Operand, weight: Operand) -> Any:
        """x + weight (end - x); from the end where |weight| >= 0.5."""

    def less(self, b: Operand) -> Any:
        """elementwise."""

    def less_equal(self, b: Operand) -> Any:
        """elementwise."""

    def linear(self, weight: Operand, bias: Operand | None = None) -> Any:
        """x weight^T + bias; weight is [out, in]."""

    def log(self) -> Any:
        """elementwise."""

    def log10(self) -> Any:
        """elementwise."""

    def log1p(self) -> Any:
        """elementwise."""

    def log2(self) -> Any:
        """elementwise."""

    def log_sigmoid(self) -> Any:
        """log(sigmoid(x))."""

    def log_softmax(self, axis: int = -1) -> Any:
        """(x - max) - log(sum(exp(x - max)))."""

    def logaddexp(self, b: Operand) -> Any:
        """log(exp(a) + exp(b))."""

    def logsumexp(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """max + log(sum(exp(x - max)))."""

    def margin_ranking_loss(self, b: Operand, target: Operand, margin: float = 0,
                            reduction: str = 'mean') -> Any:
        """max(margin - target (a - b), 0), targets 1 and -1."""

    def masked_fill(self, mask: Operand, value: Operand) -> Any:
        """value where mask holds, else x."""

    def matmul(self, b: Operand, transpose_a: bool = False, transpose_b: bool = False) -> Any:
        """matrix product over the last two dims, batch dims broadcast."""

    def max(self, other: Operand | None = None, axis: int | None = None,
            keepdim: bool = False) -> Any:
        """max(x): the greatest element; max(x, axis=1): (values, indices) along one axis; max(x,
        other): maximum(x, other)."""

    def max_pool1d(self, kernel: int) -> Any:
        """maxima of runs of kernel elements of the last dim."""

    def max_sumexp(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """(m, s): maximum, and sum of exp(x - m)."""

    def maximum(self, b: Operand) -> Any:
        """elementwise."""

    def mean(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """mean over axes."""

    def min(self, other: Operand | None = None, axis: int | None = None,
            keepdim: bool = False) -> Any:
        """the same of the least."""

    def minimum(self, b: Operand) -> Any:
        """elementwise."""

    def mish(self) -> Any:
        """x tanh(log1p(exp(x)))."""

    def mm(self, mat2: Operand) -> Any:
        """matrix product of two matrices."""

    def moments(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """(mean, biased variance) over axes."""

    def moveaxis(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
        """dims moved to other places, the others in order."""

    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
        """dims moved to other places, the others in order."""

    def mse_loss(self, target: Operand, reduction: str = 'mean') -> Any:
        """(x - target)^2."""

    def mul(self, b: Operand) -> Any:
        """elementwise."""

    def nan_to_num(self, nan: float = 0, posinf: float | None = None,
                   neginf: float | None = None) -> Any:
        """numbers in place of NaN and infinities; the greatest and least of the type when none are
        given."""

    def narrow(self, axis: int, start: Extent, length: Extent) -> Any:
        """length elements from start along one axis."""

    def neg(self) -> Any:
        """elementwise."""

    def nll_loss(self, target: Operand, weight: Operand | None = None, ignore_index: int = -100,
                 reduction: str = 'mean') -> Any:
        """-x[target], classes on dim 1; the same of log-probabilities."""

    def norm(self, p: float = 2, axis: int | Sequence[int] | None = None,
             keepdim: bool = False) -> Any:
        """vector norm: p of 1, 2, inf or any positive number."""

    def normalize(self, p: float = 2, axis: int = 1, eps: float = 1e-12) -> Any:
        """x / max(norm(x), eps)."""

    def not_(self) -> Any:
        """elementwise."""

    def not_equal(self, b: Operand) -> Any:
        """elementwise."""

    def one_hot(self, num_classes: int) -> Any:
        """i64 with a new last dim: 1 at the place that x says, else 0."""

    def ones_like(self, dtype: Any | None = None) -> Any:
        """1 throughout, likewise."""

    def or_(self, b: Operand) -> Any:
        """elementwise."""

    def pad(self, pad: int | Sequence[int], mode: str = 'constant', value: float = 0) -> Any:
        """value before and behind the elements: pad is [before, behind] of the last dim, then of
        the one before it, and so on; negative numbers cut. The mode is "constant"."""

    def permute(self, permutation: int | Sequence[int] | None = None) -> Any:
        """dims permuted; the last two swapped when no permutation is given."""

    def poisson_nll_loss(self, target: Operand, log_input: bool = True, full: bool = False,
                         eps: float = 1e-08, reduction: str = 'mean') -> Any:
        """exp(x) - target x; without log_input x - target log(x + eps); full adds Stirling's
        log(target!) where the target is above 1."""

    def pow(self, b: Operand) -> Any:
        """elementwise."""

    def power(self, exponent: Operand) -> Any:
        """x^exponent, also written **; products for 2 and 3."""

    def prelu(self, weight: Operand) -> Any:
        """x where x > 0, else weight x; one weight, or one a channel (dim 1)."""

    def prod(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """product over axes."""

    def reciprocal(self) -> Any:
        """elementwise."""

    def reduce_max(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """maximum over axes; NaN if any is NaN."""

    def reduce_min(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """minimum over axes; NaN if any is NaN."""

    def relu(self) -> Any:
        """max(x, 0)."""

    def relu6(self) -> Any:
        """clamped to 0..6."""

    def remainder(self, other: Operand) -> Any:
        """remainder of x / other rounded down, with the sign of other; x where an integer divisor
        is 0."""

    def repeat(self, repeats: Sequence[Extent]) -> Any:
        """copies behind each other, so many along each dim; more numbers than dims put dims in
        front."""

    def repeat_interleave(self, repeats: int, axis: int | None = None) -> Any:
        """each element that many times in a row along one axis; of all elements in order when no
        axis is given."""

    def reshape(self, shape: Sequence[Extent]) -> Any:
        """the same elements in order; one extent may be -1."""

    def rms_norm(self, gamma: Operand | None = None, axis: int | Sequence[int] | None = None,
                 eps: float = 1.1920928955078125e-07,
                 dims: int | Sequence[int] | None = None) -> Any:
        """x / sqrt(mean(x^2) + eps) gamma, over axes, or over the last dims as layer_norm; over
        the last one when none are given."""

    def roll(self, shifts: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Any:
        """shifted towards the end along axes, and from the end to the start; of all elements in
        order when no axis is given."""

    def round(self) -> Any:
        """elementwise."""

    def rsqrt(self) -> Any:
        """elementwise."""

    def scaled_dot_product_attention(self, k: Operand, v: Operand, attn_mask: Operand | None = None,
                                     dropout_p: float = 0, is_causal: bool = False,
                                     scale: float | None = None, enable_gqa: bool = False) -> Any:
        """softmax(q k^T scale) v; scale is 1/sqrt(d) when none. attn_mask is added to the scores,
        or of bool says which count; a row where none does gives 0. is_causal: a row sees the
        columns up to its own number. enable_gqa: heads (dim -3) of k and v are repeated to those
        of q."""

    def select(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def selu(self) -> Any:
        """scaled elu with the fixed constants of self-normalising networks."""

    def sigmoid(self) -> Any:
        """1 / (1 + exp(-x))."""

    def sign(self) -> Any:
        """elementwise."""

    def silu(self) -> Any:
        """x sigmoid(x)."""

    def sin(self) -> Any:
        """elementwise."""

    def sinh(self) -> Any:
        """(exp(x) - exp(-x)) / 2, exact near 0."""

    def slice(self, starts: int | Sequence[int], stops: int | Sequence[int],
              steps: int | Sequence[int] | None = None) -> Any:
        """start:stop:step of every dim."""

    def smooth_l1_loss(self, target: Operand, beta: float = 1, reduction: str = 'mean') -> Any:
        """d^2 / (2 beta) where |d| < beta, else |d| - beta / 2."""

    def softmax(self, axis: int = -1) -> Any:
        """exp(x - max) / sum(exp(x - max))."""

    def softplus(self, beta: float = 1, threshold: float = 20) -> Any:
        """log1p(exp(beta x)) / beta, x where beta x > threshold."""

    def softshrink(self, lambd: float = 0.5) -> Any:
        """x - lambd where x > lambd, x + lambd where x < -lambd, else 0."""

    def softsign(self) -> Any:
        """x / (1 + |x|)."""

    def split(self, sizes: Sequence[Extent], axis: int = 0) -> Any:
        """parts along one axis, each of one extent, or of the listed ones; the last of one extent
        may be shorter."""

    def sqrt(self) -> Any:
        """elementwise."""

    def square(self) -> Any:
        """x x."""

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Any:
        """without extents of 1, all of them or those of the axes."""

    def std(self, axis: int | Sequence[int] | None = None, correction: float = 1,
            keepdim: bool = False) -> Any:
        """square root of var."""

    def sub(self, b: Operand) -> Any:
        """elementwise."""

    def sum(self, axis: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        """sum over axes, all when none are given."""

    def swapaxes(self, permutation: int | Sequence[int] | None = None, dim1: int | None = None,
                 dim0: int | None = None) -> Any:
        """transpose(x, dim0, dim1): two dims swapped, the last two when none are given;
        transpose(x, [2, 0, 1]): dims permuted."""

    def swapdims(self, permutation: int | Sequence[int] | None = None, dim1: int | None = None,
                 dim0: int | None = None) -> Any:
        """transpose(x, dim0, dim1): two dims swapped, the last two when none are given;
        transpose(x, [2, 0, 1]): dims permuted."""

    def swish(self) -> Any:
        """x sigmoid(x)."""

    def tan(self) -> Any:
        """sin(x) / cos(x)."""

    def tanh(self) -> Any:
        """elementwise."""

    def threshold(self, threshold: float, value: float) -> Any:
        """value where x <= threshold, else x."""

    def tile(self, repeats: Sequence[Extent]) -> Any:
        """the same, where numbers of the first dims may be left out."""

    def transpose(self, permutation: int | Sequence[int] | None = None, dim1: int | None = None,
                  dim0: int | None = None) -> Any:
        """transpose(x, dim0, dim1): two dims swapped, the last two when none are given;
        transpose(x, [2, 0, 1]): dims permuted."""

    def tril(self, diagonal: int = 0) -> Any:
        """0 above a diagonal of the last two dims."""

    def triplet_margin_loss(self, positive: Operand, negative: Operand, margin: float = 1,
                            eps: float = 1e-06) -> Any:
        """mean of max(|a - p| - |a - n| + margin, 0), norms over the last dim."""

    def triu(self, diagonal: int = 0) -> Any:
        """0 below a diagonal of the last two dims; 1 is the one above the main one."""

    def type_as(self, other: Operand) -> Any:
        """x rounded to the element type of other."""

    def unflatten(self, axis: int, sizes: Sequence[Extent]) -> Any:
        """one dim as several; one extent may be -1."""

    def unsqueeze(self, axis: int) -> Any:
        """with an extent of 1 before an axis."""

    def var(self, axis: int | Sequence[int] | None = None, correction: float = 1,
            keepdim: bool = False) -> Any:
        """variance, divided by n - correction."""

    def view(self, shape: Sequence[Extent]) -> Any:
        """the same elements in order; one extent may be -1."""

    def where(self, a: Operand, b: Operand) -> Any:
        """elementwise."""

    def window(self, axis: int, start: Extent, extent: Extent, inside: bool = False) -> Any:
        """the elements at start to start + extent along one axis; at positions outside of x, any
        of its elements."""

    def xlogy(self, y: Operand) -> Any:
        """x log(y), 0 where x is 0 and y is no NaN."""

    def zeros_like(self, dtype: Any | None = None) -> Any:
        """0 throughout, likewise."""
