// SPDX-License-Identifier: Apache-2.0
// Writes the mainloops of a kernel: their configuration, and the matrices that they multiply with
// what is computed on the way. Called by the emitter alone.
#pragma once

#include "codegen/functors.h"
#include "codegen/halves.h"

namespace ingot {

/// What the text of a kernel's source depends on, and what it adds to.
struct SourceContext {
  const Graph& graph;
  const Ranges& ranges;
  const Group& group;
  const Schedule& schedule;
  const std::map<ValueId, std::string>& pointers; ///< Params members, by what they point to
  const std::vector<std::string>& halves; ///< Params members, by operand, where they are multiplied
  Names& names;                           ///< of structs
  AccessNeeds& needs;
};

/// A class template of the device library, and where it is.
struct Mainloop {
  const char* type;
  const char* header;
};
Mainloop mainloop_of(const Schedule& schedule);

/// Writes the structs of the group's matmuls and the type MatmulOrRows that runs them.
void write_mainloops(CodeWriter& out, const SourceContext& context);

/// Writes `name`, an operand of a matmul of the group, and its prologue.
void write_operand_matrix(CodeWriter& out, const SourceContext& context, MatmulSide of,
                          const std::string& name);

} // namespace ingot
