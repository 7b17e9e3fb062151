// SPDX-License-Identifier: Apache-2.0
// Library functions that roll, pad, repeat and reorder dims.
#include "ir/library/functions.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ingot::library {

namespace {

/// x shifted along one axis. Elements shifted out at one end enter at the other.
Term rolled(const Term& x, int64_t axis, int64_t shift) {
  if (x.builder().failed()) return x;
  const Dim& extent = x.shape()[axis];
  if (extent.is_fixed()) {
    const int64_t count = extent.fixed(), by = (shift % count + count) % count;
    if (by == 0) return x;
    const Term back = slice(x, axis, count - by, count), front = slice(x, axis, 0, count - by);
    return concat({back, front}, axis);
  }
  const Term position = positions(x, axis);
  const DType dtype = position.type().dtype;
  Builder& builder = x.builder();
  const Term count = builder.op(OpKind::extent, {}, ExtentAttributes{dtype, {extent}});
  const Term moved = position - builder.constant(ConstantAttributes{dtype, 0, shift});
  // The quotient rounds towards zero.
  const Term rest = moved - moved / count * count;
  const Term is_below = less(rest, 0), from_end = rest + count;
  return gather(x, select(is_below, from_end, rest), axis);
}

/// x with copies along its last dims; `counts` gives their numbers.
Results copies(Call& call, Term x, llvm::ArrayRef<Dim> counts) {
  for (const Dim& count : counts)
    if (count.factor() < 1)
      return call.fail_argument("repeats", "{} copies, expected at least 1", count.text());
  const auto missing = static_cast<int64_t>(counts.size()) - x.rank();
  if (missing > 0) {
    Shape shape = x.shape();
    shape.insert(shape.begin(), missing, Dim(1));
    x = reshape(x, shape);
  }
  const int64_t first = x.rank() - static_cast<int64_t>(counts.size());
  for (auto [i, count] : llvm::enumerate(counts))
    if (!count.is(1))
      x = copied(x, first + static_cast<int64_t>(i), count, Copies::behind_each_other);
  return {x};
}

/// A tensor with one number everywhere. It has the type and shape of x, except for one extent.
Term padding(const Term& x, int64_t axis, int64_t count, const Term& value) {
  Shape shape = x.shape();
  shape[axis] = count;
  return broadcast(value, shape);
}

/// x with `before` and `after` more elements along one axis. Negative counts remove elements.
Results padded(Call& call, Term x, int64_t axis, int64_t before, int64_t after) {
  const int64_t cut = std::max<int64_t>(-before, 0), cut_end = std::max<int64_t>(-after, 0);
  if (cut > 0 || cut_end > 0) {
    const Dim extent = x.shape()[axis];
    const auto rest = checked_subtract(extent, cut + cut_end);
    if (!rest || (rest->is_fixed() && rest->fixed() < 1))
      return call.fail_argument("pad", "{} and {} leave no element of axis {} of {}", before, after,
                                axis, x.type().text());
    x = part(x, axis, cut, *rest);
  }
  if (before <= 0 && after <= 0) return {x};
  const Term value = call.builder().constant(call.literal("value", x.type().dtype));
  if (call.failed()) return {x};
  llvm::SmallVector<Term, 3> parts;
  if (before > 0) parts.push_back(padding(x, axis, before, value));
  parts.push_back(x);
  if (after > 0) parts.push_back(padding(x, axis, after, value));
  return {concat(parts, axis)};
}

} // namespace

/// Without axes, it rolls the elements in row-major order.
Results roll(Call& call) {
  Term x = call.tensor("x");
  const auto shifts = call.ints("shifts");
  constexpr int64_t kMost = int64_t{1} << 62;
  for (int64_t shift : shifts)
    if (shift > kMost || shift < -kMost)
      return call.fail_argument("shifts", "{}, expected at most 2^62", shift);
  if (!call.has("axis")) {
    if (shifts.size() != 1)
      return call.fail_argument("shifts", "{} shifts, expected one where no axes are given",
                                shifts.size());
    return {reshape(rolled(reshape(x, {element_count(x.shape())}), 0, shifts[0]), x.shape())};
  }
  const auto axes = call.axes("axis", x.rank());
  if (axes.size() != shifts.size())
    return call.fail("{} shifts and {} axes, expected as many", shifts.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) x = rolled(x, axes[i], shifts[i]);
  return {x};
}

