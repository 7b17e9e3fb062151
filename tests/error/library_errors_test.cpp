// SPDX-License-Identifier: Apache-2.0
// The operator library's errors for calls without a meaning: one row a message, its exact text.
#include "ir/text/parser.h"
#include "src/support/error.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

struct Row {
  const char* call;
  const char* text;
};

constexpr const char* kInputs = "x: f32[4, 8], m: f32[n, 8], v: f32[8], s: f32[], t: f32[2, 6, 10],"
                                " i: i32[4, 8], b: bool[4, 8], d: f32[4, k],"
                                " h: f32[6, 6, 10]";

constexpr Row kRows[] = {
    // Names that PyTorch has.
    {"topk(x, 3)", "unknown operator 'topk'; no kernel sorts; max(x, axis) gives the greatest one "
                   "and its index"},
    {"conv2d(x, x)", "unknown operator 'conv2d'; convolutions stay out; one of kernel size 1 is "
                     "linear(x, w) over the channels"},
    {"view_as(x, x)", "unknown operator 'view_as'; write reshape(x, [m, 8])"},
    {"float(\"-inf\")", "unknown operator 'float'; write -inf"},
    {"x.bool()", "unknown operator 'bool'; write cast(x, bool)"},
    {"x.new_zeros(4)", "unknown operator 'new_zeros'; write zeros([m, 8], f32)"},
    {"asin(x)", "unknown operator 'asin'; write atan(x / sqrt(1 - x * x))"},
    {"cross(x, x)", "unknown operator 'cross'; this function of PyTorch stays out"},
    // Arguments that PyTorch has.
    {"add(x, x, alpha=2)",
     "add: no argument is named 'alpha'; write a + alpha * b; expected add(a, b)"},
    {"relu(x, inplace=true)",
     "relu: no argument is named 'inplace'; leave it out: values never change; expected relu(x)"},
    // Types.
    {"x * b",
     "mul: operand is bool[4, 8], expected a number, not bool; write where(mask, x, 0), or "
     "cast(mask, f32)"},
    {"b.sum(-1)", "sum: operand is bool[4, 8], expected a number, not bool; write cast(mask, f32), "
                  "or i32 to count"},
    {"b.mean()", "mean: operand is bool[4, 8], expected f32, f16 or bf16; write cast(x, f32)"},
    {"sqrt(i)", "sqrt: operand is i32[4, 8], expected f32, f16 or bf16; write cast(x, f32)"},
    {"m / n", "div: argument 'b' is the dimension n, expected a tensor or a number; its size as a "
              "number is extent(f32, [n])"},
    // A function names itself, whatever it is made of.
    {"x.view(3, 64)", "view: f32[4, 8] has 32 elements and [3, 64] has 192"},
    // A list as several arguments.
    {"reshape(x, 2, 1.5)",
     "reshape: argument 'shape' is 1.5, expected a number or a named dimension"},
    {"reshape(x, 2, v)", "reshape: 3 arguments given; expected reshape(x, shape)"},
    {"reshape(x, 2, shape=16)", "reshape: argument 'shape' is given twice, by position and as "
                                "'shape'; expected reshape(x, shape)"},
    {"permute(t, 0, 1, 1)", "permute: [0, 1, 1] is not a permutation of the axes of f32[2, 6, 10]"},
    {"relu(x, 1, 2)", "relu: 3 arguments given; expected relu(x)"},
    {"expand(v, -1, 4, 8)",
     "expand: f32[8] has no extent for the -1 of dim 0 in [-1, 4, 8] to keep"},
    {"eq(x, x)", "unknown operator 'eq'; write a == b"},
    // Named extents.
    {"concat([m, x], axis=1)", "concat: f32[n, 8] and f32[4, 8] differ outside axis 1"},
    {"slice(m, [0, 0], [2, 8])", "slice: axis 0 of f32[n, 8] has the named extent n, which a slice "
                                 "takes as a whole; x[0:2] and "
                                 "narrow take parts of it"},
    {"narrow(m, 0, n, n)", "narrow: n:2*n on axis 0 of f32[n, 8] is not inside for any size"},
    {"narrow(m, 0, [1], 2)", "narrow: argument 'start' is a list, expected an integer or a named "
                             "dimension"},
    // Arguments of a kind.
    {"matmul(x, x, transpose_a=1)", "matmul: argument 'transpose_a' is 1, expected true or false"},
    {"gelu(x, approximate=1)", "gelu: argument 'approximate' is 1, expected a text in quotes"},
    {"gelu(x, approximate=true)",
     "gelu: argument 'approximate' is true, expected a text in quotes"},
    {"hardtanh(x, min=true)", "hardtanh: argument 'min' is true, expected a number"},
    {"hardtanh(x, max=v)", "hardtanh: argument 'max' is the tensor f32[8], expected a number"},
    {"elu(x, alpha=\"one\")", "elu: argument 'alpha' is \"one\", expected a number"},
    {"leaky_relu(x, slope=f16)",
     "leaky_relu: argument 'slope' is the element type f16, expected a number"},
    {"relu(f32)", "relu: argument 'x' is the element type f32, expected a tensor or a number"},
    {"sum(x, axis=[0, 1.5])", "sum: argument 'axis' is 1.5, expected an integer"},
    {"transpose(t, 1.5)",
     "transpose: argument 'permutation' is 1.5, expected an integer or a list of integers"},
    {"reshape(x, [4, 1.5])",
     "reshape: argument 'shape' is 1.5, expected a number or a named dimension"},
    {"group_norm(x, groups=n)",
     "group_norm: argument 'groups' is the dimension n, expected an integer"},
    {"sum(x, keepdim=\"yes\")", "sum: argument 'keepdim' is \"yes\", expected true or false"},
    {"minimum(i, 1.5)",
     "minimum: argument 'b' is 1.5, expected an integer beside i32; write cast(x, f32) in "
     "place of the tensor"},
    {"clamp(i, min=0.5)",
     "clamp: argument 'min' is 0.5, expected an integer beside i32; write cast(x, f32) in "
     "place of the tensor"},
    {"constant(true, i32)", "constant: argument 'value' is true, expected a number"},
    // Arguments under several names.
    {"softmax(x, axis=0, dim=1)", "softmax: argument 'axis' is given twice, as 'axis' and as "
                                  "'dim'; expected softmax(x, axis=-1)"},
    {"softmax(x, 0, dim=1)",
     "softmax: argument 'axis' is given twice, by position and as 'dim'; expected softmax(x, "
     "axis=-1)"},
    {"relu(x, input=x)",
     "relu: argument 'x' is given twice, by position and as 'input'; expected relu(x)"},
    {"softmax(x, dim=0, dim=1)",
     "softmax: argument 'dim' is given twice; expected softmax(x, axis=-1)"},
    {"softplus(x, bias=2)", "softplus: no argument is named 'bias'; expected softplus(x, beta=1, "
                            "threshold=20)"},
    {"rms_norm(x, axis=0, dims=1)", "rms_norm: both axis and dims are given"},
    {"rms_norm(x, [4])", "rms_norm: the last dims of f32[4, 8] are [8], got [4]"},
    {"rms_norm(s)", "rms_norm: x is f32[], expected one or more dims"},
    // Axes.
    {"softmax(x, axis=-3)",
     "softmax: axis -3 does not exist in a tensor of 2 dimensions; expected -2 to 1"},
    {"sum(x, axis=2)", "sum: axis 2 does not exist in a tensor of 2 dimensions; expected -2 to 1"},
    {"sum(x, axis=[])", "sum: no axes to reduce over"},
    {"sum(x, axis=[0, -2])", "sum: axis -2 is given twice"},
    {"argmax(x, axis=5)",
     "argmax: axis 5 does not exist in a tensor of 2 dimensions; expected -2 to 1"},
    {"unsqueeze(x, 4)",
     "unsqueeze: axis 4 does not exist in a tensor of 3 dimensions; expected -3 to 2"},
    {"iota(i32, [4], axis=1)",
     "iota: axis 1 does not exist in a tensor of 1 dimension; expected -1 to 0"},
    {"extent(i32, [4])", "extent: a count of elements is no i32; expected i64 or a float type"},
    {"softmax(s)",
     "softmax: axis -1 does not exist in a tensor of 0 dimensions; a scalar has no axes"},
    // Activations.
    {"clamp(x)", "clamp: neither min nor max is given"},
    {"softplus(x, beta=0)", "softplus: beta is 0, expected more than 0"},
    {"softplus(x, beta=-1.5)", "softplus: beta is -1.5, expected more than 0"},
    {"dropout(x, p=1.5)", "dropout: p is 1.5, expected 0 to 1"},
    {"dropout(x, p=-1)", "dropout: p is -1, expected 0 to 1"},
    // Products.
    {"linear(x, x, x)",
     "linear: bias is f32[4, 8] and weight is f32[4, 8], expected a bias of [4], one for each row "
     "of weight"},
    {"linear(s, x)", "linear: x is f32[] and weight is f32[4, 8], expected [.., in] and [out, in]"},
    {"linear(x, v)",
     "linear: x is f32[4, 8] and weight is f32[8], expected [.., in] and [out, in]"},
    {"matmul(v, v, transpose_a=true)", "matmul: a vector cannot be transposed: f32[8] x f32[8]"},
    {"matmul(x, v, transpose_b=true)", "matmul: a vector cannot be transposed: f32[4, 8] x f32[8]"},
    {"scaled_dot_product_attention(v, v, v)",
     "scaled_dot_product_attention: q is f32[8], expected [.., length, d]"},
    {"scaled_dot_product_attention(x, x, x, 0.125)",
     "scaled_dot_product_attention: attn_mask is no tensor; a scale goes by its name, as in "
     "scale=0.125"},
    {"scaled_dot_product_attention(x, x, x, i)",
     "scaled_dot_product_attention: attn_mask is i32[4, 8], expected bool or f32, and a shape that "
     "broadcasts to [4, 4]"},
    {"scaled_dot_product_attention(x, x, x, t)",
     "scaled_dot_product_attention: attn_mask is f32[2, 6, 10], expected bool or f32, and a shape "
     "that broadcasts to [4, 4]"},
    {"scaled_dot_product_attention(x, x, x, dropout_p=0.1)",
     "scaled_dot_product_attention: dropout_p is 0.1, expected 0: dropout draws random numbers, "
     "which graphs do not do"},
    {"scaled_dot_product_attention(x, x, x, x, is_causal=true)",
     "scaled_dot_product_attention: attn_mask and is_causal=true, expected one of them; of a mask "
     "of bool, attn_mask=tril(mask) is both"},
    {"scaled_dot_product_attention(h, t, t)",
     "scaled_dot_product_attention: q is f32[6, 6, 10] and k is f32[2, 6, 10], expected as many "
     "heads (dim -3); enable_gqa=true repeats those of k and v"},
    {"scaled_dot_product_attention(t, t[:1], t[:1])",
     "scaled_dot_product_attention: q is f32[2, 6, 10] and k is f32[1, 6, 10], expected as many "
     "heads (dim -3); enable_gqa=true repeats those of k and v"},
    {"scaled_dot_product_attention(t, h, h, enable_gqa=true)",
     "scaled_dot_product_attention: enable_gqa=true, q is f32[2, 6, 10] and k is f32[6, 6, 10], "
     "expected [.., heads, length, d], and heads of q that are a multiple of those of k"},
    {"scaled_dot_product_attention(x, x, x, enable_gqa=true)",
     "scaled_dot_product_attention: enable_gqa=true, q is f32[4, 8] and k is f32[4, 8], expected "
     "[.., heads, length, d], and heads of q that are a multiple of those of k"},
    {"repeat_interleave(x, 0)", "repeat_interleave: repeats is 0, expected at least 1"},
    {"repeat_interleave(x, 2, dim=2)",
     "repeat_interleave: axis 2 does not exist in a tensor of 2 dimensions; expected -2 to 1"},
    {"repeat_interleave(x, i)",
     "repeat_interleave: argument 'repeats' is the tensor i32[4, 8], expected an integer"},
    {"repeat_interleave(x, 4611686018427387904, 1)",
     "repeat_interleave: axis 1 of f32[4, 8], 4611686018427387904 times, has an extent of 2^63 or "
     "more, or of too many names"},
    // Rolls, pads and copies.
    {"roll(x, [1, 2], 0)", "roll: 2 shifts and 1 axes, expected as many"},
    {"roll(x, [1, 2])", "roll: 2 shifts, expected one where no axes are given"},
    {"roll(x, 9223372036854775807, 0)", "roll: 9223372036854775807, expected at most 2^62"},
    {"pad(x, [1, 2, 3])", "pad: 3 numbers for f32[4, 8], expected pairs of how many before and "
                          "behind, of the last dim first, as in pad(x, [1, 2])"},
    {"pad(x, [-4, -4])", "pad: -4 and -4 leave no element of axis 1 of f32[4, 8]"},
    {"pad(x, [1, 1], mode=\"reflect\")", "pad: mode is \"reflect\", expected \"constant\""},
    {"pad(i, [1, 1], value=0.5)", "pad: argument 'value' is 0.5, expected an integer beside i32; "
                                  "write cast(x, f32) in place of the tensor"},
    {"x.repeat(2)", "repeat: copies are given for 1 of the 2 dims of f32[4, 8]; "
                    "repeat_interleave(x, 2, axis) repeats elements in a row"},
    {"x.repeat(2, 0)", "repeat: 0 copies, expected at least 1"},
    {"x.repeat(2, 4611686018427387904)",
     "repeat: axis 1 of f32[8, 8], 4611686018427387904 times, has an extent of 2^63 or more, or of "
     "too many names"},
    {"movedim(x, 0, [0, 1])", "movedim: 1 dims to 2 places, expected as many"},
    {"unflatten(x, 1, [3, 2])",
     "unflatten: [3, 2] is no shape for axis 1 of f32[4, 8], which has the extent 8"},
    {"unflatten(x, 1, [3, -1])",
     "unflatten: [3, -1] is no shape for axis 1 of f32[4, 8], which has the extent 8"},
    {"softshrink(x, -1)", "softshrink: lambd is -1, expected at least 0"},
    {"lerp(i, i, 0.5)", "lerp: x is i32[4, 8], expected f32, f16 or bf16; cast it first"},
    {"addcmul(i, i, i, value=0.5)", "addcmul: value is 0.5, expected an integer beside i32[4, 8]"},
    {"matmul(x, 2.0)",
     "matmul: argument 'b' is 2, expected a tensor; a * b multiplies by a number"},
    // Norms and statistics.
    {"norm(x, p=0)", "norm: p is 0, expected more than 0"},
    {"normalize(x, p=-2)", "normalize: p is -2, expected more than 0"},
    {"cosine_similarity(x, t)",
     "cosine_similarity: operands differ in their number of dimensions: f32[4, 8] and f32[2, 6, "
     "10]"},
    {"cast(x, \"f16\")",
     "cast: argument 'dtype' is \"f16\", expected an element type: f32, f16, bf16, i32, "
     "i64 or bool; write f16 "
     "without quotes"},
    {"layer_norm(x, dims=0)", "layer_norm: 0 normalised dims, expected 1 to 2 for f32[4, 8], or "
                              "the list of their extents, as in [8]"},
    {"layer_norm(x, beta=x)", "layer_norm: beta is f32[4, 8], expected the shape [8]"},
    {"group_norm(v, groups=2)",
     "group_norm: x is f32[8], expected samples, channels and any more dims"},
    {"group_norm(x, groups=0)", "group_norm: 8 channels do not divide into 0 groups"},
    {"group_norm(t, gamma=v, groups=3)", "group_norm: gamma is f32[8], expected the shape [6]"},
    {"instance_norm(x)",
     "instance_norm: x is f32[4, 8], expected samples, channels and one or more dims"},
    {"batch_norm(v)", "batch_norm: x is f32[8], expected samples, channels and any more dims"},
    {"batch_norm(t, running_mean=v, running_var=v)",
     "batch_norm: running_mean is f32[8], expected the shape [6]"},
    // Pooling.
    {"max_pool1d(s, 2)", "max_pool1d: x is f32[], expected a last dim"},
    {"avg_pool1d(x, 0)", "avg_pool1d: kernel is 0, expected at least 1"},
    // Movement and scans.
    {"transpose(v)", "transpose: f32[8] has no two dims to swap"},
    {"flatten(t, 2, 1)", "flatten: axis 2 comes after axis 1"},
    {"squeeze(x, axis=1)", "squeeze: axis 1 of f32[4, 8] has extent 8, expected 1"},
    {"squeeze(m, axis=0)", "squeeze: axis 0 of f32[n, 8] has extent n, expected 1"},
    {"narrow(x, 1, -1, 2)", "narrow: 2 elements from -1 do not lie in axis 1 of f32[4, 8]"},
    {"narrow(x, 1, 2, 0)", "narrow: 0 elements from 2 do not lie in axis 1 of f32[4, 8]"},
    {"stack([x, v])", "stack: f32[4, 8] and f32[8] differ, expected tensors of one type and shape"},
    {"stack([x, x], dim=3)",
     "stack: axis 3 does not exist in a tensor of 3 dimensions; expected -3 to 2"},
    {"split(x, 0)", "split: a part of 0 of axis 0 of f32[4, 8], expected at least 1"},
    {"split(x, [5, 4], dim=1)",
     "split: the parts [5, 4] do not add up to 8, the extent of axis 1 of f32[4, 8]"},
    {"split(x, [9223372036854775807, 9223372036854775807], dim=1)",
     "split: the parts [9223372036854775807, 9223372036854775807] do not add up to 8, the extent "
     "of axis 1 of f32[4, 8]"},
    {"split(m, 4)", "split: a part of 4 of axis 0 of f32[n, 8], expected a multiple of n, or a "
                    "list of extents that add up to n"},
    {"split(m, [4, -4])", "split: a part of -4 of axis 0 of f32[n, 8], expected at least 1"},
    {"split(m, [4, n])",
     "split: the parts [4, n] do not add up to n, the extent of axis 0 of f32[n, 8]"},
    {"split(broadcast(v, [9000, 8]), 1)", "split: 9000 parts, expected at most 4096"},
    {"chunk(x, 0)", "chunk: 0 parts, expected at least 1"},
    {"chunk(m, 2)",
     "chunk: the named extent n of axis 0 does not divide into 2 parts for every size"},
    {"chunk(broadcast(v, [9000, 8]), 9000)", "chunk: 9000 parts, expected at most 4096"},
    {"glu(narrow(x, 1, 0, 7))",
     "glu: axis 1 of f32[4, 7] has the extent 7, expected an even number"},
    {"glu(i)", "glu: x is i32[4, 8], expected f32, f16 or bf16; cast it first"},
    {"masked_fill(x, x, 0)", "masked_fill: mask is f32[4, 8], expected bool"},
    {"masked_fill(x, b, v)", "masked_fill: value is f32[8], expected a number or a scalar"},
    {"index_select(x, 0, v)", "index_select: index is f32[8], expected a vector of i32 or i64"},
    {"index_select(x, 0, i)", "index_select: index is i32[4, 8], expected a vector of i32 or i64"},
    {"embedding(x, x)", "embedding: x is f32[4, 8] and weight is f32[4, 8], expected i32 or i64, "
                        "and a table [rows, d]"},
    {"prelu(t, v)", "prelu: weight is f32[8], expected one number, or one for each of the 6 "
                    "channels of f32[2, 6, 10]"},
    {"celu(x, alpha=0)", "celu: alpha is 0, expected another number"},
    {"max(x, x, dim=0)", "max: both other and axis are given"},
    {"min(x, keepdim=true)", "min: keepdim is for one axis, which is not given"},
    {"max(x, dim=[0, 1])", "max: argument 'axis' is a list, expected an integer"},
    {"div(i, 2, rounding_mode=\"ceil\")",
     "div: rounding_mode is \"ceil\", expected \"trunc\" or \"floor\""},
    {"div(i, 2.5, rounding_mode=\"trunc\")", "div: argument 'b' is 2.5, expected an integer beside "
                                             "i32; write cast(x, f32) in place of the tensor"},
    // Tensors of numbers.
    {"arange()", "arange: no stop is given, as in arange(10)"},
    {"arange(5, 2)", "arange: no elements from 5 to 2 by 1; a tensor has at least one"},
    {"arange(0, 5, 0)",
     "arange: from 0 to 5 by 0, expected finite numbers and a step other than 0"},
    {"arange(inf)", "arange: from 0 to inf by 1, expected finite numbers and a step other than 0"},
    {"arange(9223372036854775807)", "arange: from 0 to 9.223372036854776e+18 by 1, expected bounds "
                                    "and elements of at most 2^52"},
    {"arange(2, n)", "arange: a named extent is counted from 0 by 1 alone, as in arange(n); add to "
                     "it, or multiply it"},
    {"arange(0, n, 2)", "arange: a named extent is counted from 0 by 1 alone, as in arange(n); add "
                        "to it, or multiply it"},
    {"arange(n, 5)", "arange: a named extent is counted from 0 by 1 alone, as in arange(n); add to "
                     "it, or multiply it"},
    {"arange(4, dtype=bool)", "arange: a range of bool, expected a type of numbers"},
    {"arange(0, 4, 0.5, dtype=i32)",
     "arange: argument 'step' is 0.5, expected an integer beside i32"},
    {"full([2], 0.5, dtype=i32)", "full: argument 'value' is 0.5, expected an integer beside i32"},
    {"zeros([0])", "zeros: f32[0] has an extent of 0, expected at least 1"},
    {"one_hot(x, 3)", "one_hot: x is f32[4, 8], expected i32 or i64"},
    {"one_hot(i, -1)", "one_hot: num_classes is -1, expected at least 1; the shape cannot depend "
                       "on values"},
    // Products.
    {"mm(x, t)", "mm: f32[4, 8] x f32[2, 6, 10], expected 2 dims each; matmul takes any"},
    {"bmm(x, x)", "bmm: f32[4, 8] x f32[4, 8], expected 3 dims each; matmul takes any"},
    {"addmm(t, x, transpose(x))", "addmm: x is f32[2, 6, 10], expected a shape that "
                                  "broadcasts to f32[4, 4]"},
    {"einsum(x, x)", "einsum: argument 'equation' is the tensor f32[4, 8], expected a text in "
                     "quotes"},
    {"einsum(\"ij,jk->ik\", x)", "einsum: \"ij,jk->ik\" is for 2 tensors, but 1 is given"},
    {"einsum(\"ij,jk,kl->il\", x, x)",
     "einsum: \"ij,jk,kl->il\" is for 3 tensors, but 2 are given"},
    {"einsum(\"ii->i\", x)",
     "einsum: the label 'i' stands twice in \"ii\"; diagonals are not taken"},
    {"einsum(\"ij->jj\", x)",
     "einsum: the label 'j' stands twice in \"jj\"; diagonals are not taken"},
    {"einsum(\"...j->j\", x)", "einsum: \"...j->j\" has an ellipsis; give each dim a letter"},
    {"einsum(\"i1->i\", x)", "einsum: \"i1->i\" has '1', expected letters, a comma and ->"},
    {"einsum(\"ij->ik\", x)",
     "einsum: the result of \"ij->ik\" has the label 'k', which no tensor has"},
    {"einsum(\"ijk->i\", x)", "einsum: \"ijk\" has 3 labels, but a is f32[4, 8]"},
    {"einsum(\"ij,jk->ik\", x, x)",
     "einsum: the label 'j' has the extents 8 and 4, in f32[4, 8] and f32[4, 8]"},
    {"einsum(\"ij,ik->jk\", x, m)",
     "einsum: the label 'i' has the extents 4 and n, in f32[4, 8] and f32[n, 8]"},
    // Losses.
    {"cross_entropy(x, v)", "cross_entropy: target is f32[8], expected i32 or i64 and the shape "
                            "[4] for f32[4, 8]"},
    {"cross_entropy(x, x, label_smoothing=2)",
     "cross_entropy: label_smoothing is 2, expected 0 to 1"},
    {"cross_entropy(x, x, s)",
     "cross_entropy: weight is f32[], expected one number for each of the 8 classes"},
    {"nll_loss(s, i)", "nll_loss: x is f32[], expected [n, classes, ..]"},
    {"nll_loss(x, arange(4), reduction=\"batchmean\")",
     "nll_loss: reduction is \"batchmean\", expected \"mean\", \"sum\" or \"none\""},
    {"nll_loss(x, cast(arange(4), i32), ignore_index=2147483648)",
     "nll_loss: 2147483648 does not fit i32"},
    {"smooth_l1_loss(x, x, beta=0)", "smooth_l1_loss: beta is 0, expected more than 0"},
    {"huber_loss(x, x, delta=-1)", "huber_loss: delta is -1, expected more than 0"},
    {"kl_div(x, x, reduction=\"max\")",
     "kl_div: reduction is \"max\", expected \"mean\", \"sum\" or \"none\""},
    {"cross_entropy(s, i)", "cross_entropy: logits are f32[], expected [n, classes, ..]"},
    {"triplet_margin_loss(s, s, s)",
     "triplet_margin_loss: anchor is f32[], expected one or more dims"},
};

/// The message of the diagnostic for a graph that makes this call.
std::string refusal(const std::string& call) {
  const std::string spec =
      std::string("graph g(") + kInputs + ") {\n  r = " + call + "\n  return r\n}\n";
  auto graph = parse_graph(spec, "spec.ingot");
  if (graph) return "no error";
  const std::string text = take_error(graph.takeError()).second;
  const auto [place, message] = llvm::StringRef(text).split(": error: ");
  CHECK(place.starts_with("spec.ingot:2:"));
  return message.split('\n').first.str();
}

} // namespace

TEST_CASE("library errors: the error of a call without a meaning names the expected arguments") {
  for (const Row& row : kRows)
    CHECK_MESSAGE(refusal(row.call) == row.text, row.call, ": ", refusal(row.call));
}
