// SPDX-License-Identifier: Apache-2.0
// A fuzz target with a bug, to show that the driver finds one: it aborts on a doubled word.
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  if (text.contains("graphgraph")) std::abort();
  return 0;
}