/// The counts come in pairs: for the last dim, for the one before it, and so on.
Results pad(Call& call) {
  Term x = call.tensor("x");
  const auto counts = call.ints("pad");
  const llvm::StringRef mode = call.text("mode");
  if (mode != "constant")
    return call.fail_argument("mode", "mode is \"{}\", expected \"constant\"", mode);
  const auto pairs = static_cast<int64_t>(counts.size() / 2);
  if (counts.size() % 2 != 0 || pairs > x.rank())
    return call.fail_argument("pad",
                              "{} numbers for {}, expected pairs of how many before and behind, "
                              "of the last dim first, as in pad(x, [1, 2])",
                              counts.size(), x.type().text());
  constexpr int64_t kMost = int64_t{1} << 62;
  for (int64_t i = 0; i < pairs && !call.failed(); ++i) {
    const int64_t before = counts[2 * i], after = counts[2 * i + 1];
    if (std::max(before, after) > kMost || std::min(before, after) < -kMost / 2)
      return call.fail_argument("pad", "{} and {}, expected at most 2^62", before, after);
    x = padded(call, x, x.rank() - 1 - i, before, after)[0];
  }
  return {x};
}

Results repeat(Call& call) {
  Term x = call.tensor("x");
  const Shape counts = call.dims("repeats");
  if (static_cast<int64_t>(counts.size()) < x.rank())
    return call.fail_argument("repeats",
                              "copies are given for {} of the {} dims of {}; "
                              "repeat_interleave(x, 2, axis) repeats elements in a row",
                              counts.size(), x.rank(), x.type().text());
  return copies(call, x, counts);
}

/// Like repeat, but the counts of leading dims may be left out.
Results tile(Call& call) {
  Term x = call.tensor("x");
  return copies(call, x, call.dims("repeats"));
}

Results movedim(Call& call) {
  Term x = call.tensor("x");
  const auto from = call.axes("source", x.rank()), to = call.axes("destination", x.rank());
  if (call.failed()) return {x};
  if (from.size() != to.size())
    return call.fail("{} dims to {} places, expected as many", from.size(), to.size());
  llvm::SmallVector<int64_t, 4> rest, permutation(x.rank(), -1);
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (!llvm::is_contained(from, axis)) rest.push_back(axis);
  for (size_t i = 0; i < from.size(); ++i) permutation[to[i]] = from[i];
  const int64_t* next = rest.begin();
  for (int64_t& axis : permutation)
    if (axis < 0) axis = *next++;
  return {transpose(x, permutation)};
}

/// Splits one dim into several. One extent may be -1.
Results unflatten(Call& call) {
  Term x = call.tensor("x");
  const int64_t axis = call.axis("axis", x.rank());
  Shape sizes = call.dims("sizes");
  if (call.failed()) return {x};
  const Dim extent = x.shape()[axis];
  const auto refuse = [&] {
    return call.fail_argument("sizes", "{} is no shape for axis {} of {}, which has the extent {}",
                              text_of(sizes), axis, x.type().text(), extent.text());
  };
  Dim known = 1;
  Dim* open = nullptr;
  for (Dim& size : sizes) {
    if (size.is(-1)) {
      if (open) return call.fail_argument("sizes", "more than one extent is -1");
      open = &size;
      continue;
    }
    const auto product = size.factor() < 1 ? std::nullopt : checked_multiply(known, size);
    if (!product) return refuse();
    known = *product;
  }
  const auto rest = extent.divided_by(known);
  if (!rest || (!open && !rest->is(1))) return refuse();
  if (open) *open = *rest;
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, sizes.begin(), sizes.end());
  return {reshape(x, shape)};
}

} // namespace ingot::library
