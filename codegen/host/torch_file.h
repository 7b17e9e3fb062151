// SPDX-License-Identifier: Apache-2.0
// A module as one Python file for PyTorch: kernels, launching code and a torch.nn.Module, built by
// torch.utils.cpp_extension.load_inline. Called by emit_code.
#pragma once

#include "codegen/program/program.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// What a file says of its origin.
struct Provenance {
  std::string version;   ///< Ingot's: 0.1.0
  std::string device;    ///< the card that schedules were chosen for: a100
  std::string precision; ///< of matmuls of f32 operands: highest
};

/// The line above the class that a file made for one graph alone ends with: what stands before it
/// is of use to any other class.
inline constexpr llvm::StringLiteral kModelLine =
    "# ---- model "
    "----------------------------------------------------------------------------------";

/// The Python file. `cuda` is the module's source with its headers pasted in. The same arguments
/// give the same bytes. The text holds none of the words that checkers of submitted kernels refuse
/// wherever they stand, such as `pass`: a tensor of that name is called `pass_`.
std::string torch_file(const Module& module, llvm::StringRef cuda, const Provenance& provenance);

} // namespace ingot
