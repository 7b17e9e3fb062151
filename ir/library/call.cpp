// SPDX-License-Identifier: Apache-2.0
// See call.h: binds arguments to parameters and checks their kinds.
#include "ir/library/call.h"

#include "ir/float_bits.h"
#include "ir/library/meanings.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace ingot {

namespace {

/// The parameters for positional arguments. It is the function's own order, or PyTorch's if an
/// integer or a list stands at the first position where the two orders differ.
std::vector<size_t> order_of(const LibraryFunction& function,
                             llvm::ArrayRef<CallArgument> arguments) {
  std::vector<size_t> own(function.parameters.size());
  std::iota(own.begin(), own.end(), 0);
  const auto& other = function.torch_order;
  size_t parting = 0;
  while (parting < other.size() && other[parting] == own[parting]) ++parting;
  if (parting >= std::min(other.size(), arguments.size()) || !arguments[parting].name.empty())
    return own;
  // A number has no axes, as in max(2, 3).
  if (parting > 0 && is_number(arguments[0].value)) return own;
  const auto& value = arguments[parting].value.value;
  const bool is_other =
      std::holds_alternative<int64_t>(value) || std::holds_alternative<ArgumentList>(value);
  return is_other ? other : own;
}

/// Replaces arguments that are the elements of one list by that list.
std::vector<CallArgument> with_lists(const LibraryFunction& function,
                                     llvm::ArrayRef<CallArgument> arguments) {
  const auto is_element = [](const CallArgument& argument) {
    return argument.name.empty() &&
           (is_number(argument.value) || std::holds_alternative<Dim>(argument.value.value));
  };
  std::vector<CallArgument> result = arguments.vec();
  if (!function.spread || *function.spread >= result.size()) return result;
  const auto first = result.begin() + *function.spread;
  const auto last = std::find_if_not(first, result.end(), is_element);
  if (last - first < 2) return result;
  ArgumentList list;
  for (auto element = first; element != last; ++element) list.push_back(element->value);
  const SourceLocation location = first->value.location;
  first->value = {std::move(list), location};
  result.erase(first + 1, last);
  return result;
}

/// The message that a parameter is given twice, and how.
std::string twice(llvm::StringRef parameter, const CallArgument& first,
                  const CallArgument& second) {
  if (first.name == second.name) return fmt::format("argument '{}' is given twice", second.name);
  std::string how = first.name.empty() ? "by position" : fmt::format("as '{}'", first.name);
  return fmt::format("argument '{}' is given twice, {} and as '{}'", parameter, how, second.name);
}

} // namespace

Call::Call(Builder& builder, const LibraryFunction& function,
           llvm::ArrayRef<CallArgument> arguments, DType numbers)
    : builder_(builder), function_(function), literal_dtype_(numbers) {
  bind(with_lists(function, arguments));
  choose_literal_dtype();
}

Results Call::fail_at(SourceLocation location, ErrorCode code, const std::string& message) {
  std::string text = fmt::format("{}: {}", function_.name, message);
  return {builder_.fail(llvm::make_error<LocatedError>(code, std::move(text), location))};
}

void Call::bind(llvm::ArrayRef<CallArgument> arguments) {
  const auto& parameters = function_.parameters;
  bound_.resize(parameters.size());
  llvm::SmallVector<const CallArgument*, 8> given(parameters.size(), nullptr);
  auto refuse = [&](const CallArgument& argument, const std::string& message) {
    SourceLocation location = argument.name.empty() ? argument.value.location : argument.location;
    fail_at(location, ErrorCode::invalid_argument,
            fmt::format("{}; expected {}", message, function_.signature()));
  };
  const std::vector<size_t> positions = order_of(function_, arguments);
  size_t position = 0;
  bool named = false;
  for (const CallArgument& argument : arguments) {
    std::optional<size_t> index;
    if (argument.name.empty()) {
      if (named) return refuse(argument, "an argument by position follows one by name");
      if (position == positions.size())
        return refuse(argument, fmt::format("{} arguments given", arguments.size()));
      index = positions[position++];
    } else {
      named = true;
      index = function_.find_parameter(argument.name);
      if (!index) {
        const std::string hint = hint_by_argument(function_.name, argument.name);
        return refuse(argument, fmt::format("no argument is named '{}'{}", argument.name, hint));
      }
    }
    if (given[*index])
      return refuse(argument, twice(parameters[*index].name, *given[*index], argument));
    given[*index] = &argument;
    bound_[*index] = argument.value;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_required && is_none(bound_[i])) {
      fail_at({}, ErrorCode::invalid_argument,
              fmt::format("argument '{}' is missing; expected {}", parameters[i].name,
                          function_.signature()));
      return;
    }
    if (is_none(bound_[i])) bound_[i] = parameters[i].fallback;
  }
}

