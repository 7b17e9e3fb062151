// SPDX-License-Identifier: Apache-2.0
// A Module as versioned JSON, from which a program without Ingot can prepare and launch.
// docs/manifest.schema.json is its published form. It is written beside emitted code; tools read
// it.
#pragma once

#include "codegen/program/program.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>

namespace ingot {

/// Raised when a reader of the older version would launch wrongly.
inline constexpr int64_t kManifestVersion = 4;

/// The compiler's report on one entry. All fields are 0 if the code was not compiled.
struct EntryFacts {
  int64_t registers = 0;
  int64_t static_shared_bytes = 0;
  int64_t stack_bytes = 0;
  int64_t spill_bytes = 0;
};

/// The code file of a manifest.
struct CodeFacts {
  std::string file;         ///< its path relative to the manifest
  std::string kind;         ///< ptx, cubin, cuda or torch
  std::string ptx_version;  ///< "9.0"; empty if unknown
  std::string least_driver; ///< the oldest Linux driver branch that runs it: "580"; may be empty
  std::string compiler;     ///< the identity of NVRTC; empty if not compiled
  std::map<std::string, EntryFacts> entries;
};

struct Manifest {
  Module module; ///< without sources: includes and bodies are empty
  CodeFacts code;
};

/// The JSON text with a newline at its end. Equal modules give equal bytes.
std::string write_manifest(const Module& module, const CodeFacts& code);

/// Reads the text back. Errors: parse_error, with the place and the value expected there.
llvm::Expected<Manifest> parse_manifest(llvm::StringRef text);

} // namespace ingot
