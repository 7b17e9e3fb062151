// SPDX-License-Identifier: Apache-2.0
// Handles of the C interface: numbers in the form of pointers. A handle that was freed, or is of
// another kind, is detected and never dereferenced. A lookup takes no lock.
#pragma once

#include <cstdint>

namespace ingot {

enum class HandleKind : uint8_t { graph = 1, builder, program, gpu };

/// "graph", "builder", "program", "GPU".
const char* spelling(HandleKind kind);

/// Makes a handle for an object; null if 2^20 of them are alive. Throws std::bad_alloc if memory
/// runs out. Thread-safe.
void* add_handle(HandleKind kind, void* object);

/// The object of a handle; null if the handle was freed or is of another kind. Thread-safe and
/// lock-free.
void* find_handle(HandleKind kind, const void* handle);

/// Removes a handle and returns its object; null as in find_handle. Thread-safe.
void* remove_handle(HandleKind kind, const void* handle);

} // namespace ingot
