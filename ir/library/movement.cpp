// SPDX-License-Identifier: Apache-2.0
// Library functions that move elements or replace them by zeros. They compute nothing.
#include "ir/library/functions.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot::library {

namespace {

/// x with two dims swapped. Negative dims count from the end.
Results swapped(Call& call, const Term& x, int64_t first, int64_t second) {
  const int64_t rank = x.rank();
  for (int64_t dim : {first, second})
    if (dim < -rank || dim >= rank)
      return call.fail("{} has no dim {} to swap", x.type().text(), dim);
  auto permutation = all_axes(x);
  std::swap(permutation[first < 0 ? first + rank : first],
            permutation[second < 0 ? second + rank : second]);
  return {transpose(x, permutation)};
}

} // namespace

Results reshape_to(Call& call) {
  Term x = call.tensor("x");
  Shape shape = call.dims("shape");
  Dim known = 1;
  Dim* open = nullptr;
  for (Dim& dim : shape) {
    if (dim.is(-1)) {
      if (open) return call.fail_argument("shape", "more than one extent is -1");
      open = &dim;
      continue;
    }
    auto product = checked_multiply(known, dim);
    if (!product || dim.factor() < 1)
      return call.fail_argument("shape", "{} is not a shape for {}", text_of(shape),
                                x.type().text());
    known = *product;
  }
  if (open) {
    auto rest = element_count(x.shape()).divided_by(known);
    if (!rest)
      return call.fail_argument("shape", "no extent for -1 makes {} the shape of {}",
                                text_of(shape), x.type().text());
    *open = *rest;
  }
  return {reshape(x, shape)};
}

Results permute(Call& call) {
  Term x = call.tensor("x");
  if (!call.has("permutation")) {
    if (x.rank() < 2) return call.fail("{} has no two dims to swap", x.type().text());
    return swapped(call, x, -2, -1);
  }
  auto permutation = call.ints("permutation");
  for (int64_t& axis : permutation)
    if (axis < 0) axis += x.rank();
  return {transpose(x, permutation)};
}

/// The second argument is a permutation, or the first of two dims.
Results swap_dims(Call& call) {
  if (!call.has("dim0") && !call.has("dim1")) return permute(call);
  Term x = call.tensor("x");
  const bool by_position = call.has("permutation");
  if (!call.has("dim1") || by_position == call.has("dim0"))
    return call.fail(
        "expected two dims, as in transpose(x, 0, 1), or a permutation of all of them, "
        "as in transpose(x, [1, 0])");
  const int64_t first = call.integer(by_position ? "permutation" : "dim0");
  return swapped(call, x, first, call.integer("dim1"));
}

Results broadcast_to(Call& call) {
  Term x = call.tensor("x");
  Shape shape = call.dims("shape");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].is(-1)) continue;
    const int64_t axis = static_cast<int64_t>(i) - static_cast<int64_t>(shape.size()) + x.rank();
    if (axis < 0)
      return call.fail_argument("shape", "{} has no extent for the -1 of dim {} in {} to keep",
                                x.type().text(), i, text_of(shape));
    shape[i] = x.shape()[axis];
  }
  return {broadcast(x, shape)};
}

Results slice_ranges(Call& call) {
  Term x = call.tensor("x");
  SliceAttributes ranges{call.ints("starts"), call.ints("stops"), {}};
  if (call.has("steps")) {
    ranges.steps = call.ints("steps");
  } else {
    ranges.steps.assign(ranges.starts.size(), 1);
  }
  return {call.builder().op(OpKind::slice, x, ranges)};
}

Results window(Call& call) {
  Term x = call.tensor("x");
  const int64_t axis = call.axis("axis", x.rank());
  const Dim start = call.dim("start"), extent = call.dim("extent");
  return {window(x, {axis, start, extent, call.boolean("inside")})};
}

Results narrow(Call& call) {
  Term x = call.tensor("x");
  int64_t axis = call.axis("axis", x.rank());
  const Dim start = call.dim("start"), length = call.dim("length");
  if (call.failed()) return {x};
  const Dim& extent = x.shape()[axis];
  if (extent.is_fixed() && start.is_fixed() && length.is_fixed() &&
      (start.fixed() < 0 || length.fixed() < 1 || start.fixed() > extent.fixed() ||
       length.fixed() > extent.fixed() - start.fixed()))
    return call.fail("{} elements from {} do not lie in axis {} of {}", length.text(), start.text(),
                     axis, x.type().text());
  return {part(x, axis, start, length)};
}

Results flatten(Call& call) {
  Term x = call.tensor("x");
  if (x.rank() == 0) return {reshape(x, {Dim(1)})};
  int64_t start = call.axis("start", x.rank()), stop = call.axis("stop", x.rank());
  if (start > stop) return call.fail("axis {} comes after axis {}", start, stop);
  Shape shape(x.shape().begin(), x.shape().begin() + start);
  shape.push_back(element_count(Shape(x.shape().begin() + start, x.shape().begin() + stop + 1)));
  shape.append(x.shape().begin() + stop + 1, x.shape().end());
  return {reshape(x, shape)};
}

Results squeeze(Call& call) {
  Term x = call.tensor("x");
  auto axes = call.axes("axis", x.rank());
  Shape shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const Dim& dim = x.shape()[i];
    if (dim.is(1) && llvm::is_contained(axes, i)) continue;
    if (call.has("axis") && llvm::is_contained(axes, i))
      return call.fail_argument("axis", "axis {} of {} has extent {}, expected 1", i,
                                x.type().text(), dim.text());
    shape.push_back(dim);
  }
  return {reshape(x, shape)};
}

