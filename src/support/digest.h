// SPDX-License-Identifier: Apache-2.0
// SHA-256 over bytes, and over named fields in order. Cache keys and checksums use it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SHA256.h"

#include <string>

namespace ingot {

/// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256_hex(llvm::StringRef bytes);

/// The digest of a sequence of fields. The length of each name and value goes before it, so that
/// two different sequences never feed the same bytes.
class FieldDigest {
public:
  void add(llvm::StringRef name, llvm::StringRef value);
  /// 64 lower-case hexadecimal digits of all fields so far.
  std::string hex();

private:
  void add_sized(llvm::StringRef bytes);
  llvm::SHA256 state_;
};

} // namespace ingot
