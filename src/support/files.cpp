// SPDX-License-Identifier: Apache-2.0
// See files.h.
#include "src/support/files.h"

#include "src/support/error.h"
#include "src/support/folder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ingot {

namespace {

llvm::Error file_error(llvm::StringRef verb, llvm::StringRef path, int code) {
  return make_error(ErrorCode::io_error, "cannot {} '{}': {}", verb.str(), path.str(),
                    std::strerror(code));
}

std::string folder_of(llvm::StringRef path) {
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return folder.empty() ? "." : folder.str();
}

/// The file that a write to a path reaches.
struct Target {
  std::string path; ///< behind all links
  bool is_special = false;
  std::optional<struct stat> info; ///< the status of an existing file
  int code = 0;                    ///< errno if the file cannot be written, else 0
};

/// A link in /proc stands for an open descriptor. Its text need not name a file.
bool is_descriptor_link(const std::string& path) {
  constexpr auto kProcMagic = 0x9fa0; // as statfs(2) lists it
  struct statfs info = {};
  return ::statfs(folder_of(path).c_str(), &info) == 0 && info.f_type == kProcMagic;
}

Target resolve(llvm::StringRef path) {
  constexpr int kMostLinks = 40; // the limit of the Linux kernel
  Target target{path.str(), false, std::nullopt, 0};
  if (path.empty()) target.code = ENOENT;
  struct stat info = {};
  for (int links = 0; ::lstat(target.path.c_str(), &info) == 0 && S_ISLNK(info.st_mode); ++links) {
    if (links == kMostLinks) {
      target.code = ELOOP;
      return target;
    }
    if (is_descriptor_link(target.path)) {
      target.is_special = true;
      break;
    }
    char text[PATH_MAX];
    const ssize_t length = ::readlink(target.path.c_str(), text, sizeof(text));
    if (length < 0) {
      target.code = errno;
      return target;
    }
    llvm::SmallString<256> next;
    if (llvm::StringRef link(text, static_cast<size_t>(length)); link.starts_with("/"))
      next = link;
    else
      llvm::sys::path::append(next, llvm::sys::path::parent_path(target.path), link);
    target.path = next.str().str();
  }
  if (::stat(target.path.c_str(), &info) == 0) {
    target.info = info;
    if (S_ISDIR(info.st_mode)) target.code = EISDIR;
    if (!S_ISREG(info.st_mode)) target.is_special = true;
  }
  return target;
}

/// One canonical spelling of the name of a file, which need not exist.
std::string canonical(llvm::StringRef path) {
  llvm::SmallString<256> folder;
  if (llvm::sys::fs::real_path(folder_of(path), folder)) return path.str();
  llvm::sys::path::append(folder, llvm::sys::path::filename(path));
  return folder.str().str();
}

std::error_code write_through(const std::string& path, llvm::StringRef bytes) {
  const Descriptor file = open_at(AT_FDCWD, path.c_str(), O_WRONLY | O_APPEND);
  return file.is_open() ? write_all(file.get(), bytes)
                        : std::error_code(errno, std::generic_category());
}

/// An open file that is no folder, and its status.
llvm::Expected<std::pair<Descriptor, struct stat>> open_to_read(llvm::StringRef path, int flags) {
  Descriptor file = open_at(AT_FDCWD, path.str().c_str(), O_RDONLY | flags);
  struct stat info = {};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0) return file_error("read", path, errno);
  if (S_ISDIR(info.st_mode)) return file_error("read", path, EISDIR);
  return std::pair(std::move(file), info);
}

/// Reads all bytes of an open file. `expected` is the size that fstat reported.
llvm::Expected<std::string> read_whole(const Descriptor& file, llvm::StringRef path,
                                       uint64_t expected, uint64_t most_bytes) {
  auto bytes = read_all(file.get(), expected, most_bytes);
  if (!bytes) return file_error("read", path, bytes.getError().value());
  if (bytes->size() > most_bytes)
    return make_error(ErrorCode::io_error, "cannot read '{}': expected at most {} bytes",
                      path.str(), most_bytes);
  return std::move(*bytes);
}

} // namespace

