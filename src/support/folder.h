// SPDX-License-Identifier: Apache-2.0
// A folder that is held open, and its entries. Every lookup goes through the descriptor, so nobody
// can put another folder in its place. No link is followed, and no pipe or device is opened.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorOr.h"

#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ingot {

/// Closes a descriptor at the end of its scope.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (is_open()) ::close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// Leaves the descriptor open.
  int release() { return std::exchange(fd_, -1); }

private:
  int fd_;
};

/// Owns a descriptor. Names are single components, not paths. Calls that a signal interrupts are
/// repeated.
class Folder {
public:
  /// Takes over an open descriptor of a folder. `path` is for messages.
  Folder(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  llvm::ErrorOr<Folder> folder(const std::string& name) const;
  /// Makes a folder for this user only, unless an entry of that name exists.
  std::error_code make(const std::string& name) const;
  /// The status of the folder, or of an entry.
  llvm::ErrorOr<struct stat> info() const;
  llvm::ErrorOr<struct stat> info(const std::string& name) const;
  /// All names except `.` and `..`, sorted.
  llvm::ErrorOr<std::vector<std::string>> names() const;

  /// The bytes of a regular file. Errors: invalid_argument if there is no regular file of at most
  /// `most_bytes`, io_error if the system cannot read it.
  llvm::Expected<std::string> read(const std::string& name, uint64_t most_bytes) const;
  /// Opens a regular file for locking, and makes it if it is missing.
  llvm::ErrorOr<Descriptor> open_lock(const std::string& name) const;
  /// Writes a new file and syncs it.
  std::error_code write(const std::string& name, llvm::StringRef bytes) const;
  /// Replaces an entry, unless it is a folder, by a file. A reader sees the old file or the new
  /// one. The new file is written in `tmp`, a folder of the same file system, and renamed.
  std::error_code replace(const std::string& name, llvm::StringRef bytes, const Folder& tmp) const;

  std::error_code rename(const std::string& name, const Folder& to, const std::string& as) const;
  /// Removes a file, or a folder with its entries. A missing entry is no error.
  std::error_code remove(const std::string& name) const;
  /// Sets the entry's modification time to now.
  std::error_code touch(const std::string& name) const;
  std::error_code sync() const;

private:
  Descriptor fd_;
  std::string path_;
};

/// openat(2) with close-on-exec. Repeats the call if a signal interrupts it.
Descriptor open_at(int folder, const char* name, int flags, unsigned mode = 0);

/// Writes all bytes to an open file.
std::error_code write_all(int fd, llvm::StringRef bytes);

/// The bytes of an open file whose size seems to be `expected`. For a larger file, returns more
/// than `most_bytes` bytes.
llvm::ErrorOr<std::string> read_all(int fd, uint64_t expected, uint64_t most_bytes);

/// A name that no other process or thread uses.
std::string unique_name(llvm::StringRef stem);

} // namespace ingot
