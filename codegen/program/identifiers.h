// SPDX-License-Identifier: Apache-2.0
// C++ identifiers of generated device and host code.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>

namespace ingot {

/// Hands out C++ identifiers that are unique within one scope and no word or macro of the language
/// and no name that generated code uses.
class Names {
public:
  /// `wanted` cleaned up; `_2`, `_3`, ... is appended when it is taken.
  std::string unique(llvm::StringRef wanted);

private:
  std::set<std::string> taken_;
};

} // namespace ingot
