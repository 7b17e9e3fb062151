// SPDX-License-Identifier: Apache-2.0
// See numbers.h. The reference interpreter evaluates the call in a graph of its own.
#include "ir/library/numbers.h"

#include "ir/interpreter/evaluate.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

namespace {

bool is_known(const CallArgument& argument) {
  const auto& value = argument.value.value;
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value) ||
         std::holds_alternative<bool>(value) || std::holds_alternative<std::string>(value) ||
         std::holds_alternative<None>(value);
}

bool is_real(const CallArgument& argument) {
  return std::holds_alternative<double>(argument.value.value);
}

/// Evaluates the call with its numbers in one element type.
std::optional<LibraryArgument> computed_in(DType numbers, llvm::StringRef function,
                                           llvm::ArrayRef<CallArgument> arguments) {
  Graph graph("numbers");
  auto results = call(graph, function, arguments, {}, numbers);
  if (!results) {
    llvm::consumeError(results.takeError());
    return std::nullopt;
  }
  // Without extents, nothing takes memory or time.
  const bool is_scalar =
      llvm::all_of(graph.values(), [](const Value& value) { return value.type.rank() == 0; });
  if (results->size() != 1 || !is_scalar) return std::nullopt;
  llvm::cantFail(graph.add_output("value", results->front()));
  auto values = evaluate(graph, {}, {.precisions = {}, .stored = {}, .threads = 1});
  if (!values) {
    llvm::consumeError(values.takeError());
    return std::nullopt;
  }
  const Evaluated& value = values->front();
  if (value.dtype == DType::boolean) return LibraryArgument{value.booleans()[0] != 0};
  if (is_integer(value.dtype)) return LibraryArgument{value.integers()[0]};
  return LibraryArgument{value.reals()[0]};
}

} // namespace

std::optional<LibraryArgument> value_of_numbers(llvm::StringRef function,
                                                llvm::ArrayRef<CallArgument> arguments) {
  if (arguments.empty() || !llvm::all_of(arguments, is_known) || !is_function(function))
    return std::nullopt;
  auto result = computed_in(DType::f32, function, arguments);
  const double* real = result ? std::get_if<double>(&result->value) : nullptr;
  if (!real || llvm::any_of(arguments, is_real)) return result;
  // Integer functions may round towards zero where real ones do not.
  const auto exact = computed_in(DType::i64, function, arguments);
  const int64_t* integer = exact ? std::get_if<int64_t>(&exact->value) : nullptr;
  return integer && static_cast<double>(*integer) == *real ? exact : result;
}

} // namespace ingot
