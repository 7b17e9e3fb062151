// SPDX-License-Identifier: Apache-2.0
// A graph compiled ahead of time, as one file: for each card a manifest, its machine code and PTX,
// each with a checksum. docs/bundles.md describes the bytes. Written by the compiler's front, read
// by programs that have no compiler.
#pragma once

#include "codegen/program/manifest.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot {

/// Raised when a reader of the older version could not use a file.
inline constexpr int64_t kBundleVersion = 1;

/// What a bundle may have; readers refuse more before they read it, and writers before they write.
inline constexpr uint64_t kMostBundleBytes = uint64_t{1} << 30;
inline constexpr uint64_t kMostIndexBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMostManifestBytes = uint64_t{64} << 20;

/// What was compiled for one card. Code holds every variant of every kernel. Sections that name the
/// same part share it.
struct BundleSection {
  std::string device;                       ///< as --device names it: a100
  std::shared_ptr<const Manifest> manifest; ///< of the cubin
  std::shared_ptr<const std::string> cubin; ///< for manifest->module.arch
  std::shared_ptr<const std::string> ptx;   ///< for manifest->module.family; null: none
};

struct Bundle {
  std::string writer; ///< the version of the Ingot that made it
  std::vector<BundleSection> sections;

  const std::string& name() const { return sections.front().manifest->module.name; }
};

/// The file's bytes: the same bundle gives the same ones. Equal parts are stored once. Errors:
/// unsupported for one that is larger than a bundle may be.
llvm::Expected<std::string> write_bundle(const Bundle& bundle);

/// Reads them back; `file_name` is what messages call the file. Every size and checksum is verified
/// before a part is looked at, each part is read once, no manifest contradicts itself or the index,
/// and all sections have the same name, dims and tensors. Memory is bounded by a multiple of the
/// file's size, whatever is in it. Errors: parse_error for what is no bundle or a damaged one,
/// unsupported for a newer version.
llvm::Expected<Bundle> read_bundle(llvm::StringRef bytes, llvm::StringRef file_name);

} // namespace ingot
