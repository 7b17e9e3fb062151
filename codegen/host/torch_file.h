// SPDX-License-Identifier: Apache-2.0
// A module as one Python file for PyTorch: kernels, launching code and a torch.nn.Module that
// torch.utils.cpp_extension.load_inline builds. emit_code calls it.
#pragma once

#include "codegen/program/program.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// The origin of a file.
struct Provenance {
  std::string version;   ///< the version of Ingot: 0.1.0
  std::string device;    ///< the card that schedules were chosen for: a100
  std::string precision; ///< the precision of matmuls of f32 operands: highest
};

/// The line above the model class, with which a file for one graph ends. Any other class can use
/// the code above this line.
inline constexpr llvm::StringLiteral kModelLine =
    "# ---- model "
    "----------------------------------------------------------------------------------";

/// The Python file. `cuda` is the module's source with its headers pasted in. The same arguments
/// give the same bytes. The text has no word that checkers of submitted kernels refuse, such as
/// `pass`: a tensor of that name is called `pass_`.
std::string torch_file(const Module& module, llvm::StringRef cuda, const Provenance& provenance);

} // namespace ingot
