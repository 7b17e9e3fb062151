// SPDX-License-Identifier: Apache-2.0
// See random_chains.h: how a chain begins, goes on and ends.
#include "tests/support/random_chains.h"

#include "tests/support/chain_maker.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot::testing {

ChainScale ChainScale::small() {
  return {{1, 2, 3, 5, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 100, 129, 144, 260},
          20000,
          2100,
          9};
}

ChainScale ChainScale::large() {
  return {{1,   2,   3,   7,   8,   16,   33,   48,   64,   100,  128,  129,
           255, 256, 384, 500, 768, 1000, 1024, 2048, 3001, 4096, 8192, 20000},
          int64_t{1} << 21,
          70000,
          14};
}

const char* spelling(Feature feature) {
  static const char* const names[kFeatures] = {"matmul",
                                               "two matmuls",
                                               "chained matmuls",
                                               "gated pair of matmuls",
                                               "prologue of a matmul",
                                               "thin matmul",
                                               "long k",
                                               "product of a product",
                                               "attention",
                                               "grouped heads",
                                               "scores masked by positions",
                                               "few queries of many keys",
                                               "row of layers",
                                               "low rank",
                                               "skips of layers",
                                               "half type",
                                               "fed-back reduction",
                                               "wide segments",
                                               "stored and reduced",
                                               "residuals",
                                               "reshape",
                                               "transpose",
                                               "five or six dims",
                                               "several outputs",
                                               "named dim",
                                               "empty dim",
                                               "norm",
                                               "softmax",
                                               "loss",
                                               "integer",
                                               "boolean",
                                               "index computed with",
                                               "gather",
                                               "slice or concat",
                                               "scan",
                                               "iota or constant"};
  return names[static_cast<size_t>(feature)];
}

bool RandomChain::has(Feature feature) const { return llvm::is_contained(features, feature); }

bool RandomChain::has_combination() const {
  return has(Feature::fed_back_reduction) && has(Feature::reshape) && has(Feature::several_outputs);
}

RandomChain random_chain(uint64_t seed, const ChainScale& scale) {
  return ChainMaker(seed, scale).make();
}

RandomChain ChainMaker::make() {
  start();
  const size_t calls = 2 + below(static_cast<size_t>(scale_.most_calls) - 1);
  for (size_t made = 0, tried = 0; made < calls && tried < 10 * calls; ++tried) made += extend();
  // Combinations that fuse least easily are more frequent than by chance.
  const bool combines = chance(45);
  if (combines) add_combination();
  choose_outputs(combines || chance(40) ? 2 + below(2) : 1);
  std::vector<Feature> features(features_.begin(), features_.end());
  return {std::move(graph_), std::move(sizes_), std::move(features)};
}

bool ChainMaker::take(llvm::ArrayRef<Weighted> steps, ValueId x) {
  int total = 0;
  for (const Weighted& one : steps) total += one.weight;
  auto left = static_cast<int>(below(static_cast<size_t>(total)));
  for (const Weighted& one : steps) {
    if (left < one.weight) return (this->*one.step)(x);
    left -= one.weight;
  }
  llvm_unreachable("below the total");
}

int64_t ChainMaker::size(const Dim& dim) const {
  return dim.value<int64_t>([&](const std::string& name) { return sizes_.at(name); });
}

int64_t ChainMaker::count(const Shape& shape) const {
  int64_t result = 1;
  for (const Dim& dim : shape) result *= size(dim);
  return result;
}

ValueId ChainMaker::input(DType dtype, Shape shape, InputAttributes::Role role) {
  const char* prefix = role == InputAttributes::Role::param ? "w" : "x";
  return llvm::cantFail(graph_.add_input(fmt::format("{}{}", prefix, graph_.inputs().size()),
                                         Type{dtype, std::move(shape)}, role));
}

ValueId ChainMaker::another_input(DType dtype, Shape shape) {
  return input(dtype, std::move(shape),
               chance(50) ? InputAttributes::Role::param : InputAttributes::Role::input);
}

LibraryArgument ChainMaker::list(const std::vector<int64_t>& numbers) {
  ArgumentList result(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) result[i].value = numbers[i];
  return {result};
}

LibraryArgument ChainMaker::list(const Shape& shape) {
  ArgumentList result;
  for (const Dim& dim : shape)
    result.push_back(dim.is_fixed() ? LibraryArgument{dim.fixed()} : LibraryArgument{dim});
  return {result};
}

