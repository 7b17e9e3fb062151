// SPDX-License-Identifier: Apache-2.0
// A shared library opened at run time, private to its user (RTLD_LOCAL). It is never closed,
// because CUDA's libraries keep threads and exit handlers.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ingot {

/// A function of such a library. A test stores its own.
template <typename Signature> struct EntryPoint;
template <typename Result, typename... Args> struct EntryPoint<Result(Args...)> {
  const char* name; ///< in the library
  Result (*function)(Args...) = nullptr;

  EntryPoint& operator=(Result (*own)(Args...)) {
    function = own;
    return *this;
  }
  explicit operator bool() const { return function != nullptr; }
  Result operator()(Args... args) const { return function(args...); }
};

class SharedObject {
public:
  /// Opens a path, or a bare soname through the loader's search. Errors: unavailable.
  static llvm::Expected<SharedObject> open(const std::string& name);

  /// The path that the loader found.
  std::string path() const;

  /// Finds functions by their names. Errors: unavailable if the library lacks one.
  template <typename... Signatures> llvm::Error find(EntryPoint<Signatures>&... entries) const {
    llvm::Error error = llvm::Error::success();
    auto find_one = [&](auto& entry) {
      if (error) return;
      void* address = nullptr;
      error = find_address(entry.name, address);
      entry.function = reinterpret_cast<decltype(entry.function)>(address);
    };
    (find_one(entries), ...);
    return error;
  }

private:
  explicit SharedObject(void* handle) : handle_(handle) {}
  llvm::Error find_address(const char* name, void*& address) const;
  void* handle_;
};

} // namespace ingot
