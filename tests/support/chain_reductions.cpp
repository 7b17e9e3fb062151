// SPDX-License-Identifier: Apache-2.0
// Reductions, norms, softmaxes, scans and losses of a random chain.
#include "tests/support/chain_maker.h"

namespace ingot::testing {

bool ChainMaker::reduction(ValueId x) {
  static const char* const names[] = {"sum", "mean", "reduce_max", "reduce_min", "logsumexp",
                                      "var", "norm", "prod",       "argmax",     "argmin"};
  if (type(x).shape.empty()) return false;
  std::vector<CallArgument> arguments = {by_position({x})};
  if (chance(80)) arguments.push_back(named("axis", {axis_of(x)}));
  arguments.push_back(named("keepdim", {chance(50)}));
  if (call(pick(names), std::move(arguments)).empty()) return false;
  reduced_.push_back(x);
  return true;
}

/// The result of a reduction meets its own operand, or a value of that shape.
bool ChainMaker::fed_back(ValueId x) {
  static const char* const reductions[] = {"sum",        "mean", "reduce_max",
                                           "reduce_min", "var",  "logsumexp"};
  static const char* const meetings[] = {"sub", "add", "mul", "maximum"};
  if (type(x).shape.empty()) return false;
  std::vector<CallArgument> arguments = {by_position({x}), named("keepdim", {true})};
  if (chance(85)) arguments.push_back(named("axis", {axis_of(x)}));
  auto results = call(pick(reductions), std::move(arguments));
  if (results.empty()) return false;
  ValueId with = x;
  if (chance(25)) with = another_input(type(x).dtype, type(x).shape);
  if (!made(pick(meetings), with, by_position({results[0]}))) return false;
  reduced_.push_back(x);
  features_.insert(Feature::fed_back_reduction);
  return true;
}

/// Over channels or groups of them: those need a fixed second dim.
bool ChainMaker::channel_norm(ValueId x) {
  const Shape shape = type(x).shape;
  const DType dtype = type(x).dtype;
  const int64_t channels = shape[1].fixed();
  const auto vector = [&] { return by_position({another_input(dtype, {channels})}); };
  if (chance(50)) {
    std::vector<int64_t> groups;
    for (int64_t g : {1, 2, 3, 4, 5, 6, 8, 16, 32})
      if (channels % g == 0) groups.push_back(g);
    return made("group_norm", x, vector(), vector(), named("groups", {pick(groups)}));
  }
  if (chance(40))
    return made("batch_norm", x, vector(), vector(), vector(), named("training", {true}));
  return made("batch_norm", x, named("gamma", {another_input(dtype, {channels})}),
              named("beta", {another_input(dtype, {channels})}), named("training", {true}));
}

bool ChainMaker::norm(ValueId x) {
  const Shape shape = type(x).shape;
  if (shape.empty()) return false;
  const DType dtype = type(x).dtype;
  bool done = false;
  if (shape.size() >= 2 && chance(60) && shape[1].is_fixed())
    done = channel_norm(x);
  else if (shape.size() >= 3 && chance(50))
    done = made("instance_norm", x);
  else if (chance(40))
    done = made("layer_norm", x);
  else if (chance(40))
    done = made("normalize", x, named("axis", {axis_of(x)}));
  else
    done = made("rms_norm", x, by_position({another_input(dtype, {shape.back()})}));
  if (!done) return false;
  reduced_.push_back(x);
  features_.insert({Feature::norm, Feature::fed_back_reduction});
  return true;
}

bool ChainMaker::softmax(ValueId x) {
  if (type(x).shape.empty()) return false;
  if (!made(chance(70) ? "softmax" : "log_softmax", x, named("axis", {axis_of(x)}))) return false;
  reduced_.push_back(x);
  features_.insert({Feature::softmax, Feature::fed_back_reduction});
  return true;
}

bool ChainMaker::scan(ValueId x) {
  if (type(x).shape.empty()) return false;
  if (!made(chance(65) ? "cumsum" : "cumprod", x, named("axis", {axis_of(x)}),
            named("exclusive", {chance(20)}), named("reverse", {chance(30)})))
    return false;
  features_.insert(Feature::scan);
  return true;
}

/// To a scalar.
bool ChainMaker::loss(ValueId x) {
  static const char* const names[] = {"mse_loss", "l1_loss", "smooth_l1_loss", "hinge_loss"};
  const Shape shape = type(x).shape;
  const DType dtype = type(x).dtype;
  if (shape.empty()) return false;
  bool done = false;
  const auto same = [&] { return by_position({another_input(dtype, shape)}); };
  switch (below(4)) {
  case 0: {
    auto log = value("log_softmax", x, named("axis", {int64_t{-1}}));
    done = log && made("kl_div", *log, same());
    break;
  }
  case 1: {
    if (shape.size() != 2) return false;
    done = made("cross_entropy", x, by_position({another_input(DType::i64, {shape[0]})}));
    break;
  }
  case 2: done = made("triplet_margin_loss", x, same(), same()); break;
  default: done = made(pick(names), x, same()); break;
  }
  if (!done) return false;
  features_.insert(Feature::loss);
  return true;
}

/// The place of an extremum as an index or a number.
bool ChainMaker::index(ValueId x) {
  if (type(x).shape.empty()) return false;
  const int64_t axis = axis_of(x);
  auto place =
      value(chance(50) ? "argmax" : "argmin", x, named("axis", {axis}), named("keepdim", {true}));
  if (!place) return false;
  features_.insert(Feature::index);
  if (chance(50)) {
    ValueId table = x;
    if (chance(50)) table = another_input(type(x).dtype, type(x).shape);
    if (!made("gather", table, by_position({*place}), named("axis", {axis}))) return false;
    features_.insert(Feature::gather);
    return true;
  }
  auto number = value("cast", *place, by_position({type(x).dtype}));
  return number && made(chance(50) ? "mul" : "sub", x, by_position({*number}));
}

} // namespace ingot::testing
