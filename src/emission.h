// SPDX-License-Identifier: Apache-2.0
// A module as one file of code: every variant of every kernel as PTX, cubin, self-contained CUDA
// C++ or a Python file for PyTorch. Called by the public API and the command line.
#pragma once

#include "codegen/program/manifest.h"
#include "codegen/program/program.h"
#include "codegen/host/torch_file.h"
#include "runtime/compile_service.h"

namespace ingot {

enum class CodeKind : uint8_t { ptx, cubin, cuda, torch };
/// ptx, cubin, cuda, torch.
llvm::StringRef spelling(CodeKind kind);
/// .ptx, .cubin, .cu, .py.
llvm::StringRef suffix_of(CodeKind kind);

struct EmittedCode {
  std::string bytes;
  CodeFacts facts; ///< `file` is empty
};

/// What is compiled for PTX or a cubin of `module`: of several modules, compile_all takes all of
/// them at once, and emit_code then finds them.
CompileRequest code_request(const Module& module, CodeKind kind);

/// PTX is for the module's family, a cubin for its arch; both come from the compile service and so
/// from its cache. CUDA source has its headers pasted in and needs no compiler; nor does the file
/// for PyTorch, which says where it comes from.
llvm::Expected<EmittedCode> emit_code(const Module& module, CodeKind kind, CompileService& service,
                                      const Provenance& provenance = {});

} // namespace ingot
