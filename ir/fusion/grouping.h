// SPDX-License-Identifier: Apache-2.0
// Turns a graph into kernels: joins each op to the groups of its operands if that is legal. Called
// by the compiler after the rewrites.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// Plans the kernels of `graph`. Deterministic. Errors: ErrorCode::unsupported for an op without a
/// kernel in this version, with its name and place.
llvm::Expected<FusionPlan> plan_fusion(const Graph& graph, const FusionLimits& limits);

/// The stable text form of a plan: one paragraph per kernel, then the boundaries.
std::string text_of(const FusionPlan& plan, const Graph& graph);

/// Checks that every op that an output needs is in one group, that the order of groups respects
/// dependences, and that every read value was written before.
llvm::Error verify(const FusionPlan& plan, const Graph& graph);

} // namespace ingot
