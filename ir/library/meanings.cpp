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

std::string hint_in(llvm::ArrayRef<Meaning> rows, llvm::StringRef name) {
  std::string key = name.lower();
  llvm::erase(key, '_');
  const auto* found = llvm::find_if(rows, [&](const Meaning& row) { return row.name == key; });
  return found == rows.end() ? "" : "; " + found->text.str();
}

} // namespace

llvm::ArrayRef<Meaning> meanings() {
  static constexpr Meaning kMeanings[] = {
#define INGOT_MEANING(name, text) {#name, text},
#include "ir/meanings.def"
  };
  return kMeanings;
}

std::string hint_by_meaning(llvm::StringRef name) { return hint_in(meanings(), name); }

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
