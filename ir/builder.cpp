// SPDX-License-Identifier: Apache-2.0
// See builder.h.
#include "ir/builder.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

Term::Term(Builder& builder, ValueId id)
    : builder_(&builder), id_(id), type_(builder.graph().type(id)) {}

Builder::~Builder() {
  if (error_) llvm::consumeError(std::move(*error_));
}

Term Builder::fail(llvm::Error error) {
  if (error_) {
    llvm::consumeError(std::move(error));
  } else {
    error_.emplace(std::move(error));
  }
  return Term(*this);
}

llvm::Error Builder::take_error() {
  INGOT_ASSERT(failed());
  llvm::Error error = std::move(*error_);
  error_.reset();
  return error;
}

Term Builder::constant(DType dtype, double value) {
  if (failed()) return Term(*this);
  auto id = graph_.add_constant(dtype, value, location_);
  return id ? Term(*this, *id) : fail(id.takeError());
}

Term Builder::constant(const ConstantAttributes& value) { return op(OpKind::constant, {}, value); }

std::optional<OpId> Builder::append(OpKind kind, llvm::ArrayRef<Term> operands,
                                    Attributes attributes) {
  if (failed()) return std::nullopt;
  llvm::SmallVector<ValueId, 3> ids;
  for (const Term& operand : operands) ids.push_back(operand.id());
  auto id = graph_.add(kind, ids, std::move(attributes), location_);
  if (id) return *id;
  fail(id.takeError());
  return std::nullopt;
}

/// The remedy for types that do not broadcast: extents of 1 at the end of the one of lower rank.
/// Empty if that does not help.
static std::string remedy_of(const Type& a, const Type& b) {
  const bool is_first = a.shape.size() < b.shape.size();
  const Type &shorter = is_first ? a : b, &longer = is_first ? b : a;
  if (broadcast_shapes(a.shape, b.shape)) return ""; // another operand is at fault
  Shape shape = shorter.shape;
  std::string call = "...";
  while (shape.size() < longer.shape.size()) {
    shape.push_back(1);
    call = "unsqueeze(" + call + ", -1)";
    if (broadcast_shapes(longer.shape, shape))
      return fmt::format("; {} of the operand {} fits", call, shorter.text());
  }
  return "";
}

Term Builder::op(OpKind kind, llvm::ArrayRef<Term> operands, Attributes attributes) {
  llvm::SmallVector<Term, 3> fitted(operands.begin(), operands.end());
  if (!failed() && info(kind).op_class == OpClass::elementwise) {
    Shape shape;
    for (const Term& operand : operands) {
      auto common = broadcast_shapes(shape, operand.shape());
      if (!common)
        return fail(make_error(ErrorCode::type_error,
                               "{}: shapes do not broadcast: {} and {}; counted from the last, "
                               "extents must be equal or 1{}",
                               info(kind).name, operands.front().type().text(),
                               operand.type().text(),
                               remedy_of(operands.front().type(), operand.type())));
      shape = *common;
    }
    for (Term& operand : fitted)
      if (operand.rank() != 0 && operand.shape() != shape) operand = broadcast(operand, shape);
  }
  auto id = append(kind, fitted, std::move(attributes));
  if (!id) return Term(*this);
  return {*this, graph_.op(*id).results[0]};
}

std::pair<Term, Term> Builder::pair_op(OpKind kind, const Term& x, llvm::ArrayRef<int64_t> axes) {
  auto id = append(kind, x, ReduceAttributes{{axes.begin(), axes.end()}});
  if (!id) return {Term(*this), Term(*this)};
  return {{*this, graph_.op(*id).results[0]}, {*this, graph_.op(*id).results[1]}};
}

std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  for (size_t i = 1; i <= shorter.size(); ++i) {
    Dim& dim = result[result.size() - i];
    const Dim& other = shorter[shorter.size() - i];
    if (dim.is(1)) {
      dim = other;
    } else if (!other.is(1) && !(other == dim)) {
      return std::nullopt;
    }
  }
  return result;
}

/// A literal of the element type of `like`.
static Term number(const Term& like, double value) {
  return like.builder().constant(like.type().dtype, value);
}

