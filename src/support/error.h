// SPDX-License-Identifier: Apache-2.0
// The one error type. User errors say what, where, expected, got and what to do; environment
// errors say what is missing and how to get it; bugs are INGOT_ASSERT. Everybody may include this.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorHandling.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ingot {

enum class ErrorCode : int {
  invalid_argument = 1, ///< the caller's input is wrong
  parse_error,          ///< a graph spec does not read; the message has file:line:column
  type_error,           ///< operands of an op do not fit together
  unsupported,          ///< legal, but this version has no kernel for it
  unavailable,          ///< the environment lacks something: GPU, driver, NVRTC
  io_error,             ///< a file cannot be read or written
  compile_error,        ///< NVRTC refused generated source (attached: its log)
  launch_error,         ///< the driver refused a load or a launch
  internal,             ///< a stage found its own result broken
  not_prepared,         ///< a launch needs a prepare first
  out_of_memory,        ///< the process got no more memory
};

/// A message that may quote anything: UTF-8 in which control characters but newlines and tabs, and
/// characters that reorder a line, are escaped as \x1b or \u202e, and bytes that are no UTF-8 as
/// \xff. Every error's text passes through here.
std::string printable(std::string message);
/// The same for text that belongs on one line: newlines and tabs are escaped too.
std::string printable_line(std::string text);

/// Carried by every llvm::Error of the library.
class IngotError : public llvm::ErrorInfo<IngotError> {
public:
  static char ID;
  /// The message as printable() gives it.
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

/// The code and text of an error, consuming it. Errors of other classes become `internal`.
std::pair<ErrorCode, std::string> take_error(llvm::Error error);

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

} // namespace ingot

/// A bug in Ingot, never a user's mistake.
#define INGOT_ASSERT(condition)                                                                    \
  ((condition) ? (void)0 : ::ingot::assertion_failed(#condition, __FILE__, __LINE__))
