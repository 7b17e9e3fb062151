// SPDX-License-Identifier: Apache-2.0
// See cache_entry.h.
#include "runtime/cache_entry.h"

#include "runtime/ptxas_log.h"
#include "src/support/digest.h"
#include "src/support/error.h"
#include "src/support/files.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace ingot {

namespace {

constexpr uint64_t kMostFileBytes = uint64_t(256) << 20;

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

llvm::Error broken(const char* file, const std::string& what) {
  return make_error(ErrorCode::io_error, "{}: {}", file, what);
}

/// The readable part of a key; the source comes from kernel.cu.
llvm::Error read_key_json(llvm::StringRef text, CacheKey& key, std::string& log) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) return broken("manifest.json", llvm::toString(value.takeError()));
  const llvm::json::Object* object = value->getAsObject();
  const llvm::json::Array* headers = object ? object->getArray("headers") : nullptr;
  const llvm::json::Array* options = object ? object->getArray("options") : nullptr;
  if (!headers || !options) return broken("manifest.json", "lacks headers or options");
  key.format = int(object->getInteger("format").value_or(0));
  key.name = object->getString("name").value_or("").str();
  key.arch = object->getString("arch").value_or("").str();
  key.compiler = object->getString("compiler").value_or("").str();
  log = object->getString("log").value_or("").str();
  for (const llvm::json::Value& option : *options)
    key.options.push_back(option.getAsString().value_or("").str());
  for (const llvm::json::Value& header : *headers) {
    const llvm::json::Object* pair = header.getAsObject();
    if (!pair) return broken("manifest.json", "a header is not an object");
    key.headers.emplace_back(pair->getString("name").value_or("").str(),
                             pair->getString("sha256").value_or("").str());
  }
  return llvm::Error::success();
}

} // namespace

std::vector<std::pair<std::string, std::string>> entry_files(const CacheKey& key,
                                                             const CompileOutput& output) {
  std::vector<std::pair<std::string, std::string>> files = {
      {"kernel.cu", key.source},
      {"kernel.cubin", output.cubin},
      {"kernel.ptx", output.ptx},
      {"manifest.json", key_json(key, output)}};
  std::string sums;
  for (const auto& [name, bytes] : files) sums += sha256_hex(bytes) + "  " + name + "\n";
  files.emplace_back("checksums", sums);
  return files;
}

FolderCheck check_private_folder(const std::string& path) {
  struct stat info = {};
  // lstat: a link would lead out of the folder that was checked before.
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return {true, std::strerror(errno)};
  }
  if (!S_ISDIR(info.st_mode)) return {true, "it is not a directory"};
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return {true, fmt::format("other users can write it (mode {:o}); run chmod go-w on it",
                              info.st_mode & 07777)};
  if (info.st_uid != ::geteuid() && info.st_uid != 0)
    return {true, fmt::format("it belongs to user {}", info.st_uid)};
  return {true, ""};
}

CacheKey describe_entry(const std::string& path) {
  CacheKey key;
  std::string log;
  llvm::Expected<std::string> text = read_file(path + "/manifest.json", kMostFileBytes);
  llvm::Error error = text ? read_key_json(*text, key, log) : text.takeError();
  llvm::consumeError(std::move(error));
  return key;
}

llvm::Expected<CompileOutput> read_entry(const std::string& path, const std::string& digest,
                                         CacheKey& key) {
  llvm::StringMap<std::string> files;
  for (const char* name :
       {"kernel.cu", "kernel.cubin", "kernel.ptx", "manifest.json", "checksums"}) {
    llvm::Expected<std::string> bytes = read_file(path + "/" + name, kMostFileBytes);
    if (!bytes) return bytes.takeError();
    files[name] = std::move(*bytes);
  }
  std::string expected_sums;
  for (const char* name : {"kernel.cu", "kernel.cubin", "kernel.ptx", "manifest.json"})
    expected_sums += sha256_hex(files[name]) + "  " + name + "\n";
  if (files["checksums"] != expected_sums)
    return make_error(ErrorCode::io_error, "checksums differ from the files");

  CompileOutput output;
  key.source = std::move(files["kernel.cu"]);
  if (llvm::Error error = read_key_json(files["manifest.json"], key, output.log)) return error;
  if (key.digest() != digest)
    return make_error(ErrorCode::io_error, "it holds the kernel of another key");
  output.cubin = std::move(files["kernel.cubin"]);
  output.ptx = std::move(files["kernel.ptx"]);
  output.entries = parse_ptxas_log(output.log);
  return output;
}

} // namespace ingot
