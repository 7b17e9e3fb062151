// SPDX-License-Identifier: Apache-2.0
// Turns a graph into kernels: joins each op to the groups of its operands where legality allows it.
// Called by the compiler after the rewrites.
#pragma once

#include "ir/fusion/plan.h"

namespace ingot {

/// Plans the kernels of `graph`. Deterministic. Errors: ErrorCode::unsupported for an op that has
/// no kernel in this version, naming it and its place.
llvm::Expected<FusionPlan> plan_fusion(const Graph& graph, const FusionLimits& limits);

/// The stable text form of a plan: one paragraph per kernel, then the boundaries.
std::string text_of(const FusionPlan& plan, const Graph& graph);

/// Checks that every op that an output needs is in one group, that groups are in an order that
/// respects dependences, and that what is read was written before.
llvm::Error verify(const FusionPlan& plan, const Graph& graph);

} // namespace ingot
