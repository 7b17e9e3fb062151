// SPDX-License-Identifier: Apache-2.0
// Functions that split a tensor along one axis or join tensors.
#include "ir/library/functions.h"

namespace ingot::library {

namespace {

/// An extent without its constant factor: n for 2*n.
Dim names_of(const Dim& dim) { return *dim.divided_by(dim.factor()); }

/// Splits one axis of x into parts of `counts` times `unit`, which add up to its extent.
Results parts_of(const Term& x, int64_t axis, const Dim& unit, llvm::ArrayRef<int64_t> counts) {
  if (counts.size() == 1) return {x};
  Term source = x;
  // A named extent cannot be sliced, but its constant factor can.
  if (!unit.is_fixed()) {
    Shape shape = x.shape();
    shape[axis] = x.shape()[axis].factor();
    shape.insert(shape.begin() + axis + 1, unit);
    source = reshape(x, shape);
  }
  Results results;
  int64_t start = 0;
  for (int64_t count : counts) {
    Term part = slice(source, axis, start, start + count);
    start += count;
    if (!unit.is_fixed()) {
      Shape shape = x.shape();
      shape[axis] = unit * Dim(count);
      part = reshape(part, shape);
    }
    results.push_back(part);
  }
  return results;
}

/// Extents of `size` that add up to `total`; the last may be smaller.
std::vector<int64_t> pieces(int64_t total, int64_t size) {
  std::vector<int64_t> result(total / size, size);
  if (total % size != 0) result.push_back(total % size);
  return result;
}

Results refuse_count(Call& call, int64_t count) {
  return call.fail("{} parts, expected at most {}", count, kMostParts);
}

/// Splits one axis into two halves.
Results halves(Call& call, const Term& x, int64_t axis) {
  const Dim& extent = x.shape()[axis];
  const int64_t count = extent.factor();
  if (count % 2 != 0)
    return call.fail_argument("axis", "axis {} of {} has the extent {}, expected an even number",
                              axis, x.type().text(), extent.text());
  return parts_of(x, axis, names_of(extent), {count / 2, count / 2});
}

/// Splits one axis into parts of the listed extents.
Results listed_parts(Call& call, const Term& x, int64_t axis, const Shape& sizes) {
  if (sizes.size() > size_t{kMostParts})
    return refuse_count(call, static_cast<int64_t>(sizes.size()));
  const Dim& extent = x.shape()[axis];
  const Dim unit = names_of(extent);
  std::optional<Dim> total = Dim(0);
  std::vector<int64_t> counts; // counts of the parts that are multiples of the unit
  for (const Dim& size : sizes) {
    if (size.is(0) || size.is_negative())
      return call.fail_argument("sizes", "a part of {} of axis {} of {}, expected at least 1",
                                size.text(), axis, x.type().text());
    if (total) total = checked_add(*total, size);
    if (const auto count = size.divided_by(unit); count && count->is_fixed())
      counts.push_back(count->fixed());
  }
  if (total != extent)
    return call.fail_argument("sizes",
                              "the parts {} do not add up to {}, the extent of axis {} of {}",
                              text_of(sizes), extent.text(), axis, x.type().text());
  if (counts.size() == sizes.size()) return parts_of(x, axis, unit, counts);
  Results results;
  Dim start = 0;
  for (const Dim& size : sizes) {
    results.push_back(part(x, axis, start, size));
    start = start + size;
  }
  return results;
}

} // namespace

Results stack(Call& call) {
  std::vector<Term> parts = call.tensors("parts");
  if (call.failed()) return {};
  const Type type = parts.front().type();
  const int64_t axis = call.axis("axis", type.rank() + 1);
  Shape shape = type.shape;
  shape.insert(shape.begin() + axis, Dim(1));
  for (Term& part : parts) {
    if (part.type() != type)
      return call.fail("{} and {} differ, expected tensors of one type and shape", type.text(),
                       part.type().text());
    part = reshape(part, shape);
  }
  return {concat(parts, axis)};
}

Results split(Call& call) {
  Term x = call.tensor("x");
  const int64_t axis = call.axis("axis", x.rank());
  const Shape sizes = call.dims("sizes");
  if (call.failed()) return {x};
  if (call.is_list("sizes")) return listed_parts(call, x, axis, sizes);
  const Dim& extent = x.shape()[axis];
  const Dim unit = names_of(extent);
  const auto size = sizes.front().divided_by(unit);
  if (!size || !size->is_fixed() || size->fixed() < 1)
    return call.fail_argument(
        "sizes", "a part of {} of axis {} of {}, expected {}", sizes.front().text(), axis,
        x.type().text(),
        unit.is_fixed() ? "at least 1"
                        : fmt::format("a multiple of {}, or a list of extents that add up to {}",
                                      unit.text(), extent.text()));
  const int64_t count = (extent.factor() - 1) / size->fixed() + 1;
  if (count > kMostParts) return refuse_count(call, count);
  return parts_of(x, axis, unit, pieces(extent.factor(), size->fixed()));
}

Results chunk(Call& call) {
  Term x = call.tensor("x");
  const int64_t axis = call.axis("axis", x.rank()), chunks = call.integer("chunks");
  if (call.failed()) return {x};
  if (chunks < 1) return call.fail_argument("chunks", "{} parts, expected at least 1", chunks);
  const Dim& extent = x.shape()[axis];
  const int64_t total = extent.factor();
  if (!extent.is_fixed() && total % chunks != 0)
    return call.fail_argument("chunks",
                              "the named extent {} of axis {} does not divide into {} "
                              "parts for every size",
                              extent.text(), axis, chunks);
  const int64_t size = (total - 1) / chunks + 1, count = (total - 1) / size + 1;
  if (count > kMostParts) return refuse_count(call, count);
  return parts_of(x, axis, names_of(extent), pieces(total, size));
}

Results glu(Call& call) {
  Term x = call.float_tensor("x");
  const int64_t axis = call.axis("axis", x.rank());
  if (call.failed()) return {x};
  const Results parts = halves(call, x, axis);
  if (call.failed()) return {x};
  return {parts[0] * sigmoid_of(parts[1])};
}

} // namespace ingot::library
