// SPDX-License-Identifier: Apache-2.0
// See dump.h.
#include "src/dump.h"

#include "src/support/files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

namespace ingot {

llvm::ArrayRef<llvm::StringRef> dump_words() {
  static constexpr llvm::StringRef words[] = {"all",     "graph",  "passes", "plan",
                                              "kernels", "source", "code",   "manifest"};
  return words;
}

llvm::Expected<DumpSettings> DumpSettings::parse(llvm::StringRef option, llvm::StringRef words) {
  DumpSettings settings;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  words.split(parts, ',', -1, false);
  for (llvm::StringRef part : parts) {
    part = part.trim();
    if (!llvm::is_contained(dump_words(), part))
      return make_error(ErrorCode::invalid_argument,
                        "{}: unknown phase '{}': expected a comma-separated list of {}",
                        option.str(), part.str(), llvm::join(dump_words(), ", "));
    settings.phases.push_back(part.str());
  }
  return settings;
}

llvm::Expected<DumpSettings> DumpSettings::from_environment() {
  auto settings = parse("INGOT_DUMP", llvm::sys::Process::GetEnv("INGOT_DUMP").value_or(""));
  if (!settings) return settings;
  if (auto folder = llvm::sys::Process::GetEnv("INGOT_DUMP_DIR"); folder && !folder->empty())
    settings->folder = *folder;
  return settings;
}

bool Dump::wants(llvm::StringRef word) const {
  return llvm::any_of(settings_.phases,
                      [&](const std::string& phase) { return phase == "all" || phase == word; });
}

PhaseObserver Dump::observer() {
  if (settings_.phases.empty()) return {};
  return [this](const std::string& phase, const std::string& text) {
    const bool is_text = phase == "plan" || phase == "kernels";
    const llvm::StringRef suffix = is_text ? ".txt" : phase == "source" ? ".cu" : ".ingot";
    add(phase, suffix, text);
  };
}

void Dump::add(llvm::StringRef phase, llvm::StringRef suffix, llvm::StringRef bytes) {
  const unsigned number = number_++;
  auto [word, name] = phase.split('/');
  if (!wants(word) || !problem_.empty()) return;
  if (std::error_code code = llvm::sys::fs::create_directories(settings_.folder)) {
    problem_ = fmt::format("cannot make the dump folder {}: {}", settings_.folder, code.message());
    return;
  }
  std::string path = fmt::format("{}/{:02}-{}{}", settings_.folder, number,
                                 (name.empty() ? word : name).str(), suffix.str());
  if (auto error = write_file_atomically(path, bytes))
    problem_ = take_error(std::move(error)).second;
}

llvm::Error Dump::finish() {
  if (problem_.empty()) return llvm::Error::success();
  return make_error(ErrorCode::io_error, "{}", problem_);
}

} // namespace ingot
