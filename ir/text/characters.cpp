// SPDX-License-Identifier: Apache-2.0
// See characters.h.
#include "ir/text/characters.h"

#include "src/support/utf8.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace ingot {

namespace {

struct Sign {
  uint32_t first, last; ///< code points
  llvm::StringLiteral name;
  llvm::StringLiteral remedy;
};

constexpr Sign kSigns[] = {
    {0x00A0, 0x00A0, "no-break space", "write a space"},
    {0x00AC, 0x00AC, "not sign", "write not"},
    {0x00AD, 0x00AD, "soft hyphen", "remove it"},
    {0x00B2, 0x00B2, "superscript two", "write ** 2"},
    {0x00B3, 0x00B3, "superscript three", "write ** 3"},
    {0x00B4, 0x00B4, "acute accent", "write '"},
    {0x00B7, 0x00B7, "middle dot", "write * or @"},
    {0x00D7, 0x00D7, "multiplication sign", "write *"},
    {0x00F7, 0x00F7, "division sign", "write /"},
    {0x2000, 0x200A, "wide or narrow space", "write a space"},
    {0x200B, 0x200F, "invisible mark", "remove it"},
    {0x2010, 0x2015, "hyphen or dash", "write -"},
    {0x2018, 0x201B, "curly quote", "write '"},
    {0x201C, 0x201F, "curly double quote", "write \""},
    {0x2026, 0x2026, "ellipsis", "write ..."},
    {0x2028, 0x2029, "line or paragraph separator", "write a line break"},
    {0x202A, 0x202E, "mark that reorders text", "remove it"},
    {0x202F, 0x202F, "narrow no-break space", "write a space"},
    {0x2032, 0x2032, "prime", "write ' around text; names have no primes"},
    {0x2033, 0x2033, "double prime", "write \""},
    {0x205F, 0x205F, "mathematical space", "write a space"},
    {0x2060, 0x206F, "invisible mark", "remove it"},
    {0x2190, 0x21FF, "arrow", "write = behind the name that gets the value"},
    {0x2208, 0x220D, "element sign", "no operator looks for elements"},
    {0x220F, 0x220F, "product sign", "write prod(x, axis)"},
    {0x2211, 0x2211, "summation sign", "write sum(x, axis)"},
    {0x2212, 0x2212, "minus sign", "write -"},
    {0x2215, 0x2215, "division slash", "write /"},
    {0x2217, 0x2217, "asterisk operator", "write *"},
    {0x221A, 0x221A, "square root", "write sqrt(x)"},
    {0x221E, 0x221E, "infinity", "write inf"},
    {0x2227, 0x2227, "logical and", "write and"},
    {0x2228, 0x2228, "logical or", "write or"},
    {0x2260, 0x2260, "not equal", "write !="},
    {0x2264, 0x2264, "less than or equal", "write <="},
    {0x2265, 0x2265, "greater than or equal", "write >="},
    {0x2297, 0x2297, "circled times", "write *"},
    {0x2299, 0x2299, "circled dot", "write *"},
    {0x22A4, 0x22A4, "transposition sign", "write .T"},
    {0x22C5, 0x22C5, "dot operator", "write * or @"},
    {0x3000, 0x3000, "ideographic space", "write a space"},
    {0x3001, 0x3001, "ideographic comma", "write ,"},
    {0xFEFF, 0xFEFF, "byte order mark", "remove it"},
};

/// Full-width forms are ASCII characters at a constant offset.
constexpr uint32_t kFirstFullWidth = 0xFF01, kLastFullWidth = 0xFF5E;
constexpr uint32_t kFullWidthOffset = 0xFEE0;

const Sign* find_sign(uint32_t code) {
  const auto* found = llvm::find_if(
      kSigns, [&](const Sign& sign) { return sign.first <= code && code <= sign.last; });
  return found == std::end(kSigns) ? nullptr : found;
}

bool is_full_width(uint32_t code) { return code >= kFirstFullWidth && code <= kLastFullWidth; }

} // namespace

bool begins_with_foreign_sign(llvm::StringRef text) {
  const uint32_t code = first_character(text).point.value_or(0);
  return find_sign(code) || is_full_width(code);
}

std::string describe_character(llvm::StringRef text) {
  const uint32_t code = first_character(text).point.value_or(0);
  if (is_full_width(code))
    return fmt::format("U+{:04X} (full-width form); write {}", code,
                       static_cast<char>(code - kFullWidthOffset));
  const Sign* sign = find_sign(code);
  if (!sign) return fmt::format("U+{:04X}", code);
  return fmt::format("U+{:04X} ({}); {}", code, sign->name.str(), sign->remedy.str());
}

} // namespace ingot
