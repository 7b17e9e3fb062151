// SPDX-License-Identifier: Apache-2.0
// The table of library functions, and the call by name.
#include "ir/library.h"

#include "ir/library/functions.h"
#include "ir/library/meanings.h"
#include "src/support/words.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

namespace {

constexpr llvm::StringLiteral kKinds[] = {
#define INGOT_KIND(name) #name,
#include "ir/library.def"
};

ParameterKind parse_kind(llvm::StringRef text) {
  const auto* found = llvm::find(kKinds, text);
  INGOT_ASSERT(found != std::end(kKinds));
  return static_cast<ParameterKind>(found - kKinds);
}

LibraryArgument parse_default(ParameterKind kind, llvm::StringRef text) {
  if (kind == ParameterKind::boolean) return {text == "true"};
  if (kind == ParameterKind::text) return {text.str()};
  if (kind == ParameterKind::number) {
    double value = 0;
    INGOT_ASSERT(!text.getAsDouble(value));
    return {value};
  }
  int64_t value = 0;
  INGOT_ASSERT(!text.getAsInteger(10, value));
  return {value};
}

/// Reads `NAME[?][: KIND][= DEFAULT], ...`.
std::vector<Parameter> parse_parameters(llvm::StringRef text) {
  std::vector<Parameter> result;
  llvm::SmallVector<llvm::StringRef, 8> items;
  text.split(items, ',');
  for (llvm::StringRef item : items) {
    auto [declaration, fallback] = item.split('=');
    auto [name, kind] = declaration.split(':');
    Parameter parameter;
    parameter.name = name.trim();
    parameter.is_required = !parameter.name.consume_back("?") && fallback.empty();
    if (!kind.empty()) parameter.kind = parse_kind(kind.trim());
    if (!fallback.empty()) parameter.fallback = parse_default(parameter.kind, fallback.trim());
    result.push_back(std::move(parameter));
  }
  return result;
}

std::vector<Parameter> operands(int arity) {
  if (arity == 1) return parse_parameters("x");
  if (arity == 2) return parse_parameters("a, b");
  return parse_parameters("condition, a, b");
}

/// The function of that name, which must exist. The list is not in order yet.
LibraryFunction& named(std::vector<LibraryFunction>& functions, llvm::StringRef name) {
  auto found = llvm::find_if(functions, [&](const auto& f) { return f.name == name; });
  INGOT_ASSERT(found != functions.end());
  return *found;
}

void add_aliases(std::vector<LibraryFunction>& functions) {
  auto alias = [&](llvm::StringRef name, llvm::StringRef of) {
    LibraryFunction copy = named(functions, of);
    copy.name = name;
    functions.push_back(std::move(copy));
  };
#define INGOT_ALIAS(name, of) alias(#name, #of);
#include "ir/library.def"
}

void add_synonyms(std::vector<LibraryFunction>& functions) {
  auto add = [&](llvm::StringRef parameter, llvm::StringRef names) {
    const Parameter pattern = parse_parameters(parameter).front();
    llvm::SmallVector<llvm::StringRef, 4> synonyms;
    names.split(synonyms, ',');
    for (LibraryFunction& function : functions)
      for (Parameter& candidate : function.parameters)
        if (candidate.name == pattern.name && candidate.kind == pattern.kind)
          for (llvm::StringRef synonym : synonyms) candidate.synonyms.push_back(synonym.trim());
  };
#define INGOT_SYNONYM(parameter, names) add(parameter, names);
#include "ir/library.def"
}

void add_orders(std::vector<LibraryFunction>& functions) {
  auto order = [&](llvm::StringRef name, llvm::StringRef parameters) {
    LibraryFunction& function = named(functions, name);
    for (const Parameter& parameter : parse_parameters(parameters)) {
      auto index = function.find_parameter(parameter.name);
      INGOT_ASSERT(index.has_value());
      function.torch_order.push_back(*index);
    }
  };
#define INGOT_ORDER(name, parameters) order(#name, parameters);
#include "ir/library.def"
}

void add_spreads(std::vector<LibraryFunction>& functions) {
  auto spread = [&](llvm::StringRef name, llvm::StringRef parameter) {
    LibraryFunction& function = named(functions, name);
    function.spread = function.find_parameter(parameter);
    INGOT_ASSERT(function.spread.has_value());
  };
#define INGOT_SPREAD(name, parameter) spread(#name, #parameter);
#include "ir/library.def"
}

std::vector<LibraryFunction> make_functions() {
  std::vector<LibraryFunction> functions = {
#define INGOT_FUNCTION(name, implementation, parameters, summary)                                  \
  {#name, parse_parameters(parameters), {}, {}, summary, library::implementation, std::nullopt},
#include "ir/library.def"
  };
  for (const OpInfo& op : all_ops()) {
    auto function = llvm::find_if(functions, [&](const auto& f) { return f.name == op.name; });
    if (function != functions.end()) {
      function->primitive = op.kind;
    } else if (op.op_class == OpClass::elementwise) {
      functions.push_back({op.name, operands(op.arity), {}, {}, "", library::elementwise, op.kind});
    }
  }
  add_synonyms(functions);
  add_orders(functions);
  add_spreads(functions);
  add_aliases(functions);
  llvm::sort(functions, [](const auto& a, const auto& b) { return a.name < b.name; });
  return functions;
}

std::string text_of_default(const LibraryArgument& argument) {
  if (auto* value = std::get_if<int64_t>(&argument.value)) return fmt::format("{}", *value);
  if (auto* value = std::get_if<double>(&argument.value)) return fmt::format("{}", *value);
  if (auto* value = std::get_if<bool>(&argument.value)) return fmt::format("{}", *value);
  if (auto* value = std::get_if<std::string>(&argument.value)) return '"' + *value + '"';
  return "none";
}

/// Puts the function's name into an error that names one of its ops, because the user wrote the
/// function.
llvm::Error blame(const LibraryFunction& function, llvm::Error error) {
  if (error.isA<LocatedError>()) return error;
  auto [code, text] = take_error(std::move(error));
  llvm::StringRef message = text;
  const auto [op, rest] = message.split(": ");
  if (llvm::any_of(all_ops(), [&](const OpInfo& info) { return info.name == op; })) message = rest;
  return make_error(code, "{}: {}", function.name, message);
}

/// The text of each argument that is a number; "" for the others.
std::vector<std::string> texts_of_numbers(llvm::ArrayRef<CallArgument> arguments) {
  std::vector<std::string> texts;
  for (const CallArgument& argument : arguments)
    texts.push_back(is_number(argument.value) ? text_of_default(argument.value) : "");
  return texts;
}

llvm::Error unknown_function(llvm::StringRef name, llvm::ArrayRef<CallArgument> arguments) {
  std::vector<llvm::StringRef> names;
  for (const LibraryFunction& function : library_functions()) names.push_back(function.name);
  const auto nearest = nearest_word(name, names);
  std::string hint = hint_by_meaning(name, texts_of_numbers(arguments));
  // The user wrote float('-inf').
  const auto* text =
      arguments.empty() ? nullptr : std::get_if<std::string>(&arguments.front().value.value);
  if (name == "float" && text) hint = fmt::format("; write {}", *text);
  if (hint.empty() && nearest) hint = fmt::format("; did you mean '{}'?", *nearest);
  return make_error(ErrorCode::invalid_argument, "unknown operator '{}'{}", name, hint);
}

} // namespace

bool is_none(const LibraryArgument& argument) {
  return std::holds_alternative<None>(argument.value);
}

bool is_number(const LibraryArgument& argument) {
  return std::holds_alternative<int64_t>(argument.value) ||
         std::holds_alternative<double>(argument.value);
}

double real_of(const LibraryArgument& argument) {
  const auto* integer = std::get_if<int64_t>(&argument.value);
  return integer ? static_cast<double>(*integer) : std::get<double>(argument.value);
}

std::optional<Dim> as_dim(const LibraryArgument& argument) {
  if (const auto* dim = std::get_if<Dim>(&argument.value)) return *dim;
  const auto* integer = std::get_if<int64_t>(&argument.value);
  return integer ? std::optional<Dim>(*integer) : std::nullopt;
}

bool Parameter::answers_to(llvm::StringRef written) const {
  return name == written || llvm::is_contained(synonyms, written);
}

/// The own name of a parameter goes before a synonym of another parameter.
std::optional<size_t> LibraryFunction::find_parameter(llvm::StringRef written) const {
  auto found = llvm::find_if(parameters, [&](const auto& p) { return p.name == written; });
  if (found == parameters.end())
    found = llvm::find_if(parameters, [&](const auto& p) { return p.answers_to(written); });
  if (found == parameters.end()) return std::nullopt;
  return found - parameters.begin();
}

std::string LibraryFunction::signature() const {
  std::string result = name.str() + "(";
  for (const Parameter& parameter : parameters) {
    if (&parameter != &parameters.front()) result += ", ";
    result += parameter.name;
    if (!parameter.is_required) result += "=" + text_of_default(parameter.fallback);
  }
  return result + ")";
}

llvm::ArrayRef<LibraryFunction> library_functions() {
  static const std::vector<LibraryFunction> functions = make_functions();
  return functions;
}

llvm::StringRef spelling(ParameterKind kind) { return kKinds[static_cast<size_t>(kind)]; }

const LibraryFunction* find_function(llvm::StringRef name) {
  const auto* found =
      llvm::lower_bound(library_functions(), name,
                        [](const LibraryFunction& f, llvm::StringRef n) { return f.name < n; });
  return found != library_functions().end() && found->name == name ? found : nullptr;
}

bool is_function(llvm::StringRef name) { return find_function(name) != nullptr; }

std::string describe(const Graph& graph, const LibraryArgument& argument) {
  struct Describe {
    const Graph& graph;
    std::string operator()(const None&) const { return "none"; }
    std::string operator()(ValueId id) const { return "the tensor " + graph.type(id).text(); }
    std::string operator()(int64_t value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const {
      const std::string text = fmt::format("{}", value);
      return text.find_first_not_of("-0123456789") == text.npos ? text + ".0" : text;
    }
    std::string operator()(bool value) const { return fmt::format("{}", value); }
    std::string operator()(DType dtype) const {
      return fmt::format("the element type {}", spelling(dtype));
    }
    std::string operator()(const Dim& dim) const { return "the dimension " + dim.text(); }
    std::string operator()(const std::string& text) const { return '"' + text + '"'; }
    std::string operator()(const ArgumentList&) const { return "a list"; }
  };
  return std::visit(Describe{graph}, argument.value);
}

llvm::Expected<llvm::SmallVector<ValueId, 2>> call(Graph& graph, llvm::StringRef name,
                                                   llvm::ArrayRef<CallArgument> arguments,
                                                   SourceLocation location, DType numbers) {
  const LibraryFunction* function = find_function(name);
  if (!function) return unknown_function(name, arguments);
  Builder builder(graph, location);
  Call call(builder, *function, arguments, numbers);
  Results results;
  if (!builder.failed()) results = function->implementation(call);
  if (builder.failed()) return blame(*function, builder.take_error());
  llvm::SmallVector<ValueId, 2> ids;
  for (const Term& term : results) ids.push_back(term.id());
  return ids;
}

} // namespace ingot
