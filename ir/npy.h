// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files (versions 1 to 3) as tensors and back: the inputs and outputs of `ingot run`.
// bf16, which NumPy lacks, is two raw bytes an element, as ml_dtypes stores it.
#pragma once

#include "ir/tensor.h"

#include <optional>

namespace ingot {

/// Reads an array in C order. Element types: f4 f2 i4 i8 b1, and for bf16 V2, or u2 where
/// `expected` is bf16. Errors name the file and say what was expected and found: io_error where it
/// cannot be read, invalid_argument where it is damaged or holds another type, byte order or
/// layout.
llvm::Expected<Tensor> read_npy(llvm::StringRef path, std::optional<DType> expected = std::nullopt);

/// The same from the bytes of a file, which messages call `path`.
llvm::Expected<Tensor> parse_npy(llvm::StringRef bytes, llvm::StringRef path,
                                 std::optional<DType> expected = std::nullopt);

/// A file of version 1.0.
std::string npy_bytes(const Tensor& tensor);

/// Writes npy_bytes atomically. Errors: io_error.
llvm::Error write_npy(llvm::StringRef path, const Tensor& tensor);

} // namespace ingot
