// SPDX-License-Identifier: Apache-2.0
// A folder that lives as long as a test case.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace ingot::testing {

class TemporaryFolder {
public:
  TemporaryFolder() {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createUniqueDirectory("ingot-test", path)) {
      std::fputs("cannot make a temporary folder\n", stderr);
      std::abort();
    }
    path_ = path.str().str();
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

} // namespace ingot::testing
