// SPDX-License-Identifier: Apache-2.0
// See build_id.h.
#include "runtime/build_id.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace ingot {

namespace {

/// Limits for damaged files. Real ones have about 10 program headers, and notes of 100 bytes.
constexpr size_t kMostHeaders = 1024, kMostNoteBytes = 1 << 16;

/// `size` bytes of the file from `offset` on; empty if the file is shorter.
std::string bytes_at(llvm::sys::fs::file_t file, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  llvm::Expected<size_t> count = llvm::sys::fs::readNativeFileSlice(
      file, llvm::MutableArrayRef<char>(bytes.data(), size), offset);
  if (count && *count == size) return bytes;
  llvm::consumeError(count.takeError());
  return "";
}

/// The first object of type T in `bytes`. There must be enough of them.
template <typename T> T read_as(llvm::StringRef bytes) {
  T object;
  std::memcpy(&object, bytes.data(), sizeof object);
  return object;
}

/// The build ID among `notes`. Each note is a header, a name and a description, both padded to 4
/// bytes. NVRTC 12 has its build ID first in a segment of 8-byte alignment, where 4 is right too.
std::string build_id_of(llvm::StringRef notes) {
  const auto padded = [](uint64_t size) { return (size + 3) / 4 * 4; };
  const llvm::StringRef kGnu("GNU\0", 4);
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    const auto note = read_as<Elf64_Nhdr>(notes);
    notes = notes.drop_front(sizeof note);
    const uint64_t name_bytes = padded(note.n_namesz), bytes = name_bytes + padded(note.n_descsz);
    if (name_bytes + note.n_descsz > notes.size()) return ""; // damaged
    if (note.n_type == NT_GNU_BUILD_ID && notes.take_front(note.n_namesz) == kGnu)
      return llvm::toHex(notes.substr(name_bytes, note.n_descsz), /*LowerCase=*/true);
    notes = notes.drop_front(std::min<uint64_t>(notes.size(), bytes));
  }
  return "";
}

} // namespace

std::string elf_build_id(const std::string& path) {
  if (!llvm::sys::fs::is_regular_file(path)) return ""; // a pipe would block
  llvm::Expected<llvm::sys::fs::file_t> file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return "";
  }
  auto close = llvm::make_scope_exit([&] { (void)llvm::sys::fs::closeFile(*file); });
  const std::string start = bytes_at(*file, 0, sizeof(Elf64_Ehdr));
  if (!llvm::StringRef(start).starts_with(ELFMAG) || start[EI_CLASS] != ELFCLASS64) return "";
  const auto head = read_as<Elf64_Ehdr>(start);
  for (size_t i = 0; i < std::min<size_t>(head.e_phnum, kMostHeaders); ++i) {
    const std::string header =
        bytes_at(*file, head.e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
    if (header.empty()) return "";
    const auto segment = read_as<Elf64_Phdr>(header);
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNoteBytes) continue;
    std::string id = build_id_of(bytes_at(*file, segment.p_offset, segment.p_filesz));
    if (!id.empty()) return id;
  }
  return "";
}

} // namespace ingot
