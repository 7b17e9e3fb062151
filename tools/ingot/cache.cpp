// SPDX-License-Identifier: Apache-2.0
// `ingot cache`: the folder of compiled kernels, its entries, and whether they are sound.
#include "runtime/disk_cache.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/options.h"

#include "llvm/Support/Chrono.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::cli {
namespace {

constexpr const char* kOverview =
    "Shows or clears the cache of compiled kernels.\n\n"
    "  path    its folder, in INGOT_CACHE_DIR, else $XDG_CACHE_HOME/ingot, else ~/.cache/ingot\n"
    "  list    one line per kernel, least recently used first: key, arch, bytes, last use, name\n"
    "  stats   numbers of kernels, tuned schedules and damaged entries; their bytes; the bounds\n"
    "  verify  reads and checks every entry; exit status 1 when one is damaged\n"
    "  clear   removes all entries\n";

std::string time_text(int64_t seconds) {
  const llvm::sys::TimePoint<std::chrono::seconds> time{std::chrono::seconds(seconds)};
  const std::string text = llvm::formatv("{0}", time).str(); // with a fraction of the second
  return llvm::StringRef(text).split('.').first.str();
}

std::string text_of(const CacheEntry& entry) {
  const bool is_known = !entry.name.empty(); // the entry itself says
  return fmt::format("{}  {:<6}  {:>9}  {}  {}\n", entry.digest.substr(0, 16),
                     is_known ? entry.arch : "?", entry.bytes, time_text(entry.last_used),
                     is_known ? entry.name : "(cannot be read)");
}

std::string count_text(size_t entries) {
  return entries == 1 ? "1 entry" : fmt::format("{} entries", entries);
}

int path(DiskCache& cache) {
  print(cache.folder() + "\n");
  return 0;
}

int list(DiskCache& cache) {
  auto entries = cache.list();
  if (!entries) return fail(entries.takeError());
  uint64_t bytes = 0;
  for (const CacheEntry& entry : *entries) {
    print(text_of(entry));
    bytes += entry.bytes;
  }
  print(fmt::format("{}, {} bytes, in {}\n", count_text(entries->size()), bytes, cache.folder()));
  return 0;
}

int stats(DiskCache& cache) {
  const CacheStatistics now = cache.statistics();
  const auto line = [](const char* what, const CacheStatistics::Share& share) {
    print(fmt::format("{:<8} {:>7}, {} bytes\n", what, share.count, share.bytes));
  };
  print(fmt::format("folder   {}\n", cache.folder()));
  line("kernels", now.kernels);
  line("tuned", now.notes);
  line("damaged", now.aside);
  if (now.kernels.count > 0)
    print(fmt::format("used     {} to {}\n", time_text(now.first_used), time_text(now.last_used)));
  print(fmt::format("bounds   {} bytes, {} days unused\n", cache.settings().most_bytes,
                    cache.settings().most_days));
  return 0;
}

int verify(DiskCache& cache) {
  auto entries = cache.verify();
  if (!entries) return fail(entries.takeError());
  size_t damaged = 0;
  for (const CacheEntry& entry : *entries) {
    if (entry.problem.empty()) continue;
    ++damaged;
    print(text_of(entry) + "  " + entry.problem + "\n");
  }
  print(
      fmt::format("{}, {} damaged, in {}\n", count_text(entries->size()), damaged, cache.folder()));
  return damaged == 0 ? 0 : 1;
}

int clear(DiskCache& cache) {
  auto removed = cache.clear();
  if (!removed) return fail(removed.takeError());
  print(fmt::format("{} removed from {}\n", count_text(*removed), cache.folder()));
  return 0;
}

} // namespace

int cache(int argc, char** argv) {
  llvm::cl::opt<std::string> action(llvm::cl::Positional,
                                    llvm::cl::desc("path|list|stats|verify|clear"),
                                    llvm::cl::cat(category()));
  if (auto status = parse_arguments(argc, argv, kOverview)) return *status;
  static constexpr Choice<int (*)(DiskCache&)> choices[] = {
      {"path", path}, {"list", list}, {"stats", stats}, {"verify", verify}, {"clear", clear}};
  auto chosen = choose("action", action, choices);
  if (!chosen) return fail(chosen.takeError());

  CacheSettings settings = CacheSettings::from_environment();
  for (const std::string& variable : std::exchange(settings.problems, {})) warn(variable);
  if (settings.is_off)
    return fail(
        make_error(ErrorCode::unavailable, "nothing is kept on disk: INGOT_CACHE is 0; unset it"));
  // A folder that cannot be used is no warning here but the answer.
  std::string problem;
  bool is_open = false;
  settings.warn = [&](const std::string& message) {
    if (is_open)
      warn(message);
    else
      problem = message;
  };
  DiskCache cache(std::move(settings));
  is_open = true;
  if (!problem.empty())
    return fail(make_error(ErrorCode::unavailable,
                           "nothing is kept on disk: {}; name a folder in INGOT_CACHE_DIR",
                           problem));
  if (cache.folder().empty())
    return fail(make_error(ErrorCode::unavailable,
                           "nothing is kept on disk: set INGOT_CACHE_DIR, XDG_CACHE_HOME or HOME"));
  return (*chosen)(cache);
}

} // namespace ingot::cli
