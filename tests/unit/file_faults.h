// SPDX-License-Identifier: Apache-2.0
// Makes one call of the C library's file functions fail: the linker leads those of the library
// under test here (`--wrap` in tests/CMakeLists.txt).
#pragma once

#include <cstdint>

namespace ingot::testing {

enum class FileCall : uint8_t {
  open,
  read,
  write,
  sync,
  rename,
  mkdir,
  unlink,
  stat,
  list, ///< fdopendir and readdir
  lock,
  touch,
  none ///< the number of kinds
};

/// While it lives, the n-th call of its kind, counted from 1, fails with `code`. 0: a write or a
/// read of one byte, as if a signal had come. No call reaches the disk for fsync.
class FileFault {
public:
  /// In place of a number: all of them fail.
  static constexpr int64_t kEvery = -1;

  FileFault(FileCall call, int64_t nth, int code);
  /// None fails.
  FileFault() : FileFault(FileCall::none, 0, 0) {}
  ~FileFault();
  FileFault(const FileFault&) = delete;
  FileFault& operator=(const FileFault&) = delete;

  /// The number of calls so far.
  static int64_t count(FileCall call);
};

} // namespace ingot::testing
