// SPDX-License-Identifier: Apache-2.0
// The widths and paths of a kernel's accesses, by variant. Where all variants agree the code shared
// by them has the value; else it has a name, `V::kVecIn0`, that each variant defines.
#pragma once

#include "codegen/kernel/kernel.h"
#include "codegen/kernel/names.h"
#include "codegen/program/identifiers.h"

namespace ingot {

/// A value that may differ between variants.
struct VariantNumber {
  std::string type, name;          ///< of the constant, `int` and `kVecIn0`
  std::vector<std::string> values; ///< by variant
  std::string use;                 ///< in the shared code
};

/// Of one matmul operand.
struct OperandNumbers {
  VariantNumber path, vec;
  std::vector<VariantNumber> prologue; ///< by read of its frame
};

struct StoreNumbers {
  VariantNumber vec, staged;
};

struct VariantNumbers {
  explicit VariantNumbers(const Kernel& kernel);

  std::vector<VariantNumber> reads;     ///< by read of the stages' frame
  std::vector<OperandNumbers> operands; ///< A and B of each matmul
  std::vector<StoreNumbers> stores;     ///< of the stages that store, in order

  /// The declarations of variant `v`, one line each.
  std::vector<std::string> declarations(size_t v) const;
};

} // namespace ingot
