// SPDX-License-Identifier: Apache-2.0
// Rewriting of point expressions: the scores of a softmax. Used by build_body.
#pragma once

#include "codegen/kernel/kernel.h"

namespace ingot {

/// The expression that ends with step `last` of `value`, without steps that it does not need.
PointExpr steps_of(const PointExpr& value, uint32_t last);

/// Takes a positive constant out of a product, or out of selections between such products and
/// infinities: `value` was the result times `value` afterwards. 1: it has none.
float take_positive_factor(PointExpr& value);

/// True if an expression is slot 0 itself.
bool is_slot(const PointExpr& value);

} // namespace ingot
