// SPDX-License-Identifier: Apache-2.0
// Looks into machine code: a cubin is a 64-bit little-endian ELF file.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/ELF.h"

#include <cstring>
#include <string>
#include <vector>

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

/// Bytes of local memory that each function's frame takes, from the attributes of machine code.
inline std::vector<uint32_t> cubin_frames(llvm::StringRef cubin) {
  constexpr uint8_t kWithSize = 4, kFrameSize = 0x11; // EIFMT_SVAL, EIATTR_FRAME_SIZE
  const std::string info = cubin_section(cubin, ".nv.info");
  std::vector<uint32_t> frames;
  for (size_t at = 0; at + 4 <= info.size();) {
    uint16_t size = 0;
    if (info[at] == kWithSize) std::memcpy(&size, info.data() + at + 2, sizeof(size));
    if (info[at] == kWithSize && info[at + 1] == kFrameSize && at + 12 <= info.size()) {
      uint32_t bytes = 0; // after the function's index
      std::memcpy(&bytes, info.data() + at + 8, sizeof(bytes));
      frames.push_back(bytes);
    }
    at += 4 + size;
  }
  return frames;
}

} // namespace ingot::testing
