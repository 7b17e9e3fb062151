// SPDX-License-Identifier: Apache-2.0
// Attention in a random chain: its operands and their layouts, the ops on the scores, and the
// product behind them.
#include "tests/support/chain_maker.h"

#include <limits>

namespace ingot::testing {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
} // namespace

/// Queries [heads.., rows, depth], keys [shared.., keys, depth], values [shared.., keys, columns].
/// An extent of 1 of `shared` is for all heads of that dim.
struct ChainMaker::Heads {
  DType dtype;
  Shape heads, shared;
  Dim rows, keys, depth, columns;
};

/// A dim of `extent`, which has the name or not. Only a named one may turn out empty.
Dim ChainMaker::dim_of(int64_t extent, const char* name) {
  if (!chance(15) || sizes_.count(name)) return extent;
  const bool is_empty = chance(12);
  sizes_[name] = is_empty ? 0 : extent;
  features_.insert(Feature::named_dim);
  if (is_empty) features_.insert(Feature::empty_dim);
  return Dim::named(name);
}

/// Some heads that fit, or nothing.
std::optional<ChainMaker::Heads> ChainMaker::random_heads() {
  static constexpr int64_t kDepths[] = {16, 24, 32, 40, 48, 64, 64, 72, 80, 96, 128};
  static constexpr int64_t kOddDepths[] = {17, 20, 33, 63, 100, 127};
  const auto width = [&] { return chance(80) ? pick(kDepths) : pick(kOddDepths); };
  const bool is_long = chance(15), is_grouped = chance(35);
  const int64_t depth = width(), columns = chance(60) ? depth : width();
  const auto most = static_cast<size_t>(scale_.longest_k);
  const auto rows = is_long ? static_cast<int64_t>(1 + below(5)) : extent();
  const auto keys = is_long ? static_cast<int64_t>(600 + below(most)) : extent();
  std::vector<int64_t> heads, shared;
  for (size_t d = below(3); d > 0; --d) heads.push_back(static_cast<int64_t>(1 + below(3)));
  shared = heads;
  if (is_grouped) {
    heads = {static_cast<int64_t>(1 + below(2)), static_cast<int64_t>(2 + below(3))};
    shared = {heads[0], 1};
    if (chance(50)) {
      heads.insert(heads.begin(), 1);
      shared.insert(shared.begin(), 1);
    }
  }
  int64_t count = 1;
  for (int64_t extent : heads) count *= extent;
  const int64_t products = count * rows * keys * std::max(depth, columns);
  if (count * rows * keys > scale_.most_elements || products > 64 * scale_.most_elements ||
      count * rows * std::max(depth, columns) > scale_.most_elements)
    return std::nullopt;
  features_.insert(Feature::attention);
  if (is_long) features_.insert(Feature::few_queries);
  if (is_grouped) features_.insert(Feature::grouped_heads);
  Heads of{half_type(), {}, {}, dim_of(rows, "rows"), dim_of(keys, "keys"), depth, columns};
  of.heads.append(heads.begin(), heads.end());
  of.shared.append(shared.begin(), shared.end());
  return of;
}

DType ChainMaker::half_type() {
  features_.insert(Feature::half);
  return chance(50) ? DType::bf16 : DType::f16;
}

/// [batch.., length, width] in memory: so, with the heads side by side in a row, or computed.
ValueId ChainMaker::operand_of(DType dtype, const Shape& batch, const Dim& length,
                               const Dim& width) {
  Shape shape = batch;
  shape.append({length, width});
  std::optional<ValueId> result;
  if (batch.size() == 2 && fits(shape) && chance(40)) {
    result = input(dtype, {batch[0], length, batch[1] * width}, InputAttributes::Role::input);
    result = value("reshape", *result, by_position(list(Shape{batch[0], length, batch[1], width})));
    if (result)
      result = value("transpose", *result, by_position(list(std::vector<int64_t>{0, 2, 1, 3})));
    INGOT_ASSERT(result.has_value());
    features_.insert({Feature::reshape, Feature::transpose});
  } else {
    const bool is_wide = fits(shape) && chance(5);
    result = input(is_wide ? DType::f32 : dtype, shape, InputAttributes::Role::input);
    if (is_wide) result = value("cast", *result, by_position({dtype}));
  }
  if (chance(10)) {
    static const Weighted kSteps[] = {
        {2, &ChainMaker::unary}, {2, &ChainMaker::with_number}, {1, &ChainMaker::with_operand}};
    const Type before = type(*result);
    if (take(kSteps, *result) && type(values_.back()) == before) result = values_.back();
  }
  return *result;
}

