// SPDX-License-Identifier: Apache-2.0
// See outputs.h.
#include "tools/ingot/outputs.h"

#include "src/support/error.h"
#include "src/support/files.h"

namespace ingot::cli {

llvm::Error check_outputs(llvm::ArrayRef<FileArgument> inputs,
                          llvm::ArrayRef<FileArgument> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const FileArgument& output = outputs[i];
    for (const FileArgument& input : inputs)
      if (same_file(output.path, input.path))
        return make_error(ErrorCode::invalid_argument,
                          "{} would overwrite '{}', which {} reads: name another file",
                          output.argument, input.path, input.argument);
    for (const FileArgument& other : outputs.take_front(i))
      if (same_file(output.path, other.path))
        return make_error(ErrorCode::invalid_argument,
                          "{} and {} both go to '{}': name a file for each", other.argument,
                          output.argument, output.path);
    if (auto error = check_writable(output.path)) return error;
  }
  return llvm::Error::success();
}

} // namespace ingot::cli