llvm::Expected<std::string> read_file(llvm::StringRef path, uint64_t most_bytes) {
  auto file = open_to_read(path, 0);
  if (!file) return file.takeError();
  const int64_t size = file->second.st_size;
  return read_whole(file->first, path, size > 0 ? static_cast<uint64_t>(size) : 0, most_bytes);
}

llvm::Expected<std::string> read_regular_file(llvm::StringRef path, uint64_t most_bytes) {
  auto file = open_to_read(path, O_NONBLOCK | O_NOCTTY);
  if (!file) return file.takeError();
  if (!S_ISREG(file->second.st_mode))
    return make_error(ErrorCode::io_error,
                      "cannot read '{}': expected a regular file, got a pipe or a device; copy its "
                      "bytes into one",
                      path.str());
  const auto size = static_cast<uint64_t>(file->second.st_size);
  if (size > most_bytes)
    return make_error(ErrorCode::io_error, "cannot read '{}': expected at most {} bytes, got {}",
                      path.str(), most_bytes, size);
  return read_whole(file->first, path, size, most_bytes);
}

llvm::Error check_has_end(llvm::StringRef path) {
  struct stat info = {};
  if (::stat(path.str().c_str(), &info) != 0 || S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode))
    return llvm::Error::success();
  return make_error(ErrorCode::invalid_argument,
                    "{}: it is a {}, expected a file; copy its bytes into one", path.str(),
                    S_ISDIR(info.st_mode) ? "folder" : "device");
}

bool is_special_file(llvm::StringRef path) {
  const Target target = resolve(path);
  return target.is_special && target.code == 0;
}

bool same_file(llvm::StringRef a, llvm::StringRef b) {
  const Target first = resolve(a), second = resolve(b);
  if (first.is_special || second.is_special) return false;
  if (first.info && second.info)
    return first.info->st_dev == second.info->st_dev && first.info->st_ino == second.info->st_ino;
  return !first.info && !second.info && canonical(first.path) == canonical(second.path);
}

llvm::Error check_writable(llvm::StringRef path) {
  const Target target = resolve(path);
  if (target.code) return file_error("write", path, target.code);
  if (target.info && ::access(target.path.c_str(), W_OK) != 0)
    return file_error("write", path, errno);
  if (!target.is_special && ::access(folder_of(target.path).c_str(), W_OK | X_OK) != 0)
    return file_error("write", path, errno);
  return llvm::Error::success();
}

StagedFiles::~StagedFiles() {
  for (const File& file : files_)
    if (!file.temporary.empty()) ::unlink(file.temporary.c_str());
}

llvm::Error StagedFiles::add(llvm::StringRef path, std::string bytes) {
  const Target target = resolve(path);
  if (target.code) return file_error("write", path, target.code);
  File file{path.str(), target.path, "", ""};
  if (target.is_special) {
    file.bytes = std::move(bytes);
    files_.push_back(std::move(file));
    return llvm::Error::success();
  }
  int fd = -1;
  llvm::SmallString<256> name;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(target.path + ".%%%%%%%%.tmp", fd,
                                                              name, llvm::sys::fs::OF_None, 0666))
    return file_error("write", path, error.value());
  const Descriptor temporary(fd);
  file.temporary = name.str().str();
  files_.push_back(std::move(file));
  if (std::error_code error = write_all(fd, bytes)) return file_error("write", path, error.value());
  // The new file keeps the permissions of the file that it replaces.
  if (target.info && ::fchmod(fd, target.info->st_mode & 07777) != 0)
    return file_error("write", path, errno);
  return llvm::Error::success();
}

llvm::Error StagedFiles::commit() {
  // Writes to special files cannot be undone. They come first, while no file is in place yet.
  for (const File& file : files_)
    if (file.temporary.empty())
      if (std::error_code error = write_through(file.target, file.bytes))
        return file_error("write", file.path, error.value());
  for (File& file : files_) {
    if (file.temporary.empty()) continue;
    if (std::rename(file.temporary.c_str(), file.target.c_str()) != 0)
      return file_error("write", file.path, errno);
    file.temporary.clear();
  }
  files_.clear();
  return llvm::Error::success();
}

llvm::Error write_file_atomically(llvm::StringRef path, llvm::StringRef bytes) {
  StagedFiles staged;
  if (auto error = staged.add(path, bytes.str())) return error;
  return staged.commit();
}

} // namespace ingot
