// SPDX-License-Identifier: Apache-2.0
// The names and the order that PyTorch and NumPy have for arguments: the graph is that of the
// library's own.
#include "ir/library.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

/// The canonical text of a graph that returns `call`.
std::string graph_of(const std::string& call) {
  auto graph = parse_graph(
      "graph g(x: f32[4, 8], y: f32[4, 8], t: f32[2, 6, 10], v: f32[6], u: f32[8], w: f32[5, 8],\n"
      "        r: f32[5], i: i64[4, 8], q: f32[2, 4, 8], s: f32[6, 4, 8], c: bool[4, 8]) { return "
      "result = " +
          call + " }",
      "spec");
  return graph ? print_graph(*graph) : take_error(graph.takeError()).second;
}

struct Row {
  const char* own;
  const char* other;
};

constexpr Row kRows[] = {
    {"softmax(x, axis=0)", "softmax(x, dim=0)"},
    {"softmax(x, axis=0)", "softmax(input=x, dim=0)"},
    {"sum(x, axis=[0, 1], keepdim=true)", "sum(x, dim=[0, 1], keepdims=true)"},
    {"sum(x, axis=[0, 1], keepdim=true)", "sum(x, dims=[0, 1], keepdims=true)"},
    {"argmax(x, axis=-1)", "argmax(x, dim=-1)"},
    {"add(x, y)", "add(input=x, other=y)"},
    {"where(c, x, y)", "where(c, input=x, other=y)"},
    {"xlogy(x, y)", "xlogy(input=x, other=y)"},
    {"linear(x, w, r)", "linear(input=x, weight=w, bias=r)"},
    {"linear(x, w, r)", "linear(x, w=w, b=r)"},
    {"layer_norm(x, gamma=u, beta=u)", "layer_norm(x, weight=u, bias=u)"},
    {"layer_norm(x, u, u, dims=1, eps=0.5)", "layer_norm(x, [8], u, u, 0.5)"},
    {"layer_norm(x, u, u)", "layer_norm(x, normalized_shape=[8], weight=u, bias=u)"},
    {"layer_norm(t, dims=2)", "layer_norm(t, 2)"},
    {"group_norm(t, v, v, groups=3)", "group_norm(t, 3, v, v)"},
    {"group_norm(t, v, v, groups=3)", "group_norm(t, num_groups=3, weight=v, bias=v)"},
    {"batch_norm(t, running_mean=v, running_var=v + 1, gamma=v + 2, beta=v + 3)",
     "batch_norm(t, v, v + 1, v + 2, v + 3)"},
    {"batch_norm(t, running_mean=v, running_var=v + 1, gamma=v + 2, beta=v + 3)",
     "batch_norm(t, mean=v, var=v + 1, weight=v + 2, bias=v + 3)"},
    {"batch_norm(t, gamma=v, beta=v + 1, training=true)",
     "batch_norm(t, none, none, v, v + 1, training=true)"},
    {"rms_norm(x, u)", "rms_norm(x, [8], u)"},
    {"rms_norm(x, u, eps=1.1920928955078125e-07)", "rms_norm(x, weight=u)"},
    {"rms_norm(t, axis=[1, 2])", "rms_norm(t, normalized_shape=[6, 10])"},
    {"gather(x, i, axis=0)", "gather(x, 0, i)"},
    {"gather(x, i, axis=0)", "gather(x, dim=0, index=i)"},
    {"permute(t, [2, 0, 1])", "permute(t, dims=[2, 0, 1])"},
    {"expand(u, [4, 8])", "expand(u, size=[4, 8])"},
    {"expand(u, [4, 8])", "broadcast_to(u, [4, 8])"},
    {"expand(u, [4, 8])", "expand(u, 4, -1)"},
    {"expand(t, [3, 2, 6, 10])", "t.expand(3, -1, -1, 10)"},
    {"reshape(x, [2, 16])", "reshape(x, 2, 16)"},
    {"reshape(x, [2, 16])", "x.reshape(2, -1)"},
    {"reshape(x, [32])", "x.view(-1)"},
    {"reshape(x, [2, 2, 8])", "view(x, 2, -1, 8)"},
    {"permute(t, [0, 2, 1])", "t.permute(0, 2, 1)"},
    {"permute(x, [1, 0])", "permute(x, -1, -2)"},
    {"flip(x, [0, 1])", "x.flip(0, 1)"},
    {"zeros([2, 3], dtype=i32)", "zeros(2, 3, dtype=i32)"},
    {"ones([2, 3], i32)", "ones(2, 3, i32)"},
    {"flatten(t, 1, 2)", "flatten(t, start_dim=1, end_dim=2)"},
    {"flip(flip(t, 0), 2)", "flip(t, dims=[0, 2])"},
    {"unsqueeze(x, 1)", "unsqueeze(x, dim=1)"},
    {"scaled_dot_product_attention(q, q, q)",
     "scaled_dot_product_attention(query=q, key=q, value=q)"},
    {"reshape(expand(x[:, None], [4, 3, 8]), [12, 8])", "repeat_interleave(x, 3, dim=0)"},
    {"scaled_dot_product_attention(s, repeat_interleave(q, 3, 0), repeat_interleave(q, 3, 0))",
     "scaled_dot_product_attention(s, q, q, enable_gqa=True)"},
    {"scaled_dot_product_attention(q, q, q)",
     "scaled_dot_product_attention(q, q, q, enable_gqa=True)"},
    {"concat([x, y], axis=1)", "concat(tensors=[x, y], dim=1)"},
    {"leaky_relu(x, slope=0.2)", "leaky_relu(x, negative_slope=0.2)"},
    {"hardtanh(x, min=-2, max=2)", "hardtanh(x, min_val=-2, max_val=2)"},
    {"avg_pool1d(t, 5)", "avg_pool1d(t, kernel_size=5)"},
    {"cross_entropy(x, narrow(reshape(i, [32]), 0, 0, 4))",
     "cross_entropy(input=x, target=narrow(reshape(i, [32]), 0, 0, 4))"},
    {"cosine_similarity(x, y, axis=0)", "cosine_similarity(x1=x, x2=y, dim=0)"},
    {"kl_div(x, y, reduction=\"mean\")", "kl_div(input=x, target=y)"},
};

} // namespace

TEST_CASE("library names: PyTorch's names and order of arguments mean the library's own") {
  for (const Row& row : kRows) {
    const std::string own = graph_of(row.own);
    CHECK_MESSAGE(llvm::StringRef(own).starts_with("graph g("), row.own, ": ", own);
    CHECK_MESSAGE(graph_of(row.other) == own, row.other);
  }
}

TEST_CASE("library names: each name means one parameter of a function") {
  for (const LibraryFunction& function : library_functions())
    for (const Parameter& parameter : function.parameters)
      for (llvm::StringRef synonym : parameter.synonyms) {
        const auto count = llvm::count_if(function.parameters, [&](const Parameter& other) {
          return other.name != synonym && other.answers_to(synonym);
        });
        CHECK_MESSAGE(count == 1, function.name.str(), ": ", synonym.str());
      }
}
