// SPDX-License-Identifier: Apache-2.0
// The dynamic shared memory of a kernel, worked out on the host as the device library lays it out
// (tile/spans.cuh, tile/reduce.cuh, the mainloops). Every generated kernel asserts that both agree.
#pragma once

#include "codegen/kernel/stage_list.h"

namespace ingot {

int64_t shared_bytes(const Graph& graph, const Group& group, const Schedule& schedule);

/// Bytes of a reduction's state (math/reducers.cuh).
int64_t state_bytes(const Graph& graph, const Op& op);

} // namespace ingot
