// SPDX-License-Identifier: Apache-2.0
// Handles of the C interface: numbers in the shape of pointers, so that one that was freed, or is
// of another kind, is told and not followed. Looking one up takes no lock.
#pragma once

#include <cstdint>

namespace ingot {

enum class HandleKind : uint8_t { graph = 1, builder, program, gpu };

/// "graph", "builder", "program", "GPU".
const char* spelling(HandleKind kind);

/// A handle for an object; null where 2^20 of them are alive. Throws std::bad_alloc where memory
/// ends. Thread-safe.
void* add_handle(HandleKind kind, void* object);

/// The object; null for a handle that was freed or is none of that kind. Thread-safe and lock-free.
void* find_handle(HandleKind kind, const void* handle);

/// The object, whose handle is none from now on; null as above. Thread-safe.
void* remove_handle(HandleKind kind, const void* handle);

} // namespace ingot
