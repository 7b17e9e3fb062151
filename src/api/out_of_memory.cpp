// SPDX-License-Identifier: Apache-2.0
// See out_of_memory.h.
#include "src/api/out_of_memory.h"

#include "llvm/Support/ErrorHandling.h"

namespace ingot {

void let_llvm_throw_bad_alloc() {
  static const bool is_installed = [] {
    llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { throw std::bad_alloc(); });
    return true;
  }();
  (void)is_installed;
}

} // namespace ingot
