// SPDX-License-Identifier: Apache-2.0
// A disk cache under test: a key and its output, and the warnings that were given.
#pragma once

#include "runtime/disk_cache.h"
#include "src/support/files.h"
#include "src/support/trusted_path.h"
#include "tests/support/temporary_folder.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace ingot::testing {

inline constexpr const char* kEntryFiles[] = {"kernel.cu", "kernel.cubin", "kernel.ptx",
                                              "manifest.json", "checksums"};

inline CacheKey sample_key(const std::string& source = "extern \"C\" __global__ void k() {}\n") {
  CacheKey key;
  key.name = "k.cu";
  key.source = source;
  key.headers = {{"ptx/base.cuh", std::string(64, '1')}, {"tile/map.cuh", std::string(64, '2')}};
  key.compiler = "nvrtc 13.0 V13.0.88 CL-1";
  key.options = {"-arch=sm_80", "--std=c++17"};
  key.arch = "sm_80";
  return key;
}

inline CompileOutput sample_output() {
  CompileOutput output;
  output.cubin = std::string("\177ELF\0\1\2", 7) + std::string(3000, 'c');
  output.ptx = ".version 9.0\n" + std::string(2000, 'p');
  output.log = "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
               "ptxas info    : Used 12 registers, used 1 barriers, 512 bytes smem\n";
  return output;
}

/// A cache with the warnings it gave.
struct Watched {
  std::vector<std::string> warnings;
  DiskCache cache;
  explicit Watched(const std::string& folder, uint64_t most_bytes = 1 << 30)
      : cache({folder, most_bytes, [this](const std::string& text) { warnings.push_back(text); }}) {
  }
};

inline std::string entry_of(const TemporaryFolder& folder, const CacheKey& key) {
  return folder / ("v1/entries/" + key.digest());
}

inline bool loads(DiskCache& cache, const CacheKey& key) {
  auto output = cache.load(key);
  if (!output) return false;
  CompileOutput expected = sample_output();
  return output->cubin == expected.cubin && output->ptx == expected.ptx &&
         output->log == expected.log;
}

/// The same by a cache that is opened for it.
inline bool loads(const std::string& folder, const CacheKey& key) {
  Watched watched(folder);
  return loads(watched.cache, key);
}

inline void overwrite(const std::string& path, const std::string& bytes) {
  llvm::cantFail(write_file_atomically(path, bytes));
}

/// Sets the time of change of a file or folder, in seconds before now.
inline void set_age(const std::string& path, int64_t seconds) {
  const timespec time = {static_cast<time_t>(std::time(nullptr) - seconds), 0};
  const timespec times[2] = {time, time};
  if (::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) std::abort();
}

inline int64_t age_of(const std::string& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) std::abort();
  // time() lags a tick behind the clock that the cache reads, so that a new file could be of the
  // next second.
  return std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) - info.st_mtime;
}

inline bool is_there(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0;
}

/// The names in a folder.
inline std::vector<std::string> names_in(const std::string& path) {
  return *open_trusted_folder(path, /*creates=*/false).folder->names();
}

/// Runs `body` in a child process; its exit status.
template <typename Body> int in_child(Body body) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

} // namespace ingot::testing
