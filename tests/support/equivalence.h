// SPDX-License-Identifier: Apache-2.0
// Compares graphs by the expressions of their outputs. Tests of the text form and of rewrites use
// it.
#pragma once

#include "ir/graph.h"

namespace ingot {

/// Whether two graphs are equal up to the order of independent ops, repeated ops, unused ops and
/// value names. They must have the same inputs in the same order, and the same outputs by name,
/// each defined by the same expression.
bool equivalent(const Graph& a, const Graph& b);

} // namespace ingot
