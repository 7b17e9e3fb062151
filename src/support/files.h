// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. Writing is atomic: a reader sees the old file or the new one, and after
// an error the target is as it was.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace ingot {

/// The bytes of a regular file of at most `most_bytes`; io_error otherwise.
llvm::Expected<std::string> read_file(llvm::StringRef path, uint64_t most_bytes = UINT64_MAX);

/// Writes a temporary file beside `path` and renames it over `path`; io_error on failure.
llvm::Error write_file_atomically(llvm::StringRef path, llvm::StringRef bytes);

/// Creates or truncates `path`, writes and syncs it to the disk; io_error on failure.
llvm::Error write_file_synced(llvm::StringRef path, llvm::StringRef bytes);

} // namespace ingot
