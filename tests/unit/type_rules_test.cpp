// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <doctest/doctest.h>

using namespace ingot;

namespace {

Type f32(Shape shape) { return {DType::f32, std::move(shape)}; }
Type i64(Shape shape) { return {DType::i64, std::move(shape)}; }
Type boolean(Shape shape) { return {DType::boolean, std::move(shape)}; }

const Dim kM = Dim::named("m");

/// The result types joined by `, `, or the error's text.
std::string types(OpKind kind, llvm::ArrayRef<Type> operands,
                  const Attributes& attributes = NoAttributes{}) {
  auto result = infer_types(kind, operands, attributes);
  if (!result) {
    auto [code, text] = take_error(result.takeError());
    CHECK(code == ErrorCode::type_error);
    return text;
  }
  std::string text;
  for (const Type& type : *result) text += (text.empty() ? "" : ", ") + type.text();
  return text;
}

} // namespace

TEST_CASE("elementwise ops take one shape or scalars") {
  CHECK(types(OpKind::add, {f32({4, kM}), f32({4, kM})}) == "f32[4, m]");
  CHECK(types(OpKind::add, {f32({}), f32({4, kM})}) == "f32[4, m]");
  CHECK(types(OpKind::add, {f32({}), f32({})}) == "f32[]");
  CHECK(types(OpKind::add, {f32({4, kM}), f32({kM, 4})}) ==
        "add: operand shapes differ: f32[4, m] and f32[m, 4]");
  CHECK(types(OpKind::add, {f32({1}), f32({4})}) ==
        "add: operand shapes differ: f32[1] and f32[4]");
  CHECK(types(OpKind::add, {f32({4}), i64({4})}) ==
        "add: operand types differ: f32[4] and i64[4]; cast one to the other's element type");
  CHECK(types(OpKind::add, {boolean({4}), boolean({4})}) ==
        "add: operand is bool[4], expected a number, not bool; write where(mask, x, 0), or "
        "cast(mask, f32)");
  CHECK(types(OpKind::add, {f32({4})}) == "add: 1 operands given (f32[4]), expected 2");
  CHECK(types(OpKind::exp, {i64({4})}) ==
        "exp: operand is i64[4], expected f32, f16 or bf16; write cast(x, f32)");
  CHECK(types(OpKind::neg, {i64({4})}) == "i64[4]");
  CHECK(types(OpKind::pow, {i64({4}), i64({4})}) ==
        "pow: operand is i64[4], expected f32, f16 or bf16; write cast(x, f32)");
}

TEST_CASE("comparisons, logic and selection") {
  CHECK(types(OpKind::less, {i64({4}), i64({})}) == "bool[4]");
  CHECK(types(OpKind::less, {boolean({4}), boolean({4})}) ==
        "less: operand is bool[4], expected a number, not bool; write where(mask, x, 0), or "
        "cast(mask, f32)");
  CHECK(types(OpKind::equal, {boolean({4}), boolean({4})}) == "bool[4]");
  CHECK(types(OpKind::and_, {boolean({}), boolean({4})}) == "bool[4]");
  CHECK(types(OpKind::and_, {f32({4}), boolean({4})}) == "and: operand is f32[4], expected bool");
  CHECK(types(OpKind::is_nan, {f32({4})}) == "bool[4]");
  CHECK(types(OpKind::is_nan, {i64({4})}) ==
        "is_nan: operand is i64[4], expected f32, f16 or bf16; write cast(x, f32)");
  CHECK(types(OpKind::select, {boolean({4}), f32({}), f32({})}) == "f32[4]");
  CHECK(types(OpKind::select, {boolean({}), i64({4}), i64({})}) == "i64[4]");
  CHECK(types(OpKind::select, {boolean({4}), boolean({4}), boolean({4})}) == "bool[4]");
  CHECK(types(OpKind::select, {f32({4}), f32({4}), f32({4})}) ==
        "select: condition is f32[4], expected bool");
  CHECK(types(OpKind::cast, {f32({4})}, CastAttributes{DType::boolean}) == "bool[4]");
}

