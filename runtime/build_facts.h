// SPDX-License-Identifier: Apache-2.0
// What a compile says about itself, as the manifest states it. Used where code is written to files.
#pragma once

#include "codegen/manifest.h"
#include "runtime/kernel_compiler.h"

#include <string>

namespace ingot {

/// The facts of `output`, for code of `kind` (ptx or cubin) written to `file`. `compiler` is
/// KernelCompiler::identity.
CodeFacts code_facts(const CompileOutput& output, std::string file, std::string kind,
                     std::string compiler);

} // namespace ingot
