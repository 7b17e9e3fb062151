// SPDX-License-Identifier: Apache-2.0
// Parsers for the log of ptxas -v and for the header of PTX. They read NVRTC's output.
#pragma once

#include "runtime/kernel_compiler.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ingot {

/// One element per "Compiling entry function" in the log, in the same order.
std::vector<EntryResources> parse_ptxas_log(llvm::StringRef log);

/// The compiler's release and build from the comment at the head of its PTX, e.g. "V13.0.88
/// CL-36424714"; empty if the comment lacks either.
std::string ptx_build_id(llvm::StringRef ptx);

/// The operand of `.version`, e.g. "9.0"; empty if there is none.
std::string ptx_version(llvm::StringRef ptx);

/// The parts as one PTX. There is at least one. All have the same compiler and target, and no two
/// define the same name.
std::string join_ptx(llvm::ArrayRef<llvm::StringRef> parts);

/// The PTX version of the oldest supported NVRTC, that of CUDA 12.4.
inline constexpr llvm::StringLiteral kOldestPtx = "8.4";

/// The oldest Linux driver branch whose JIT reads this PTX version, e.g. "580" for "9.0"; empty for
/// an unknown version.
std::string least_driver_for_ptx(llvm::StringRef version);

/// The source around the first "name(line): error" of `log`, with line numbers; empty if the log
/// names no line of `name`.
std::string error_excerpt(llvm::StringRef log, llvm::StringRef name, llvm::StringRef source);

} // namespace ingot
