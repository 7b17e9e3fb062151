// SPDX-License-Identifier: Apache-2.0
// C++ identifiers for generated device and host code.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>

namespace ingot {

/// Hands out C++ identifiers that are unique within one scope. Wanted names are fixed words, or
/// have a prefix such as `dim_`, so that none is a word of the language.
class Names {
public:
  /// `wanted` with other characters replaced. If it is taken, `_2`, `_3`, ... is appended.
  std::string unique(llvm::StringRef wanted);

private:
  std::set<std::string> taken_;
};

} // namespace ingot
