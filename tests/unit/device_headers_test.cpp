// SPDX-License-Identifier: Apache-2.0
// The embedded device library equals the files it was made from.
#include "codegen/program/device_headers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

#include <doctest/doctest.h>

#include <string>

using namespace ingot;

TEST_CASE("embedded device headers equal the files byte for byte") {
  for (const DeviceHeader& header : device_headers()) {
    CAPTURE(header.name.str());
    const std::string path = std::string(INGOT_SOURCE_DIR) + "/codegen/device/" + header.name.str();
    auto file = llvm::MemoryBuffer::getFile(path);
    REQUIRE(bool(file));
    CHECK((*file)->getBuffer() == header.text);
    const auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(header.text));
    CHECK(llvm::toHex(digest, /*LowerCase=*/true) == header.sha256);
    CHECK(header.text.data()[header.text.size()] == '\0');
  }
}

TEST_CASE("embedded device headers are sorted, unique and complete") {
  llvm::ArrayRef<DeviceHeader> headers = device_headers();
  for (size_t i = 1; i < headers.size(); ++i) CHECK(headers[i - 1].name < headers[i].name);

  size_t num_files = 0;
  std::error_code error;
  const std::string root = std::string(INGOT_SOURCE_DIR) + "/codegen/device";
  for (llvm::sys::fs::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error)) {
    const llvm::StringRef path = it->path();
    if (path.ends_with(".cuh") || path.ends_with(".h")) ++num_files;
  }
  CHECK((!error || error == std::errc::no_such_file_or_directory));
  CHECK(headers.size() == num_files);
}
