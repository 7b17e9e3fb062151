// SPDX-License-Identifier: Apache-2.0
// Sources of the kernels of graphs, and the check that their machine code keeps everything in
// registers. Called by the tests here.
#pragma once

#include "src/compiler.h"

#include <map>
#include <string>

namespace ingot::testing {

/// Sources by their name in a failure; equal ones are kept once.
struct Sources {
  std::map<std::string, std::string> names;

  /// Adds and returns every variant of every kernel of `spec`, compiled for `device` (`a100`).
  /// Fails the test case where the graph does not compile.
  std::vector<KernelVariant> add(llvm::StringRef spec, llvm::StringRef name,
                                 MatmulPrecision precision, const std::string& device,
                                 const std::string& target = "sm_80",
                                 const LeastProducts& least_products = {});
};

/// Compiles all sources for `arch` and checks that none uses local memory, by ptxas's word and by
/// the frame that the machine code asks for, and that ptxas has no remark about wgmma. Skips the
/// test case where there is no NVRTC.
void check_local_memory(const Sources& sources, const std::string& arch);

} // namespace ingot::testing
