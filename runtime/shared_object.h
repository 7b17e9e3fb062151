// SPDX-License-Identifier: Apache-2.0
// A shared library opened at run time, private to its user (RTLD_LOCAL). It is never closed,
// because CUDA's libraries keep threads and exit handlers.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ingot {

class SharedObject {
public:
  /// Opens a path, or a bare soname through the loader's search. Errors: unavailable.
  static llvm::Expected<SharedObject> open(const std::string& name);

  /// The path that the loader found.
  std::string path() const;

  /// Stores the address of `name` in `*function`. Errors: unavailable if the library lacks it.
  template <typename Function> llvm::Error find(const char* name, Function*& function) const {
    llvm::Expected<void*> address = find_address(name);
    if (!address) return address.takeError();
    function = reinterpret_cast<Function*>(*address);
    return llvm::Error::success();
  }

private:
  explicit SharedObject(void* handle) : handle_(handle) {}
  llvm::Expected<void*> find_address(const char* name) const;
  void* handle_;
};

} // namespace ingot
