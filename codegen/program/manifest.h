// SPDX-License-Identifier: Apache-2.0
// A Module as versioned JSON, from which a program that never links Ingot can prepare and launch.
// docs/manifest.schema.json is its published form. Written beside emitted code; read by tools.
#pragma once

#include "codegen/program/program.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>

namespace ingot {

/// Raised when a reader of the older version would launch wrongly.
inline constexpr int64_t kManifestVersion = 1;

/// What the compiler reported for one entry; all 0 where the code was not compiled.
struct EntryFacts {
  int64_t registers = 0;
  int64_t static_shared_bytes = 0;
  int64_t stack_bytes = 0;
  int64_t spill_bytes = 0;
};

/// The code file that belongs to a manifest.
struct CodeFacts {
  std::string file;         ///< its name, relative to the manifest
  std::string kind;         ///< ptx, cubin, cuda or torch
  std::string ptx_version;  ///< "9.0"; empty where unknown
  std::string least_driver; ///< the least Linux driver branch that runs it: "580"; may be empty
  std::string compiler;     ///< NVRTC's identity; empty where nothing was compiled
  std::map<std::string, EntryFacts> entries;
};

struct Manifest {
  Module module; ///< without sources: includes and bodies are empty
  CodeFacts code;
};

/// The JSON text, with a newline at its end. The same module gives the same bytes.
std::string write_manifest(const Module& module, const CodeFacts& code);

/// Reads it back; parse_error names the place and what was expected there.
llvm::Expected<Manifest> parse_manifest(llvm::StringRef text);

} // namespace ingot
