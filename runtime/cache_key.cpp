// SPDX-License-Identifier: Apache-2.0
// See cache_key.h.
#include "runtime/cache_key.h"

#include "src/support/digest.h"

namespace ingot {

std::string CacheKey::digest() const {
  FieldDigest digest;
  digest.add("format", std::to_string(format));
  digest.add("name", name);
  digest.add("source", source);
  digest.add("headers", std::to_string(headers.size()));
  for (const auto& [header, sha256] : headers) {
    digest.add("header", header);
    digest.add("sha256", sha256);
  }
  digest.add("compiler", compiler);
  digest.add("options", std::to_string(options.size()));
  for (const std::string& option : options) digest.add("option", option);
  digest.add("arch", arch);
  return digest.hex();
}

CacheKey make_cache_key(const CompileRequest& request, llvm::ArrayRef<DeviceHeader> headers,
                        const std::string& compiler_identity) {
  CacheKey key;
  key.name = request.name;
  key.source = request.source;
  for (const DeviceHeader& header : headers)
    key.headers.emplace_back(header.name.str(), header.sha256.str());
  key.compiler = compiler_identity;
  key.options = compile_options(request);
  key.arch = request.arch;
  return key;
}

} // namespace ingot