Term unary(OpKind kind, const Term& x) { return x.builder().op(kind, x); }
Term binary(OpKind kind, const Term& a, const Term& b) { return a.builder().op(kind, {a, b}); }
Term operator+(const Term& a, const Term& b) { return binary(OpKind::add, a, b); }
Term operator-(const Term& a, const Term& b) { return binary(OpKind::sub, a, b); }
Term operator*(const Term& a, const Term& b) { return binary(OpKind::mul, a, b); }
Term operator/(const Term& a, const Term& b) { return binary(OpKind::div, a, b); }
Term operator-(const Term& x) { return unary(OpKind::neg, x); }
Term operator+(const Term& a, double b) { return a + number(a, b); }
Term operator-(const Term& a, double b) { return a - number(a, b); }
Term operator*(const Term& a, double b) { return a * number(a, b); }
Term operator/(const Term& a, double b) { return a / number(a, b); }
Term operator+(double a, const Term& b) { return number(b, a) + b; }
Term operator-(double a, const Term& b) { return number(b, a) - b; }
Term operator*(double a, const Term& b) { return number(b, a) * b; }
Term operator/(double a, const Term& b) { return number(b, a) / b; }

Term exp(const Term& x) { return unary(OpKind::exp, x); }
Term expm1(const Term& x) { return unary(OpKind::expm1, x); }
Term log(const Term& x) { return unary(OpKind::log, x); }
Term log1p(const Term& x) { return unary(OpKind::log1p, x); }
Term sqrt(const Term& x) { return unary(OpKind::sqrt, x); }
Term rsqrt(const Term& x) { return unary(OpKind::rsqrt, x); }
Term tanh(const Term& x) { return unary(OpKind::tanh, x); }
Term erf(const Term& x) { return unary(OpKind::erf, x); }
Term abs(const Term& x) { return unary(OpKind::abs, x); }
Term is_inf(const Term& x) { return unary(OpKind::is_inf, x); }
Term pow(const Term& x, double exponent) { return binary(OpKind::pow, x, number(x, exponent)); }
Term minimum(const Term& a, const Term& b) { return binary(OpKind::minimum, a, b); }
Term maximum(const Term& a, const Term& b) { return binary(OpKind::maximum, a, b); }
Term minimum(const Term& a, double b) { return minimum(a, number(a, b)); }
Term maximum(const Term& a, double b) { return maximum(a, number(a, b)); }
Term less(const Term& a, double b) { return binary(OpKind::less, a, number(a, b)); }
Term less_equal(const Term& a, double b) { return binary(OpKind::less_equal, a, number(a, b)); }
Term greater(const Term& a, double b) { return binary(OpKind::greater, a, number(a, b)); }
Term equal(const Term& a, double b) { return binary(OpKind::equal, a, number(a, b)); }

Term select(const Term& condition, const Term& a, const Term& b) {
  return condition.builder().op(OpKind::select, {condition, a, b});
}

Term select(const Term& condition, double a, const Term& b) {
  return select(condition, number(b, a), b);
}

Term cast(const Term& x, DType dtype) {
  return x.builder().op(OpKind::cast, x, CastAttributes{dtype});
}

namespace {

llvm::SmallVector<int64_t, 4> sorted(llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t, 4> result(axes.begin(), axes.end());
  llvm::sort(result);
  return result;
}

Shape with_ones(const Shape& shape, llvm::ArrayRef<int64_t> axes) {
  Shape result = shape;
  for (int64_t axis : axes) result[axis] = 1;
  return result;
}

} // namespace

Term reduce(OpKind kind, const Term& x, llvm::ArrayRef<int64_t> axes, Axes reduced) {
  if (axes.empty() || x.builder().failed()) return x;
  Term result = x.builder().op(kind, x, ReduceAttributes{sorted(axes)});
  if (reduced == Axes::drop || x.builder().failed()) return result;
  return reshape(result, with_ones(x.shape(), axes));
}

std::pair<Term, Term> reduce_pair(OpKind kind, const Term& x, llvm::ArrayRef<int64_t> axes,
                                  Axes reduced) {
  auto result = x.builder().pair_op(kind, x, sorted(axes));
  if (reduced == Axes::drop || x.builder().failed()) return result;
  Shape shape = with_ones(x.shape(), axes);
  return {reshape(result.first, shape), reshape(result.second, shape)};
}

Term reshape(const Term& x, const Shape& shape) {
  return x.builder().op(OpKind::reshape, x, ShapeAttributes{shape});
}

Term broadcast(const Term& x, const Shape& shape) {
  return x.builder().op(OpKind::broadcast, x, ShapeAttributes{shape});
}

