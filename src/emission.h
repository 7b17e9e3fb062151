// SPDX-License-Identifier: Apache-2.0
// A module as one file of code: every variant of every kernel as PTX, cubin, self-contained CUDA
// C++ or a Python file for PyTorch. The public API and the command line call it.
#pragma once

#include "codegen/host/torch_file.h"
#include "codegen/program/manifest.h"
#include "codegen/program/program.h"
#include "runtime/compile_service.h"

namespace ingot {

enum class CodeKind : uint8_t { ptx, cubin, cuda, torch };
/// The word of a kind: ptx, cubin, cuda, torch.
llvm::StringRef spelling(CodeKind kind);
/// The suffix of a file: .ptx, .cubin, .cu, .py.
llvm::StringRef suffix_of(CodeKind kind);

struct EmittedCode {
  std::string bytes;
  CodeFacts facts; ///< `file` is empty
};

/// The compiles for PTX or a cubin of `module`: one for each variant of PTX, whose parts are
/// joined, so that all cores compile; one for a cubin, whose parts only a linker could join.
/// compile_all can take the requests of several modules at once; emit_code then finds their results
/// in the cache.
std::vector<CompileRequest> code_requests(const Module& module, CodeKind kind);

/// PTX is for the module's family, a cubin for its architecture. Both come from the compile service
/// and so from its cache. CUDA source has its headers pasted in and needs no compiler. The file for
/// PyTorch needs none either; it names its origin.
llvm::Expected<EmittedCode> emit_code(const Module& module, CodeKind kind, CompileService& service,
                                      const Provenance& provenance = {});

} // namespace ingot