llvm::SmallVector<ValueId, 2> ChainMaker::call(llvm::StringRef name,
                                               std::vector<CallArgument> arguments) {
  auto results = ingot::call(graph_, name, arguments);
  if (!results) {
    INGOT_ASSERT(take_error(results.takeError()).first != ErrorCode::internal);
    return {};
  }
  for (ValueId value : *results)
    if (!fits(type(value).shape)) return {};
  for (ValueId value : *results) values_.push_back(value);
  return *results;
}

ValueId ChainMaker::current() {
  for (size_t tries = 0; tries < 8; ++tries) {
    const size_t back = chance(80) ? 0 : below(values_.size());
    const ValueId value = values_[values_.size() - 1 - back];
    if (is_float(type(value).dtype)) return value;
  }
  return main_;
}

ValueId ChainMaker::start_value(DType dtype, size_t rank) {
  Shape shape;
  do {
    shape.clear();
    for (size_t d = 0; d < rank; ++d) shape.push_back(extent());
  } while (!fits(shape));
  if (chance(25)) {
    Dim& dim = shape[below(rank)];
    // Only a named dim may turn out empty.
    const bool is_empty = chance(12);
    sizes_["m"] = is_empty ? 0 : dim.fixed();
    dim = Dim::named("m");
    features_.insert(Feature::named_dim);
    if (is_empty) features_.insert(Feature::empty_dim);
  }
  return input(dtype, shape, InputAttributes::Role::input);
}

void ChainMaker::start() {
  if (chance(48) && start_nested()) return;
  const DType dtype = chance(65) ? DType::f32 : chance(50) ? DType::bf16 : DType::f16;
  if (dtype != DType::f32) features_.insert(Feature::half);
  main_ = start_value(dtype, chance(70) ? 2 : 1 + below(4));
  values_.push_back(main_);
  if (chance(35)) return;
  static const Weighted kMatmuls[] = {
      {6, &ChainMaker::matmul},          {3, &ChainMaker::gated_pair},
      {5, &ChainMaker::chained_matmuls}, {5, &ChainMaker::thin_matmul},
      {5, &ChainMaker::long_k},          {8, &ChainMaker::segments}};
  take(kMatmuls, main_);
}

bool ChainMaker::extend() {
  static const Weighted kSteps[] = {{12, &ChainMaker::unary},        {6, &ChainMaker::with_number},
                                    {12, &ChainMaker::with_operand}, {6, &ChainMaker::with_earlier},
                                    {3, &ChainMaker::with_source},   {3, &ChainMaker::residuals},
                                    {3, &ChainMaker::convert},       {2, &ChainMaker::selected},
                                    {4, &ChainMaker::integers},      {3, &ChainMaker::booleans},
                                    {6, &ChainMaker::reduction},     {16, &ChainMaker::fed_back},
                                    {6, &ChainMaker::norm},          {5, &ChainMaker::softmax},
                                    {3, &ChainMaker::scan},          {3, &ChainMaker::loss},
                                    {2, &ChainMaker::index},         {4, &ChainMaker::transpose},
                                    {2, &ChainMaker::narrow},        {2, &ChainMaker::concat},
                                    {7, &ChainMaker::reshape},       {2, &ChainMaker::many_dims},
                                    {2, &ChainMaker::gather},        {3, &ChainMaker::matmul},
                                    {1, &ChainMaker::gated_pair},    {1, &ChainMaker::layers},
                                    {1, &ChainMaker::low_rank}};
  return take(kSteps, current());
}

void ChainMaker::add_combination() {
  for (int tries = 0; !features_.count(Feature::fed_back_reduction) && tries < 8; ++tries)
    fed_back(current());
  for (int tries = 0; !features_.count(Feature::reshape) && tries < 20; ++tries)
    reshape(values_[values_.size() - 1 - below(std::min<size_t>(values_.size(), 4))]);
  if (chance(70)) fed_back(current());
}

void ChainMaker::choose_outputs(size_t outputs) {
  std::vector<ValueId> chosen;
  for (size_t i = 0; i < outputs; ++i) {
    const size_t back = i == 0 ? 0 : below(values_.size());
    ValueId value = values_[values_.size() - 1 - back];
    if (i == 1 && !reduced_.empty() && chance(30)) {
      value = pick(reduced_);
      if (graph_.producer(value).kind != OpKind::input)
        features_.insert(Feature::stored_and_reduced);
    }
    if (!llvm::is_contained(chosen, value)) chosen.push_back(value);
  }
  if (beside_ && !llvm::is_contained(chosen, *beside_)) chosen.push_back(*beside_);
  if (chosen.size() > 1) features_.insert(Feature::several_outputs);
  for (size_t i = 0; i < chosen.size(); ++i)
    llvm::cantFail(graph_.add_output("out" + std::to_string(i), chosen[i]));
}

} // namespace ingot::testing
