// SPDX-License-Identifier: Apache-2.0
// Arguments of hand-made kernels.
#pragma once

#include "codegen/program/program.h"

namespace ingot::testing {

inline Argument tensor(ArgumentKind kind, std::string name) {
  Argument argument;
  argument.kind = kind;
  argument.name = std::move(name);
  return argument;
}

inline Argument memory(ArgumentKind kind, Expr offset) {
  Argument argument;
  argument.kind = kind;
  argument.offset = std::move(offset);
  return argument;
}

inline Argument dim(std::string name, Expr value) {
  Argument argument;
  argument.kind = ArgumentKind::dim;
  argument.name = std::move(name);
  argument.value = std::move(value);
  return argument;
}

} // namespace ingot::testing
