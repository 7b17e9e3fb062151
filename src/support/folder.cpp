// SPDX-License-Identifier: Apache-2.0
// See folder.h.
#include "src/support/folder.h"

#include "src/support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace ingot {

namespace {

/// O_PATH is enough to look names up. To list or sync a folder, it is opened again.
constexpr int kSearchFolder = O_PATH | O_DIRECTORY;
constexpr int kReadFolder = O_RDONLY | O_DIRECTORY;
/// The depth to which nested folders are removed. A cache has two levels.
constexpr int kMostLevels = 16;

std::error_code code_of(int code) { return {code, std::generic_category()}; }

/// Calls `call` again while a signal interrupts it, and returns its result.
template <typename Call> auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::error_code status_of(int result) { return result < 0 ? code_of(errno) : std::error_code(); }

std::error_code sync_file(const Descriptor& fd) {
  return status_of(uninterrupted([&] { return ::fsync(fd.get()); }));
}

/// Errors that mean that the file was replaced or damaged, not that the system failed.
bool is_of_the_file(int code) {
  return code == ENOENT || code == ENOTDIR || code == ELOOP || code == ENXIO || code == EISDIR;
}

llvm::Error cannot_read(const std::string& path, int code) {
  return make_error(is_of_the_file(code) ? ErrorCode::invalid_argument : ErrorCode::io_error,
                    "cannot read '{}': {}", path, std::strerror(code));
}

llvm::Error too_large(const std::string& path, uint64_t most_bytes) {
  return make_error(ErrorCode::invalid_argument, "cannot read '{}': expected at most {} bytes",
                    path, most_bytes);
}

std::error_code remove_at(int folder, const std::string& name, int levels);

/// All names in a folder except `.` and `..`, sorted.
llvm::ErrorOr<std::vector<std::string>> names_at(int folder) {
  // The folder is opened again because copies of a descriptor share the read position.
  Descriptor fd = open_at(folder, ".", kReadFolder);
  if (!fd.is_open()) return code_of(errno);
  DIR* entries = ::fdopendir(fd.get());
  if (!entries) return code_of(errno);
  fd.release(); // closedir closes it
  auto close = llvm::make_scope_exit([&] { ::closedir(entries); });
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(entries);
    if (!entry && errno != 0) return code_of(errno);
    if (!entry) break;
    const llvm::StringRef name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name.str());
  }
  llvm::sort(names);
  return names;
}

/// Removes the entries of the folder behind `fd`, as far as possible. Returns the first failure.
std::error_code empty_folder(int fd, int levels) {
  auto names = names_at(fd);
  if (!names) return names.getError();
  std::error_code first;
  for (const std::string& name : *names)
    if (std::error_code error = remove_at(fd, name, levels); error && !first) first = error;
  return first;
}

std::error_code remove_at(int folder, const std::string& name, int levels) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  // For a folder Linux returns EISDIR, POSIX EPERM.
  if (errno != EISDIR && errno != EPERM) return code_of(errno);
  if (levels == 0) return code_of(ELOOP);
  const Descriptor fd = open_at(folder, name.c_str(), kSearchFolder | O_NOFOLLOW);
  if (!fd.is_open()) return code_of(errno);
  const std::error_code error = empty_folder(fd.get(), levels - 1);
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return error ? error : code_of(errno);
}

} // namespace

Descriptor open_at(int folder, const char* name, int flags, unsigned mode) {
  return Descriptor(uninterrupted([&] { return ::openat(folder, name, flags | O_CLOEXEC, mode); }));
}

std::error_code write_all(int fd, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t written = uninterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (written < 0) return code_of(errno);
    if (written == 0) return code_of(EIO);
    bytes = bytes.drop_front(static_cast<size_t>(written));
  }
  return {};
}

