// SPDX-License-Identifier: Apache-2.0
// Rows of products in a random chain, each of which multiplies the result of the one before it.
#include "tests/support/chain_maker.h"

namespace ingot::testing {

namespace {

/// Of rows that start at multiples of 16 bytes, and others.
constexpr int64_t kWidths[] = {8, 16, 24, 32, 40, 48, 64, 64, 72, 96, 128, 128, 136, 200, 256};
constexpr int64_t kOddWidths[] = {5, 13, 33, 63, 100, 129, 255};

} // namespace

/// x times a weight of n columns, in one of the ways to write it. Nothing where that is too large.
std::optional<ValueId> ChainMaker::layer(ValueId x, int64_t n) {
  const Type of = type(x);
  const Dim k = of.shape.back();
  Shape result = of.shape;
  result.back() = n;
  if (!fits(result) || count(result) * size(k) > 64 * scale_.most_elements) return std::nullopt;
  const bool may_compute = fits({k, n});
  const auto weight = [&](Shape shape) {
    const bool is_wide = may_compute && chance(5);
    const DType dtype = is_wide ? DType::f32 : of.dtype;
    std::optional<ValueId> w = input(dtype, std::move(shape), InputAttributes::Role::param);
    if (is_wide) w = value("cast", *w, by_position({of.dtype}));
    if (may_compute && chance(5)) w = value("tanh", *w);
    return by_position({*w});
  };
  if (chance(35)) return value("linear", x, weight({n, k}), weight({n}));
  if (chance(25)) return value("linear", x, weight({n, k}));
  return chance(30) ? value("matmul", x, weight({n, k}), named("transpose_b", {true}))
                    : value("matmul", x, weight({k, n}));
}

bool ChainMaker::bias(ValueId x) {
  const Type of = type(x);
  return made("add", x, by_position({another_input(of.dtype, {of.shape.back()})}));
}

/// Whole rows between two layers.
bool ChainMaker::row_norm(ValueId x) {
  const Type of = type(x);
  const auto vector = [&] { return by_position({another_input(of.dtype, {of.shape.back()})}); };
  switch (below(4)) {
  case 0: return made("layer_norm", x, vector(), vector());
  case 1: return made("layer_norm", x);
  case 2: return made("rms_norm", x, vector());
  default: return made("softmax", x, named("axis", {int64_t{-1}}));
  }
}

/// The ops between two layers, which keep the shape and the type.
ValueId ChainMaker::between_layers(ValueId x) {
  static const Weighted kSteps[] = {{5, &ChainMaker::unary},        {3, &ChainMaker::bias},
                                    {2, &ChainMaker::row_norm},     {1, &ChainMaker::with_number},
                                    {1, &ChainMaker::with_operand}, {1, &ChainMaker::with_earlier}};
  const Type of = type(x);
  for (size_t steps = below(4); steps > 0; --steps)
    if (take(kSteps, x) && type(values_.back()) == of) x = values_.back();
  return x;
}

/// x, joined with one of `earlier` of its shape and type if there is one.
ValueId ChainMaker::with_skip(ValueId x, llvm::ArrayRef<ValueId> earlier) {
  static const char* const kJoins[] = {"add", "add", "mul", "sub", "maximum"};
  std::vector<ValueId> alike;
  llvm::copy_if(earlier, std::back_inserter(alike),
                [&](ValueId other) { return type(other) == type(x); });
  if (alike.empty() || !chance(60)) return x;
  const auto joined = value(pick(kJoins), x, by_position({pick(alike)}));
  if (joined) features_.insert(Feature::skips);
  return joined.value_or(x);
}

/// Two to five layers behind x, in a 16-bit type mostly. Layers of one width often read the results
/// of earlier ones.
bool ChainMaker::layers(ValueId x) {
  if (type(x).shape.size() < 2) return false;
  const size_t before = values_.size();
  if (type(x).dtype == DType::f32 && chance(90)) {
    const auto rounded = value("cast", x, by_position({half_type()}));
    if (!rounded) return false;
    x = *rounded;
  }
  const size_t most = 2 + below(4), odd = chance(65) ? 0 : 40, same = chance(50) ? 80 : 0;
  const auto width = [&] { return chance(odd) ? pick(kOddWidths) : pick(kWidths); };
  const int64_t usual = width();
  std::vector<ValueId> earlier = {x};
  size_t done = 0;
  for (size_t tries = 0; done < most && tries < 12; ++tries) {
    const auto h = layer(x, chance(same) ? usual : width());
    if (!h) continue;
    x = ++done < most || chance(50) ? between_layers(*h) : *h;
    earlier.push_back(x);
    x = with_skip(x, llvm::ArrayRef(earlier).drop_back());
    earlier.push_back(x);
  }
  if (done < 2) return false;
  features_.insert({Feature::nested, Feature::layers, Feature::matmul, Feature::two_matmuls});
  keep_result(before, x);
  return true;
}

/// x a b with few columns of x a, alone or added to another product of x.
bool ChainMaker::low_rank(ValueId x) {
  static constexpr int64_t kRanks[] = {1, 4, 8, 16, 20, 32, 64};
  if (type(x).shape.size() < 2) return false;
  const size_t before = values_.size();
  const int64_t n = extent();
  auto inner = layer(x, pick(kRanks));
  if (inner && chance(30)) inner = value("mul", *inner, by_position({0.5}));
  auto result = inner ? layer(*inner, n) : std::nullopt;
  if (!result) return false;
  if (chance(30)) {
    const auto whole = layer(x, n);
    if (whole) result = value("add", *whole, by_position({*result}));
  }
  if (!result) return false;
  features_.insert({Feature::nested, Feature::low_rank, Feature::matmul, Feature::two_matmuls});
  keep_result(before, *result);
  return true;
}

/// Most chains go on from the result: a value inside that others read would be stored.
void ChainMaker::keep_result(size_t before, ValueId result) {
  if (chance(85)) values_.resize(before);
  values_.push_back(result);
}

/// A chain that begins with a product of a product.
bool ChainMaker::start_nested() {
  if (chance(45)) {
    if (!start_attention()) return false;
    keep_result(0, values_.back());
    return true;
  }
  for (size_t tries = 0; tries < 20; ++tries) {
    const int64_t rows = extent(), k = chance(70) ? pick(kWidths) : extent();
    if (rows * k > scale_.most_elements) continue;
    Shape shape = {dim_of(rows, "m"), k};
    if (chance(25)) shape.insert(shape.begin(), static_cast<int64_t>(1 + below(3)));
    main_ = input(chance(90) ? half_type() : DType::f32, shape, InputAttributes::Role::input);
    values_ = {main_};
    if (chance(75) ? layers(main_) : low_rank(main_)) return true;
  }
  return false;
}

} // namespace ingot::testing
