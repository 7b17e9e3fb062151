// SPDX-License-Identifier: Apache-2.0
// See meanings.h.
#include "ir/library/meanings.h"

#include "src/support/error.h"
#include "src/support/words.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

namespace {

constexpr Meaning kTypes[] = {
#define INGOT_TYPE(name, text) {#name, text},
#include "ir/meanings.def"
};

constexpr llvm::StringLiteral kModules[] = {
#define INGOT_MODULE(name) #name,
#include "ir/meanings.def"
};

constexpr Meaning kLayers[] = {
#define INGOT_LAYER(name, text) {#name, text},
#include "ir/meanings.def"
};

std::string hint_in(llvm::ArrayRef<Meaning> rows, llvm::StringRef name) {
  std::string key = name.lower();
  llvm::erase(key, '_');
  const auto* found = llvm::find_if(rows, [&](const Meaning& row) { return row.name == key; });
  return found == rows.end() ? "" : "; " + found->text.str();
}

/// Replaces {1:0.5} by number 1, or by 0.5 if that is missing.
std::string filled(llvm::StringRef text, llvm::ArrayRef<std::string> numbers) {
  std::string result;
  while (text.contains('{')) {
    const auto [before, behind] = text.split('{');
    const auto [place, rest] = behind.split('}');
    const auto [index, fallback] = place.split(':');
    size_t i = 0;
    const bool is_given = !index.getAsInteger(10, i) && i < numbers.size() && !numbers[i].empty();
    result += before;
    result += is_given ? llvm::StringRef(numbers[i]) : fallback;
    text = rest;
  }
  result += text;
  return result;
}

} // namespace

llvm::ArrayRef<Meaning> meanings() {
  static constexpr Meaning kMeanings[] = {
#define INGOT_MEANING(name, text) {#name, text},
#include "ir/meanings.def"
  };
  return kMeanings;
}

std::string hint_by_meaning(llvm::StringRef name, llvm::ArrayRef<std::string> numbers) {
  for (const Meaning& layer : kLayers)
    if (layer.name == name) return "; " + filled(layer.text, numbers);
  return filled(hint_in(meanings(), name), numbers);
}

std::string hint_by_argument(llvm::StringRef function, llvm::StringRef argument) {
  static constexpr struct {
    llvm::StringRef function, argument, text;
  } kArguments[] = {
#define INGOT_ARGUMENT(function, argument, text) {function, argument, text},
#include "ir/meanings.def"
  };
  for (const auto& row : kArguments)
    if (row.argument == argument && (row.function.empty() || row.function == function))
      return "; " + row.text.str();
  return "";
}

std::string hint_by_type(llvm::StringRef name) {
  if (std::string hint = hint_in(kTypes, name); !hint.empty()) return hint;
  const auto nearest = nearest_word(name, {"f32", "f16", "bf16", "i32", "i64", "bool"});
  return nearest ? fmt::format("; did you mean {}?", *nearest) : "";
}

bool is_foreign_type(llvm::StringRef name) { return !hint_in(kTypes, name).empty(); }

bool is_foreign_module(llvm::StringRef name) { return llvm::is_contained(kModules, name); }

} // namespace ingot
