// SPDX-License-Identifier: Apache-2.0
// Turns the numbers of a variant into the source of its tiles: a mainloop, or the layout of loaded
// rows. emit_kernel uses it.
#pragma once

#include "codegen/kernel/kernel.h"
#include "src/support/code_writer.h"

namespace ingot {

/// The device library's mainloop type for a schedule, and the header of that type.
struct MainloopType {
  const char* type;
  const char* header;
};
MainloopType mainloop_of(const Schedule& schedule);

/// True where the tiles of all variants lie a number of columns apart: V::kStepN. Else that is an
/// expression of the sizes, V::tile_columns.
bool has_fixed_steps(const Kernel& kernel);

/// Writes the constants of struct `name` that the source and the grid read, and `Mainloop` or
/// `Layout`.
void write_source_numbers(CodeWriter& out, const Kernel& kernel, const Variant& variant,
                          const std::string& name);

} // namespace ingot
