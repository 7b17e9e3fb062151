// SPDX-License-Identifier: Apache-2.0
// What a compilation decided, as facts and as text: kernels, what they hold and move, why they end
// where they do, and what running op by op would have moved. Called by the command line.
#pragma once

#include "src/compiler.h"

#include "llvm/Support/JSON.h"

namespace ingot {

/// One tensor or memory that a kernel reads or writes, once.
struct Transfer {
  std::string name; ///< the tensor's, or `workspace+0`
  bool is_write = false;
  Expr bytes;
};

struct KernelFacts {
  std::string name;
  ProgramKind program = ProgramKind::launch;
  std::vector<std::string> ops; ///< in the text language
  std::string source;           ///< matmul 1024x8192x8192, or the loaded rows and columns
  std::vector<std::string> reductions;
  std::vector<std::string> schedules; ///< of its variants, in the order in which launch tries them
  std::vector<Transfer> transfers;
  Expr flops;

  Expr bytes() const;
};

struct BoundaryFacts {
  std::string producer, consumer; ///< kernels
  std::string value;
  std::string rule;
};

/// Byte and operation counts are expressions of the named dimensions. Every tensor counts once per
/// kernel that touches it; rereads that caches absorb do not count.
struct Explanation {
  std::string graph, family, arch;
  std::vector<KernelFacts> kernels;
  std::vector<BoundaryFacts> boundaries;
  Expr bytes;         ///< of the launch program's kernels
  Expr flops;
  Expr unfused_bytes; ///< one kernel for each operator as written
  int64_t unfused_kernels = 0;
  Expr prepared_bytes, workspace_bytes, state_bytes;
};

Explanation explain(const Compilation& compilation);

std::string text_of(const Explanation& explanation);
llvm::json::Value json_of(const Explanation& explanation);

} // namespace ingot