void Call::choose_literal_dtype() {
  for (size_t i = 0; i < bound_.size(); ++i) {
    auto consider = [&](const LibraryArgument& argument) {
      auto* value = std::get_if<ValueId>(&argument.value);
      if (!value || builder_.graph().type(*value).dtype == DType::boolean) return false;
      literal_dtype_ = builder_.graph().type(*value).dtype;
      return true;
    };
    if (consider(bound_[i])) return;
    if (auto* list = std::get_if<ArgumentList>(&bound_[i].value))
      if (llvm::any_of(*list, consider)) return;
  }
}

const LibraryArgument& Call::argument(llvm::StringRef name) const {
  auto index = function_.find_parameter(name);
  INGOT_ASSERT(index.has_value());
  return bound_[*index];
}

bool Call::is_nan(llvm::StringRef name) const {
  return is_number(name) && std::isnan(real_of(argument(name)));
}

void Call::refuse_kind(llvm::StringRef name, const LibraryArgument& argument,
                       llvm::StringRef expected) {
  fail_at(argument.location, ErrorCode::invalid_argument,
          fmt::format("argument '{}' is {}, expected {}", name,
                      describe(builder_.graph(), argument), expected));
}

template <typename T> const T& Call::get(llvm::StringRef name, llvm::StringRef expected) {
  static const T kNone{};
  const LibraryArgument& given = argument(name);
  if (const auto* value = std::get_if<T>(&given.value)) return *value;
  refuse_kind(name, given, expected);
  return kNone;
}

ConstantAttributes Call::to_literal(llvm::StringRef name, const LibraryArgument& argument,
                                    DType dtype) {
  ConstantAttributes constant{dtype};
  if (dtype == DType::boolean) {
    const auto* truth = std::get_if<bool>(&argument.value);
    if (!truth && !ingot::is_number(argument))
      refuse_kind(name, argument, "true, false or a number");
    // NaN is not zero.
    constant.integer = truth ? *truth : ingot::is_number(argument) && real_of(argument) != 0;
    return constant;
  }
  const auto* integer = std::get_if<int64_t>(&argument.value);
  if (!ingot::is_number(argument)) {
    refuse_kind(name, argument, "a number");
  } else if (is_float(dtype)) {
    constant.real = real_of(argument);
    if (!integer && overflows_f32(constant.real))
      fail_at(argument.location, ErrorCode::type_error,
              fmt::format("argument '{}' is {}, {}", name, constant.real, kBeyondF32));
  } else if (integer) {
    constant.integer = *integer;
  } else {
    const bool is_beside_tensor = llvm::any_of(bound_, [](const LibraryArgument& bound) {
      return std::holds_alternative<ValueId>(bound.value);
    });
    refuse_kind(name, argument,
                fmt::format("an integer beside {}{}", spelling(dtype),
                            is_beside_tensor ? "; write cast(x, f32) in place of the tensor" : ""));
  }
  return constant;
}

ConstantAttributes Call::literal(llvm::StringRef name, DType dtype) {
  return to_literal(name, argument(name), dtype);
}

Term Call::to_term(llvm::StringRef name, const LibraryArgument& argument) {
  if (auto* id = std::get_if<ValueId>(&argument.value)) return builder_.term(*id);
  if (auto* value = std::get_if<bool>(&argument.value))
    return builder_.constant(DType::boolean, *value);
  if (!ingot::is_number(argument)) {
    std::string expected = "a tensor or a number";
    if (auto* dim = std::get_if<Dim>(&argument.value))
      expected += fmt::format("; its size as a number is extent({}, [{}])",
                              spelling(literal_dtype_), dim->text());
    refuse_kind(name, argument, expected);
    return Term(builder_);
  }
  ConstantAttributes constant = to_literal(name, argument, literal_dtype_);
  return failed() ? Term(builder_) : builder_.constant(constant);
}

Term Call::tensor(llvm::StringRef name) { return to_term(name, argument(name)); }

