// SPDX-License-Identifier: Apache-2.0
// See cache_settings.h.
#include "runtime/cache_settings.h"

#include "src/support/error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace ingot {

namespace {

/// The value of a variable; empty if it is not set.
std::string environment(const char* name) { return llvm::sys::Process::GetEnv(name).value_or(""); }

std::string quoted(llvm::StringRef value) {
  constexpr size_t kMost = 60;
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::printEscapedString(value.take_front(kMost), out);
  return "'" + text + (value.size() > kMost ? "...'" : "'");
}

/// Parses a positive whole number of bytes, optionally with K, M or G after it.
std::optional<uint64_t> parse_bytes(llvm::StringRef text) {
  unsigned shift = 0;
  if (text.consume_back_insensitive("K"))
    shift = 10;
  else if (text.consume_back_insensitive("M"))
    shift = 20;
  else if (text.consume_back_insensitive("G"))
    shift = 30;
  uint64_t count = 0;
  if (text.getAsInteger(10, count) || count == 0 || count > UINT64_MAX >> shift)
    return std::nullopt;
  return count << shift;
}

std::string folder_from_environment() {
  if (std::string given = environment("INGOT_CACHE_DIR"); !given.empty()) {
    // The path is made absolute, because the program may change its folder later.
    llvm::SmallString<256> absolute(given);
    return llvm::sys::fs::make_absolute(absolute) ? given : absolute.str().str();
  }
  // The XDG specification says to ignore relative paths.
  if (std::string xdg = environment("XDG_CACHE_HOME"); llvm::sys::path::is_absolute(xdg))
    return xdg + "/ingot";
  if (std::string home = environment("HOME"); llvm::sys::path::is_absolute(home))
    return home + "/.cache/ingot";
  return "";
}

} // namespace

CacheSettings CacheSettings::from_environment() {
  CacheSettings settings;
  const auto refuse = [&](const char* name, const std::string& value, const std::string& expected,
                          const std::string& taken) {
    settings.problems.push_back(fmt::format("{} is {}, expected {}; {} is taken, the default", name,
                                            quoted(value), expected, taken));
  };
  const std::string use = environment("INGOT_CACHE");
  settings.is_off = use == "0";
  if (!settings.is_off && !use.empty() && use != "1")
    refuse("INGOT_CACHE", use, "0 to keep nothing on disk, or 1", "1");
  if (const std::string size = environment("INGOT_CACHE_SIZE"); !size.empty()) {
    if (auto bytes = parse_bytes(size))
      settings.most_bytes = *bytes;
    else
      refuse("INGOT_CACHE_SIZE", size,
             "a whole number of bytes from 1 on, with K, M or G after it or without",
             fmt::format("{}G", settings.most_bytes >> 30));
  }
  if (const std::string days = environment("INGOT_CACHE_DAYS"); !days.empty()) {
    constexpr int64_t kMostDays = 100000;
    int64_t count = 0;
    if (!llvm::StringRef(days).getAsInteger(10, count) && count >= 1 && count <= kMostDays)
      settings.most_days = count;
    else
      refuse("INGOT_CACHE_DAYS", days,
             fmt::format("a whole number of days from 1 to {}", kMostDays),
             std::to_string(settings.most_days));
  }
  if (!settings.is_off) settings.folder = folder_from_environment();
  return settings;
}

} // namespace ingot
