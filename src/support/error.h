// SPDX-License-Identifier: Apache-2.0
// The one error type. A user error names the problem, its place, the value expected, the value
// given and a remedy. An environment error names the missing part and how to get it. A bug is an
// INGOT_ASSERT. Every folder may include this header.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorHandling.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ingot {

enum class ErrorCode : int {
  invalid_argument = 1, ///< an argument of the caller is wrong
  parse_error,          ///< a graph spec cannot be parsed; the message has file:line:column
  type_error,           ///< the types or shapes of an op's operands do not fit together
  unsupported,          ///< legal, but this version has no kernel for it
  unavailable,          ///< a GPU, the driver or NVRTC is missing
  io_error,             ///< a file cannot be read or written
  compile_error,        ///< NVRTC refused generated source (attached: its log)
  launch_error,         ///< the driver refused a load or a launch
  internal,             ///< a phase found its own result broken
  not_prepared,         ///< a launch needs a prepare first
  out_of_memory,        ///< the process ran out of memory
};

/// A message that may quote any bytes, as UTF-8. Control characters other than newlines and tabs,
/// and characters that reorder a line, are escaped as \x1b or \u202e. Bytes that are not UTF-8
/// are escaped as \xff. The text of every error passes through this function.
std::string printable(std::string message);
/// Like printable(), for text on one line: it escapes newlines and tabs too.
std::string printable_line(std::string text);

/// The payload of every llvm::Error of the library.
class IngotError : public llvm::ErrorInfo<IngotError> {
public:
  static char ID;
  /// Stores the message as printable() returns it.
  IngotError(ErrorCode code, std::string message);
  ErrorCode code() const { return code_; }
  const std::string& text() const { return message_; }
  void log(llvm::raw_ostream& os) const override;
  std::error_code convertToErrorCode() const override;

private:
  ErrorCode code_;
  std::string message_;
};

template <typename... Args>
llvm::Error make_error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return llvm::make_error<IngotError>(code, fmt::format(format, std::forward<Args>(args)...));
}

/// The code and text of an error. Consumes the error. Errors of other classes become `internal`.
std::pair<ErrorCode, std::string> take_error(llvm::Error error);

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

} // namespace ingot

/// Checks for a bug in Ingot, never for a user's mistake.
#define INGOT_ASSERT(condition)                                                                    \
  ((condition) ? (void)0 : ::ingot::assertion_failed(#condition, __FILE__, __LINE__))
