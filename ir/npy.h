// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files (versions 1 to 3) as tensors, and back. `ingot run` uses them for inputs and
// outputs. NumPy lacks bf16; it is stored as two raw bytes per element, as ml_dtypes does.
#pragma once

#include "ir/tensor.h"

#include <optional>

namespace ingot {

/// Reads an array in C order. Element types are f4 f2 i4 i8 b1; for bf16 V2, or u2 if `expected` is
/// bf16. Errors name the file, the value expected and the value found. They are io_error if the
/// file cannot be read, and invalid_argument if it is damaged or has another type, byte order or
/// layout.
llvm::Expected<Tensor> read_npy(llvm::StringRef path, std::optional<DType> expected = std::nullopt);

/// Reads the bytes of a file. Messages call it `path`.
llvm::Expected<Tensor> parse_npy(llvm::StringRef bytes, llvm::StringRef path,
                                 std::optional<DType> expected = std::nullopt);

/// The bytes of a file of version 1.0.
std::string npy_bytes(const Tensor& tensor);

} // namespace ingot
