// SPDX-License-Identifier: Apache-2.0
// Looks into machine code: a cubin is a 64-bit little-endian ELF file.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/ELF.h"

#include <cstring>
#include <string>

namespace ingot::testing {

/// The bytes of a section, e.g. ".text.my_kernel"; empty when there is none.
inline std::string cubin_section(llvm::StringRef cubin, llvm::StringRef name) {
  using namespace llvm::ELF;
  auto read = [&]<typename T>(T, size_t offset) {
    T value = {};
    if (offset + sizeof(T) <= cubin.size()) std::memcpy(&value, cubin.data() + offset, sizeof(T));
    return value;
  };
  Elf64_Ehdr header = read(Elf64_Ehdr{}, 0);
  auto section = [&](size_t i) {
    return read(Elf64_Shdr{}, header.e_shoff + i * header.e_shentsize);
  };
  llvm::StringRef names = cubin.substr(section(header.e_shstrndx).sh_offset);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr s = section(i);
    if (names.substr(s.sh_name).split('\0').first == name)
      return cubin.substr(s.sh_offset, s.sh_size).str();
  }
  return "";
}

} // namespace ingot::testing
