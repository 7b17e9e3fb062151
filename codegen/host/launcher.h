// SPDX-License-Identifier: Apache-2.0
// Generated C++ that runs a module's programs through the CUDA runtime API: what the manifest says,
// as code. Used by codegen/host/torch_file.cpp.
#pragma once

#include "codegen/host/names.h"

#include <string>

namespace ingot {

/// Declarations that the launching side and its callers share: the arithmetic of sizes, `Call`, and
/// what runs on it. Needs cuda_runtime.h and the standard library.
std::string launcher_interface(const Module& module, const HostNames& names);

/// Their definitions, for the translation unit that holds the kernels of `module_source`.
std::string launcher_source(const Module& module, const HostNames& names);

/// Whether `check_sizes` is there to be called before a run.
bool checks_sizes(const Module& module);

/// Whether a step of `program` is given memory of this kind.
bool uses_memory(const Module& module, const ProgramSteps& program, ArgumentKind kind);

/// The named dimensions that the steps of `program` read.
std::set<std::string> dims_of(const Module& module, const ProgramSteps& program);

} // namespace ingot
