// SPDX-License-Identifier: Apache-2.0
// See identifiers.h.
#include "codegen/program/identifiers.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

namespace ingot {

std::string Names::unique(llvm::StringRef wanted) {
  std::string base;
  for (char c : wanted) base += llvm::isAlnum(c) || c == '_' ? c : '_';
  // C++ reserves names with double underscores or a leading underscore.
  while (base.find("__") != std::string::npos) base.erase(base.find("__"), 1);
  if (base.empty() || llvm::isDigit(base[0]) || base[0] == '_') base = "v" + base;
  std::string result = base;
  for (int n = 2; !taken_.insert(result).second; ++n)
    result = fmt::format("{}{}{}", base, base.back() == '_' ? "" : "_", n);
  return result;
}

} // namespace ingot
