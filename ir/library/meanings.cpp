// SPDX-License-Identifier: Apache-2.0
// See meanings.h.
#include "ir/library/meanings.h"

#include "llvm/ADT/STLExtras.h"

namespace ingot {

llvm::ArrayRef<Meaning> meanings() {
  static constexpr Meaning kMeanings[] = {
#define INGOT_MEANING(name, text) {#name, text},
#include "ir/meanings.def"
  };
  return kMeanings;
}

std::string hint_by_meaning(llvm::StringRef name) {
  std::string key = name.lower();
  llvm::erase(key, '_');
  const auto* found = llvm::find_if(meanings(), [&](const Meaning& m) { return m.name == key; });
  return found == meanings().end() ? "" : "; " + found->text.str();
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

} // namespace ingot
