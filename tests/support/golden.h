// SPDX-License-Identifier: Apache-2.0
// Golden files: the expected text of a stage lies in tests/golden and is renewed by `./dev golden`.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace ingot::testing {

/// Fails the running test case unless `text` equals the file tests/golden/`name`; the first line
/// that differs is printed. With INGOT_RENEW_GOLDEN set, writes the file instead.
void check_golden(llvm::StringRef name, llvm::StringRef text);

} // namespace ingot::testing
