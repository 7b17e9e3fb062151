// SPDX-License-Identifier: Apache-2.0
// See json_writer.h.
#include "src/support/json_writer.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace ingot {

std::string json_text(llvm::function_ref<void(llvm::json::OStream&)> write) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto json = std::make_unique<llvm::json::OStream>(stream, /*IndentSize=*/2);
  try {
    write(*json);
  } catch (...) {
    // Memory ran out within the value. LLVM's destructor would then end the process, so the object
    // is leaked.
    (void)json.release();
    throw;
  }
  stream << '\n';
  return text;
}

} // namespace ingot
