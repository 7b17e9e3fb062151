// SPDX-License-Identifier: Apache-2.0
// Any bytes as a bundle: as the file, and behind checksums that are right, as its index and as a
// manifest. A bundle that is read must bind or say why not, and be written again as the same bytes.
#include "codegen/program/bundle.h"
#include "runtime/bundle_executable.h"
#include "src/support/digest.h"
#include "src/support/error.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

namespace {

void use(const std::string& bytes) {
  auto bundle = read_bundle(bytes, "fuzz");
  if (!bundle) {
    INGOT_ASSERT(!take_error(bundle.takeError()).second.empty());
    return;
  }
  const std::string written = llvm::cantFail(write_bundle(*bundle));
  INGOT_ASSERT(llvm::cantFail(write_bundle(llvm::cantFail(read_bundle(written, "written")))) ==
               written);
  auto executable =
      BundleExecutable::create(std::make_shared<const Bundle>(std::move(*bundle)), nullptr);
  if (!executable) {
    INGOT_ASSERT(take_error(executable.takeError()).first != ErrorCode::internal);
    return;
  }
  auto sizes = (*executable)->memory({});
  if (!sizes) llvm::consumeError(sizes.takeError());
}

std::string with_index(const std::string& index, llvm::StringRef parts) {
  return fmt::format("ingot-bundle 2 {} {}\n{}{}", index.size(), sha256_hex(index), index,
                     parts.str());
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  use(bytes);
  use(with_index(bytes, "part"));
  use(with_index(fmt::format(R"({{"sections": [{{"device": "a100", "manifest": 0, "cubin": 0}}],)"
                             R"( "parts": [{{"bytes": {}, "sha256": "{}"}}]}})",
                             bytes.size(), sha256_hex(bytes)),
                 bytes));
  return 0;
}
