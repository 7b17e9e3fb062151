// SPDX-License-Identifier: Apache-2.0
// Generated C++ that runs a module's programs through the CUDA runtime API. It has the facts of the
// manifest as code. codegen/host/torch_file.cpp uses it.
#pragma once

#include "codegen/host/names.h"

#include <string>

namespace ingot {

/// Declarations for the launching code and its callers: the arithmetic of sizes, `Call`, and the
/// functions on it. They need cuda_runtime.h and the standard library.
std::string launcher_interface(const Module& module, const HostNames& names);

/// The definitions, for the translation unit that holds the kernels of `module_source`.
std::string launcher_source(const Module& module, const HostNames& names);

/// Whether the module has a `check_sizes` to call before a run.
bool checks_sizes(const Module& module);

/// Whether a step of `program` has an argument in memory of this kind.
bool uses_memory(const Module& module, const ProgramSteps& program, ArgumentKind kind);

/// The named dimensions that the steps of `program` use.
std::set<std::string> dims_of(const Module& module, const ProgramSteps& program);

} // namespace ingot
