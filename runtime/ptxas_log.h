// SPDX-License-Identifier: Apache-2.0
// Reads what ptxas -v and a PTX header state. Used on NVRTC's output.
#pragma once

#include "runtime/kernel_compiler.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ingot {

/// One element per "Compiling entry function" of the log, in its order.
std::vector<EntryResources> parse_ptxas_log(llvm::StringRef log);

/// The compiler's release and build as the comment at the head of its PTX states them, e.g.
/// "V13.0.88 CL-36424714"; empty when the comment lacks either.
std::string ptx_build_id(llvm::StringRef ptx);

/// The operand of `.version`, e.g. "9.0"; empty when there is none.
std::string ptx_version(llvm::StringRef ptx);

/// What the oldest NVRTC that is supported, of CUDA 12.4, writes.
inline constexpr llvm::StringLiteral kOldestPtx = "8.4";

/// The least Linux driver branch whose JIT reads this PTX version, e.g. "580" for "9.0"; empty for
/// a version that is not known.
std::string least_driver_for_ptx(llvm::StringRef version);

/// The source around the first "name(line): error" of `log`, each line numbered; empty when the
/// log names no line of `name`.
std::string error_excerpt(llvm::StringRef log, llvm::StringRef name, llvm::StringRef source);

} // namespace ingot
