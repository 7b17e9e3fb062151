// SPDX-License-Identifier: Apache-2.0
// Allocation that fails when it is told to. All of the program's allocations come here.
#pragma once

#include <cstdint>

namespace ingot::testing {

enum class Fails : uint8_t { never, once, from_then_on };

/// From now on allocations are counted, and the one of that number, from 1 on, fails.
void arm(Fails how, int64_t number);

/// No allocation fails any more. How many there were since arm().
int64_t disarm();

} // namespace ingot::testing
