// SPDX-License-Identifier: Apache-2.0
// What a variant asks of sizes and pointers before a launch takes it.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The conditions under which the access widths of `schedule` are legal, each said once: extents
/// that it divides, then pointers of the caller that are aligned.
std::vector<Predicate> predicates_of(const Kernel& kernel, const Schedule& schedule);

} // namespace ingot
