// SPDX-License-Identifier: Apache-2.0
// The files of one cache entry and their checks: kernel.cu, kernel.cubin, kernel.ptx, manifest.json
// (the key, readable) and `checksums`. Only disk_cache.cpp uses it.
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
  uint64_t most_bytes; ///< limit for writing and reading
};
/// All files of an entry, checksums last.
llvm::ArrayRef<EntryFile> entry_files();

/// The bytes of each of entry_files(). Empty if one of them exceeds its limit.
std::vector<std::string> write_entry(const CacheKey& key, const CompileOutput& output);

/// The reverse of write_entry. Verifies the checksums, and that the entry belongs to `digest`.
/// `key` receives the fields of manifest.json and kernel.cu. Errors: parse_error, with the file and
/// the problem.
llvm::Expected<CompileOutput> parse_entry(std::vector<std::string> files, llvm::StringRef digest,
                                          CacheKey& key);

/// The fields of manifest.json, unchecked. They are empty if it cannot be parsed.
CacheKey describe_entry(const Folder& entry);

/// Reads and parses an entry. Errors: io_error if the system fails to read an entry that may be
/// sound; any other error means that the entry is damaged.
llvm::Expected<CompileOutput> read_entry(const Folder& entry, llvm::StringRef digest,
                                         CacheKey& key);

} // namespace ingot
