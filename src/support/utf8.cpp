// SPDX-License-Identifier: Apache-2.0
// See utf8.h.
#include "src/support/utf8.h"

#include "llvm/Support/ConvertUTF.h"

namespace ingot {

Character first_character(llvm::StringRef text) {
  const auto lead = static_cast<uint8_t>(text.front());
  if (lead < 0x80) return {1, lead};
  const auto* begin = reinterpret_cast<const llvm::UTF8*>(text.begin());
  const auto* at = begin;
  llvm::UTF32 point = 0;
  if (llvm::convertUTF8Sequence(&at, begin + text.size(), &point, llvm::strictConversion) !=
      llvm::conversionOK)
    return {1, std::nullopt};
  return {static_cast<size_t>(at - begin), point};
}

} // namespace ingot
