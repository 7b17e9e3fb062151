// SPDX-License-Identifier: Apache-2.0
// Where a command writes: checked before its work begins, so that nothing is overwritten by mistake
// and no long compile ends at a folder that is not there. Called by compile and run.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ingot::cli {

/// A file, and the argument that names it: `--output z`.
struct FileArgument {
  std::string argument;
  std::string path;
};

/// Errors: invalid_argument for two outputs in one file and for an output over an input; io_error
/// for one that cannot be written. Pipes and devices may be named more than once.
llvm::Error check_outputs(llvm::ArrayRef<FileArgument> inputs,
                          llvm::ArrayRef<FileArgument> outputs);

} // namespace ingot::cli
