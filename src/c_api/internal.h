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

/// The kind of handle that stands for a T.
template <typename T> inline constexpr HandleKind kind_of = T::kKind;
template <> inline constexpr HandleKind kind_of<Gpu> = HandleKind::gpu;

/// Calls `action` with the object of a handle and returns its result.
template <typename T, typename Action>
ingot_code with(const void* handle, ingot_error** error, Action action) {
  return answer(error, [&]() -> Status {
    if (auto* object = static_cast<T*>(find_handle(kind_of<T>, handle))) return action(*object);
    return handle ? invalid("expected a {}, got a handle that was freed or is none of that kind",
                            spelling(kind_of<T>))
                  : invalid("expected a {}, got null", spelling(kind_of<T>));
  });
}

/// Passes an object to the caller under a new handle.
template <typename T, typename Handle> Status give(std::unique_ptr<T> object, Handle** handle) {
  *handle = static_cast<Handle*>(add_handle(kind_of<T>, object.get()));
  if (!*handle) return {StatusCode::unsupported, "2^20 handles are in use: free some"};
  object.release();
  return {};
}

/// Passes a T, made from a result, to the caller under a new handle.
template <typename T, typename Value, typename Handle>
Status give(Result<Value> result, Handle** handle) {
  if (!result.ok()) return result.status();
  return give(std::make_unique<T>(std::move(*result)), handle);
}

/// Frees the object of a handle. Does nothing if the handle was freed.
template <typename T> void free_object(const void* handle) {
  if (handle) delete static_cast<T*>(remove_handle(kind_of<T>, handle));
}

/// Bytes that the caller frees, once they are released.
using OwnedBytes = std::unique_ptr<ingot_bytes, decltype(&ingot_bytes_free)>;
OwnedBytes to_bytes(std::string text);
/// Passes a text to the caller.
Status give_bytes(Result<std::string> text, ingot_bytes** bytes);

/// Views of the tensors of one role. The inline size is large enough that launches do not allocate.
using Views = llvm::SmallVector<TensorView, 32>;

/// Reads the arguments of one call. It keeps the first error, and returns defaults for arguments
/// that it cannot read.
class CReader {
public:
  const Status& status() const { return status_; }
  bool failed() const { return !status_.ok(); }
  void fail(Status status) {
    if (!failed()) status_ = std::move(status);
  }

  /// See read_struct.
  template <typename T> T structure(const char* name, const T* given) {
    T result = {};
    fail(read_struct(name, given, result));
    return result;
  }
  /// Errors: null, where a result is to be stored.
  void place(const char* name, const void* where) {
    if (!where) fail(invalid("{}: expected where to store it, got null", name));
  }
  /// Null means the defaults. Errors: a number that is not an enumerator.
  Options options(const ingot_options* given);
  /// Errors: null, or a dimension without a name.
  std::vector<DimRange> dims(const ingot_dim* dims, size_t count);
  /// Errors: a number that is not an enumerator.
  Role role(ingot_role given);
  /// Errors: a number of tensors other than that of `declared`, null, or a negative rank.
  Views views(const char* role, const std::vector<TensorSpec>& declared,
              const ingot_tensor* tensors, size_t count);

private:
  Status status_;
};

/// Checks the number of the tensors that a caller gives for a role.
Status check_count(const char* role, const std::vector<TensorSpec>& declared, const void* tensors,
                   size_t count);

/// Extents in the form of C. Names point into `shape`, which must outlive the result.
std::vector<ingot_extent> to_c(const Extents& shape);

/// Stores the description of a tensor, which points to `spec` and `shape`.
Status describe(const TensorSpec& spec, const std::vector<ingot_extent>& shape,
                ingot_tensor_info* info);

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
  static constexpr HandleKind kKind = HandleKind::graph;
  explicit CGraph(GraphSpec the_spec)
      : spec(std::move(the_spec)), tensors(spec.inputs(), spec.params(), spec.outputs()) {}
  GraphSpec spec;
  CTensors tensors;
};

/// The program of a handle.
struct CProgram {
  static constexpr HandleKind kKind = HandleKind::program;
  explicit CProgram(Program the_program)
      : program(std::move(the_program)),
        tensors(program.inputs(), program.params(), program.outputs()) {}
  Program program;
  CTensors tensors;
};

} // namespace ingot