TEST_CASE("matmul") {
  auto matmul = [](const Type& a, const Type& b, bool transpose_a = false,
                   bool transpose_b = false) {
    return types(OpKind::matmul, {a, b}, MatmulAttributes{transpose_a, transpose_b});
  };
  CHECK(matmul(f32({kM, 8}), f32({8, 5})) == "f32[m, 5]");
  CHECK(matmul(f32({8, kM}), f32({8, 5}), true) == "f32[m, 5]");
  CHECK(matmul(f32({kM, 8}), f32({5, 8}), false, true) == "f32[m, 5]");
  CHECK(matmul(f32({8, kM}), f32({5, 8}), true, true) == "f32[m, 5]");
  CHECK(matmul(f32({2, kM, 4, 8}), f32({2, kM, 8, 5})) == "f32[2, m, 4, 5]");
  CHECK(matmul(f32({1024, 8192}), f32({4096, 8192})) ==
        "matmul: inner extents differ, 8192 and 4096: f32[1024, 8192] x f32[4096, 8192]");
  CHECK(
      matmul(f32({1024, 8192}), f32({4096, 4096}), false, true) ==
      "matmul: inner extents differ, 8192 and 4096: f32[1024, 8192] x f32[4096, 4096] transposed");
  CHECK(matmul(f32({2, 4, 8}), f32({3, 8, 5})) ==
        "matmul: batch extents differ, 2 and 3: f32[2, 4, 8] x f32[3, 8, 5]");
  CHECK(matmul(f32({2, 4, 8}), f32({8, 5})) ==
        "matmul: operands differ in their number of dimensions: f32[2, 4, 8] x f32[8, 5]");
  CHECK(matmul(f32({8}), f32({8, 5})) ==
        "matmul: operands need at least 2 dimensions: f32[8] x f32[8, 5]");
  CHECK(matmul(i64({4, 8}), i64({8, 5})) ==
        "matmul: operand is i64[4, 8], expected f32, f16 or bf16; write cast(x, f32)");
}

TEST_CASE("reductions and scans") {
  CHECK(types(OpKind::sum, {f32({4, kM, 8})}, ReduceAttributes{{0, 2}}) == "f32[m]");
  CHECK(types(OpKind::sum, {i64({4})}, ReduceAttributes{{0}}) == "i64[]");
  CHECK(types(OpKind::mean, {i64({4})}, ReduceAttributes{{0}}) ==
        "mean: operand is i64[4], expected f32, f16 or bf16; write cast(x, f32)");
  CHECK(types(OpKind::moments, {f32({4, kM})}, ReduceAttributes{{0}}) == "f32[m], f32[m]");
  CHECK(types(OpKind::max_sumexp, {f32({4, kM})}, ReduceAttributes{{1}}) == "f32[4], f32[4]");
  CHECK(types(OpKind::argmax, {f32({4, kM})}, ReduceAttributes{{1}}) == "i64[4]");
  CHECK(types(OpKind::argmax, {f32({4, kM})}, ReduceAttributes{{0, 1}}) ==
        "argmax: 2 axes given, expected one");
  CHECK(types(OpKind::sum, {f32({4})}, ReduceAttributes{{}}) ==
        "sum: no axes to reduce f32[4] over");
  CHECK(types(OpKind::sum, {f32({4})}, ReduceAttributes{{1}}) ==
        "sum: axis 1 does not exist in f32[4], which has 1 dimensions");
  CHECK(types(OpKind::sum, {f32({4, 4})}, ReduceAttributes{{1, 0}}) ==
        "sum: axes are repeated or not sorted");
  CHECK(types(OpKind::cumsum, {f32({4, kM})}, ScanAttributes{1}) == "f32[4, m]");
  CHECK(types(OpKind::cumsum, {f32({4, kM})}, ScanAttributes{-1}) ==
        "cumsum: axis -1 does not exist in f32[4, m], which has 2 dimensions");
}

TEST_CASE("gather") {
  CHECK(types(OpKind::gather, {f32({4, 8}), i64({4, kM})}, AxisAttributes{1}) == "f32[4, m]");
  CHECK(types(OpKind::gather, {f32({4, 8}), f32({4, 1})}, AxisAttributes{1}) ==
        "gather: index is f32[4, 1], expected i32 or i64");
  CHECK(types(OpKind::gather, {f32({4, 8}), i64({4})}, AxisAttributes{1}) ==
        "gather: index i64[4] does not fit f32[4, 8]; expected equal extents on every axis but 1");
}

