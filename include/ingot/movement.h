// SPDX-License-Identifier: Apache-2.0
// Scans, indices, tensors of numbers, and operators that move elements.
// As ingot/ops.h, which has the rest.
#pragma once

#include "ingot/ops.h"

#pragma GCC visibility push(default)
namespace ingot {

// ---- Scans, indices, movement -------------------------------------------------------------------

/// Which end a scan starts from, and whether an element counts itself.
struct ScanOptions {
  bool exclusive = false;
  bool reverse = false;
};
/// Running sum and product along an axis.
inline Var cumsum(const Var& x, int64_t axis = -1, ScanOptions options = {}) {
  return detail::apply(x, "cumsum", {x, axis, options.exclusive, options.reverse});
}
inline Var cumprod(const Var& x, int64_t axis = -1, ScanOptions options = {}) {
  return detail::apply(x, "cumprod", {x, axis, options.exclusive, options.reverse});
}
/// x at index along one axis.
inline Var gather(const Var& x, const Var& index, int64_t axis = -1) {
  return detail::apply(x, "gather", {x, index, axis});
}
/// x at a vector of positions along one axis.
inline Var index_select(const Var& x, int64_t axis, const Var& index) {
  return detail::apply(x, "index_select", {x, axis, index});
}
/// Rows of a table at integers of any shape.
inline Var embedding(const Var& index, const Var& table) {
  return detail::apply(index, "embedding", {index, table});
}
/// i64 with a new last dim: 1 at the place that index says, else 0.
inline Var one_hot(const Var& index, int64_t num_classes) {
  return detail::apply(index, "one_hot", {index, num_classes});
}
/// 0, 1, 2, ... along an axis.
inline Var iota(GraphBuilder& builder, ElementType type, const Extents& shape, int64_t axis = 0) {
  return builder.call("iota", {type, shape, axis});
}
/// The number of elements of a shape, as a scalar.
inline Var extent(GraphBuilder& builder, ElementType type, const Extents& shape) {
  return builder.call("extent", {type, shape});
}
/// One number throughout.
inline Var full(GraphBuilder& builder, ElementType type, const Extents& shape, const Arg& value) {
  return builder.call("full", {shape, value, type});
}
inline Var zeros(GraphBuilder& builder, ElementType type, const Extents& shape) {
  return builder.call("zeros", {shape, type});
}
inline Var ones(GraphBuilder& builder, ElementType type, const Extents& shape) {
  return builder.call("ones", {shape, type});
}
/// start, start + step, ... below stop.
inline Var arange(GraphBuilder& builder, ElementType type, const Arg& start, const Arg& stop,
                  const Arg& step = {}) {
  return builder.call("arange", {start, stop, step, type});
}
/// The same elements in order; one extent may be -1.
inline Var reshape(const Var& x, const Extents& shape) {
  return detail::apply(x, "reshape", {x, shape});
}
/// Dims permuted: result dim i is dim permutation[i] of x; the last two swapped without one.
inline Var transpose(const Var& x, const std::optional<std::vector<int64_t>>& permutation = {}) {
  return detail::apply(x, "transpose", {x, Arg(permutation)});
}
/// Two dims swapped, as PyTorch's transpose; negative ones count from the end.
inline Var transpose(const Var& x, int64_t dim0, int64_t dim1) {
  return detail::apply(x, "transpose", {x, dim0, dim1});
}
/// Extents of 1 and missing leading dims repeated.
inline Var broadcast(const Var& x, const Extents& shape) {
  return detail::apply(x, "broadcast", {x, shape});
}
/// start:stop:step of every dim.
inline Var slice(const Var& x, const std::vector<int64_t>& starts,
                 const std::vector<int64_t>& stops,
                 const std::optional<std::vector<int64_t>>& steps = {}) {
  return detail::apply(x, "slice", {x, detail::list(starts), detail::list(stops), Arg(steps)});
}
/// `extent` elements from `start` along one axis; where x has none, any of its elements.
inline Var window(const Var& x, int64_t axis, int64_t start, int64_t extent) {
  return detail::apply(x, "window", {x, axis, start, extent});
}
/// Joined along one axis; at least one part.
inline Var concat(const std::vector<Var>& parts, int64_t axis = 0) {
  return parts.empty() ? Var() : detail::apply(parts.front(), "concat", {Arg(parts), axis});
}
/// Joined along a new axis; at least one part, all of one shape.
inline Var stack(const std::vector<Var>& parts, int64_t axis = 0) {
  return parts.empty() ? Var() : detail::apply(parts.front(), "stack", {Arg(parts), axis});
}
/// Parts of these extents along one axis. No values after an error.
inline std::vector<Var> split(const Var& x, const Extents& sizes, int64_t axis = 0) {
  return detail::apply_any(x, "split", {x, sizes, axis});
}
/// Parts of one extent along one axis; the last may be shorter. No values after an error.
inline std::vector<Var> split(const Var& x, const Extent& size, int64_t axis = 0) {
  return detail::apply_any(x, "split", {x, size, axis});
}
/// At most `chunks` parts of one extent, but for the last. No values after an error.
inline std::vector<Var> chunk(const Var& x, int64_t chunks, int64_t axis = 0) {
  return detail::apply_any(x, "chunk", {x, chunks, axis});
}
/// `length` elements from `start` along one axis.
inline Var narrow(const Var& x, int64_t axis, int64_t start, int64_t length) {
  return detail::apply(x, "narrow", {x, axis, start, length});
}
/// Dims start to stop as one.
inline Var flatten(const Var& x, int64_t start = 0, int64_t stop = -1) {
  return detail::apply(x, "flatten", {x, start, stop});
}
/// Without extents of 1: all of them, or those of the axes.
inline Var squeeze(const Var& x, const std::optional<std::vector<int64_t>>& axes = {}) {
  return detail::apply(x, "squeeze", {x, Arg(axes)});
}
/// With an extent of 1 before an axis.
inline Var unsqueeze(const Var& x, int64_t axis) {
  return detail::apply(x, "unsqueeze", {x, axis});
}
/// Reversed along one axis, or along several.
inline Var flip(const Var& x, int64_t axis) { return detail::apply(x, "flip", {x, axis}); }
inline Var flip(const Var& x, const std::vector<int64_t>& axes) {
  return detail::apply(x, "flip", {x, detail::list(axes)});
}
/// Each element `repeats` times in a row along one axis; of all in order when none is given.
inline Var repeat_interleave(const Var& x, int64_t repeats, std::optional<int64_t> axis = {}) {
  return detail::apply(x, "repeat_interleave", {x, repeats, axis});
}

/// Copies behind each other, so many along each dim; more numbers than dims put dims in front.
inline Var repeat(const Var& x, const Extents& repeats) {
  return detail::apply(x, "repeat", {x, repeats});
}
/// The same, where numbers of the first dims may be left out.
inline Var tile(const Var& x, const Extents& repeats) {
  return detail::apply(x, "tile", {x, repeats});
}
/// Shifted towards the end along axes, and from the end to the start.
inline Var roll(const Var& x, const std::vector<int64_t>& shifts,
                const std::optional<std::vector<int64_t>>& axes = {}) {
  return detail::apply(x, "roll", {x, detail::list(shifts), Arg(axes)});
}
/// A number before and behind the elements: counts are {before, behind} of the last dim, then of
/// the one before it. Negative counts cut.
inline Var pad(const Var& x, const std::vector<int64_t>& counts, double value = 0) {
  return detail::apply(x, "pad", {x, detail::list(counts), "constant", value});
}
/// Dims moved to other places, the others in order.
inline Var movedim(const Var& x, const std::vector<int64_t>& source,
                   const std::vector<int64_t>& destination) {
  return detail::apply(x, "movedim", {x, detail::list(source), detail::list(destination)});
}
/// One dim as several; one extent may be -1.
inline Var unflatten(const Var& x, int64_t axis, const Extents& sizes) {
  return detail::apply(x, "unflatten", {x, axis, sizes});
}
/// One number throughout, of the type and the shape of x.
inline Var full_like(const Var& x, const Arg& value) {
  return detail::apply(x, "full_like", {x, value});
}
inline Var zeros_like(const Var& x) { return detail::apply(x, "zeros_like", {x}); }
inline Var ones_like(const Var& x) { return detail::apply(x, "ones_like", {x}); }
/// x rounded to the element type of another value.
inline Var type_as(const Var& x, const Var& other) {
  return detail::apply(x, "type_as", {x, other});
}

/// 0 below a diagonal of the last two dims, and 0 above it; 1 is the one above the main one.
inline Var triu(const Var& x, int64_t diagonal = 0) {
  return detail::apply(x, "triu", {x, diagonal});
}
inline Var tril(const Var& x, int64_t diagonal = 0) {
  return detail::apply(x, "tril", {x, diagonal});
}

} // namespace ingot
#pragma GCC visibility pop
