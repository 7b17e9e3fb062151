// SPDX-License-Identifier: Apache-2.0
// See random_chains.h.
#include "tests/support/random_chains.h"

#include "ir/library.h"

#include "llvm/ADT/STLExtras.h"

#include <random>
#include <set>

namespace ingot::testing {

ChainScale ChainScale::small() {
  return {{1, 2, 3, 5, 7, 8, 12, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 100, 129, 144, 260},
          20000,
          9};
}

ChainScale ChainScale::large() {
  return {{1,   2,   3,   7,   8,   16,   33,   48,   64,   100,  128,  129,
           255, 256, 384, 500, 768, 1000, 1024, 2048, 3001, 4096, 8192, 20000},
          int64_t{1} << 21,
          14};
}

const char* spelling(Feature feature) {
  static const char* const names[] = {
      "matmul",  "two matmuls", "half type",       "fed-back reduction",
      "reshape", "transpose",   "several outputs", "named dim",
      "norm",    "softmax",     "integer",         "slice or concat",
      "scan"};
  return names[static_cast<size_t>(feature)];
}

namespace {

using Extents = std::vector<int64_t>;

class Maker {
public:
  Maker(uint64_t seed, const ChainScale& scale) : engine_(seed), scale_(scale) {}

  RandomChain make() {
    start();
    const size_t calls = 2 + below(static_cast<size_t>(scale_.most_calls) - 1);
    for (size_t made = 0, tried = 0; made < calls && tried < 10 * calls; ++tried) made += extend();
    // Of what fuses least easily there is more than chance gives.
    const bool combines = chance(40);
    if (combines) add_combination();
    choose_outputs(combines || chance(40) ? 2 + below(2) : 1);
    std::vector<Feature> features(features_.begin(), features_.end());
    return {std::move(graph_), std::move(sizes_), std::move(features)};
  }

private:
  // ---- choices
  // -----------------------------------------------------------------------------------
  size_t below(size_t end) { return engine_() % end; }
  bool chance(size_t percent) { return below(100) < percent; }
  template <typename Range> auto pick(const Range& range) { return range[below(std::size(range))]; }
  int64_t extent() { return pick(scale_.extents); }

  const Type& type(ValueId value) const { return graph_.type(value); }
  int64_t size(const Dim& dim) const {
    int64_t result = dim.coefficient();
    for (const std::string& name : dim.names()) result *= sizes_.at(name);
    return result;
  }
  int64_t count(const Shape& shape) const {
    int64_t result = 1;
    for (const Dim& dim : shape) result *= size(dim);
    return result;
  }
  bool fits(const Shape& shape) const { return count(shape) <= scale_.most_elements; }

  // ---- values
  // ------------------------------------------------------------------------------------
  ValueId input(DType dtype, Shape shape, InputAttributes::Role role) {
    const char* prefix = role == InputAttributes::Role::param ? "w" : "x";
    return llvm::cantFail(graph_.add_input(fmt::format("{}{}", prefix, graph_.inputs().size()),
                                           Type{dtype, std::move(shape)}, role));
  }
  ValueId another_input(DType dtype, Shape shape) {
    return input(dtype, std::move(shape),
                 chance(50) ? InputAttributes::Role::param : InputAttributes::Role::input);
  }

  CallArgument by_position(LibraryArgument value) { return {"", std::move(value), {}}; }
  CallArgument named(llvm::StringRef name, LibraryArgument value) {
    return {name.str(), std::move(value), {}};
  }
  static LibraryArgument list(const std::vector<int64_t>& numbers) {
    ArgumentList result;
    for (int64_t number : numbers) result.push_back({number});
    return {result};
  }
  static LibraryArgument list(const Shape& shape) {
    ArgumentList result;
    for (const Dim& dim : shape)
      result.push_back(dim.is_fixed() ? LibraryArgument{dim.fixed()} : LibraryArgument{dim});
    return {result};
  }