Term Call::rounded(llvm::StringRef name) {
  const LibraryArgument& given = argument(name);
  if (!ingot::is_number(given) || !is_float(literal_dtype_)) return tensor(name);
  return builder_.constant(literal_dtype_, round_by_f32(literal_dtype_, real_of(given)));
}

Term Call::float_tensor(llvm::StringRef name) {
  Term x = tensor(name);
  if (failed() || is_float(x.type().dtype)) return x;
  return fail("{} is {}, expected f32, f16 or bf16; cast it first", name, x.type().text())[0];
}

std::vector<Term> Call::tensors(llvm::StringRef name) {
  std::vector<Term> result;
  const auto& list = get<ArgumentList>(name, "a list of tensors");
  if (list.empty()) refuse_kind(name, argument(name), "a list with at least one tensor");
  for (const LibraryArgument& item : list) result.push_back(to_term(name, item));
  return result;
}

double Call::number(llvm::StringRef name) {
  if (ingot::is_number(argument(name))) return real_of(argument(name));
  return get<double>(name, "a number");
}

double Call::positive(llvm::StringRef name) {
  const double value = number(name);
  if (!(value > 0)) fail_argument(name, "{} is {}, expected more than 0", name, value);
  return value;
}

int64_t Call::integer(llvm::StringRef name) { return get<int64_t>(name, "an integer"); }

bool Call::boolean(llvm::StringRef name) { return get<bool>(name, "true or false"); }

llvm::StringRef Call::text(llvm::StringRef name) {
  if (!has(name)) return "none";
  return get<std::string>(name, "a text in quotes");
}

DType Call::dtype(llvm::StringRef name) {
  const auto* text = std::get_if<std::string>(&argument(name).value);
  const std::string hint = !text                ? ""
                           : parse_dtype(*text) ? "; write " + *text + " without quotes"
                                                : hint_by_type(*text);
  return get<DType>(name, "an element type: f32, f16, bf16, i32, i64 or bool" + hint);
}

int64_t Call::resolve_axis(llvm::StringRef name, int64_t axis, int64_t rank) {
  int64_t resolved = axis < 0 ? axis + rank : axis;
  if (resolved >= 0 && resolved < rank) return resolved;
  const std::string range =
      rank == 0 ? "a scalar has no axes" : fmt::format("expected {} to {}", -rank, rank - 1);
  fail_argument(name, "axis {} does not exist in a tensor of {} dimension{}; {}", axis, rank,
                rank == 1 ? "" : "s", range);
  return 0;
}

int64_t Call::axis(llvm::StringRef name, int64_t rank) {
  return failed() ? 0 : resolve_axis(name, integer(name), rank);
}

llvm::SmallVector<int64_t, 4> Call::axes(llvm::StringRef name, int64_t rank) {
  llvm::SmallVector<int64_t, 4> result;
  if (!has(name)) {
    for (int64_t i = 0; i < rank; ++i) result.push_back(i);
    return result;
  }
  for (int64_t axis : ints(name)) {
    if (failed()) break;
    int64_t resolved = resolve_axis(name, axis, rank);
    if (!failed() && llvm::is_contained(result, resolved))
      fail_argument(name, "axis {} is given twice", axis);
    result.push_back(resolved);
  }
  return result;
}

llvm::SmallVector<int64_t, 4> Call::ints(llvm::StringRef name) {
  const LibraryArgument& given = argument(name);
  if (auto* value = std::get_if<int64_t>(&given.value)) return {*value};
  llvm::SmallVector<int64_t, 4> result;
  for (const LibraryArgument& item : get<ArgumentList>(name, "an integer or a list of integers")) {
    auto* value = std::get_if<int64_t>(&item.value);
    if (!value) {
      refuse_kind(name, item, "an integer");
      break;
    }
    result.push_back(*value);
  }
  return result;
}

Dim Call::dim(llvm::StringRef name) {
  const auto dim = as_dim(argument(name));
  if (!dim) refuse_kind(name, argument(name), "an integer or a named dimension");
  return dim.value_or(1);
}

Shape Call::dims(llvm::StringRef name) {
  const LibraryArgument& given = argument(name);
  if (const auto dim = as_dim(given)) return {*dim};
  Shape result;
  for (const LibraryArgument& item : get<ArgumentList>(name, "an extent or a list of extents")) {
    const auto dim = as_dim(item);
    if (!dim) {
      refuse_kind(name, item, "a number or a named dimension");
      break;
    }
    result.push_back(*dim);
  }
  return result;
}

} // namespace ingot
