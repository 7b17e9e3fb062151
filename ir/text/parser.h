// SPDX-License-Identifier: Apache-2.0
// Graph specs: text in, a checked Graph out. ir/README.md describes the language.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// Limits that keep time and memory in proportion. Beyond one, the error is a parse_error that
/// names it.
inline constexpr size_t kMaxSpecBytes = size_t{16} << 20;
inline constexpr int kMaxNesting = 256;
inline constexpr size_t kMaxOps = 100'000;
inline constexpr size_t kMaxListElements = 4096;

/// Reads one graph. Errors: ErrorCode::parse_error or type_error. The text is the complete
/// diagnostic of each mistake, at most 20: `file_name:line:column: error: ...` with the line and a
/// caret. `warnings`, if given, receives the same for legal but suspicious text: inputs and values
/// that no result needs, and comments that look like the divisor of a `//`.
llvm::Expected<Graph> parse_graph(llvm::StringRef text, llvm::StringRef file_name,
                                  std::vector<std::string>* warnings = nullptr);

} // namespace ingot
