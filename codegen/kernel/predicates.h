// SPDX-License-Identifier: Apache-2.0
// The conditions on sizes and pointers under which a launch takes a variant.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The conditions under which the access widths of `schedule` are legal, without duplicates: first
/// the extents that a width must divide, then the pointers of the caller that must be aligned.
std::vector<Predicate> predicates_of(const Kernel& kernel, const Schedule& schedule);

} // namespace ingot
