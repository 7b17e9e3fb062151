// SPDX-License-Identifier: Apache-2.0
// See file_faults.h.
#include "tests/unit/file_faults.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using ingot::testing::FileCall;

std::atomic<bool> is_active{false};
std::atomic<int64_t> counts[static_cast<size_t>(FileCall::none)];
FileCall failing_call = FileCall::open;
int64_t failing_nth = 0;
int failing_code = 0;

/// Whether this call is to fail; errno says why. 0 in errno: it is to do less than it could.
bool fails(FileCall call) {
  if (!is_active) return false;
  const int64_t nth = ++counts[static_cast<size_t>(call)];
  if (call != failing_call) return false;
  if (nth != failing_nth && failing_nth != ingot::testing::FileFault::kEvery) return false;
  errno = failing_code;
  return true;
}

mode_t mode_of(int flags, va_list arguments) {
  return flags & O_CREAT ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

} // namespace

namespace ingot::testing {

FileFault::FileFault(FileCall call, int64_t nth, int code) {
  for (auto& count : counts) count = 0;
  failing_call = call;
  failing_nth = nth;
  failing_code = code;
  is_active = true;
}

FileFault::~FileFault() { is_active = false; }

int64_t FileFault::count(FileCall call) { return counts[static_cast<size_t>(call)]; }

} // namespace ingot::testing

// The names are the linker's.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
extern "C" {

int __real_open(const char* path, int flags, ...);
int __real_open64(const char* path, int flags, ...);
int __real_openat(int folder, const char* path, int flags, ...);
ssize_t __real_read(int fd, void* bytes, size_t size);
ssize_t __real_write(int fd, const void* bytes, size_t size);
int __real_rename(const char* from, const char* to);
int __real_renameat(int from_folder, const char* from, int to_folder, const char* to);
int __real_mkdirat(int folder, const char* path, mode_t mode);
int __real_unlinkat(int folder, const char* path, int flags);
int __real_fstat(int fd, struct stat* info);
int __real_fstatat(int folder, const char* path, struct stat* info, int flags);
DIR* __real_fdopendir(int fd);
dirent* __real_readdir(DIR* entries);
int __real_flock(int fd, int operation);
int __real_utimensat(int folder, const char* path, const timespec* times, int flags);
int __real_fsync(int fd);

int __wrap_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(FileCall::open) ? -1 : __real_open(path, flags, mode);
}

int __wrap_open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(FileCall::open) ? -1 : __real_open64(path, flags, mode);
}

int __wrap_openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(FileCall::open) ? -1 : __real_openat(folder, path, flags, mode);
}

ssize_t __wrap_read(int fd, void* bytes, size_t size) {
  if (!fails(FileCall::read)) return __real_read(fd, bytes, size);
  return errno != 0 ? -1 : __real_read(fd, bytes, size > 1 ? 1 : size);
}

ssize_t __wrap_write(int fd, const void* bytes, size_t size) {
  if (!fails(FileCall::write)) return __real_write(fd, bytes, size);
  return errno != 0 ? -1 : __real_write(fd, bytes, size > 1 ? 1 : size);
}

int __wrap_fsync(int fd) {
  if (fails(FileCall::sync)) return -1;
  return is_active ? 0 : __real_fsync(fd);
}

int __wrap_rename(const char* from, const char* to) {
  return fails(FileCall::rename) ? -1 : __real_rename(from, to);
}

int __wrap_renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return fails(FileCall::rename) ? -1 : __real_renameat(from_folder, from, to_folder, to);
}

int __wrap_mkdirat(int folder, const char* path, mode_t mode) {
  return fails(FileCall::mkdir) ? -1 : __real_mkdirat(folder, path, mode);
}

int __wrap_unlinkat(int folder, const char* path, int flags) {
  return fails(FileCall::unlink) ? -1 : __real_unlinkat(folder, path, flags);
}

int __wrap_fstat(int fd, struct stat* info) {
  return fails(FileCall::stat) ? -1 : __real_fstat(fd, info);
}

int __wrap_fstatat(int folder, const char* path, struct stat* info, int flags) {
  return fails(FileCall::stat) ? -1 : __real_fstatat(folder, path, info, flags);
}

DIR* __wrap_fdopendir(int fd) { return fails(FileCall::list) ? nullptr : __real_fdopendir(fd); }

dirent* __wrap_readdir(DIR* entries) {
  return fails(FileCall::list) ? nullptr : __real_readdir(entries);
}

int __wrap_flock(int fd, int operation) {
  return fails(FileCall::lock) ? -1 : __real_flock(fd, operation);
}

int __wrap_utimensat(int folder, const char* path, const timespec* times, int flags) {
  return fails(FileCall::touch) ? -1 : __real_utimensat(folder, path, times, flags);
}

} // extern "C"
// NOLINTEND(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
