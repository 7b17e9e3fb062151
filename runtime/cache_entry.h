// SPDX-License-Identifier: Apache-2.0
// The files of one cache entry and their check: kernel.cu, kernel.cubin, kernel.ptx, manifest.json
// (the key, readable) and `checksums`. Used by disk_cache.cpp only.
#pragma once

#include "runtime/cache_key.h"
#include "runtime/kernel_compiler.h"

#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace ingot {

/// File names with their bytes, checksums last.
std::vector<std::pair<std::string, std::string>> entry_files(const CacheKey& key,
                                                             const CompileOutput& output);

/// Whether a directory is there, and why it must not be trusted.
struct FolderCheck {
  bool exists = false;
  std::string problem; ///< empty: only this user (or root) can write it
};
FolderCheck check_private_folder(const std::string& path);

/// What manifest.json of an entry states, unchecked; empty fields where it does not read.
CacheKey describe_entry(const std::string& path);

/// Reads an entry back and verifies checksums and that it belongs to `digest`. `key` receives what
/// manifest.json and kernel.cu state. Errors name the file and what is wrong with it.
llvm::Expected<CompileOutput> read_entry(const std::string& path, const std::string& digest,
                                         CacheKey& key);

} // namespace ingot
