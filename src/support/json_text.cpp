// SPDX-License-Identifier: Apache-2.0
// See json_text.h.
#include "src/support/json_text.h"

#include "src/support/error.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace ingot {

namespace {

/// LLVM's JSON reader is recursive. A file of brackets must not exhaust the stack.
bool is_nested_at_most(llvm::StringRef text, int most) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"' || i >= text.size();
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

} // namespace

llvm::Expected<llvm::json::Value> parse_json(llvm::StringRef text) {
  if (!is_nested_at_most(text, 64))
    return make_error(ErrorCode::parse_error, "expected values nested at most 64 deep");
  auto json = llvm::json::parse(text);
  if (!json) return make_error(ErrorCode::parse_error, "{}", llvm::toString(json.takeError()));
  return json;
}

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
