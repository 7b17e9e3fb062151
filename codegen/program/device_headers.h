// SPDX-License-Identifier: Apache-2.0
// The device library, embedded in the binary: every header below codegen/device. The emitter and
// the compile service read it. cmake/embed.cmake generates the table.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace ingot {

struct DeviceHeader {
  llvm::StringRef name;   ///< the name in #include lines, e.g. "tile/context.cuh"
  llvm::StringRef text;   ///< the file's bytes; a zero byte follows them
  llvm::StringRef sha256; ///< of `text`, as 64 hexadecimal digits
};

/// All headers, sorted by name.
llvm::ArrayRef<DeviceHeader> device_headers();

} // namespace ingot