Term transpose(const Term& x, llvm::ArrayRef<int64_t> permutation) {
  return x.builder().op(OpKind::transpose, x,
                        TransposeAttributes{{permutation.begin(), permutation.end()}});
}

Term slice(const Term& x, int64_t axis, int64_t start, int64_t stop) {
  if (x.builder().failed()) return x;
  SliceAttributes attributes = whole_slice(x.shape());
  attributes.starts[axis] = start;
  attributes.stops[axis] = stop;
  return x.builder().op(OpKind::slice, x, attributes);
}

Term window(const Term& x, WindowAttributes attributes) {
  return x.builder().op(OpKind::window, x, attributes);
}

Term part(const Term& x, int64_t axis, const Dim& start, const Dim& extent) {
  const Dim& whole = x.shape()[axis];
  if (whole.is_fixed() && start.is_fixed() && extent.is_fixed())
    return slice(x, axis, start.fixed(), start.fixed() + extent.fixed());
  return window(x, {axis, start, extent, true});
}

/// Joins parts with named extents. Each position selects one of the parts.
static Term joined(llvm::ArrayRef<Term> parts, int64_t axis) {
  Builder& builder = parts.front().builder();
  Dim total = 0;
  for (const Term& part : parts) {
    const auto sum = checked_add(total, part.shape()[axis]);
    if (!sum || !is_short(*sum)) {
      builder.fail(make_error(ErrorCode::type_error,
                              "concat: the extents of axis {} add up to 2^63 or more, or to a sum "
                              "of more than {} products",
                              axis, kMaxTerms));
      return parts.front();
    }
    total = *sum;
  }
  Dim start = total;
  std::optional<Term> result, at;
  for (const Term& part : llvm::reverse(parts)) {
    const Dim stop = start;
    start = start - part.shape()[axis];
    const Term shifted = window(part, {axis, start * Dim(-1), total});
    if (builder.failed()) return shifted;
    if (!result) {
      result = shifted;
      at = positions(shifted, axis);
      continue;
    }
    const Term end = builder.op(OpKind::extent, {}, ExtentAttributes{at->type().dtype, {stop}});
    result = select(builder.op(OpKind::less, {*at, end}), shifted, *result);
  }
  return *result;
}

Term concat(llvm::ArrayRef<Term> parts, int64_t axis) {
  const Type& first = parts.front().type();
  const bool fits = axis >= 0 && axis < first.rank() &&
                    llvm::all_of(
                        parts,
                        [&](const Term& part) {
                          Shape shape = part.shape();
                          if (part.type().dtype != first.dtype || part.rank() != first.rank())
                            return false;
                          shape[axis] = first.shape[axis];
                          return shape == first.shape;
                        });
  const bool is_named =
      fits && llvm::any_of(parts, [&](const Term& part) { return !part.shape()[axis].is_fixed(); });
  if (is_named && parts.size() > 1) return joined(parts, axis);
  return parts.front().builder().op(OpKind::concat, parts, AxisAttributes{axis});
}

Term gather(const Term& x, const Term& index, int64_t axis) {
  return x.builder().op(OpKind::gather, {x, index}, AxisAttributes{axis});
}

Term matmul(const Term& a, const Term& b, MatmulAttributes attributes) {
  return a.builder().op(OpKind::matmul, {a, b}, attributes);
}

Term positions(const Term& x, int64_t axis) {
  const Dim extent = x.shape()[axis];
  const bool is_small = extent.is_fixed() && extent.fixed() - 1 <= INT32_MAX;
  const DType dtype = is_small ? DType::i32 : DType::i64;
  return x.builder().op(OpKind::iota, {}, IotaAttributes{axis, {dtype, x.shape()}});
}

Term flip(const Term& x, int64_t axis) {
  if (x.builder().failed()) return x;
  const Dim extent = x.shape()[axis];
  const Term position = positions(x, axis);
  if (extent.is_fixed()) return gather(x, static_cast<double>(extent.fixed() - 1) - position, axis);
  const ExtentAttributes counted{position.type().dtype, {extent}};
  return gather(x, x.builder().op(OpKind::extent, {}, counted) - 1 - position, axis);
}

llvm::SmallVector<int64_t, 4> all_axes(const Term& x, int64_t except) {
  llvm::SmallVector<int64_t, 4> axes;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != except) axes.push_back(i);
  return axes;
}

} // namespace ingot
