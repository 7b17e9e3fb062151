// SPDX-License-Identifier: Apache-2.0
// How a mainloop of sm_80 fetches an operand: by cp.async as it is, or through registers.
#pragma once

#include "codegen/kernel/kernel.h"
#include "codegen/kernel/schedule.h"

namespace ingot {

/// The path and the width for an operand of `kernel`. Vectors along the columns of B have at most
/// `aligned` elements.
OperandSchedule choose_operand(const Kernel& kernel, const Schedule& schedule,
                               const MatrixOperand& operand, bool is_b, int64_t aligned);

/// True if cp.async can copy vectors of `vec` elements of the operand: it computes none, and those
/// of a line in shared memory are adjacent.
bool can_copy(const Kernel& kernel, const MatrixOperand& operand, int64_t vec);

/// True if it can copy both operands of the first product of `schedule`.
bool can_copy_both(const Kernel& kernel, const Schedule& schedule);

} // namespace ingot
