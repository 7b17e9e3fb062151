// SPDX-License-Identifier: Apache-2.0
// Scans, indexing, constant tensors, and operators that move elements. The conventions are those of
// ingot/ops.h.
#pragma once

#include "ingot/ops.h"

#pragma GCC visibility push(default)
namespace ingot {

// ---- Scans, indexing, movement ------------------------------------------------------------------

/// `reverse`: the scan starts at the end of the axis. `exclusive`: an element does not count
/// itself.
struct ScanOptions {
  bool exclusive = false;
  bool reverse = false;
};
/// Running sum and running product along one axis.
inline Var cumsum(const Var& x, int64_t axis = -1, ScanOptions options = {}) {
  return detail::apply(x, "cumsum", {x, axis, options.exclusive, options.reverse});
}
inline Var cumprod(const Var& x, int64_t axis = -1, ScanOptions options = {}) {
  return detail::apply(x, "cumprod", {x, axis, options.exclusive, options.reverse});
}
/// Result[.., i, ..] = x[.., index[.., i, ..], ..] along one axis. `index` is i32 or i64, has the
/// rank of x, and has its extents on the other axes. An index out of range gives NaN, 0 or false.
inline Var gather(const Var& x, const Var& index, int64_t axis = -1) {
  return detail::apply(x, "gather", {x, index, axis});
}
/// x at the positions of a vector, along one axis. A position out of range gives NaN, 0 or false.
inline Var index_select(const Var& x, int64_t axis, const Var& index) {
  return detail::apply(x, "index_select", {x, axis, index});
}
/// Rows of a table [n, d] at an integer tensor of any shape [..]; the result is [.., d]. An index
/// out of range gives a row of NaN, 0 or false.
inline Var embedding(const Var& index, const Var& table) {
  return detail::apply(index, "embedding", {index, table});
}
/// i64 tensor with a new last dim of `num_classes`: 1 at position index, else 0.
inline Var one_hot(const Var& index, int64_t num_classes) {
  return detail::apply(index, "one_hot", {index, num_classes});
}
/// 0, 1, 2, ... along one axis.
inline Var iota(GraphBuilder& builder, ElementType type, const Extents& shape, int64_t axis = 0) {
  return builder.call("iota", {type, shape, axis});
}
/// The number of elements of a shape, as a scalar.
inline Var extent(GraphBuilder& builder, ElementType type, const Extents& shape) {
  return builder.call("extent", {type, shape});
}
/// A tensor that holds one number everywhere.
inline Var full(GraphBuilder& builder, ElementType type, const Extents& shape, const Arg& value) {
  return builder.call("full", {shape, value, type});
}
inline Var zeros(GraphBuilder& builder, ElementType type, const Extents& shape) {
  return builder.call("zeros", {shape, type});
}
inline Var ones(GraphBuilder& builder, ElementType type, const Extents& shape) {
  return builder.call("ones", {shape, type});
}
/// A vector of start, start + step, ... below stop.
inline Var arange(GraphBuilder& builder, ElementType type, const Arg& start, const Arg& stop,
                  const Arg& step = {}) {
  return builder.call("arange", {start, stop, step, type});
}
/// The same elements in row-major order in another shape. One extent may be -1.
inline Var reshape(const Var& x, const Extents& shape) {
  return detail::apply(x, "reshape", {x, shape});
}
/// Permutes dims: dim i of the result is dim permutation[i] of x. Without a permutation it swaps
/// the last two.
inline Var transpose(const Var& x, const std::optional<std::vector<int64_t>>& permutation = {}) {
  return detail::apply(x, "transpose", {x, Arg(permutation)});
}
/// Swaps two dims, as PyTorch's transpose. Negative dims count from the end.
inline Var transpose(const Var& x, int64_t dim0, int64_t dim1) {
  return detail::apply(x, "transpose", {x, dim0, dim1});
}
/// Repeats x along extents of 1 and along missing leading dims. An extent of -1 keeps that of x.
inline Var broadcast(const Var& x, const Extents& shape) {
  return detail::apply(x, "broadcast", {x, shape});
}
/// start:stop:step of every dim.
inline Var slice(const Var& x, const std::vector<int64_t>& starts,
                 const std::vector<int64_t>& stops,
                 const std::optional<std::vector<int64_t>>& steps = {}) {
  return detail::apply(x, "slice", {x, detail::list(starts), detail::list(stops), Arg(steps)});
}
/// `extent` elements from `start` along one axis. Positions outside of x hold any of its elements.
inline Var window(const Var& x, int64_t axis, int64_t start, int64_t extent) {
  return detail::apply(x, "window", {x, axis, start, extent});
}
/// Joins parts along one axis. Needs at least one part.
inline Var concat(const std::vector<Var>& parts, int64_t axis = 0) {
  return parts.empty() ? Var() : detail::apply(parts.front(), "concat", {Arg(parts), axis});
}
/// Joins parts of equal shape along a new axis. Needs at least one part.
inline Var stack(const std::vector<Var>& parts, int64_t axis = 0) {
  return parts.empty() ? Var() : detail::apply(parts.front(), "stack", {Arg(parts), axis});
}
/// Splits x along one axis into parts of these extents. Returns no values after an error.
inline std::vector<Var> split(const Var& x, const Extents& sizes, int64_t axis = 0) {
  return detail::apply_any(x, "split", {x, sizes, axis});
}
/// Splits x along one axis into parts of `size`; the last may be shorter. Returns no values after
/// an error.
inline std::vector<Var> split(const Var& x, const Extent& size, int64_t axis = 0) {
  return detail::apply_any(x, "split", {x, size, axis});
}
/// Splits x into at most `chunks` parts of equal extent; the last may be shorter. Returns no values
/// after an error.
inline std::vector<Var> chunk(const Var& x, int64_t chunks, int64_t axis = 0) {
  return detail::apply_any(x, "chunk", {x, chunks, axis});
}
/// `length` elements from `start` along one axis.
inline Var narrow(const Var& x, int64_t axis, int64_t start, int64_t length) {
  return detail::apply(x, "narrow", {x, axis, start, length});
}
/// Merges dims start to stop into one.
inline Var flatten(const Var& x, int64_t start = 0, int64_t stop = -1) {
  return detail::apply(x, "flatten", {x, start, stop});
}
/// Removes all extents of 1, or those of the given axes.
inline Var squeeze(const Var& x, const std::optional<std::vector<int64_t>>& axes = {}) {
  return detail::apply(x, "squeeze", {x, Arg(axes)});
}
/// Inserts an extent of 1 before an axis.
inline Var unsqueeze(const Var& x, int64_t axis) {
  return detail::apply(x, "unsqueeze", {x, axis});
}
/// Reverses x along one axis or several.
inline Var flip(const Var& x, int64_t axis) { return detail::apply(x, "flip", {x, axis}); }
inline Var flip(const Var& x, const std::vector<int64_t>& axes) {
  return detail::apply(x, "flip", {x, detail::list(axes)});
}
/// Repeats each element `repeats` times in a row along one axis. Without an axis, x is flattened
/// first.
inline Var repeat_interleave(const Var& x, int64_t repeats, std::optional<int64_t> axis = {}) {
  return detail::apply(x, "repeat_interleave", {x, repeats, axis});
}

/// Puts copies of x behind each other, repeats[i] of them along dim i. If there are more numbers
/// than dims, x gets leading dims of 1 first.
inline Var repeat(const Var& x, const Extents& repeats) {
  return detail::apply(x, "repeat", {x, repeats});
}
/// Like repeat(), but the numbers of leading dims may be left out.
inline Var tile(const Var& x, const Extents& repeats) {
  return detail::apply(x, "tile", {x, repeats});
}
/// Shifts elements towards the end along axes. Elements shifted out enter at the start.
inline Var roll(const Var& x, const std::vector<int64_t>& shifts,
                const std::optional<std::vector<int64_t>>& axes = {}) {
  return detail::apply(x, "roll", {x, detail::list(shifts), Arg(axes)});
}
/// Adds copies of `value` before and behind the elements. `counts` is {before, behind} for the last
/// dim, then {before, behind} for the dim before it, and so on. Negative counts cut elements off.
inline Var pad(const Var& x, const std::vector<int64_t>& counts, double value = 0) {
  return detail::apply(x, "pad", {x, detail::list(counts), "constant", value});
}
/// Moves dims to other places. The other dims keep their order.
inline Var movedim(const Var& x, const std::vector<int64_t>& source,
                   const std::vector<int64_t>& destination) {
  return detail::apply(x, "movedim", {x, detail::list(source), detail::list(destination)});
}
/// Splits one dim into several. One extent may be -1.
inline Var unflatten(const Var& x, int64_t axis, const Extents& sizes) {
  return detail::apply(x, "unflatten", {x, axis, sizes});
}
/// A tensor of the type and shape of x that holds one number everywhere.
inline Var full_like(const Var& x, const Arg& value) {
  return detail::apply(x, "full_like", {x, value});
}
inline Var zeros_like(const Var& x) { return detail::apply(x, "zeros_like", {x}); }
inline Var ones_like(const Var& x) { return detail::apply(x, "ones_like", {x}); }
/// Converts x to the element type of another value.
inline Var type_as(const Var& x, const Var& other) {
  return detail::apply(x, "type_as", {x, other});
}

/// triu is 0 below a diagonal of the last two dims, tril is 0 above it. Diagonal 1 lies above the
/// main one.
inline Var triu(const Var& x, int64_t diagonal = 0) {
  return detail::apply(x, "triu", {x, diagonal});
}
inline Var tril(const Var& x, int64_t diagonal = 0) {
  return detail::apply(x, "tril", {x, diagonal});
}

} // namespace ingot
#pragma GCC visibility pop
