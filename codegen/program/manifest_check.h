// SPDX-License-Identifier: Apache-2.0
// Checks whether a module from outside contradicts itself. The reader of manifests calls it,
// because a file may have correct checksums and contents that no compiler wrote.
#pragma once

#include "codegen/program/manifest.h"

namespace ingot {

/// Errors: parse_error for the first contradiction. Examples: a name that is not defined or is
/// defined twice, a number out of range, an argument that the program does not have.
llvm::Error check_manifest(const Manifest& manifest);

} // namespace ingot
