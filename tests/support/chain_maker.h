// SPDX-License-Identifier: Apache-2.0
// The maker of one random chain: a graph under way, the random choices, and the steps that extend
// it, one file per family (chain_*.cpp). Called by random_chains.cpp.
#pragma once

#include "ir/library.h"
#include "tests/support/random_chains.h"

#include <random>
#include <set>

namespace ingot::testing {

class ChainMaker {
public:
  ChainMaker(uint64_t seed, const ChainScale& scale) : engine_(seed), scale_(scale) {}
  RandomChain make();

private:
  /// Adds to the chain behind a value; false when that is not legal there.
  using Step = bool (ChainMaker::*)(ValueId);
  struct Weighted {
    int weight;
    Step step;
  };

  // ---- choices -----------------------------------------------------------------------------
  size_t below(size_t end) { return engine_() % end; }
  bool chance(size_t percent) { return below(100) < percent; }
  template <typename Range> auto pick(const Range& range) { return range[below(std::size(range))]; }
  int64_t extent() { return pick(scale_.extents); }
  int64_t axis_of(ValueId x) { return static_cast<int64_t>(below(type(x).shape.size())); }
  bool take(llvm::ArrayRef<Weighted> steps, ValueId x);

  // ---- sizes -------------------------------------------------------------------------------
  const Type& type(ValueId value) const { return graph_.type(value); }
  int64_t size(const Dim& dim) const;
  int64_t count(const Shape& shape) const;
  bool fits(const Shape& shape) const { return count(shape) <= scale_.most_elements; }

  // ---- values ------------------------------------------------------------------------------
  ValueId input(DType dtype, Shape shape, InputAttributes::Role role);
  /// An input or a param.
  ValueId another_input(DType dtype, Shape shape);
  /// The newest float value mostly.
  ValueId current();
  /// A scalar's, a row's, a column's or the same shape.
  Shape operand_shape(Shape shape);

  static CallArgument by_position(LibraryArgument value) { return {"", std::move(value), {}}; }
  static CallArgument named(llvm::StringRef name, LibraryArgument value) {
    return {name.str(), std::move(value), {}};
  }
  static LibraryArgument list(const std::vector<int64_t>& numbers);
  static LibraryArgument list(const Shape& shape);

  /// The results of a call, newest values of the chain; empty when it does not type or grows too
  /// large.
  llvm::SmallVector<ValueId, 2> call(llvm::StringRef name, std::vector<CallArgument> arguments);
  /// The one or first result of a call of `x` and more.
  template <typename... More>
  std::optional<ValueId> value(llvm::StringRef name, ValueId x, More... more) {
    auto results = call(name, {by_position({x}), std::move(more)...});
    return results.empty() ? std::nullopt : std::optional(results[0]);
  }
  template <typename... More> bool made(llvm::StringRef name, ValueId x, More... more) {
    return value(name, x, std::move(more)...).has_value();
  }

  // ---- beginnings and ends (random_chains.cpp) -----------------------------------------------
  void start();
  ValueId start_value(DType dtype, size_t rank);
  bool extend();
  void add_combination();
  void choose_outputs(size_t outputs);

  // ---- elementwise (chain_elementwise.cpp) ---------------------------------------------------
  bool unary(ValueId x);
  bool with_number(ValueId x);
  bool with_operand(ValueId x);
  bool with_earlier(ValueId x);
  bool with_source(ValueId x);
  bool residuals(ValueId x);
  bool convert(ValueId x);
  bool selected(ValueId x);
  bool integers(ValueId x);
  bool booleans(ValueId x);

  // ---- reductions and ops on their results (chain_reductions.cpp) ----------------------------
  bool reduction(ValueId x);
  bool fed_back(ValueId x);
  bool norm(ValueId x);
  bool channel_norm(ValueId x);
  bool softmax(ValueId x);
  bool scan(ValueId x);
  bool loss(ValueId x);
  bool index(ValueId x);

  // ---- movement (chain_movement.cpp) ---------------------------------------------------------
  bool transpose(ValueId x);
  bool narrow(ValueId x);
  bool concat(ValueId x);
  bool reshape(ValueId x);
  bool many_dims(ValueId x);
  bool gather(ValueId x);

  // ---- matmuls (chain_matmul.cpp) ------------------------------------------------------------
  bool matmul(ValueId x);
  bool gated_pair(ValueId x);
  bool chained_matmuls(ValueId x);
  bool thin_matmul(ValueId x);
  bool long_k(ValueId x);
  bool segments(ValueId x);
  std::optional<ValueId> product(ValueId x, const Dim& n);
  ValueId prologue(ValueId x);

  // ---- attention (chain_attention.cpp) -------------------------------------------------------
  struct Heads;
  Dim dim_of(int64_t extent, const char* name);
  DType half_type();
  std::optional<Heads> random_heads();
  ValueId operand_of(DType dtype, const Shape& batch, const Dim& length, const Dim& width);
  bool scaled_scores(ValueId x);
  bool biased_scores(ValueId x);
  bool capped_scores(ValueId x);
  bool masked_scores(ValueId x);
  bool placed_scores(ValueId x);
  std::optional<ValueId> weights_of(ValueId scores);
  static Heads for_library(Heads of);
  std::optional<ValueId> library_attention(const Heads& of, ValueId q, ValueId k, ValueId v);
  std::optional<ValueId> attention(ValueId q, ValueId k, ValueId v, bool k_turns);
  bool start_attention();

  // ---- rows of products (chain_layers.cpp) ---------------------------------------------------
  std::optional<ValueId> layer(ValueId x, int64_t n);
  bool bias(ValueId x);
  bool row_norm(ValueId x);
  ValueId between_layers(ValueId x);
  ValueId with_skip(ValueId x, llvm::ArrayRef<ValueId> earlier);
  bool layers(ValueId x);
  bool low_rank(ValueId x);
  void keep_result(size_t before, ValueId result);
  bool start_nested();

  std::mt19937_64 engine_;
  const ChainScale& scale_;
  Graph graph_{"random"};
  DimBindings sizes_;
  std::set<Feature> features_;
  std::vector<ValueId> values_;
  std::vector<ValueId> reduced_; ///< operands of reductions
  ValueId main_;
  std::optional<ValueId> beside_; ///< sums of an attention's rows, which become an output
};

} // namespace ingot::testing
