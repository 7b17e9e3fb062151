// SPDX-License-Identifier: Apache-2.0
// What the operator library says of calls that mean nothing: one row a message, its exact text.
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
                                " i: i32[4, 8], b: bool[4, 8], d: f32[4, k]";

constexpr Row kRows[] = {
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
    {"minimum(i, 1.5)", "minimum: argument 'b' is 1.5, expected an integer beside i32"},
    {"clamp(i, min=0.5)", "clamp: argument 'min' is 0.5, expected an integer beside i32"},
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
    {"softmax(x, axis=-3)", "softmax: axis -3 does not exist in a tensor of 2 dimensions"},
    {"sum(x, axis=2)", "sum: axis 2 does not exist in a tensor of 2 dimensions"},
    {"sum(x, axis=[])", "sum: no axes to reduce over"},
    {"sum(x, axis=[0, -2])", "sum: axis -2 is given twice"},
    {"argmax(x, axis=5)", "argmax: axis 5 does not exist in a tensor of 2 dimensions"},
    {"unsqueeze(x, 4)", "unsqueeze: axis 4 does not exist in a tensor of 3 dimensions"},
    {"iota(i32, [4], axis=1)", "iota: axis 1 does not exist in a tensor of 1 dimensions"},
    {"extent(i32, [4])", "extent: a count of elements is no i32; expected i64 or a float type"},
    {"softmax(s)", "softmax: axis -1 does not exist in a tensor of 0 dimensions"},
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
    // Norms and statistics.
    {"norm(x, p=0)", "norm: p is 0, expected more than 0"},
    {"normalize(x, p=-2)", "normalize: p is -2, expected more than 0"},
    {"cosine_similarity(x, t)",
     "cosine_similarity: operands differ in their number of dimensions: f32[4, 8] and f32[2, 6, "
     "10]"},
    {"layer_norm(x, dims=0)", "layer_norm: 0 normalised dims, expected 1 to 2 for f32[4, 8]"},
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
    // Losses.
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

TEST_CASE("library errors: every call that means nothing says what it expected") {
  for (const Row& row : kRows)
    CHECK_MESSAGE(refusal(row.call) == row.text, row.call, ": ", refusal(row.call));
}
