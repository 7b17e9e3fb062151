// SPDX-License-Identifier: Apache-2.0
// If memory runs out, the C++ library throws, and LLVM is made to throw. Every entry of the public
// API runs inside guarded(), which returns a status instead. Destructors on the way free their
// memory. It also converts the library's own errors to a Status.
#pragma once

#include "ingot/ingot.h"

#include "llvm/Support/Error.h"

#include <new>
#include <stdexcept>

namespace ingot {

/// Makes LLVM throw std::bad_alloc where it would end the process. Takes effect once. Thread-safe.
void let_llvm_throw_bad_alloc();

/// Needs no memory, because std::string stores a text this short inside itself.
inline Status out_of_memory() { return {StatusCode::out_of_memory, "out of memory"}; }

/// Converts and consumes an error.
Status to_status(llvm::Error error);

/// The outcome of a call in the public API's terms: a Status, or a Result.
inline Status to_public(llvm::Error error) { return to_status(std::move(error)); }
template <typename T> Result<T> to_public(llvm::Expected<T> value) {
  if (!value) return to_status(value.takeError());
  return std::move(*value);
}
inline Status to_public(Status status) { return status; }
template <typename T> Result<T> to_public(Result<T> result) { return result; }

/// Returns the Status or Result of `action`. Returns out_of_memory() if memory ran out in it, or if
/// an object would have been larger than any memory.
template <typename Action> auto guarded(Action&& action) -> decltype(to_public(action())) {
  try {
    let_llvm_throw_bad_alloc();
    return to_public(action());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  }
}

} // namespace ingot
