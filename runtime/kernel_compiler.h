// SPDX-License-Identifier: Apache-2.0
// The contract between the compile service and what turns one translation unit into machine code:
// NVRTC, or a stand-in under test.
#pragma once

#include "codegen/program/device_headers.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// One translation unit to compile.
struct CompileRequest {
  std::string name;   ///< what diagnostics call the source, e.g. "mish_groupnorm_k0.cu"
  std::string source; ///< CUDA C++; includes name embedded device headers only
  std::string arch;   ///< sm_80, sm_90, sm_90a: machine code; compute_80: PTX alone, much sooner
  std::vector<std::string> options; ///< added after the standard ones, in this order
};

/// What ptxas reported for one entry. Device functions that were not inlined count towards the
/// entry they are called from.
struct EntryResources {
  std::string entry;
  int64_t registers = 0;
  int64_t barriers = 0;
  int64_t stack_bytes = 0; ///< local memory a thread uses, spills included
  int64_t spill_store_bytes = 0;
  int64_t spill_load_bytes = 0;
  int64_t static_shared_bytes = 0;
};

struct CompileOutput {
  std::string cubin;
  std::string ptx; ///< empty for architectures whose PTX the compiler does not keep
  std::string log;
  std::vector<EntryResources> entries;
};

class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;

  /// Names the compiler down to its build: two compilers that may differ in output differ here.
  virtual llvm::Expected<std::string> identity() = 0;

  /// Compiles; safe from several threads. `headers` are those the source includes.
  virtual llvm::Expected<CompileOutput> compile(const CompileRequest& request,
                                                llvm::ArrayRef<DeviceHeader> headers) = 0;
};

/// The options of a compile of `request`, its own at the end. A compiler may drop what its release
/// does not know: its identity tells releases apart.
std::vector<std::string> compile_options(const CompileRequest& request);

} // namespace ingot