bool ChainMaker::scaled_scores(ValueId x) {
  static const double numbers[] = {0.25, 0.125, 0.3, 1.5, -0.5};
  return made("mul", x, by_position({pick(numbers)}));
}

bool ChainMaker::biased_scores(ValueId x) {
  return made("add", x, by_position({another_input(type(x).dtype, operand_shape(type(x).shape))}));
}

bool ChainMaker::capped_scores(ValueId x) {
  auto capped = value("mul", x, by_position({0.1}));
  if (capped) capped = value("tanh", *capped);
  return capped && made("mul", *capped, by_position({10.0}));
}

/// Some rows may have no key.
bool ChainMaker::masked_scores(ValueId x) {
  const ValueId mask = another_input(DType::boolean, operand_shape(type(x).shape));
  features_.insert(Feature::boolean);
  return made("select", mask, by_position({x}), by_position({chance(80) ? -kInfinity : -1000.0}));
}

/// Causal, in a window, or without the last keys.
bool ChainMaker::placed_scores(ValueId x) {
  const Shape shape = type(x).shape;
  const Shape places = {shape[shape.size() - 2], shape.back()};
  const auto along = [&](int64_t axis) {
    return call("iota",
                {by_position({DType::i32}), by_position(list(places)), named("axis", {axis})});
  };
  const auto row = along(0), column = along(1);
  if (row.empty() || column.empty()) return false;
  const auto shift = static_cast<int64_t>(below(40)) - 8;
  std::optional<ValueId> sees;
  if (chance(30)) {
    const int64_t keys = size(places[1]);
    sees = value("less", column[0],
                 by_position({static_cast<int64_t>(below(static_cast<size_t>(keys) + 1))}));
  } else {
    auto distance = value("sub", column[0], by_position({row[0]}));
    if (distance) sees = value("less_equal", *distance, by_position({shift}));
    if (sees && chance(30)) {
      const auto width = static_cast<int64_t>(1 + below(100));
      const auto begins = value("greater", *distance, by_position({shift - width}));
      sees = begins ? value("and", *sees, by_position({*begins})) : begins;
    }
  }
  if (!sees) return false;
  features_.insert({Feature::masked_places, Feature::source, Feature::integer});
  return made("select", *sees, by_position({x}), by_position({chance(80) ? -kInfinity : -1000.0}));
}

/// The operand of the product behind the scores.
std::optional<ValueId> ChainMaker::weights_of(ValueId scores) {
  static const char* const kGates[] = {"relu", "gelu", "sigmoid", "tanh"};
  const DType dtype = type(scores).dtype;
  const auto axis = named("axis", {int64_t{-1}});
  std::optional<ValueId> result;
  if (chance(12)) {
    result = value(pick(kGates), scores);
  } else if (chance(20)) {
    result = value("cast", scores, by_position({DType::f32}));
    if (result) result = value("softmax", *result, axis);
    if (result) result = value("cast", *result, by_position({dtype}));
  } else {
    result = value("softmax", scores, axis);
  }
  if (!result || chance(80)) return result;
  Shape rows = type(*result).shape;
  rows.back() = 1;
  return chance(50) ? value("mul", *result, by_position({1.25}))
                    : value("mul", *result, by_position({another_input(dtype, rows)}));
}

