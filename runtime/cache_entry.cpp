// SPDX-License-Identifier: Apache-2.0
// See cache_entry.h.
#include "runtime/cache_entry.h"

#include "runtime/ptxas_log.h"
#include "src/support/digest.h"
#include "src/support/error.h"
#include "src/support/json_text.h"

#include "llvm/Support/FormatVariadic.h"

#include <iterator>

namespace ingot {

namespace {

constexpr uint64_t kMegabyte = uint64_t(1) << 20;
constexpr EntryFile kFiles[] = {{"kernel.cu", 64 * kMegabyte},
                                {"kernel.cubin", 256 * kMegabyte},
                                {"kernel.ptx", 256 * kMegabyte},
                                {"manifest.json", 4 * kMegabyte},
                                {"checksums", 1024}};
enum File : size_t { kSource, kCubin, kPtx, kManifest, kChecksums, kNumFiles };
static_assert(std::size(kFiles) == kNumFiles);

std::string key_json(const CacheKey& key, const CompileOutput& output) {
  llvm::json::Array headers, options;
  for (const auto& [name, sha256] : key.headers)
    headers.push_back(llvm::json::Object{{"name", name}, {"sha256", sha256}});
  for (const std::string& option : key.options) options.push_back(option);
  llvm::json::Object object{{"format", key.format},
                            {"name", key.name},
                            {"arch", key.arch},
                            {"compiler", key.compiler},
                            {"options", std::move(options)},
                            {"headers", std::move(headers)},
                            {"log", llvm::json::fixUTF8(output.log)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object))).str();
}

llvm::Error broken(const std::string& what) {
  return make_error(ErrorCode::parse_error, "manifest.json: {}", what);
}

/// The file `checksums` of an entry with these other files.
std::string checksums_of(llvm::ArrayRef<std::string> files) {
  std::string sums;
  for (size_t i = 0; i < kChecksums; ++i)
    sums += fmt::format("{}  {}\n", sha256_hex(files[i]), kFiles[i].name);
  return sums;
}

/// Reads the readable part of a key. The source comes from kernel.cu.
llvm::Error read_key_json(llvm::StringRef text, CacheKey& key, std::string& log) {
  llvm::Expected<llvm::json::Value> value = parse_json(text);
  if (!value) return broken(take_error(value.takeError()).second);
  const llvm::json::Object* object = value->getAsObject();
  const llvm::json::Array* headers = object ? object->getArray("headers") : nullptr;
  const llvm::json::Array* options = object ? object->getArray("options") : nullptr;
  if (!headers || !options) return broken("lacks headers or options");
  key.format = int(object->getInteger("format").value_or(0));
  key.name = object->getString("name").value_or("").str();
  key.arch = object->getString("arch").value_or("").str();
  key.compiler = object->getString("compiler").value_or("").str();
  log = object->getString("log").value_or("").str();
  for (const llvm::json::Value& option : *options)
    key.options.push_back(option.getAsString().value_or("").str());
  for (const llvm::json::Value& header : *headers) {
    const llvm::json::Object* pair = header.getAsObject();
    if (!pair) return broken("a header is not an object");
    key.headers.emplace_back(pair->getString("name").value_or("").str(),
                             pair->getString("sha256").value_or("").str());
  }
  return llvm::Error::success();
}

} // namespace

llvm::ArrayRef<EntryFile> entry_files() { return kFiles; }

std::vector<std::string> write_entry(const CacheKey& key, const CompileOutput& output) {
  std::vector<std::string> files = {key.source, output.cubin, output.ptx, key_json(key, output)};
  files.push_back(checksums_of(files));
  for (size_t i = 0; i < kNumFiles; ++i)
    if (files[i].size() > kFiles[i].most_bytes) return {};
  return files;
}

llvm::Expected<CompileOutput> parse_entry(std::vector<std::string> files, llvm::StringRef digest,
                                          CacheKey& key) {
  INGOT_ASSERT(files.size() == kNumFiles);
  if (files[kChecksums] != checksums_of(files))
    return make_error(ErrorCode::parse_error, "checksums differ from the files");
  CompileOutput output;
  key.source = std::move(files[kSource]);
  if (llvm::Error error = read_key_json(files[kManifest], key, output.log)) return error;
  if (key.digest() != digest)
    return make_error(ErrorCode::parse_error, "it holds the kernel of another key");
  output.cubin = std::move(files[kCubin]);
  output.ptx = std::move(files[kPtx]);
  output.entries = parse_ptxas_log(output.log);
  return output;
}

CacheKey describe_entry(const Folder& entry) {
  CacheKey key;
  std::string log;
  auto text = entry.read(kFiles[kManifest].name, kFiles[kManifest].most_bytes);
  llvm::Error error = text ? read_key_json(*text, key, log) : text.takeError();
  if (error) key = CacheKey();
  llvm::consumeError(std::move(error));
  return key;
}

llvm::Expected<CompileOutput> read_entry(const Folder& entry, llvm::StringRef digest,
                                         CacheKey& key) {
  std::vector<std::string> files;
  for (const EntryFile& file : kFiles) {
    auto bytes = entry.read(file.name, file.most_bytes);
    if (!bytes) return bytes.takeError();
    files.push_back(std::move(*bytes));
  }
  return parse_entry(std::move(files), digest, key);
}

} // namespace ingot