llvm::ErrorOr<std::string> read_all(int fd, uint64_t expected, uint64_t most_bytes) {
  std::string bytes;
  size_t size = 0;
  // One more byte than the expected size, so that the read reaches the end.
  if (expected > 0 && expected <= most_bytes) bytes.resize(expected + 1);
  while (size <= most_bytes) {
    // Pipes and /proc files have no known size: the buffer grows until the read reaches the end.
    if (size == bytes.size()) bytes.resize(std::max<size_t>(64 * 1024, 2 * size));
    const ssize_t got =
        uninterrupted([&] { return ::read(fd, bytes.data() + size, bytes.size() - size); });
    if (got < 0) return code_of(errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

llvm::ErrorOr<Folder> Folder::folder(const std::string& name) const {
  Descriptor fd = open_at(fd_.get(), name.c_str(), kSearchFolder | O_NOFOLLOW);
  if (!fd.is_open()) return code_of(errno);
  return Folder(std::move(fd), path_ + "/" + name);
}

std::error_code Folder::make(const std::string& name) const {
  if (::mkdirat(fd_.get(), name.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return code_of(errno);
}

llvm::ErrorOr<struct stat> Folder::info() const {
  struct stat info = {};
  if (::fstat(fd_.get(), &info) != 0) return code_of(errno);
  return info;
}

llvm::ErrorOr<struct stat> Folder::info(const std::string& name) const {
  struct stat info = {};
  if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return code_of(errno);
  return info;
}

llvm::ErrorOr<std::vector<std::string>> Folder::names() const { return names_at(fd_.get()); }

llvm::Expected<std::string> Folder::read(const std::string& name, uint64_t most_bytes) const {
  const std::string path = path_ + "/" + name;
  // Nonblocking, because a blocking open of a pipe waits for a writer.
  const Descriptor fd =
      open_at(fd_.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (!fd.is_open()) return cannot_read(path, errno);
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0) return cannot_read(path, errno);
  if (!S_ISREG(info.st_mode))
    return make_error(ErrorCode::invalid_argument, "cannot read '{}': it is no regular file", path);
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > most_bytes) return too_large(path, most_bytes);
  auto bytes = read_all(fd.get(), size, size);
  if (!bytes) return cannot_read(path, bytes.getError().value());
  if (bytes->size() > size)
    return make_error(ErrorCode::invalid_argument, "cannot read '{}': it grows", path);
  return std::move(*bytes);
}

llvm::ErrorOr<Descriptor> Folder::open_lock(const std::string& name) const {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
  Descriptor fd = open_at(fd_.get(), name.c_str(), kFlags, 0600);
  if (!fd.is_open()) return code_of(errno);
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return code_of(EINVAL);
  return fd;
}

std::error_code Folder::write(const std::string& name, llvm::StringRef bytes) const {
  const Descriptor fd =
      open_at(fd_.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (!fd.is_open()) return code_of(errno);
  if (std::error_code error = write_all(fd.get(), bytes)) return error;
  return sync_file(fd);
}

std::error_code Folder::replace(const std::string& name, llvm::StringRef bytes,
                                const Folder& tmp) const {
  const std::string temporary = unique_name(name);
  std::error_code error = tmp.write(temporary, bytes);
  if (!error) error = tmp.rename(temporary, *this, name);
  if (error) ::unlinkat(tmp.fd_.get(), temporary.c_str(), 0);
  return error;
}

std::error_code Folder::rename(const std::string& name, const Folder& to,
                               const std::string& as) const {
  return status_of(::renameat(fd_.get(), name.c_str(), to.fd_.get(), as.c_str()));
}

std::error_code Folder::remove(const std::string& name) const {
  return remove_at(fd_.get(), name, kMostLevels);
}

std::error_code Folder::touch(const std::string& name) const {
  return status_of(::utimensat(fd_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW));
}

std::error_code Folder::sync() const {
  const Descriptor fd = open_at(fd_.get(), ".", kReadFolder);
  return fd.is_open() ? sync_file(fd) : code_of(errno);
}

std::string unique_name(llvm::StringRef stem) {
  static std::atomic<uint64_t> counter{0};
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  return fmt::format("{}.{}.{:x}.{}", stem.str(), ::getpid(), ticks, counter++);
}

} // namespace ingot
