// SPDX-License-Identifier: Apache-2.0
// The interface between the compile service and a compiler of one translation unit: NVRTC, or a
// substitute in tests.
#pragma once

#include "codegen/program/device_headers.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

/// One translation unit to compile.
struct CompileRequest {
  std::string name;   ///< the name in diagnostics, e.g. "mish_groupnorm_k0.cu"
  std::string source; ///< CUDA C++; includes name embedded device headers only
  std::string arch;   ///< sm_80, sm_90, sm_90a: machine code; compute_80: PTX only, much faster
  std::vector<std::string> options; ///< added after the standard ones, in this order
};

/// The report of ptxas on one entry. The numbers of a device function that was not inlined count
/// towards the entry that calls it.
struct EntryResources {
  std::string entry;
  int64_t registers = 0;
  int64_t barriers = 0;
  int64_t stack_bytes = 0; ///< local memory of one thread, including spills
  int64_t spill_store_bytes = 0;
  int64_t spill_load_bytes = 0;
  int64_t static_shared_bytes = 0;
};

struct CompileOutput {
  std::string cubin;
  std::string ptx; ///< empty for architectures whose PTX is not kept
  std::string log;
  std::vector<EntryResources> entries;
};

class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;

  /// The name of the compiler including its build. Compilers with different output have different
  /// names.
  virtual llvm::Expected<std::string> identity() = 0;

  /// Compiles a unit. Several threads may call it. `headers` are those that the source includes.
  virtual llvm::Expected<CompileOutput> compile(const CompileRequest& request,
                                                llvm::ArrayRef<DeviceHeader> headers) = 0;
};

/// The options for `request`; its own options are at the end. A compiler may drop options that its
/// release does not know, because its identity tells releases apart.
std::vector<std::string> compile_options(const CompileRequest& request);

} // namespace ingot
