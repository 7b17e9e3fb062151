// SPDX-License-Identifier: Apache-2.0
// How a test case says that this machine lacks a requirement. The reason is printed, ctest lists
// the case as skipped, and a case that failed a check before is still a failure.
#pragma once

#include <string>

namespace ingot::testing {

/// Prints `[skip] reason` and makes the test program exit with 77 unless a check failed.
/// The reason names the missing part, e.g. "no CUDA driver: libcuda.so.1 is not installed".
void report_skip(const std::string& reason);

} // namespace ingot::testing

/// Ends the current test case (or void function) as skipped.
#define INGOT_SKIP(reason)                                                                         \
  do {                                                                                             \
    ::ingot::testing::report_skip(reason);                                                         \
    return;                                                                                        \
  } while (false)
