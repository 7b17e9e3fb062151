// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the C interface: errors, structs of other versions, and handles.
#pragma once

#include "ingot/ingot.h"
#include "ingot/ingot_c.h"
#include "src/api/out_of_memory.h"
#include "src/c_api/handles.h"
#include "src/support/error.h"

#include "llvm/ADT/SmallVector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace ingot {

/// Converts a status to a code, and sets `*error` unless it is success. If memory runs out here,
/// reports that instead.
ingot_code report(Status status, ingot_error** error);

/// The body of a function of the C interface: reports the Status of `action`.
template <typename Action> ingot_code answer(ingot_error** error, Action&& action) {
  return report(guarded(std::forward<Action>(action)), error);
}

/// A Status of invalid_argument with a formatted message.
template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args&&... args) {
  return {StatusCode::invalid_argument,
          printable(fmt::format(format, std::forward<Args>(args)...))};
}

/// Upper bound of the bytes of a struct of any version. A larger number was never a sizeof, and
/// bytes so far behind the struct are not read.
inline constexpr size_t kMostStructBytes = 512;

/// Copies a struct from a caller that may have been built with another version. Fields that the
/// caller's struct lacks become 0. Errors: the caller uses fields beyond this version.
template <typename T> Status read_struct(const char* name, const T* given, T& result) {
  static_assert(sizeof(T) <= kMostStructBytes);
  if (!given) return invalid("{}: expected a struct, got null", name);
  result = {};
  const size_t size = given->struct_size;
  if (size < sizeof(size_t) || size > kMostStructBytes)
    return invalid("{}: struct_size is {}; expected sizeof({})", name, size, name);
  std::memcpy(&result, given, std::min(size, sizeof(T)));
  const char* const bytes = reinterpret_cast<const char*>(given);
  if (std::any_of(bytes + std::min(size, sizeof(T)), bytes + size, [](char c) { return c != 0; }))
    return invalid("{}: has fields that this library, {}, does not know", name, version());
  result.struct_size = sizeof(T);
  return {};
}

/// Checks whether write_struct would succeed.
template <typename T> Status check_struct(const char* name, const T* to) {
  if (!to || to->struct_size < sizeof(size_t) || to->struct_size > kMostStructBytes)
    return invalid("{}: expected a struct whose struct_size is sizeof({})", name, name);
  return {};
}

/// Stores a struct up to the size of the caller's version, which is in struct_size.
template <typename T> Status write_struct(const char* name, T value, T* to) {
  if (Status status = check_struct(name, to); !status.ok()) return status;
  value.struct_size = to->struct_size;
  std::memcpy(to, &value, std::min(value.struct_size, sizeof(T)));
  return {};
}

/// The object of a handle.
template <typename T> Status find(HandleKind kind, const void* handle, T*& object) {
  object = static_cast<T*>(find_handle(kind, handle));
  if (object) return {};
  return handle ? invalid("expected a {}, got a handle that was freed or is none of that kind",
                          spelling(kind))
                : invalid("expected a {}, got null", spelling(kind));
}

/// Calls `action` with the object of a handle and returns its result.
template <typename T, typename Action>
ingot_code with(HandleKind kind, const void* handle, ingot_error** error, Action action) {
  return answer(error, [&]() -> Status {
    T* object = nullptr;
    if (Status status = find(kind, handle, object); !status.ok()) return status;
    return action(*object);
  });
}

inline Status out_of_handles() {
  return {StatusCode::unsupported, "2^20 handles are in use: free some"};
}

/// Passes an object to the caller under a new handle.
template <typename T, typename Handle> Status give(HandleKind kind, T object, Handle** handle) {
  auto owned = std::make_unique<T>(std::move(object));
  *handle = static_cast<Handle*>(add_handle(kind, owned.get()));
  if (!*handle) return out_of_handles();
  owned.release();
  return {};
}

/// Frees the object of a handle. Does nothing if the handle was freed.
template <typename T> void free_object(HandleKind kind, const void* handle) {
  if (handle) delete static_cast<T*>(remove_handle(kind, handle));
}

/// Bytes that the caller frees.
ingot_bytes* to_bytes(std::string text);

/// Errors: a null pointer where extents or dims are expected.
Status to_extents(const ingot_extent* shape, size_t rank, Extents& result);
Status to_dims(const ingot_dim* dims, size_t count, std::vector<DimRange>& result);
/// Null leaves the defaults in `result`. Errors: a number that is not an enumerator.
Status to_options(const ingot_options* given, Options& result);

/// Extents in the form of C. Names point into `shape`, which must outlive the result.
std::vector<ingot_extent> to_c(const Extents& shape);

/// The tensors of a graph or program by role. The lists must outlive this object.
class CTensors {
public:
  CTensors(const std::vector<TensorSpec>& inputs, const std::vector<TensorSpec>& params,
           const std::vector<TensorSpec>& outputs);

  const std::vector<TensorSpec>& of(Role role) const { return *lists_[static_cast<int>(role)]; }
  Status count(ingot_role role, size_t* count) const;
  Status describe(ingot_role role, size_t index, ingot_tensor_info* info) const;

private:
  const std::vector<TensorSpec>* lists_[3];
  std::vector<std::vector<ingot_extent>> shapes_[3]; ///< of each tensor
};

/// The graph of a handle.
struct CGraph {
  explicit CGraph(GraphSpec the_spec)
      : spec(std::move(the_spec)), tensors(spec.inputs(), spec.params(), spec.outputs()) {}
  GraphSpec spec;
  CTensors tensors;
};

/// The program of a handle.
struct CProgram {
  explicit CProgram(Program the_program)
      : program(std::move(the_program)),
        tensors(program.inputs(), program.params(), program.outputs()) {}
  Program program;
  CTensors tensors;
};

/// Errors: a number that is not an enumerator.
Status to_role(ingot_role given, Role& role);
/// Appends tensors of C as views of the C++ interface. Errors: a number of tensors other than that
/// of `declared`, null, or a negative rank.
Status to_views(const char* role, const std::vector<TensorSpec>& declared,
                const ingot_tensor* tensors, size_t count,
                llvm::SmallVectorImpl<TensorView>& views);

} // namespace ingot
