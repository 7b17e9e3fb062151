// SPDX-License-Identifier: Apache-2.0
// Library functions that are one primitive op, with conveniences of the language: literals,
// broadcast batch dims, negative axes, kept dims.
#include "ir/float_bits.h"
#include "ir/library/functions.h"

namespace ingot::library {

namespace {

OpKind kind_of(Call& call) { return *call.function().primitive; }

Axes kept(Call& call) { return call.boolean("keepdim") ? Axes::keep : Axes::drop; }

struct Reduction {
  Term x;
  llvm::SmallVector<int64_t, 4> axes;
  Axes reduced;
};

/// A scalar is reduced as one element.
Reduction read_reduction(Call& call) {
  Reduction r{call.tensor("x"), {}, kept(call)};
  r.axes = call.axes("axis", r.x.rank());
  if (r.x.rank() == 0) {
    r = {reshape(r.x, {Dim(1)}), {0}, Axes::drop};
  } else if (r.axes.empty()) {
    call.fail_argument("axis", "no axes to reduce over");
  }
  return r;
}

/// [K] as [1, K] for the left operand, and as [K, 1] for the right one.
Term as_matrix(const Term& x, size_t one_at) {
  if (x.rank() != 1) return x;
  Shape shape = x.shape();
  shape.insert(shape.begin() + one_at, Dim(1));
  return reshape(x, shape);
}

Term with_batch(const Term& x, const Shape& batch) {
  Shape shape = batch;
  shape.append(x.shape().end() - 2, x.shape().end());
  return shape == x.shape() ? x : broadcast(x, shape);
}

} // namespace

namespace {

/// Whether a comparison has a bool tensor and a number. The bool then counts as 0 or 1.
bool counts_truth(Call& call) {
  const TypeRule rule = info(kind_of(call)).rule;
  if (rule != TypeRule::compare && rule != TypeRule::equality) return false;
  const auto is_truth = [&](llvm::StringRef name) {
    return call.is_tensor(name) && call.tensor(name).type().dtype == DType::boolean;
  };
  return (is_truth("a") && call.is_number("b")) || (call.is_number("a") && is_truth("b"));
}

Term counted(Call& call, llvm::StringRef name) {
  if (call.is_tensor(name)) return cast(call.tensor(name), DType::f32);
  return call.builder().constant(DType::f32, round_by_f32(DType::f32, call.number(name)));
}

} // namespace

/// A hint for PyTorch's x.select(dim, index), which does not select elements by a condition: x[:,
/// index].
std::string hint_of_position(Call& call) {
  if (!call.is_integer("a") || !call.is_integer("b")) return "";
  const int64_t dim = call.integer("a"), index = call.integer("b");
  constexpr int64_t kMostDims = 8;
  if (dim < -kMostDims || dim >= kMostDims) return "";
  std::string items = fmt::format("{}", index);
  for (int64_t i = 0; i < dim; ++i) items = ":, " + items;
  for (int64_t i = dim; i < -1; ++i) items += ", :";
  return fmt::format("; position {} of dim {} is x[{}{}]", index, dim, dim < 0 ? "..., " : "",
                     items);
}

Results elementwise(Call& call) {
  if (kind_of(call) == OpKind::select && call.is_tensor("condition"))
    if (const Term x = call.tensor("condition"); x.type().dtype != DType::boolean)
      if (const std::string hint = hint_of_position(call); !hint.empty())
        return call.fail("condition is {}, expected bool{}", x.type().text(), hint);
  if (counts_truth(call)) {
    Term a = counted(call, "a"), b = counted(call, "b");
    return {call.builder().op(kind_of(call), {a, b})};
  }
  llvm::SmallVector<Term, 3> operands;
  const bool rounds = info(kind_of(call)).rounds_literals();
  for (const Parameter& parameter : call.function().parameters)
    operands.push_back(rounds ? call.rounded(parameter.name) : call.tensor(parameter.name));
  return {call.builder().op(kind_of(call), operands)};
}

Results constant(Call& call) {
  DType dtype = call.dtype("dtype");
  return {call.builder().constant(call.literal("value", dtype))};
}

Results iota(Call& call) {
  Type type{call.dtype("dtype"), call.dims("shape")};
  int64_t axis = call.axis("axis", type.rank());
  return {call.builder().op(OpKind::iota, {}, IotaAttributes{axis, type})};
}

Results extent(Call& call) {
  ExtentAttributes attributes{call.dtype("dtype"), call.dims("shape")};
  return {call.builder().op(OpKind::extent, {}, attributes)};
}

Results cast_to(Call& call) {
  Term x = call.tensor("x");
  return {cast(x, call.dtype("dtype"))};
}

Results type_as(Call& call) {
  Term x = call.tensor("x"), other = call.tensor("other");
  return {cast(x, other.type().dtype)};
}

namespace {

/// Whether b would fit behind a with its last dims swapped, like the weight of PyTorch's linear.
bool is_transposed(const Term& a, const Term& b) {
  if (a.rank() < 1 || b.rank() < 2) return false;
  const Dim& k = a.shape().back();
  return !(k == b.shape()[b.rank() - 2]) && k == b.shape().back();
}

std::string hint_of_transposed(const Term& a, const Term& b) {
  auto name_of = [](const Term& x) { return x.builder().graph().value(x.id()).name; };
  const std::string left = name_of(a), right = name_of(b), swap = b.rank() > 2 ? ".mT" : ".T";
  if (right.empty()) return fmt::format("write {} behind the second operand", swap);
  if (b.rank() > 2) return fmt::format("write {}.mT for the second", right);
  return fmt::format("write {1}.T for the second, or linear({0}, {1})", left.empty() ? "x" : left,
                     right);
}

} // namespace

Results matrix_product(Call& call) {
  for (llvm::StringRef name : {"a", "b"})
    if (call.is_number(name))
      return call.fail_argument(name,
                                "argument '{}' is {}, expected a tensor; a * b multiplies by a "
                                "number",
                                name, call.number(name));
  Term a = call.tensor("a"), b = call.tensor("b");
  MatmulAttributes attributes{call.boolean("transpose_a"), call.boolean("transpose_b")};
  if (is_transposed(a, b) && !attributes.transpose_a && !attributes.transpose_b)
    return call.fail("inner extents differ, {} and {}: {} x {}; {}", a.shape().back().text(),
                     b.shape()[b.rank() - 2].text(), a.type().text(), b.type().text(),
                     hint_of_transposed(a, b));
  bool is_row = a.rank() == 1, is_column = b.rank() == 1;
  if ((is_row && attributes.transpose_a) || (is_column && attributes.transpose_b))
    return call.fail("a vector cannot be transposed: {} x {}", a.type().text(), b.type().text());
  a = as_matrix(a, 0);
  b = as_matrix(b, 1);
  if (a.rank() >= 2 && b.rank() >= 2) {
    auto batch = broadcast_shapes(Shape(a.shape().begin(), a.shape().end() - 2),
                                  Shape(b.shape().begin(), b.shape().end() - 2));
    if (!batch)
      return call.fail("batch extents do not broadcast: {} x {}", a.type().text(), b.type().text());
    a = with_batch(a, *batch);
    b = with_batch(b, *batch);
  }
  Term product = matmul(a, b, attributes);
  if (call.failed() || (!is_row && !is_column)) return {product};
  Shape shape = product.shape();
  if (is_column) shape.pop_back();
  if (is_row) shape.erase(shape.begin() + (shape.size() - (is_column ? 1 : 2)));
  return {reshape(product, shape)};
}

Results reduction(Call& call) {
  Reduction r = read_reduction(call);
  return {reduce(kind_of(call), r.x, r.axes, r.reduced)};
}

Results pair_reduction(Call& call) {
  Reduction r = read_reduction(call);
  auto [first, second] = reduce_pair(kind_of(call), r.x, r.axes, r.reduced);
  return {first, second};
}

Results index_reduction(Call& call) {
  Term x = call.tensor("x");
  Axes reduced = kept(call);
  if (call.has("axis")) {
    int64_t axis = call.axis("axis", x.rank());
    return {reduce(kind_of(call), x, axis, reduced)};
  }
  Term flat = reshape(x, {element_count(x.shape())});
  Term index = reduce(kind_of(call), flat, 0);
  return {reduced == Axes::keep ? reshape(index, Shape(x.rank(), Dim(1))) : index};
}

namespace {

Results extremum(Call& call, OpKind of_two, OpKind reduced, OpKind index) {
  Term x = call.tensor("x");
  if (call.has("other")) {
    if (call.has("axis")) return call.fail("both other and axis are given");
    return {call.builder().op(of_two, {x, call.tensor("other")})};
  }
  if (!call.has("axis") && call.boolean("keepdim"))
    return call.fail_argument("keepdim", "keepdim is for one axis, which is not given");
  if (!call.has("axis")) return {reduce(reduced, x, all_axes(x))};
  const int64_t axis = call.axis("axis", x.rank());
  Term values = reduce(reduced, x, axis, kept(call));
  return {values, reduce(index, x, axis, kept(call))};
}

} // namespace

Results maximum_of(Call& call) {
  return extremum(call, OpKind::maximum, OpKind::reduce_max, OpKind::argmax);
}

Results minimum_of(Call& call) {
  return extremum(call, OpKind::minimum, OpKind::reduce_min, OpKind::argmin);
}

Results scan(Call& call) {
  Term x = call.tensor("x");
  int64_t axis = call.axis("axis", x.rank());
  const ScanAttributes attributes{axis, call.boolean("exclusive"), call.boolean("reverse")};
  return {call.builder().op(kind_of(call), x, attributes)};
}

Results gather_along(Call& call) {
  Term x = call.tensor("x"), index = call.tensor("index");
  return {gather(x, index, call.axis("axis", x.rank()))};
}

Results concatenation(Call& call) {
  std::vector<Term> parts = call.tensors("parts");
  if (call.failed()) return {};
  int64_t axis = call.axis("axis", parts.front().rank());
  return {concat(parts, axis)};
}

} // namespace ingot::library
