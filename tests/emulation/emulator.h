// SPDX-License-Identifier: Apache-2.0
// Runs the programs of compiled modules on the CPU: every kernel variant built by the host compiler
// over the host twin of ptx/, every launch carried out block by block. Called by the tests here.
#pragma once

#include "ir/interpreter/evaluate.h"
#include "runtime/launch_plan.h"
#include "src/compiler.h"
#include "tests/emulation/block.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ingot::emulation {

/// The author of a module's code. Kernels that a test wrote have no `Kernel` structure.
enum class Origin : uint8_t { generated, written_by_hand };

/// The kernels of some modules as one shared library of the host.
class KernelLibrary {
public:
  /// Entries must be unique among the modules. Generated kernels take the shared memory that the
  /// host planned. Errors: compile_error with the compiler's output.
  static llvm::Expected<std::unique_ptr<KernelLibrary>> build(llvm::ArrayRef<const Module*> modules,
                                                              Origin origin = Origin::generated);
  ~KernelLibrary();

  /// The kernel `entry`, called through its parameters' words.
  Block::Body kernel(const std::string& entry) const;
  /// Makes device code of this library see `machine`.
  void enter(Machine* machine) const { *machine_ = machine; }

private:
  KernelLibrary() = default;
  void* handle_ = nullptr;
  Machine** machine_ = nullptr;
};

enum class Misaligned : uint8_t { none, all, outputs };

struct RunOptions {
  Adversary adversary;
  /// The adversary leaves out operations of this kernel variant alone.
  std::string mutated;
  /// These tensors start at odd multiples of their element size, others at multiples of 16 bytes.
  Misaligned misaligned = Misaligned::none;
  /// Launches with more blocks get this many, which then take several tiles each.
  int64_t most_blocks = INT64_MAX;
};

/// The figures of one kernel launch.
struct Launched {
  std::string entry;
  int64_t shared_bytes = 0;
  OperationCounts met = {}; ///< the most operations of each kind that a thread of a block met
};

struct Outcome {
  std::string problem; ///< of the execution itself; empty when it went through
  std::vector<Tensor> outputs;
  std::vector<Launched> launches;
};

/// Runs prepare, then launch. `inputs` are in the graph's order.
Outcome run_module(const Compilation& compilation, const KernelLibrary& library,
                   llvm::ArrayRef<const Tensor*> inputs, const RunOptions& options);

} // namespace ingot::emulation
