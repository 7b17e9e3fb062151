// SPDX-License-Identifier: Apache-2.0
// See build_facts.h.
#include "runtime/build_facts.h"

#include "runtime/ptxas_log.h"

#include <utility>

namespace ingot {

CodeFacts code_facts(const CompileOutput& output, std::string file, std::string kind,
                     std::string compiler) {
  CodeFacts facts;
  facts.file = std::move(file);
  facts.kind = std::move(kind);
  facts.compiler = std::move(compiler);
  facts.ptx_version = ptx_version(output.ptx);
  facts.least_driver = least_driver_for_ptx(facts.ptx_version);
  for (const EntryResources& entry : output.entries)
    facts.entries[entry.entry] = {entry.registers, entry.static_shared_bytes, entry.stack_bytes,
                                  entry.spill_store_bytes + entry.spill_load_bytes};
  return facts;
}

} // namespace ingot
