// SPDX-License-Identifier: Apache-2.0
// Where an executable gets the code that the driver loads: from the compile service, or from a
// bundle that was made before.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

struct VariantRef;

struct ComputeCapability {
  int major = 0;
  int minor = 0;

  auto operator<=>(const ComputeCapability&) const = default;
};

/// "sm_90a": a compute capability, and whether code for it runs on no other.
struct GpuArch {
  ComputeCapability capability;
  bool is_exact = false;
};

/// nullopt for what is no architecture's name.
std::optional<GpuArch> parse_arch(llvm::StringRef arch);

/// Whether machine code for `arch` runs on a GPU: the same major, no lower minor.
bool machine_code_runs_on(llvm::StringRef arch, ComputeCapability gpu);

/// Whether the driver assembles PTX for `arch` for a GPU: one of at least that capability.
bool ptx_runs_on(llvm::StringRef arch, ComputeCapability gpu);

/// A cubin or PTX, with one or more entries.
struct CodeImage {
  std::shared_ptr<const std::string> bytes;
  std::string needs; ///< what to have where it does not load, for messages; may be empty
};

class CodeProvider {
public:
  virtual ~CodeProvider();

  /// Whether the code of a module for `arch` runs on that GPU.
  virtual bool runs_on(llvm::StringRef arch, ComputeCapability gpu) const;

  /// The images that hold the entries of variants, one for each; several may be the same. Called
  /// by one thread at a time and executable.
  virtual llvm::Expected<std::vector<CodeImage>> images(llvm::ArrayRef<VariantRef> variants,
                                                        const std::string& arch) = 0;
};

} // namespace ingot
