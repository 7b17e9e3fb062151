// SPDX-License-Identifier: Apache-2.0
// What a variant asks of sizes and pointers before launch takes it. Used by the emitter alone.
#pragma once

#include "codegen/emit.h"
#include "codegen/functors.h"

namespace ingot {

/// The conditions for the access widths of `needs`, each said once; `arguments` are the variant's.
std::vector<Predicate> predicates_of(const AccessNeeds& needs, const BufferMap& buffers,
                                     llvm::ArrayRef<Argument> arguments);

} // namespace ingot