  /// The results of a call, newest values of the chain; empty when it does not type or grows too
  /// large.
  llvm::SmallVector<ValueId, 2> call(llvm::StringRef name, std::vector<CallArgument> arguments) {
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
  template <typename... More> bool made(llvm::StringRef name, ValueId x, More... more) {
    return !call(name, {by_position({x}), std::move(more)...}).empty();
  }

  /// The newest float value mostly.
  ValueId current() {
    for (size_t tries = 0; tries < 8; ++tries) {
      const size_t back = chance(80) ? 0 : below(values_.size());
      const ValueId value = values_[values_.size() - 1 - back];
      if (is_float(type(value).dtype)) return value;
    }
    return main_;
  }

  void start();
  bool extend();
  bool unary(ValueId x);
  bool with_number(ValueId x);
  bool with_operand(ValueId x);
  bool with_earlier(ValueId x);
  bool reduction(ValueId x);
  bool fed_back(ValueId x);
  bool norm(ValueId x);
  bool softmax(ValueId x);
  bool scan(ValueId x);
  bool movement(ValueId x);
  bool reshape(ValueId x);
  bool matmul(ValueId x);
  bool convert(ValueId x);
  bool selected(ValueId x);
  void add_combination();
  void choose_outputs(size_t outputs);

  std::mt19937_64 engine_;
  const ChainScale& scale_;
  Graph graph_{"random"};
  DimBindings sizes_;
  std::set<Feature> features_;
  std::vector<ValueId> values_;
  ValueId main_;
};

void Maker::start() {
  const DType dtype = chance(65) ? DType::f32 : chance(50) ? DType::bf16 : DType::f16;
  if (dtype != DType::f32) features_.insert(Feature::half);
  Shape shape;
  const size_t rank = chance(70) ? 2 : 1 + below(4);
  do {
    shape.clear();
    for (size_t d = 0; d < rank; ++d) shape.push_back(extent());
  } while (!fits(shape));
  if (chance(25)) {
    Dim& dim = shape[below(rank)];
    sizes_["m"] = dim.fixed();
    dim = Dim::named("m");
    features_.insert(Feature::named_dim);
  }
  main_ = input(dtype, shape, InputAttributes::Role::input);
  values_.push_back(main_);
  if (chance(60)) matmul(main_);
}

bool Maker::extend() {
  const ValueId x = current();
  switch (below(16)) {
  case 0:
  case 1: return unary(x);
  case 2: return with_number(x);
  case 3:
  case 4: return with_operand(x);
  case 5: return with_earlier(x);
  case 6: return reduction(x);
  case 7:
  case 8:
  case 9: return fed_back(x);
  case 10: return norm(x);
  case 11: return chance(80) ? softmax(x) : scan(x);
  case 12: return movement(x);
  case 13: return reshape(x);
  case 14: return chance(40) ? matmul(x) : unary(x);
  default: return chance(50) ? convert(x) : selected(x);
  }
}

bool Maker::unary(ValueId x) {
  static const char* const names[] = {
      "relu",      "gelu",     "tanh", "sigmoid",  "mish",        "neg",   "abs",
      "square",    "hardtanh", "silu", "softplus", "leaky_relu",  "floor", "softsign",
      "hardswish", "elu",      "erf",  "sin",      "log_sigmoid", "relu6"};
  return made(pick(names), x);
}

bool Maker::with_number(ValueId x) {
  static const char* const names[] = {"add", "mul", "sub", "div", "maximum", "minimum"};
  static const double numbers[] = {0.5, 2, -1, 1.5, 0.1, 3, -0.25};
  return made(pick(names), x, by_position({pick(numbers)}));
}

/// An operand from memory: a scalar, a row, a column, a full tensor.
bool Maker::with_operand(ValueId x) {
  static const char* const names[] = {"add", "mul", "sub", "maximum", "add"};
  Shape shape = type(x).shape;
  if (shape.empty()) return false;
  switch (below(4)) {
  case 0: shape.clear(); break;
  case 1: shape.erase(shape.begin(), shape.end() - 1); break;
  case 2:
    for (Dim& dim : shape)
      if (chance(60)) dim = 1;
    break;
  default: break;
  }
  const ValueId operand = another_input(type(x).dtype, shape);
  return chance(30) ? made(pick(names), operand, by_position({x}))
                    : made(pick(names), x, by_position({operand}));
}

bool Maker::with_earlier(ValueId x) {
  static const char* const names[] = {"add", "mul", "sub", "maximum"};
  std::vector<ValueId> fitting;
  for (ValueId value : values_)
    if (type(value).dtype == type(x).dtype && !(value == x)) fitting.push_back(value);
  return !fitting.empty() && made(pick(names), x, by_position({pick(fitting)}));
}

bool Maker::reduction(ValueId x) {
  static const char* const names[] = {"sum",       "mean", "reduce_max", "reduce_min",
                                      "logsumexp", "var",  "argmax",     "norm"};
  const size_t rank = type(x).shape.size();
  if (rank == 0) return false;
  std::vector<CallArgument> arguments = {by_position({x})};
  if (chance(80)) arguments.push_back(named("axis", {static_cast<int64_t>(below(rank))}));
  arguments.push_back(named("keepdim", {chance(50)}));
  return !call(pick(names), std::move(arguments)).empty();
}

/// The result of a reduction meets what it was reduced from, or something of its shape.
bool Maker::fed_back(ValueId x) {
  static const char* const reductions[] = {"sum",        "mean", "reduce_max",
                                           "reduce_min", "var",  "logsumexp"};
  static const char* const meetings[] = {"sub", "add", "mul", "maximum"};
  const size_t rank = type(x).shape.size();
  if (rank == 0) return false;
  std::vector<CallArgument> arguments = {by_position({x}), named("keepdim", {true})};
  if (chance(85)) arguments.push_back(named("axis", {static_cast<int64_t>(below(rank))}));
  auto results = call(pick(reductions), std::move(arguments));
  if (results.empty()) return false;
  ValueId with = x;
  if (chance(25)) with = another_input(type(x).dtype, type(x).shape);
  if (!made(pick(meetings), with, by_position({results[0]}))) return false;
  features_.insert(Feature::fed_back_reduction);
  return true;
}

bool Maker::norm(ValueId x) {
  const Shape shape = type(x).shape;
  if (shape.empty()) return false;
  const DType dtype = type(x).dtype;
  bool done = false;
  if (shape.size() >= 2 && chance(60) && shape[1].is_fixed()) {
    const int64_t channels = shape[1].fixed();
    std::vector<int64_t> groups;
    for (int64_t g : {1, 2, 3, 4, 5, 6, 8, 16, 32})
      if (channels % g == 0) groups.push_back(g);
    if (chance(50)) {
      done = made("group_norm", x, by_position({another_input(dtype, {channels})}),
                  by_position({another_input(dtype, {channels})}), named("groups", {pick(groups)}));
    } else {
      done = made("batch_norm", x, by_position({another_input(dtype, {channels})}),
                  by_position({another_input(dtype, {channels})}), named("training", {true}));
    }
  } else if (shape.size() >= 3 && chance(50)) {
    done = made("instance_norm", x);
  } else if (chance(50)) {
    done = made("layer_norm", x);
  } else {
    done = made("rms_norm", x, by_position({another_input(dtype, {shape.back()})}));
  }
  if (done) features_.insert({Feature::norm, Feature::fed_back_reduction});
  return done;
}

bool Maker::softmax(ValueId x) {
  const size_t rank = type(x).shape.size();
  if (rank == 0) return false;
  const auto axis = static_cast<int64_t>(below(rank));
  if (!made(chance(70) ? "softmax" : "log_softmax", x, named("axis", {axis}))) return false;
  features_.insert({Feature::softmax, Feature::fed_back_reduction});
  return true;
}

bool Maker::scan(ValueId x) {
  const size_t rank = type(x).shape.size();
  if (rank == 0) return false;
  features_.insert(Feature::scan);
  return made("cumsum", x, named("axis", {static_cast<int64_t>(below(rank))}),
              named("reverse", {chance(30)}));
}

bool Maker::movement(ValueId x) {
  const Shape& shape = type(x).shape;
  const size_t rank = shape.size();
  if (rank == 0) return false;
  const size_t axis = below(rank);
  switch (below(4)) {
  case 0:
  case 1: {
    std::vector<int64_t> permutation;
    for (size_t d = 0; d < rank; ++d) permutation.push_back(static_cast<int64_t>(d));
    std::shuffle(permutation.begin(), permutation.end(), engine_);
    if (!made("transpose", x, by_position(list(permutation)))) return false;
    features_.insert(Feature::transpose);
    return true;
  }
  case 2: {
    if (!shape[axis].is_fixed() || shape[axis].fixed() < 2) return false;
    const int64_t start = static_cast<int64_t>(below(static_cast<size_t>(shape[axis].fixed() - 1)));
    const int64_t most = shape[axis].fixed() - start;
    features_.insert(Feature::moved_slices);
    return made("narrow", x, named("axis", {static_cast<int64_t>(axis)}), named("start", {start}),
                named("length", {1 + static_cast<int64_t>(below(static_cast<size_t>(most)))}));
  }
  default: {
    Shape other = shape;
    if (chance(50) && shape[axis].is_fixed()) other[axis] = extent();
    const ValueId with = another_input(type(x).dtype, other);
    features_.insert(Feature::moved_slices);
    return !call("concat", {by_position({ArgumentList{{x}, {with}}}),
                            named("axis", {static_cast<int64_t>(axis)})})
                .empty();
  }
  }
}

/// Splits a dim or joins two neighbours.
bool Maker::reshape(ValueId x) {
  Shape shape = type(x).shape;
  if (shape.empty()) return false;
  const size_t axis = below(shape.size());
  if (chance(60) && shape[axis].is_fixed()) {
    std::vector<int64_t> factors;
    for (int64_t f : {2, 3, 4, 5, 8, 12, 16, 32, 64})
      if (shape[axis].fixed() % f == 0 && shape[axis].fixed() > f) factors.push_back(f);
    if (factors.empty()) return false;
    const int64_t factor = pick(factors), rest = shape[axis].fixed() / factor;
    shape[axis] = factor;
    shape.insert(shape.begin() + static_cast<long>(axis) + 1, rest);
  } else {
    if (axis + 1 >= shape.size()) return false;
    shape[axis] = shape[axis] * shape[axis + 1];
    shape.erase(shape.begin() + static_cast<long>(axis) + 1);
  }
  if (!made("reshape", x, by_position(list(shape)))) return false;
  features_.insert(Feature::reshape);
  return true;
}

bool Maker::matmul(ValueId x) {
  const Shape shape = type(x).shape;
  if (shape.empty() || !is_float(type(x).dtype)) return false;
  const Dim k = shape.back();
  const Dim n = extent();
  Shape result = shape;
  result.back() = n;
  if (!fits({k, n}) || !fits(result) || count(result) * size(k) > 64 * scale_.most_elements)
    return false;
  const DType dtype = type(x).dtype;
  bool done = false;
  if (chance(60)) {
    done = chance(50) ? made("linear", x, by_position({another_input(dtype, {n, k})}))
                      : made("linear", x, by_position({another_input(dtype, {n, k})}),
                             by_position({another_input(dtype, {n})}));
  } else {
    Shape other = {k, n};
    if (chance(30) && shape.size() > 2) other.insert(other.begin(), shape.begin(), shape.end() - 2);
    if (shape.size() < 2) return false;
    done = made("matmul", x, by_position({another_input(dtype, other)}));
  }
  if (!done) return false;
  if (features_.count(Feature::matmul)) features_.insert(Feature::two_matmuls);
  features_.insert(Feature::matmul);
  return true;
}

bool Maker::convert(ValueId x) {
  static const DType types[] = {DType::f32, DType::f16, DType::bf16, DType::f32};
  const DType to = pick(types);
  if (to == type(x).dtype) return false;
  if (to != DType::f32) features_.insert(Feature::half);
  return made("cast", x, by_position({to}));
}

/// Through a comparison, or through integers.
bool Maker::selected(ValueId x) {
  if (chance(50)) {
    auto condition = call("greater", {by_position({x}), by_position({0.25})});
    return !condition.empty() && made("select", condition[0], by_position({x}), by_position({0.5}));
  }
  features_.insert(Feature::integer);
  auto whole =
      call("cast", {by_position({x}), by_position({chance(50) ? DType::i32 : DType::i64})});
  if (whole.empty()) return false;
  auto tripled = call("mul", {by_position({whole[0]}), by_position({int64_t{3}})});
  return !tripled.empty() && made("cast", tripled[0], by_position({type(x).dtype}));
}

void Maker::add_combination() {
  for (int tries = 0; !features_.count(Feature::fed_back_reduction) && tries < 8; ++tries)
    fed_back(current());
  for (int tries = 0; !features_.count(Feature::reshape) && tries < 20; ++tries)
    reshape(values_[values_.size() - 1 - below(std::min<size_t>(values_.size(), 4))]);
  if (chance(70)) fed_back(current());
}

void Maker::choose_outputs(size_t outputs) {
  std::vector<ValueId> chosen;
  for (size_t i = 0; i < outputs; ++i) {
    const size_t back = i == 0 ? 0 : below(values_.size());
    const ValueId value = values_[values_.size() - 1 - back];
    if (!llvm::is_contained(chosen, value)) chosen.push_back(value);
  }
  if (chosen.size() > 1) features_.insert(Feature::several_outputs);
  for (size_t i = 0; i < chosen.size(); ++i)
    llvm::cantFail(graph_.add_output("out" + std::to_string(i), chosen[i]));
}

/// `graph` with the outputs to keep alone, and with the results of op `cut` as inputs. Nothing when
/// that is not legal: a named dim may lose the input that declares it.
std::optional<Graph> reduced(const Graph& graph, llvm::ArrayRef<bool> keep_output,
                             std::optional<uint32_t> cut) {
  std::vector<bool> needed(graph.ops().size(), false);
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    if (keep_output[i]) needed[graph.value(graph.outputs()[i].value).op.index] = true;
  for (size_t i = graph.ops().size(); i-- > 0;)
    if (needed[i] && !(cut && *cut == i))
      for (ValueId operand : graph.ops()[i].operands) needed[graph.value(operand).op.index] = true;
  Graph result(graph.name());
  std::vector<ValueId> now(graph.values().size());
  // Fewer with every cut, so that cuts of cuts have names of their own.
  const auto computed =
      llvm::count_if(graph.ops(), [](const Op& op) { return op.kind != OpKind::input; });
  for (uint32_t i = 0; i < graph.ops().size(); ++i) {
    if (!needed[i]) continue;
    const Op& op = graph.ops()[i];
    if (op.kind == OpKind::input || (cut && *cut == i)) {
      for (ValueId value : op.results) {
        const auto* attributes = std::get_if<InputAttributes>(&op.attributes);
        now[value.index] = llvm::cantFail(result.add_input(
            attributes ? attributes->name : fmt::format("cut{}_{}", computed, value.index),
            graph.type(value), attributes ? attributes->role : InputAttributes::Role::input));
      }
      continue;
    }
    llvm::SmallVector<ValueId, 3> operands;
    for (ValueId operand : op.operands) operands.push_back(now[operand.index]);
    auto id = result.add(op.kind, operands, op.attributes);
    if (!id) {
      llvm::consumeError(id.takeError());
      return std::nullopt;
    }
    for (size_t r = 0; r < op.results.size(); ++r)
      now[op.results[r].index] = result.op(*id).results[r];
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    if (keep_output[i])
      llvm::cantFail(
          result.add_output(graph.outputs()[i].name, now[graph.outputs()[i].value.index]));
  return result;
}

} // namespace

bool RandomChain::has_combination() const {
  return llvm::all_of(std::initializer_list<Feature>{Feature::fed_back_reduction, Feature::reshape,
                                                     Feature::several_outputs},
                      [&](Feature feature) { return llvm::is_contained(features, feature); });
}

RandomChain random_chain(uint64_t seed, const ChainScale& scale) {
  return Maker(seed, scale).make();
}

namespace {

/// One step smaller and failing still, or nothing.
std::optional<Graph> shrunk_once(const Graph& graph,
                                 const std::function<bool(const Graph&)>& fails) {
  const size_t outputs = graph.outputs().size();
  llvm::SmallVector<bool, 4> keep(outputs, true);
  for (size_t drop = 0; outputs > 1 && drop < outputs; ++drop) {
    keep[drop] = false;
    if (auto less = reduced(graph, keep, std::nullopt); less && fails(*less)) return less;
    keep[drop] = true;
  }
  // The latest ops first: an input in their place makes all before them dead.
  for (auto i = static_cast<uint32_t>(graph.ops().size()); i-- > 0;) {
    const OpKind kind = graph.ops()[i].kind;
    if (kind == OpKind::input || kind == OpKind::constant) continue;
    if (auto less = reduced(graph, keep, i); less && fails(*less)) return less;
  }
  return std::nullopt;
}

} // namespace

Graph shrink(Graph graph, const std::function<bool(const Graph&)>& fails) {
  while (auto less = shrunk_once(graph, fails)) graph = std::move(*less);
  return graph;
}

} // namespace ingot::testing