TEST_CASE("movement") {
  CHECK(types(OpKind::reshape, {f32({kM, 8})}, ShapeAttributes{{2, kM, 4}}) == "f32[2, m, 4]");
  CHECK(types(OpKind::reshape, {f32({kM, 8})}, ShapeAttributes{{8 * kM}}) == "f32[8*m]");
  CHECK(types(OpKind::reshape, {f32({kM, 8})}, ShapeAttributes{{kM, kM}}) ==
        "reshape: f32[m, 8] has 8*m elements and [m, m] has m*m");
  CHECK(types(OpKind::transpose, {f32({kM, 8, 3})}, TransposeAttributes{{2, 0, 1}}) ==
        "f32[3, m, 8]");
  CHECK(types(OpKind::transpose, {f32({kM, 8})}, TransposeAttributes{{0, 2}}) ==
        "transpose: [0, 2] is not a permutation of the axes of f32[m, 8]");
  CHECK(types(OpKind::broadcast, {f32({1, 8})}, ShapeAttributes{{3, kM, 8}}) == "f32[3, m, 8]");
  CHECK(types(OpKind::broadcast, {f32({})}, ShapeAttributes{{kM}}) == "f32[m]");
  CHECK(types(OpKind::broadcast, {f32({kM})}, ShapeAttributes{{8}}) ==
        "broadcast: f32[m] does not broadcast to [8]; counted from the last, each extent must be "
        "equal or 1");
  CHECK(types(OpKind::slice, {f32({10, kM})}, SliceAttributes{{1, 0}, {8, -1}, {3, 1}}) ==
        "f32[3, m]");
  CHECK(types(OpKind::slice, {f32({10})}, SliceAttributes{{9}, {10}, {100}}) == "f32[1]");
  CHECK(types(OpKind::slice, {f32({10})}, SliceAttributes{{5}, {5}, {1}}) ==
        "slice: range 5:5 on axis 0 of f32[10], expected 0 <= start < stop <= 10");
  CHECK(types(OpKind::slice, {f32({10})}, SliceAttributes{{0}, {5}, {0}}) ==
        "slice: step 0 on axis 0, expected at least 1");
  CHECK(types(OpKind::window, {f32({10, kM})}, WindowAttributes{0, -3, 20}) == "f32[20, m]");
  CHECK(types(OpKind::window, {f32({10, kM})}, WindowAttributes{1, 0, 4}) == "f32[10, 4]");
  CHECK(types(OpKind::window, {f32({10, kM})}, WindowAttributes{1, 1, kM - 1, true}) ==
        "f32[10, m - 1]");
  CHECK(types(OpKind::window, {f32({10, kM})}, WindowAttributes{1, 0, kM + 1, true}) ==
        "window: 0:m + 1 on axis 1 of f32[10, m] is not inside for any size");
  CHECK(types(OpKind::window, {f32({10, kM})}, WindowAttributes{1, kM * -1, 4, true}) ==
        "window: -m:4 - m on axis 1 of f32[10, m] is not inside for any size");
  CHECK(types(OpKind::window, {f32({10, kM})}, WindowAttributes{1, 0, 1 - kM * 2}) ==
        "f32[10, 1 - 2*m]");
  CHECK(types(OpKind::window, {f32({10, kM})}, WindowAttributes{1, 0, kM * -2}) ==
        "window: f32[10, -2*m] has the extent -2*m, which is negative for every size");
  CHECK(types(OpKind::window, {f32({10})}, WindowAttributes{0, 0, 0}) ==
        "window: extent 0, expected at least 1 and below 2^62");
  CHECK(types(OpKind::window, {f32({10})}, WindowAttributes{0, -(int64_t{1} << 62), 1}) ==
        "window: start -4611686018427387904, expected within 2^62 of 0");
  CHECK(types(OpKind::concat, {f32({4, kM}), f32({3, kM}), f32({1, kM})}, AxisAttributes{0}) ==
        "f32[8, m]");
  CHECK(types(OpKind::concat, {f32({4, kM})}, AxisAttributes{1}) == "f32[4, m]");
  CHECK(types(OpKind::concat, {}, AxisAttributes{0}) ==
        "concat: 0 operands given (), expected one or more");
}

TEST_CASE("sizes are bounded") {
  constexpr int64_t kHuge = int64_t{1} << 62;
  CHECK(types(OpKind::broadcast, {f32({})}, ShapeAttributes{{kHuge}}) ==
        "broadcast: f32[4611686018427387904] has 2^63 bytes or more");
  CHECK(types(OpKind::broadcast, {boolean({})}, ShapeAttributes{{kHuge}}) ==
        "bool[4611686018427387904]");
  CHECK(types(OpKind::broadcast, {f32({})}, ShapeAttributes{{kM, kHuge / 2, kM}}) ==
        "broadcast: f32[m, 2305843009213693952, m] has 2^63 bytes or more");
  CHECK(types(OpKind::broadcast, {f32({})}, ShapeAttributes{{0}}) ==
        "broadcast: f32[0] has an extent of 0, expected at least 1");
  CHECK(types(OpKind::concat, {boolean({kHuge}), boolean({kHuge})}, AxisAttributes{0}) ==
        "concat: the extents of axis 0 add up to 2^63 or more");
  CHECK(types(OpKind::iota, {}, IotaAttributes{0, f32(Shape(9, 1))}) ==
        "iota: f32[1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 dimensions, expected at most 8");
  CHECK(types(OpKind::constant, {}, ConstantAttributes{DType::i32, 0, int64_t{1} << 31}) ==
        "constant: 2147483648 does not fit i32");
}
