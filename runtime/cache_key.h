// SPDX-License-Identifier: Apache-2.0
// Every input of a compile, field by field. Two requests with the same digest give the same machine
// code.
#pragma once

#include "runtime/kernel_compiler.h"

#include <string>
#include <utility>
#include <vector>

namespace ingot {

/// Raised when the meaning of a cache entry changes.
inline constexpr int kCacheFormat = 1;

struct CacheKey {
  std::string name;
  std::string source;
  std::vector<std::pair<std::string, std::string>> headers; ///< name and SHA-256 of each one
  std::string compiler;                                     ///< KernelCompiler::identity
  std::vector<std::string> options;                         ///< in order; includes the architecture
  std::string arch;
  int format = kCacheFormat;

  /// The digest as 64 hexadecimal digits.
  std::string digest() const;
};

CacheKey make_cache_key(const CompileRequest& request, llvm::ArrayRef<DeviceHeader> headers,
                        const std::string& compiler_identity);

} // namespace ingot
