// SPDX-License-Identifier: Apache-2.0
// What lies where in the memories that a module plans, for the bytes that explain counts.
#pragma once

#include "codegen/program.h"

#include <map>

namespace ingot {

/// The bytes between an offset into a memory and the next one that any kernel uses. Offsets rise in
/// the order of allocation, which is the order of first use as a target.
class Memories {
public:
  explicit Memories(const Module& module);

  static bool is_memory(ArgumentKind kind) {
    return kind == ArgumentKind::prepared || kind == ArgumentKind::workspace;
  }
  /// `workspace 1`: places are counted from 0 in the order of their offsets.
  std::string name(const Argument& argument) const;
  Expr size(const Argument& argument) const;

private:
  struct Places {
    std::map<std::string, std::pair<Expr, size_t>> index; ///< by an offset's text: its position
    std::vector<Expr> offsets;
  };
  static void sort(Places& places);
  size_t position(const Argument& argument) const {
    return places_.at(argument.kind).index.at(argument.offset.text()).second;
  }

  const Module& module_;
  std::map<ArgumentKind, Places> places_;
};

} // namespace ingot
