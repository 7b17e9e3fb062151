// SPDX-License-Identifier: Apache-2.0
// See error.h.
#include "src/support/error.h"

#include "src/support/utf8.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {

namespace {

/// Control characters, line separators, and characters that change the direction of writing.
bool is_unprintable(uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x61c ||
         (point >= 0x200e && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069);
}

std::string escaped(std::string text, bool in_one_line) {
  constexpr auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (llvm::all_of(text, is_plain)) return text;
  std::string result;
  for (llvm::StringRef rest = text; !rest.empty();) {
    const auto [size, point] = first_character(rest);
    if (point == '\n' || point == '\t') {
      result += in_one_line ? (point == '\n' ? "\\n" : "\\t") : rest.take_front(1).str();
    } else if (!point || (*point < 0x80 && is_unprintable(*point))) {
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(rest.front()));
    } else if (is_unprintable(*point)) {
      result += fmt::format("\\u{:04x}", *point);
    } else {
      result += rest.take_front(size).str();
    }
    rest = rest.drop_front(size);
  }
  return result;
}

} // namespace

std::string printable(std::string message) { return escaped(std::move(message), false); }

std::string printable_line(std::string text) { return escaped(std::move(text), true); }

char IngotError::ID = 0;

IngotError::IngotError(ErrorCode code, std::string message)
    : code_(code), message_(printable(std::move(message))) {}

void IngotError::log(llvm::raw_ostream& os) const { os << message_; }

std::error_code IngotError::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

std::pair<ErrorCode, std::string> take_error(llvm::Error error) {
  std::pair<ErrorCode, std::string> result{ErrorCode::internal, ""};
  llvm::handleAllErrors(
      std::move(error), [&](const IngotError& e) { result = {e.code(), e.text()}; },
      [&](const llvm::ErrorInfoBase& e) { result.second = printable(e.message()); });
  return result;
}

void assertion_failed(const char* condition, const char* file, int line) {
  llvm::report_fatal_error(
      llvm::StringRef(fmt::format("ingot bug: {} does not hold at {}:{}", condition, file, line)));
}

} // namespace ingot
