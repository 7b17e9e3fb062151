// SPDX-License-Identifier: Apache-2.0
// The source of the code that an executable loads: the compile service, or a bundle.
#pragma once

#include "src/support/gpu_arch.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot {

struct VariantRef;

/// Whether machine code for `arch` runs on a GPU: same major, and a minor that is not higher.
bool machine_code_runs_on(llvm::StringRef arch, ComputeCapability gpu);

/// Whether the driver can compile PTX for `arch` for this GPU: its capability must be at least
/// that.
bool ptx_runs_on(llvm::StringRef arch, ComputeCapability gpu);

/// A cubin or PTX with one or more entries.
struct CodeImage {
  std::shared_ptr<const std::string> bytes;
  std::string needs; ///< the remedy if it does not load, for messages; may be empty
};

class CodeProvider {
public:
  virtual ~CodeProvider();

  /// Whether the code of a module for `arch` runs on this GPU.
  virtual bool runs_on(llvm::StringRef arch, ComputeCapability gpu) const;

  /// The images with the entries of `variants`, one per variant; several may be the same image.
  /// Only one thread at a time calls it for an executable.
  virtual llvm::Expected<std::vector<CodeImage>> images(llvm::ArrayRef<VariantRef> variants,
                                                        const std::string& arch) = 0;
};

} // namespace ingot