Results unsqueeze(Call& call) {
  Term x = call.tensor("x");
  int64_t axis = call.axis("axis", x.rank() + 1);
  Shape shape = x.shape();
  shape.insert(shape.begin() + axis, Dim(1));
  return {reshape(x, shape)};
}

Term is_beside(Builder& builder, const Shape& shape, OpKind side, int64_t diagonal) {
  constexpr int64_t kNear = int64_t{1} << 30;
  const auto is_near = [](const Dim& dim) { return dim.is_fixed() && dim.fixed() <= kNear; };
  const size_t rank = shape.size();
  const bool is_small = is_near(shape[rank - 1]) && is_near(shape[rank - 2]) &&
                        diagonal >= -kNear && diagonal <= kNear;
  const Type places{is_small ? DType::i32 : DType::i64, shape};
  const auto places_along = [&](size_t axis) {
    return builder.op(OpKind::iota, {}, IotaAttributes{static_cast<int64_t>(axis), places});
  };
  Term column = places_along(rank - 1), row = places_along(rank - 2);
  // No tensor has 2^62 rows or columns. A diagonal clamped to that selects the same elements, and
  // no sum overflows.
  const int64_t limit = int64_t{1} << 62;
  const auto offset = std::clamp(diagonal, -limit, limit);
  Term bound = builder.constant(ConstantAttributes{places.dtype, 0, offset});
  return builder.op(side, {column - row, bound});
}

namespace {

/// x where column minus row is at least (or at most) `diagonal`, and 0 elsewhere.
Results triangle(Call& call, OpKind side) {
  Term x = call.tensor("x");
  const int64_t diagonal = call.integer("diagonal");
  if (x.rank() < 2) return call.fail("{} has no two dims", x.type().text());
  Term is_kept = is_beside(call.builder(), x.shape(), side, diagonal);
  Term zero = call.builder().constant(x.type().dtype, 0);
  return {select(is_kept, x, zero)};
}

} // namespace

Results triu(Call& call) { return triangle(call, OpKind::greater_equal); }

Results tril(Call& call) { return triangle(call, OpKind::less_equal); }

Results flip(Call& call) {
  Term x = call.tensor("x");
  const auto axes = call.axes("axis", x.rank());
  for (int64_t axis : axes) x = ingot::flip(x, axis);
  return {x};
}

Term copied(const Term& x, int64_t axis, const Dim& count, Copies order) {
  if (x.builder().failed()) return x;
  Shape apart = x.shape(), whole = x.shape();
  const auto extent = checked_multiply(whole[axis], count);
  if (!extent || !is_short(*extent))
    return x.builder().fail(make_error(ErrorCode::type_error,
                                       "axis {} of {}, {} times, has an extent of 2^63 or more, or "
                                       "of too many names",
                                       axis, x.type().text(), count.text()));
  whole[axis] = *extent;
  const int64_t place = order == Copies::in_a_row ? axis + 1 : axis;
  apart.insert(apart.begin() + place, Dim(1));
  Shape spread = apart;
  spread[place] = count;
  return reshape(broadcast(reshape(x, apart), spread), whole);
}

Results repeat_interleave(Call& call) {
  Term x = call.tensor("x");
  const int64_t repeats = call.integer("repeats");
  if (repeats < 1)
    return call.fail_argument("repeats", "repeats is {}, expected at least 1", repeats);
  if (!call.has("axis"))
    return {copied(reshape(x, {element_count(x.shape())}), 0, repeats, Copies::in_a_row)};
  return {copied(x, call.axis("axis", x.rank()), repeats, Copies::in_a_row)};
}

Results masked_fill(Call& call) {
  Term x = call.tensor("x"), mask = call.tensor("mask");
  if (mask.type().dtype != DType::boolean)
    return call.fail_argument("mask", "mask is {}, expected bool", mask.type().text());
  const DType dtype = x.type().dtype;
  Term value = call.is_tensor("value") ? call.tensor("value")
                                       : call.builder().constant(call.literal("value", dtype));
  if (value.rank() != 0)
    return call.fail_argument("value", "value is {}, expected a number or a scalar",
                              value.type().text());
  return {select(mask, value, x)};
}

namespace {

/// x at the positions in the vector `index`, along one axis.
Term selected(const Term& x, const Term& index, int64_t axis) {
  if (x.builder().failed()) return x;
  Shape row(x.rank(), Dim(1)), shape = x.shape();
  row[axis] = shape[axis] = index.shape()[0];
  return gather(x, broadcast(reshape(index, row), shape), axis);
}

bool is_index(const Term& index) { return is_integer(index.type().dtype); }

} // namespace

Results index_select(Call& call) {
  Term x = call.tensor("x"), index = call.tensor("index");
  const int64_t axis = call.axis("axis", x.rank());
  if (!is_index(index) || index.rank() > 1)
    return call.fail_argument("index", "index is {}, expected a vector of i32 or i64",
                              index.type().text());
  return {selected(x, index.rank() == 0 ? reshape(index, {Dim(1)}) : index, axis)};
}

Results embedding(Call& call) {
  Term x = call.tensor("x"), weight = call.tensor("weight");
  if (!is_index(x) || weight.rank() != 2)
    return call.fail("x is {} and weight is {}, expected i32 or i64, and a table [rows, d]",
                     x.type().text(), weight.type().text());
  Shape shape = x.shape();
  shape.push_back(weight.shape()[1]);
  Term rows = selected(weight, reshape(x, {element_count(x.shape())}), 0);
  return {shape.size() == 2 ? rows : reshape(rows, shape)};
}

} // namespace ingot::library
