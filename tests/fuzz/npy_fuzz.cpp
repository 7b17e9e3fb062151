// SPDX-License-Identifier: Apache-2.0
// Any bytes as an .npy file, as they are and as the header of a file whose magic and lengths are
// right. An array that is read is written again as a file that reads back alike.
#include "ir/npy.h"
#include "src/support/error.h"

#include <cstring>

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

namespace {

void use(llvm::StringRef bytes) {
  auto tensor = parse_npy(bytes, "fuzz");
  if (!tensor) {
    const std::string text = take_error(tensor.takeError()).second;
    INGOT_ASSERT(!text.empty() && printable(text) == text);
    return;
  }
  Tensor again = llvm::cantFail(parse_npy(npy_bytes(*tensor), "written", tensor->dtype()));
  INGOT_ASSERT(again.type_text() == tensor->type_text());
  INGOT_ASSERT(again.size_bytes() == tensor->size_bytes());
  INGOT_ASSERT(
      tensor->size_bytes() == 0 ||
      std::memcmp(again.bytes(), tensor->bytes(), static_cast<size_t>(tensor->size_bytes())) == 0);
}

/// A file of version 1 with that header, and `zeros` bytes of data.
std::string with_header(llvm::StringRef header, size_t zeros) {
  std::string bytes = "\x93NUMPY";
  bytes += {'\x01', '\0', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8 & 0xff)};
  return bytes + header.take_front(UINT16_MAX).str() + std::string(zeros, '\0');
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  use(bytes);
  // The bytes behind the head of a file, so that a mutated header meets data that fits.
  const llvm::StringRef header = bytes.drop_front(std::min<size_t>(size, 10));
  for (size_t zeros : {0, 4, 8, 24})
    use(with_header(header.take_until([](char c) { return c == '\n'; }), zeros));
  return 0;
}
