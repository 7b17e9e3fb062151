// SPDX-License-Identifier: Apache-2.0
// The build ID of an ELF file: the note NT_GNU_BUILD_ID, which linkers derive from the content of
// the file (System V gABI, "Note Section"; ld(1), --build-id). NVRTC is identified by it.
#pragma once

#include <string>

namespace ingot {

/// The build ID of a 64-bit ELF file as hexadecimal digits, without loading the file. Empty if
/// `path` is no regular ELF file, or has no build ID.
std::string elf_build_id(const std::string& path);

} // namespace ingot
