// SPDX-License-Identifier: Apache-2.0
// Where memory ends, the C++ library throws, and LLVM is made to. Every entry of the public API
// runs inside guarded(), which gives a status instead. Destructors on the way free what they hold.
#pragma once

#include "ingot/ingot.h"

#include <new>
#include <stdexcept>

namespace ingot {

/// Makes LLVM throw std::bad_alloc where it would end the process. Does so once. Thread-safe.
void let_llvm_throw_bad_alloc();

/// Needs no memory: a std::string holds so short a text in itself.
inline Status out_of_memory() { return {StatusCode::out_of_memory, "out of memory"}; }

/// What `action` gives, a Status or a Result; out_of_memory() where memory ended in it, or where
/// something would have been larger than any memory.
template <typename Action> auto guarded(Action&& action) -> decltype(action()) {
  try {
    let_llvm_throw_bad_alloc();
    return action();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {
    return out_of_memory();
  }
}

} // namespace ingot
