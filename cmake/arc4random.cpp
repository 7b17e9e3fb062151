// SPDX-License-Identifier: Apache-2.0
// The one function of glibc 2.36 that LLVM's archive refers to where it was built with it; linked
// behind that archive, it keeps Ingot running on glibc 2.35.
#include <cstdint>
#include <sys/random.h>

extern "C" uint32_t arc4random() {
  uint32_t number = 0;
  // Up to 256 bytes come at once or, before the system has any, not at all. LLVM makes names of
  // temporary files with it, and tries again if a name is taken.
  (void)!getrandom(&number, sizeof number, 0);
  return number;
}
