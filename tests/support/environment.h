// SPDX-License-Identifier: Apache-2.0
// An environment variable for the time of a test case: cases of one process follow each other.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace ingot::testing {

class ScopedVariable {
public:
  ScopedVariable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value, 1);
  }
  ~ScopedVariable() {
    if (before_)
      ::setenv(name_.c_str(), before_->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

private:
  std::string name_;
  std::optional<std::string> before_;
};

} // namespace ingot::testing
