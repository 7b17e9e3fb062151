// SPDX-License-Identifier: Apache-2.0
// Which embedded headers a translation unit reads, and the unit with those headers pasted in.
// The compile service hashes the former; --emit=cuda writes the latter.
#pragma once

#include "codegen/program/device_headers.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot {

/// Every header that `source` includes, directly or through others: each once, after those it
/// includes itself. An include that `headers` lacks, or that is not a plain "name" or <name>, is a
/// compile_error naming the line in `name` or in the header; so is a cycle.
llvm::Expected<std::vector<DeviceHeader>> included_headers(llvm::StringRef name,
                                                           llvm::StringRef source,
                                                           llvm::ArrayRef<DeviceHeader> headers);

/// `source` with the text of its headers in front and no #include or #pragma once left.
llvm::Expected<std::string> paste_headers(llvm::StringRef name, llvm::StringRef source,
                                          llvm::ArrayRef<DeviceHeader> headers);

} // namespace ingot
