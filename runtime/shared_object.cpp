// SPDX-License-Identifier: Apache-2.0
// See shared_object.h.
#include "runtime/shared_object.h"

#include "src/support/error.h"

#include <dlfcn.h>
#include <link.h>

namespace ingot {

llvm::Expected<SharedObject> SharedObject::open(const std::string& name) {
  if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedObject(handle);
  const char* told = ::dlerror();
  llvm::StringRef reason = told ? told : "no reason given";
  reason.consume_front(name + ": ");
  return make_error(ErrorCode::unavailable, "cannot open {}: {}", name, reason.str());
}

std::string SharedObject::path() const {
  struct link_map* map = nullptr;
  if (::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map) return "";
  return map->l_name;
}

llvm::Error SharedObject::find_address(const char* name, void*& address) const {
  address = ::dlsym(handle_, name);
  if (address) return llvm::Error::success();
  return make_error(ErrorCode::unavailable, "{} has no function {}; it is older than CUDA 12.4",
                    path(), name);
}

} // namespace ingot
