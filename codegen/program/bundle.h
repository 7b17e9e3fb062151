// SPDX-License-Identifier: Apache-2.0
// A graph compiled ahead of time, as one file. For each card it holds a manifest, machine code and
// PTX, each with a checksum. docs/bundles.md describes the bytes. The compiler's front end writes
// bundles; programs without a compiler read them.
#pragma once

#include "codegen/program/manifest.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot {

/// Raised when a reader of the older version could not use a file.
inline constexpr int64_t kBundleVersion = 2;

/// Limits of a bundle. Readers check them before they read, writers before they write.
inline constexpr uint64_t kMostBundleBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMostIndexBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMostManifestBytes = uint64_t{64} << 20;

/// The result of compiling for one card. The code holds every variant of every kernel. Sections
/// that name the same part share it.
struct BundleSection {
  std::string device;                       ///< the name in --device: a100
  std::shared_ptr<const Manifest> manifest; ///< the cubin's manifest
  std::shared_ptr<const std::string> cubin; ///< machine code for manifest->module.arch
  std::shared_ptr<const std::string> ptx;   ///< PTX for manifest->module.family; may be null
};

struct Bundle {
  std::string writer; ///< the version of Ingot that made the bundle
  std::vector<BundleSection> sections;

  const std::string& name() const { return sections.front().manifest->module.name; }
};

/// Whether a file with these bytes is meant to be a bundle.
bool is_bundle(llvm::StringRef bytes);

/// The file's bytes. Equal bundles give equal bytes. Equal parts are stored once. Errors:
/// unsupported for a bundle beyond the limits.
llvm::Expected<std::string> write_bundle(const Bundle& bundle);

/// Reads a bundle; messages call the file `file_name`. Every size and checksum is verified before
/// its part is parsed, and each part is read once. No manifest may contradict itself or the index.
/// All sections must have the same name, dims and tensors. Memory is bounded by a multiple of the
/// file's size for any contents. Errors: parse_error for bytes that are no bundle or a damaged one,
/// unsupported for another version.
llvm::Expected<Bundle> read_bundle(llvm::StringRef bytes, llvm::StringRef file_name);

} // namespace ingot
