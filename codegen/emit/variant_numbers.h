// SPDX-License-Identifier: Apache-2.0
// The widths and paths of a kernel's accesses, per variant. If all variants agree, their shared
// code has the value. Otherwise it has a name, `V::kVecIn0`, that each variant defines.
#pragma once

#include "codegen/kernel/kernel.h"
#include "codegen/program/identifiers.h"

namespace ingot {

/// A value that may differ between variants.
struct VariantNumber {
  std::string type, name;          ///< type and name of the constant: `int`, `kVecIn0`
  std::vector<std::string> values; ///< one per variant
  std::string use;                 ///< its spelling in shared code
};

/// The numbers of one operand of a matmul.
struct OperandNumbers {
  VariantNumber path, vec;
  std::vector<VariantNumber> prologue; ///< one per read of the prologue's frame
};

struct StoreNumbers {
  VariantNumber vec, staged;
};

struct VariantNumbers {
  explicit VariantNumbers(const Kernel& kernel);

  std::vector<VariantNumber> reads; ///< one per read of the stages' frame
  /// Those of the stages of computed operands, tile by tile.
  std::vector<std::vector<VariantNumber>> tile_reads;
  std::vector<OperandNumbers> operands; ///< in the order of matrix_operands()
  std::vector<StoreNumbers> stores;     ///< one per storing stage, in order
  VariantNumber per_row;                ///< threads of a row of a kernel that packs

  /// The declarations of variant `v`, one line each.
  std::vector<std::string> declarations(size_t v) const;
};

} // namespace ingot
