// SPDX-License-Identifier: Apache-2.0
// The files of one cache entry and their check: kernel.cu, kernel.cubin, kernel.ptx, manifest.json
// (the key, readable) and `checksums`. Used by disk_cache.cpp only.
#pragma once

#include "runtime/cache_key.h"
#include "runtime/kernel_compiler.h"
#include "src/support/folder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot {

/// One file of an entry.
struct EntryFile {
  const char* name;
  uint64_t most_bytes; ///< no larger one is written or read
};
/// All files of an entry, checksums last.
llvm::ArrayRef<EntryFile> entry_files();

/// The bytes of each of entry_files(). Empty: one would be larger than what is read.
std::vector<std::string> write_entry(const CacheKey& key, const CompileOutput& output);

/// The reverse of write_entry: verifies checksums and that the entry belongs to `digest`. `key`
/// receives what manifest.json and kernel.cu state. Errors: parse_error, naming the file and what
/// is wrong with it.
llvm::Expected<CompileOutput> parse_entry(std::vector<std::string> files, llvm::StringRef digest,
                                          CacheKey& key);

/// What manifest.json states, unchecked; empty fields where it does not read.
CacheKey describe_entry(const Folder& entry);

/// Reads and parses an entry. Errors: io_error where the system fails to read what may be sound;
/// others say that it is damaged.
llvm::Expected<CompileOutput> read_entry(const Folder& entry, llvm::StringRef digest,
                                         CacheKey& key);

} // namespace ingot
