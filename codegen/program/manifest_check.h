// SPDX-License-Identifier: Apache-2.0
// Whether a module from outside contradicts itself. Called by the reader of manifests, which may
// come from a file whose checksums are right and whose contents no compiler wrote.
#pragma once

#include "codegen/program/manifest.h"

namespace ingot {

/// Bounds of what a manifest may state, far above what any compile makes.
inline constexpr int64_t kMostAlignment = 256; ///< what callers promise of every memory
inline constexpr int kMostExprStack = 64; ///< values that wait while an expression is evaluated

/// Symbols that every program may use beside its named dimensions: constants of the GPU.
inline constexpr const char* kSmCountSymbol = "device.sm_count";
inline constexpr const char* kMaxSharedSymbol = "device.max_shared_bytes";

/// parse_error names the first contradiction: a name that nothing has or two things have, a number
/// out of its range, an argument that its program does not have.
llvm::Error check_manifest(const Manifest& manifest);

} // namespace ingot
