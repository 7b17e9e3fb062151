// SPDX-License-Identifier: Apache-2.0
// See error.h.
#include "src/support/error.h"

#include "llvm/Support/raw_ostream.h"

namespace ingot {

char IngotError::ID = 0;

void IngotError::log(llvm::raw_ostream& os) const { os << message_; }

std::error_code IngotError::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

std::pair<ErrorCode, std::string> take_error(llvm::Error error) {
  std::pair<ErrorCode, std::string> result{ErrorCode::internal, ""};
  llvm::handleAllErrors(
      std::move(error), [&](const IngotError& e) { result = {e.code(), e.text()}; },
      [&](const llvm::ErrorInfoBase& e) { result.second = e.message(); });
  return result;
}

void assertion_failed(const char* condition, const char* file, int line) {
  llvm::report_fatal_error(
      llvm::StringRef(fmt::format("ingot bug: {} does not hold at {}:{}", condition, file, line)));
}

} // namespace ingot
