// SPDX-License-Identifier: Apache-2.0
// See ptxas_log.h.
#include "runtime/ptxas_log.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <fmt/format.h>

#include <algorithm>

namespace ingot {

namespace {

/// The number right before `unit`, e.g. 32 in "Used 32 registers"; 0 if there is none.
int64_t number_before(llvm::StringRef line, llvm::StringRef unit) {
  size_t at = line.find(unit);
  if (at == llvm::StringRef::npos) return 0;
  llvm::StringRef head = line.take_front(at).rtrim();
  int64_t value = 0;
  if (head.take_back(head.size() - head.find_last_not_of("0123456789") - 1).getAsInteger(10, value))
    return 0;
  return value;
}

llvm::StringRef quoted(llvm::StringRef line) { return line.split('\'').second.split('\'').first; }

} // namespace

std::vector<EntryResources> parse_ptxas_log(llvm::StringRef log) {
  std::vector<EntryResources> entries;
  for (llvm::StringRef line : llvm::split(log, '\n')) {
    if (line.contains("Compiling entry function")) {
      entries.emplace_back().entry = quoted(line).str();
    } else if (entries.empty()) {
      continue;
    } else if (line.contains("bytes stack frame")) {
      // The lines of device functions that were not inlined follow those of their entry.
      EntryResources& entry = entries.back();
      entry.stack_bytes += number_before(line, " bytes stack frame");
      entry.spill_store_bytes += number_before(line, " bytes spill stores");
      entry.spill_load_bytes += number_before(line, " bytes spill loads");
    } else if (line.contains("Used ") && line.contains(" registers")) {
      EntryResources& entry = entries.back();
      entry.registers = number_before(line, " registers");
      entry.barriers = number_before(line, " barriers");
      entry.static_shared_bytes = number_before(line, " bytes smem");
      entry.stack_bytes =
          std::max(entry.stack_bytes, number_before(line, " bytes cumulative stack size"));
    }
  }
  return entries;
}

std::string ptx_build_id(llvm::StringRef ptx) {
  llvm::StringRef head = ptx.take_front(ptx.find(".version"));
  llvm::StringRef build = head.split("Compiler Build ID:").second.split('\n').first.trim();
  llvm::StringRef release =
      head.split("release ").second.split('\n').first.split(',').second.trim();
  if (build.empty() || release.empty()) return "";
  return fmt::format("{} {}", release.str(), build.str());
}

std::string ptx_version(llvm::StringRef ptx) {
  for (llvm::StringRef line : llvm::split(ptx, '\n'))
    if (line.consume_front(".version ")) return line.trim().str();
  return "";
}

std::string join_ptx(llvm::ArrayRef<llvm::StringRef> parts) {
  // The last of the three directives at the head (PTX ISA, "PTX Module Directives").
  constexpr llvm::StringLiteral kLastOfHead = ".address_size 64\n";
  std::string joined = parts.front().str();
  for (llvm::StringRef part : parts.drop_front()) joined += part.split(kLastOfHead).second;
  return joined;
}

std::string least_driver_for_ptx(llvm::StringRef version) {
  return llvm::StringSwitch<std::string>(version)
      .Case(kOldestPtx, "550")
      .Case("8.5", "555")
      .Case("8.6", "565")
      .Case("8.7", "570")
      .Case("8.8", "575")
      .Case("9.0", "580")
      .Case("9.1", "590")
      .Default("");
}

std::string error_excerpt(llvm::StringRef log, llvm::StringRef name, llvm::StringRef source) {
  int error_line = 0;
  for (llvm::StringRef line : llvm::split(log, '\n')) {
    if (error_line != 0) break;
    if (!line.contains("error") || !line.consume_front(name) || !line.consume_front("(")) continue;
    if (line.split(')').first.getAsInteger(10, error_line)) error_line = 0;
  }
  if (error_line == 0) return "";
  constexpr int kContext = 4;
  std::string text;
  for (int number = 1; !source.empty() && number <= error_line + kContext; ++number) {
    auto [line, rest] = source.split('\n');
    source = rest;
    if (number < error_line - kContext) continue;
    text += fmt::format("{}{:5} | {}\n", number == error_line ? '>' : ' ', number, line.str());
  }
  return text;
}

} // namespace ingot
