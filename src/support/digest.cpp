// SPDX-License-Identifier: Apache-2.0
// See digest.h.
#include "src/support/digest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <array>

namespace ingot {

std::string sha256_hex(llvm::StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)), /*LowerCase=*/true);
}

void FieldDigest::add_sized(llvm::StringRef bytes) {
  std::array<uint8_t, 8> size;
  llvm::support::endian::write64le(size.data(), bytes.size());
  state_.update(size);
  state_.update(bytes);
}

void FieldDigest::add(llvm::StringRef name, llvm::StringRef value) {
  add_sized(name);
  add_sized(value);
}

std::string FieldDigest::hex() { return llvm::toHex(state_.result(), /*LowerCase=*/true); }

} // namespace ingot
