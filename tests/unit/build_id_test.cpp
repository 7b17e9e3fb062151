// SPDX-License-Identifier: Apache-2.0
// Build IDs of small ELF files that are made here, and the identity of NVRTC.
#include "runtime/build_id.h"

#include "runtime/nvrtc.h"
#include "tests/support/cache_samples.h"

#include <doctest/doctest.h>

#include <cstring>
#include <elf.h>
#include <sys/stat.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

template <typename T> std::string bytes_of(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof object};
}

std::string padded(std::string text) {
  text.resize((text.size() + 3) / 4 * 4);
  return text;
}

std::string note(uint32_t type, const std::string& name, const std::string& description) {
  const Elf64_Nhdr header = {static_cast<Elf64_Word>(name.size()),
                             static_cast<Elf64_Word>(description.size()), type};
  return bytes_of(header) + padded(name) + padded(description);
}

const std::string kGnu("GNU\0", 4);

/// A file of one segment for instructions and one for notes.
std::string elf(const std::string& notes, uint64_t claimed_bytes = 0) {
  Elf64_Ehdr file = {};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_phoff = sizeof file;
  file.e_phnum = 2;
  Elf64_Phdr code = {}, segment = {};
  code.p_type = PT_LOAD;
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof file + 2 * sizeof segment;
  segment.p_filesz = claimed_bytes ? claimed_bytes : notes.size();
  return bytes_of(file) + bytes_of(code) + bytes_of(segment) + notes;
}

std::string id_in(const std::string& content) {
  TemporaryFolder folder;
  overwrite(folder / "file", content);
  return elf_build_id(folder / "file");
}

} // namespace

TEST_CASE("build ID: it is found behind other notes, whatever their lengths") {
  const std::string id = note(NT_GNU_BUILD_ID, kGnu, "\x01\xAB\xff");
  CHECK(id_in(elf(id)) == "01abff");
  for (size_t length : {0, 1, 4, 7})
    CHECK(id_in(elf(note(NT_GNU_ABI_TAG, kGnu, std::string(length, 'x')) +
                    note(NT_GNU_BUILD_ID, std::string("Go\0", 3), "no") + id)) == "01abff");
}

TEST_CASE("build ID: a file without one, a damaged file, or no file has none") {
  const std::string id = note(NT_GNU_BUILD_ID, kGnu, "0123456789"), whole = elf(id);
  CHECK(id_in("") == "");
  CHECK(id_in("no library") == "");
  CHECK(id_in(elf("")) == "");
  CHECK(id_in(elf(note(NT_GNU_ABI_TAG, kGnu, "0123"))) == "");
  for (size_t size = 0; size + 2 < whole.size(); ++size) CHECK(id_in(whole.substr(0, size)) == "");
  CHECK(id_in(elf(id, uint64_t(1) << 60)) == "");
  CHECK(id_in(elf(bytes_of(Elf64_Nhdr{~0u, ~0u, NT_GNU_BUILD_ID}) + kGnu)) == "");
  for (const Elf64_Nhdr& longer : {Elf64_Nhdr{3, 0, 3}, Elf64_Nhdr{4, 9, NT_GNU_BUILD_ID}})
    CHECK(id_in(elf(bytes_of(longer) + kGnu.substr(0, longer.n_namesz))) == "");
  TemporaryFolder folder;
  CHECK(elf_build_id(folder.path()) == "");
  CHECK(elf_build_id(folder / "missing") == "");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(elf_build_id(folder / "pipe") == "");
}

TEST_CASE("build ID: NVRTC without one is identified by the place, size and time of its file") {
  TemporaryFolder folder;
  NvrtcSearch search;
  search.explicit_path = folder / "libnvrtc.so.13";
  const auto identity = [&](const std::string& content, int64_t age) {
    overwrite(search.explicit_path, content);
    set_age(search.explicit_path, age);
    return llvm::cantFail(Nvrtc(search).identity());
  };
  const std::string first = identity("one", 100);
  CHECK(first.find("nvrtc file ") == 0);
  CHECK(identity("three", 100) != first);
  CHECK(identity("two", 1000) != first);
  const std::string one = elf(note(NT_GNU_BUILD_ID, kGnu, "a")),
                    other = elf(note(NT_GNU_BUILD_ID, kGnu, "b"));
  CHECK(identity(one, 100) == "nvrtc 61");
  CHECK(identity(one, 1000) == "nvrtc 61");
  CHECK(identity(other, 100) == "nvrtc 62");
}
