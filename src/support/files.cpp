// SPDX-License-Identifier: Apache-2.0
// See files.h.
#include "src/support/files.h"

#include "src/support/error.h"

#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ingot {

namespace {

llvm::Error file_error(llvm::StringRef verb, llvm::StringRef path, int code) {
  return make_error(ErrorCode::io_error, "cannot {} '{}': {}", verb.str(), path.str(),
                    std::strerror(code));
}

/// Closes at the end of its scope.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// 0, or errno.
int write_all(int fd, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.drop_front(written);
  }
  return 0;
}

} // namespace

llvm::Expected<std::string> read_file(llvm::StringRef path, uint64_t most_bytes) {
  Descriptor file{::open(path.str().c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return file_error("read", path, errno);
  struct stat info = {};
  if (::fstat(file.fd, &info) != 0) return file_error("read", path, errno);
  if (S_ISDIR(info.st_mode)) return file_error("read", path, EISDIR);

  std::string bytes;
  size_t size = 0;
  if (info.st_size > 0 && uint64_t(info.st_size) <= most_bytes) bytes.resize(info.st_size + 1);
  while (true) {
    // Pipes and /proc files have no size beforehand: grow until the end is seen.
    if (size == bytes.size()) bytes.resize(std::max<size_t>(64 * 1024, 2 * size));
    ssize_t got = ::read(file.fd, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("read", path, errno);
    if (got == 0) break;
    size += got;
    if (size > most_bytes)
      return make_error(ErrorCode::io_error, "cannot read '{}': expected at most {} bytes",
                        path.str(), most_bytes);
  }
  bytes.resize(size);
  return bytes;
}

llvm::Error write_file_synced(llvm::StringRef path, llvm::StringRef bytes) {
  Descriptor file{
      ::open(path.str().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)};
  if (file.fd < 0) return file_error("write", path, errno);
  if (int code = write_all(file.fd, bytes)) return file_error("write", path, code);
  if (::fsync(file.fd) != 0) return file_error("write", path, errno);
  return llvm::Error::success();
}

llvm::Error write_file_atomically(llvm::StringRef path, llvm::StringRef bytes) {
  struct stat info = {};
  std::string target = path.str();
  // A device or pipe is written through: a rename would replace it by a file.
  if (::stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    Descriptor file{::open(target.c_str(), O_WRONLY | O_CLOEXEC)};
    if (file.fd < 0) return file_error("write", path, errno);
    if (int code = write_all(file.fd, bytes)) return file_error("write", path, code);
    return llvm::Error::success();
  }
  Descriptor file;
  llvm::SmallString<256> temporary;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(
          path + ".%%%%%%%%.tmp", file.fd, temporary, llvm::sys::fs::OF_None, 0666))
    return file_error("write", path, error.value());
  int code = write_all(file.fd, bytes);
  if (code == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code == 0) return llvm::Error::success();
  ::unlink(temporary.c_str());
  return file_error("write", path, code);
}

} // namespace ingot
