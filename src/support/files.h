// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files. A write is atomic: a reader sees the old file or the new one, and
// after an error the target is unchanged. Links are followed. Pipes and devices are written
// through.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// The bytes of a file or pipe, at most `most_bytes`; io_error otherwise.
llvm::Expected<std::string> read_file(llvm::StringRef path, uint64_t most_bytes = UINT64_MAX);

/// Like read_file, but refuses a file at once if it is larger or not a regular file. So it never
/// waits for a pipe without a writer or a device without an end.
llvm::Expected<std::string> read_regular_file(llvm::StringRef path, uint64_t most_bytes);

/// Checks that `path` is a regular file or a pipe, because these end and a device may not;
/// invalid_argument otherwise. A missing file is no error.
llvm::Error check_has_end(llvm::StringRef path);

/// Whether `path` leads to a pipe, a device or an open descriptor. Such a file is written through
/// and never replaced.
bool is_special_file(llvm::StringRef path);

/// Whether two paths lead to one regular file. The file need not exist yet.
bool same_file(llvm::StringRef a, llvm::StringRef b);

/// Reports problems of a later write that can be seen before its bytes exist: a missing folder, a
/// folder in the file's place, missing permission. The error is io_error.
llvm::Error check_writable(llvm::StringRef path);

/// A set of files that appear together or not at all.
class StagedFiles {
public:
  StagedFiles() = default;
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;
  ~StagedFiles(); ///< removes files that were not committed

  /// Writes `bytes` to a temporary file beside the target of `path`; io_error on failure. A special
  /// file gets its bytes at `commit`.
  llvm::Error add(llvm::StringRef path, std::string bytes);
  /// Moves every file into place; io_error on failure.
  llvm::Error commit();

private:
  struct File {
    std::string path;      ///< the path of the caller
    std::string target;    ///< the path behind all links
    std::string temporary; ///< empty for a special file, or after the move into place
    std::string bytes;     ///< the bytes for a special file
  };
  std::vector<File> files_;
};

/// Stages and commits one file.
llvm::Error write_file_atomically(llvm::StringRef path, llvm::StringRef bytes);

} // namespace ingot
