// SPDX-License-Identifier: Apache-2.0
// Matmuls of a random chain: their operands, their shapes, and pairs of them.
#include "tests/support/chain_maker.h"

namespace ingot::testing {

/// Ops before an operand of a matmul.
ValueId ChainMaker::prologue(ValueId x) {
  static const Weighted kSteps[] = {{4, &ChainMaker::unary},
                                    {2, &ChainMaker::with_number},
                                    {3, &ChainMaker::with_operand},
                                    {1, &ChainMaker::convert},
                                    {2, &ChainMaker::norm}};
  bool done = false;
  for (size_t steps = 1 + below(3); steps > 0; --steps) {
    if (!take(kSteps, x)) continue;
    x = values_.back();
    done = true;
  }
  if (done) features_.insert(Feature::prologue);
  return x;
}

/// x times a matrix of n columns, in one of the ways to write it.
std::optional<ValueId> ChainMaker::product(ValueId x, const Dim& n) {
  const Shape shape = type(x).shape;
  if (shape.empty() || !is_float(type(x).dtype)) return std::nullopt;
  Shape result = shape;
  result.back() = n;
  if (!fits({shape.back(), n}) || !fits(result) ||
      count(result) * size(shape.back()) > 64 * scale_.most_elements)
    return std::nullopt;
  if (chance(25)) {
    x = prologue(x);
    if (type(x).shape != shape || !is_float(type(x).dtype)) return std::nullopt;
  }
  const DType dtype = type(x).dtype;
  const Dim k = shape.back();
  const auto right = [&](Shape other) {
    const ValueId w = another_input(dtype, std::move(other));
    if (!chance(15)) return w;
    const ValueId computed = prologue(w);
    const bool fits_there = type(computed).dtype == dtype && type(computed).shape == type(w).shape;
    return fits_there ? computed : w;
  };
  std::optional<ValueId> made;
  if (chance(60)) {
    made = chance(50) ? value("linear", x, by_position({right({n, k})}))
                      : value("linear", x, by_position({right({n, k})}),
                              by_position({another_input(dtype, {n})}));
  } else {
    if (shape.size() < 2) return std::nullopt;
    Shape other = {k, n};
    const bool is_batched = chance(40) && shape.size() > 2;
    const bool turns = chance(30);
    if (turns) std::swap(other[0], other[1]);
    if (is_batched) other.insert(other.begin(), shape.begin(), shape.end() - 2);
    if (is_batched && chance(40)) other[0] = 1;
    if (shape.size() == 2 && chance(25)) {
      // The left operand lies transposed.
      x = another_input(dtype, {shape[1], shape[0]});
      made = value("matmul", x, by_position({right(other)}), named("transpose_a", {true}),
                   named("transpose_b", {turns}));
    } else {
      made = value("matmul", x, by_position({right(other)}), named("transpose_b", {turns}));
    }
  }
  if (!made) return std::nullopt;
  if (features_.count(Feature::matmul)) features_.insert(Feature::two_matmuls);
  features_.insert(Feature::matmul);
  return made;
}

bool ChainMaker::matmul(ValueId x) { return product(x, extent()).has_value(); }

bool ChainMaker::gated_pair(ValueId x) {
  static const char* const gates[] = {"silu", "gelu", "sigmoid", "relu"};
  const Dim n = extent();
  auto gate = product(x, n);
  if (gate) gate = value(pick(gates), *gate);
  if (!gate) return false;
  const auto other = product(x, n);
  if (!other || type(*other).dtype != type(*gate).dtype ||
      !made("mul", *gate, by_position({*other})))
    return false;
  features_.insert(Feature::gated_pair);
  return true;
}

bool ChainMaker::chained_matmuls(ValueId x) {
  if (!product(x, extent())) return false;
  for (size_t between = 1 + below(3); between > 0; --between) {
    static const Weighted kSteps[] = {{4, &ChainMaker::unary},
                                      {2, &ChainMaker::with_operand},
                                      {1, &ChainMaker::norm},
                                      {1, &ChainMaker::softmax}};
    take(kSteps, current());
  }
  if (!product(current(), extent())) return false;
  features_.insert(Feature::chained_matmuls);
  return true;
}

/// Few rows or few columns.
bool ChainMaker::thin_matmul(ValueId x) {
  const auto few = static_cast<int64_t>(1 + below(16));
  bool done = false;
  if (chance(50) && type(x).shape.size() == 2 && type(x).shape[0].is_fixed()) {
    const ValueId row = another_input(type(x).dtype, {few, type(x).shape[1]});
    done = product(row, extent()).has_value();
  } else {
    done = product(x, few).has_value();
  }
  if (done) features_.insert(Feature::thin_matmul);
  return done;
}

/// Few results of many products each.
bool ChainMaker::long_k(ValueId x) {
  const auto rows = static_cast<int64_t>(1 + below(33));
  const auto columns = static_cast<int64_t>(1 + below(33));
  const auto most = static_cast<size_t>(scale_.longest_k);
  const auto k = static_cast<int64_t>(most / 4 + below(most * 3 / 4));
  if (!product(another_input(type(x).dtype, {rows, k}), columns)) return false;
  features_.insert(Feature::long_k);
  return true;
}

/// Segments of the columns of a matmul, of widths that fill no tile or more than one.
bool ChainMaker::segments(ValueId x) {
  const Shape shape = type(x).shape;
  if (shape.size() != 2) return false;
  const int64_t width = pick(std::array<int64_t, 4>{48, 96, 384, 512});
  const auto groups = static_cast<int64_t>(1 + below(width < 100 ? 6 : 3));
  auto h = product(x, width * groups);
  if (h && chance(50)) h = value("gelu", *h);
  if (!h) return false;
  bool done = false;
  if (chance(50)) {
    done = made("group_norm", *h, named("groups", {groups}));
    features_.insert(Feature::norm);
  } else {
    const auto split =
        value("reshape", *h, by_position(list(Shape{shape[0], Dim(groups), Dim(width)})));
    auto reduced = split ? value(chance(50) ? "mean" : "reduce_max", *split,
                                 named("axis", {int64_t{2}}), named("keepdim", {true}))
                         : std::nullopt;
    done = reduced && made("sub", *split, by_position({*reduced}));
    features_.insert(Feature::reshape);
  }
  if (!done) return false;
  reduced_.push_back(*h);
  features_.insert({Feature::segments, Feature::fed_back_reduction});
  return true;
}

} // namespace ingot::testing
