// SPDX-License-Identifier: Apache-2.0
// See fuzz_graphs.h.
#include "tests/support/fuzz_graphs.h"

#include "ir/library.h"

namespace ingot::testing {
namespace {

class Maker {
public:
  explicit Maker(llvm::ArrayRef<uint8_t> bytes) : bytes_(bytes) {}

  Graph make() {
    declare_inputs();
    for (size_t calls = below(16) + 1; calls > 0; --calls) add_call();
    size_t outputs = below(3) + 1;
    for (size_t i = 0; i < outputs && i < values_.size(); ++i)
      llvm::cantFail(graph_.add_output("out" + std::to_string(i), values_[values_.size() - 1 - i]));
    return std::move(graph_);
  }

private:
  size_t below(size_t end) {
    if (bytes_.empty()) return 0;
    uint8_t byte = bytes_.front();
    bytes_ = bytes_.drop_front();
    return byte % end;
  }
  template <typename T, size_t N> T pick(const T (&choices)[N]) { return choices[below(N)]; }

  void input(llvm::StringRef name, Type type, InputAttributes::Role role) {
    values_.push_back(llvm::cantFail(graph_.add_input(name, std::move(type), role)));
  }

  void declare_inputs() {
    constexpr auto kInput = InputAttributes::Role::input;
    constexpr auto kParam = InputAttributes::Role::param;
    Dim m = Dim::named("m");
    input("flags", {DType::boolean, {4, 6}}, kInput);
    input("index", {DType::i64, {4, 1}}, kInput);
    input("weight", {DType::f32, {6, 6}}, kParam);
    input("gamma", {DType::f32, {6}}, kParam);
    input("scale", {DType::f32, {}}, kParam);
    input("rows", {DType::f32, {m, 6}}, kInput);
    input("x", {DType::f32, {4, 6}}, kInput);
  }

  /// Late values more often, so that calls form chains.
  CallArgument value() {
    size_t back = below(2) == 0 ? 0 : below(values_.size());
    return {"", {values_[values_.size() - 1 - back]}, {}};
  }
  CallArgument number() { return {"", {pick<double>({0, 1, -1, 2, 0.5, 3, 0.1, 10, -0.25})}, {}}; }
  CallArgument named(llvm::StringRef name, LibraryArgument argument) {
    return {name.str(), std::move(argument), {}};
  }
  CallArgument axis() { return named("axis", {pick<int64_t>({1, 0, -1, 2})}); }
  CallArgument flag(llvm::StringRef name) { return named(name, {below(2) == 1}); }

  void add_call() {
    switch (below(8)) {
    case 0: return unary();
    case 1: return binary();
    case 2: return reduction();
    case 3: return normalisation();
    case 4: return movement();
    case 5: return call("select", {{"", {values_[0]}, {}}, value(), value()});
    case 6: return call(pick<const char*>({"linear", "matmul"}), {value(), value()});
    default: return call("reshape", {value(), named("shape", {shape()})});
    }
  }

  void unary() {
    call(pick<const char*>({"relu", "gelu", "tanh", "sigmoid", "mish", "neg", "abs", "square",
                            "hardtanh", "silu", "exp", "softplus", "leaky_relu", "sign", "floor"}),
         {value()});
  }

  void binary() {
    const char* name = pick<const char*>(
        {"add", "mul", "sub", "div", "maximum", "minimum", "add", "mul", "less", "power"});
    switch (below(3)) {
    case 0: return call(name, {value(), number()});
    case 1: return call(name, {number(), value()});
    default: return call(name, {value(), value()});
    }
  }

  void reduction() {
    call(pick<const char*>({"sum", "mean", "reduce_max", "reduce_min", "logsumexp", "prod", "var",
                            "moments", "argmax", "norm"}),
         {value(), axis(), flag("keepdim")});
  }

  void normalisation() {
    switch (below(6)) {
    case 0: return call("softmax", {value(), axis()});
    case 1: return call("log_softmax", {value(), axis()});
    case 2: return call("layer_norm", {value()});
    case 3: return call("group_norm", {value(), named("groups", {pick<int64_t>({2, 3, 1, 6})})});
    case 4: return call("batch_norm", {value(), named("training", {true})});
    default: return call("cumsum", {value(), axis(), flag("reverse"), flag("exclusive")});
    }
  }

  void movement() {
    switch (below(7)) {
    case 0: return call("transpose", {value()});
    case 1: return call("unsqueeze", {value(), axis()});
    case 2: return call("squeeze", {value()});
    case 3: {
      CallArgument part = value();
      return call("concat", {{"", {ArgumentList{part.value, value().value}}, {}}, axis()});
    }
    case 4: {
      int64_t start = pick<int64_t>({0, 1, 2});
      return call("narrow",
                  {value(), axis(), named("start", {start}), named("length", {int64_t{2}})});
    }
    case 5: return call("broadcast", {value(), named("shape", {shape()})});
    default: return call("flatten", {value()});
    }
  }

  ArgumentList shape() {
    switch (below(6)) {
    case 0: return {{int64_t{4}}, {int64_t{2}}, {int64_t{3}}};
    case 1: return {{int64_t{-1}}, {int64_t{3}}};
    case 2: return {{int64_t{24}}};
    case 3: return {{int64_t{2}}, {int64_t{4}}, {int64_t{6}}};
    case 4: return {{Dim::named("m")}, {int64_t{2}}, {int64_t{3}}};
    default: return {{Dim::named("m")}, {int64_t{6}}};
    }
  }

  void call(llvm::StringRef name, llvm::ArrayRef<CallArgument> arguments) {
    auto results = ingot::call(graph_, name, arguments);
    if (!results) {
      INGOT_ASSERT(take_error(results.takeError()).first != ErrorCode::internal);
      return;
    }
    values_.append(results->begin(), results->end());
  }

  llvm::ArrayRef<uint8_t> bytes_;
  Graph graph_{"random"};
  llvm::SmallVector<ValueId, 32> values_;
};

} // namespace

Graph random_graph(llvm::ArrayRef<uint8_t> bytes) { return Maker(bytes).make(); }

} // namespace ingot::testing