/// The same heads as the library's function takes them: it repeats each head of the keys for its
/// queries, where a product broadcasts heads of 1.
ChainMaker::Heads ChainMaker::for_library(Heads of) {
  if (of.shared == of.heads) return of;
  const size_t last = of.heads.size() - 1;
  of.heads[last - 1] = of.heads[last - 1].fixed() * of.heads[last].fixed();
  of.heads.pop_back();
  of.shared.pop_back();
  if (of.heads.size() < 2) {
    of.heads.insert(of.heads.begin(), 1);
    of.shared.insert(of.shared.begin(), 1);
  }
  return of;
}

/// By the function of the library.
std::optional<ValueId> ChainMaker::library_attention(const Heads& of, ValueId q, ValueId k,
                                                     ValueId v) {
  std::vector<CallArgument> arguments = {by_position({q}), by_position({k}), by_position({v})};
  const bool is_causal = chance(40);
  if (is_causal) {
    arguments.push_back(named("is_causal", {true}));
    features_.insert(Feature::masked_places);
  } else if (chance(50)) {
    Shape mask = of.heads;
    mask.append({of.rows, of.keys});
    const DType dtype = chance(50) ? DType::boolean : of.dtype;
    for (Dim& dim : llvm::MutableArrayRef(mask).drop_back(2))
      if (chance(50)) dim = 1;
    arguments.push_back(named("attn_mask", {another_input(dtype, mask)}));
  }
  if (chance(30)) arguments.push_back(named("scale", {0.2}));
  if (!(of.shared == of.heads)) arguments.push_back(named("enable_gqa", {true}));
  const auto results = call("scaled_dot_product_attention", std::move(arguments));
  return results.empty() ? std::nullopt : std::optional(results[0]);
}

/// Written out.
std::optional<ValueId> ChainMaker::attention(ValueId q, ValueId k, ValueId v, bool k_turns) {
  static const Weighted kSteps[] = {
      {4, &ChainMaker::scaled_scores}, {3, &ChainMaker::biased_scores},
      {3, &ChainMaker::masked_scores}, {4, &ChainMaker::placed_scores},
      {2, &ChainMaker::capped_scores}, {1, &ChainMaker::unary}};
  auto scores = value("matmul", q, by_position({k}), named("transpose_b", {k_turns}));
  if (!scores) return std::nullopt;
  const Type of = type(*scores);
  for (size_t steps = below(4); steps > 0; --steps)
    if (take(kSteps, *scores) && type(values_.back()) == of) scores = values_.back();
  const auto weights = weights_of(*scores);
  if (!weights) return std::nullopt;
  const auto result = value("matmul", *weights, by_position({v}));
  if (result && chance(8)) {
    const auto sums = value("logsumexp", *scores, named("axis", {int64_t{-1}}));
    if (sums) beside_ = sums;
  }
  return result;
}

/// A chain that begins with attention.
bool ChainMaker::start_attention() {
  std::optional<Heads> found;
  for (size_t tries = 0; !found && tries < 50; ++tries) found = random_heads();
  if (!found) return false;
  const Heads& of = *found;
  const bool by_library = chance(35);
  const Heads asked = by_library ? for_library(of) : of;
  const ValueId q = operand_of(of.dtype, asked.heads, of.rows, of.depth);
  const bool k_turns = by_library || chance(70);
  const ValueId k = operand_of(of.dtype, asked.shared, k_turns ? of.keys : of.depth,
                               k_turns ? of.depth : of.keys);
  const bool is_shared = k_turns && of.depth == of.columns && chance(15);
  const ValueId v = is_shared ? k : operand_of(of.dtype, asked.shared, of.keys, of.columns);
  main_ = q;
  auto result = by_library ? library_attention(asked, q, k, v) : attention(q, k, v, k_turns);
  if (!result) return false;
  features_.insert({Feature::nested, Feature::matmul, Feature::two_matmuls});
  // The heads side by side again.
  if (asked.heads.size() == 2 && chance(50)) {
    result = value("transpose", *result, by_position(list(std::vector<int64_t>{0, 2, 1, 3})));
    if (result)
      result =
          value("reshape", *result,
                by_position(list(Shape{asked.heads[0], of.rows, asked.heads[1] * of.columns})));
    features_.insert({Feature::reshape, Feature::transpose});
  }
  return result.has_value();
}

} // namespace ingot::testing
