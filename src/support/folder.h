// SPDX-License-Identifier: Apache-2.0
// A folder held open, and what is in it: every name is looked up by descriptor, so that nobody can
// put another folder in its place meanwhile. No link is followed, no pipe or device is opened.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorOr.h"

#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

namespace ingot {

/// Owns a descriptor. Names are single components, not paths. Calls that a signal interrupts are
/// made again.
class Folder {
public:
  /// Takes an open descriptor of a folder; `path` is for messages.
  Folder(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Folder(Folder&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder();

  int descriptor() const { return fd_; }
  const std::string& path() const { return path_; }

  llvm::ErrorOr<Folder> folder(const std::string& name) const;
  /// Makes it, for its user alone, unless something has that name.
  std::error_code make(const std::string& name) const;
  /// Of the folder itself, and of what has a name in it.
  llvm::ErrorOr<struct stat> info() const;
  llvm::ErrorOr<struct stat> info(const std::string& name) const;
  /// All names but `.` and `..`, sorted.
  llvm::ErrorOr<std::vector<std::string>> names() const;

  /// The bytes of a regular file. Errors: invalid_argument where there is none of at most
  /// `most_bytes`, io_error where the system cannot read what is there.
  llvm::Expected<std::string> read(const std::string& name, uint64_t most_bytes) const;
  /// A regular file opened to be locked, made where it is missing; its descriptor.
  llvm::ErrorOr<int> open_lock(const std::string& name) const;
  /// A new file, synced.
  std::error_code write(const std::string& name, llvm::StringRef bytes) const;
  /// Puts a file in place of whatever has that name, unless it is a folder: a reader sees the old
  /// one or the new one. It is written in `tmp`, a folder of the same file system.
  std::error_code replace(const std::string& name, llvm::StringRef bytes, const Folder& tmp) const;

  std::error_code rename(const std::string& name, const Folder& to, const std::string& as) const;
  /// Removes a file, or a folder with what it holds. What is missing is no error.
  std::error_code remove(const std::string& name) const;
  /// Sets its time of change to now.
  std::error_code touch(const std::string& name) const;
  std::error_code sync() const;

private:
  int fd_;
  std::string path_;
};

/// openat(2), closed on exec and made again when a signal interrupts it.
int open_at(int folder, const char* name, int flags, unsigned mode = 0);

/// Writes all bytes to an open file.
std::error_code write_all(int fd, llvm::StringRef bytes);

/// The bytes of an open file that seems to have `expected` of them, or more than `most_bytes` where
/// it has more.
llvm::ErrorOr<std::string> read_all(int fd, uint64_t expected, uint64_t most_bytes);

/// A name that no other process or thread gives.
std::string unique_name(llvm::StringRef stem);

} // namespace ingot
