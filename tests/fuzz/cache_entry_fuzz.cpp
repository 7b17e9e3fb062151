// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of a cache entry: as each of its five, and as the manifest behind checksums
// that are right. An entry that is read is written again as an equal one.
#include "runtime/cache_entry.h"
#include "src/support/digest.h"
#include "src/support/error.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size); // NOLINT: libFuzzer's

namespace {

constexpr size_t kManifest = 3, kChecksums = 4;

CacheKey sample_key() {
  CacheKey key;
  key.name = "k.cu";
  key.source = "extern \"C\" __global__ void k() {}\n";
  key.headers = {{"ptx/base.cuh", std::string(64, '1')}};
  key.compiler = "nvrtc 13.0";
  key.options = {"-arch=sm_80"};
  key.arch = "sm_80";
  return key;
}

std::vector<std::string> sample_files() {
  CompileOutput output;
  output.cubin = "\177ELF";
  output.ptx = ".version 9.0\n";
  return write_entry(sample_key(), output);
}

std::string checksums_of(const std::vector<std::string>& files) {
  std::string sums;
  for (size_t i = 0; i < kChecksums; ++i)
    sums += sha256_hex(files[i]) + "  " + entry_files()[i].name + "\n";
  return sums;
}

void refuse(llvm::Expected<CompileOutput> output) {
  INGOT_ASSERT(!output);
  const auto [code, text] = take_error(output.takeError());
  INGOT_ASSERT(code == ErrorCode::parse_error && !text.empty());
}

/// An entry whose manifest these bytes are: its key is whatever they say.
void use_manifest(const std::string& bytes) {
  std::vector<std::string> files = sample_files();
  files[kManifest] = bytes;
  files[kChecksums] = checksums_of(files);
  CacheKey key;
  refuse(parse_entry(files, "", key));
  CacheKey again;
  auto output = parse_entry(files, key.digest(), again);
  if (!output) {
    refuse(std::move(output));
    return;
  }
  INGOT_ASSERT(again.digest() == key.digest());
  const std::vector<std::string> written = write_entry(key, *output);
  if (written.empty()) return; // escapes may make it too large
  CacheKey third;
  const CompileOutput same = llvm::cantFail(parse_entry(written, key.digest(), third));
  INGOT_ASSERT(same.cubin == output->cubin && same.ptx == output->ptx && same.log == output->log);
  INGOT_ASSERT(same.entries.size() == output->entries.size());
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  use_manifest(bytes);
  const std::vector<std::string> sound = sample_files();
  for (size_t i = 0; i < sound.size(); ++i) {
    std::vector<std::string> files = sound;
    files[i] = bytes;
    CacheKey key;
    auto output = parse_entry(files, sample_key().digest(), key);
    if (output)
      INGOT_ASSERT(bytes == sound[i]);
    else
      refuse(std::move(output));
  }
  return 0;
}
