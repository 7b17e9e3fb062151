// SPDX-License-Identifier: Apache-2.0
// Errors of Ingot's C++ interface, and results that may be errors. ingot/ingot.h includes this
// header.
#pragma once

#include <string>
#include <utility>
#include <variant>

#pragma GCC visibility push(default)
namespace ingot {

enum class StatusCode : int {
  ok = 0,
  invalid_argument, ///< an argument is wrong
  parse_error,      ///< a spec (the message holds file:line:column) or a bundle cannot be parsed
  type_error,       ///< the types or shapes of operands do not fit together
  unsupported,      ///< legal, but this version has no kernel for it
  unavailable,      ///< a GPU, the driver or NVRTC is missing
  io_error,         ///< a file cannot be read or written
  compile_error,    ///< NVRTC refused generated code
  launch_error,     ///< the driver refused a load or a launch
  internal,         ///< a bug in Ingot
  not_prepared,     ///< prepare has not seen these sizes, these params or this device
  /// The process ran out of memory. The call leaves nothing behind. A builder keeps this error like
  /// any other.
  out_of_memory,
};

/// Success, or an error. Functions that return a Status or a Result throw nothing. Other functions,
/// and copies, throw std::bad_alloc when memory runs out. The library neither prints nor ends the
/// process.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}
  /// A success object that lives as long as the library.
  static const Status& success();

  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  /// The text says which thing is wrong, where it is, the value expected and the value given. It is
  /// empty on success.
  const std::string& message() const { return message_; }

private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  // NOLINTBEGIN(google-explicit-constructor): a function returns a plain value or a status
  Result(T value) : state_(std::move(value)) {}
  Result(Status status) : state_(std::move(status)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  /// The status; success when there is a value.
  const Status& status() const& { return ok() ? Status::success() : std::get<Status>(state_); }
  Status status() && { return ok() ? Status() : std::move(std::get<Status>(state_)); }
  /// The value. To dereference a failed result is a bug of the caller and ends the process.
  T& operator*() & { return *get(); }
  const T& operator*() const& { return *const_cast<Result*>(this)->get(); }
  T&& operator*() && { return std::move(*get()); }
  T* operator->() { return get(); }
  const T* operator->() const { return const_cast<Result*>(this)->get(); }

private:
  T* get() {
    T* value = std::get_if<T>(&state_);
    if (!value) __builtin_trap();
    return value;
  }
  std::variant<T, Status> state_;
};

} // namespace ingot
#pragma GCC visibility pop
