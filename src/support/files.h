// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. Writing is atomic: a reader sees the old file or the new one, and after
// an error the target is as it was. Links are followed; pipes and devices are written through.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// The bytes of a file of at most `most_bytes`, which may be a pipe; io_error otherwise.
llvm::Expected<std::string> read_file(llvm::StringRef path, uint64_t most_bytes = UINT64_MAX);

/// The same, refusing at once what is no regular file or larger: neither a pipe that nobody writes
/// to nor a device without an end is waited for.
llvm::Expected<std::string> read_regular_file(llvm::StringRef path, uint64_t most_bytes);

/// What is there to be read is a regular file or a pipe, which end; invalid_argument otherwise, and
/// nothing where nothing is there. A device may have no end.
llvm::Error check_has_end(llvm::StringRef path);

/// Whether `path` leads to a pipe, a device or an open descriptor: written through, never replaced.
bool is_special_file(llvm::StringRef path);

/// Whether two paths lead to one regular file, be it there or yet to be made.
bool same_file(llvm::StringRef a, llvm::StringRef b);

/// What would stop a file from being written, as far as can be seen before its bytes are there: no
/// folder, a folder in its place, no permission. io_error.
llvm::Error check_writable(llvm::StringRef path);

/// Files that appear together or not at all.
class StagedFiles {
public:
  StagedFiles() = default;
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;
  ~StagedFiles(); ///< removes what was not committed

  /// Writes `bytes` to a temporary file beside what `path` leads to; io_error on failure. A special
  /// file gets its bytes at `commit`.
  llvm::Error add(llvm::StringRef path, std::string bytes);
  /// Moves every file into place; io_error on failure.
  llvm::Error commit();

private:
  struct File {
    std::string path;      ///< as the caller named it
    std::string target;    ///< behind all links
    std::string temporary; ///< empty: a special file, or in its place
    std::string bytes;     ///< of a special file
  };
  std::vector<File> files_;
};

/// One staged file, committed.
llvm::Error write_file_atomically(llvm::StringRef path, llvm::StringRef bytes);

} // namespace ingot
