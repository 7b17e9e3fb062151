// SPDX-License-Identifier: Apache-2.0
// The embedded headers that a translation unit includes, and the unit with those headers pasted in.
// The compile service hashes the headers; --emit=cuda writes the unit.
#pragma once

#include "codegen/program/device_headers.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot {

/// Every header that `source` includes, directly or indirectly. Each occurs once, after its own
/// includes. An include that `headers` lacks, an include other than "name" or <name>, and a cycle
/// are a compile_error that names the line in `name` or in the header.
llvm::Expected<std::vector<DeviceHeader>> included_headers(llvm::StringRef name,
                                                           llvm::StringRef source,
                                                           llvm::ArrayRef<DeviceHeader> headers);

/// `source` behind the text of its headers, without #include and #pragma once.
llvm::Expected<std::string> paste_headers(llvm::StringRef name, llvm::StringRef source,
                                          llvm::ArrayRef<DeviceHeader> headers);

} // namespace ingot
