// SPDX-License-Identifier: Apache-2.0
// Movement and gather steps of a random chain.
#include "tests/support/chain_maker.h"

#include <algorithm>

namespace ingot::testing {

bool ChainMaker::transpose(ValueId x) {
  std::vector<int64_t> permutation;
  for (size_t d = 0; d < type(x).shape.size(); ++d) permutation.push_back(static_cast<int64_t>(d));
  std::shuffle(permutation.begin(), permutation.end(), engine_);
  if (permutation.empty() || !made("transpose", x, by_position(list(permutation)))) return false;
  features_.insert(Feature::transpose);
  return true;
}

bool ChainMaker::narrow(ValueId x) {
  const Shape shape = type(x).shape;
  if (shape.empty()) return false;
  const int64_t axis = axis_of(x);
  const Dim dim = shape[static_cast<size_t>(axis)];
  if (!dim.is_fixed() || dim.fixed() < 2) return false;
  const auto start = static_cast<int64_t>(below(static_cast<size_t>(dim.fixed() - 1)));
  const auto length = 1 + static_cast<int64_t>(below(static_cast<size_t>(dim.fixed() - start)));
  features_.insert(Feature::moved_slices);
  return made("narrow", x, named("axis", {axis}), named("start", {start}),
              named("length", {length}));
}

bool ChainMaker::concat(ValueId x) {
  Shape other = type(x).shape;
  if (other.empty()) return false;
  const int64_t axis = axis_of(x);
  Dim& dim = other[static_cast<size_t>(axis)];
  if (chance(50) && dim.is_fixed()) dim = extent();
  if (!fits(other)) return false;
  const ValueId with = another_input(type(x).dtype, other);
  features_.insert(Feature::moved_slices);
  return !call("concat", {by_position({ArgumentList{{x}, {with}}}), named("axis", {axis})}).empty();
}

/// Splits a dim or joins two neighbours.
bool ChainMaker::reshape(ValueId x) {
  Shape shape = type(x).shape;
  if (shape.empty()) return false;
  const size_t axis = below(shape.size());
  if (chance(60) && shape[axis].is_fixed()) {
    std::vector<int64_t> factors;
    for (int64_t f : {2, 3, 4, 5, 8, 12, 16, 32, 48, 64})
      if (shape[axis].fixed() % f == 0 && shape[axis].fixed() > f) factors.push_back(f);
    if (factors.empty()) return false;
    const int64_t factor = pick(factors), rest = shape[axis].fixed() / factor;
    const bool is_outer = chance(50);
    shape[axis] = is_outer ? factor : rest;
    shape.insert(shape.begin() + static_cast<long>(axis) + 1, is_outer ? rest : factor);
  } else {
    if (axis + 1 >= shape.size()) return false;
    shape[axis] = shape[axis] * shape[axis + 1];
    shape.erase(shape.begin() + static_cast<long>(axis) + 1);
  }
  if (!made("reshape", x, by_position(list(shape)))) return false;
  features_.insert(Feature::reshape);
  return true;
}

/// As five or six dims, which change places, are computed with, and are joined again or not.
bool ChainMaker::many_dims(ValueId x) {
  Shape shape = type(x).shape;
  for (size_t tries = 0; shape.size() < 5 + (tries > 8) && tries < 20; ++tries) {
    if (shape.empty()) return false;
    const size_t axis = below(shape.size());
    if (!shape[axis].is_fixed()) continue;
    std::vector<int64_t> factors = {1};
    for (int64_t f : {2, 3, 4, 5, 8})
      if (shape[axis].fixed() % f == 0 && shape[axis].fixed() > f)
        factors.insert(factors.end(), {f, f, f});
    const int64_t factor = pick(factors);
    shape.insert(shape.begin() + static_cast<long>(axis) + 1, shape[axis].fixed() / factor);
    shape[axis] = factor;
  }
  if (shape.size() < 5) return false;
  const auto split = value("reshape", x, by_position(list(shape)));
  if (!split) return false;
  features_.insert({Feature::reshape, Feature::many_dims});
  if (chance(70) && !transpose(*split)) return false;
  if (chance(40)) fed_back(values_.back());
  if (chance(40)) unary(current());
  if (chance(50)) return made("flatten", values_.back(), named("start", {int64_t{2}}));
  return true;
}

/// By given indices, or by indices made of the value.
bool ChainMaker::gather(ValueId x) {
  const Shape shape = type(x).shape;
  if (shape.empty()) return false;
  const int64_t axis = axis_of(x);
  const auto at = static_cast<size_t>(axis);
  const DType whole = chance(50) ? DType::i32 : DType::i64;
  std::optional<ValueId> index;
  if (chance(60) || !shape[at].is_fixed()) {
    Shape indices = shape;
    if (chance(50)) indices[at] = extent();
    if (!fits(indices)) return false;
    index = another_input(whole, indices);
  } else {
    index = value("cast", x, by_position({whole}));
    if (index) index = value("maximum", *index, by_position({int64_t{0}}));
    if (index) index = value("minimum", *index, by_position({shape[at].fixed() - 1}));
  }
  const ValueId table = chance(60) ? x : another_input(type(x).dtype, shape);
  if (!index || !made("gather", table, by_position({*index}), named("axis", {axis}))) return false;
  features_.insert(Feature::gather);
  return true;
}

} // namespace ingot::testing
