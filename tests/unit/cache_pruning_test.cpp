// SPDX-License-Identifier: Apache-2.0
// Which entries leave the cache, and its settings in the environment.
#include "runtime/cache_settings.h"
#include "src/support/error.h"
#include "tests/support/cache_samples.h"
#include "tests/support/environment.h"

#include <doctest/doctest.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

constexpr int64_t kDay = 24 * 60 * 60;

CacheKey numbered(int i) { return sample_key("// " + std::to_string(i) + "\n"); }

/// Kernels 0, 1, ... whose ages in seconds these are.
void store_aged(const TemporaryFolder& folder, const std::vector<int64_t>& ages) {
  Watched watched(folder.path());
  for (size_t i = 0; i < ages.size(); ++i) {
    watched.cache.store(numbered(int(i)), sample_output());
    set_age(entry_of(folder, numbered(int(i))), ages[i]);
  }
}

std::string kept(const TemporaryFolder& folder, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    if (is_there(entry_of(folder, numbered(i)))) text += std::to_string(i);
  return text;
}

size_t count_in(const std::string& path) { return names_in(path).size(); }

CacheSettings with(const char* size, const char* days, const char* use) {
  const ScopedVariable a("INGOT_CACHE_SIZE", size), b("INGOT_CACHE_DAYS", days),
      c("INGOT_CACHE", use), d("INGOT_CACHE_DIR", "/some/folder");
  return CacheSettings::from_environment();
}

} // namespace

TEST_CASE("cache pruning: a stamp in the future does not stop it") {
  TemporaryFolder folder;
  store_aged(folder, {300, 200, 100});
  set_age(folder / "v1/pruned", -10 * 365 * kDay);
  Watched watched(folder.path(), 2 * 8000);
  watched.cache.store(numbered(3), sample_output());
  CHECK(kept(folder, 4) == "23");
  CHECK(age_of(folder / "v1/pruned") >= 0);
}

TEST_CASE("cache pruning: a kernel of the future counts as used now, and ages from then on") {
  TemporaryFolder folder;
  store_aged(folder, {-10 * 365 * kDay, 20, -kDay});
  Watched watched(folder.path(), 2 * 8000);
  watched.cache.prune();
  CHECK(kept(folder, 3) == "02");
  for (int i : {0, 2}) {
    const int64_t age = age_of(entry_of(folder, numbered(i)));
    CHECK((age >= 0 && age < 60));
  }
  set_age(entry_of(folder, numbered(0)), 50);
  Watched(folder.path(), 8000).cache.prune();
  CHECK(kept(folder, 3) == "2");
}

TEST_CASE("cache pruning: leftovers of the future go an hour later") {
  TemporaryFolder folder;
  Watched watched(folder.path());
  overwrite(folder / "v1/tmp/young", "");
  overwrite(folder / "v1/tmp/odd", "");
  overwrite(folder / "v1/tmp/old", "");
  set_age(folder / "v1/tmp/odd", -kDay);
  set_age(folder / "v1/tmp/old", 3700);
  watched.cache.prune();
  CHECK(is_there(folder / "v1/tmp/young"));
  CHECK_FALSE(is_there(folder / "v1/tmp/old"));
  REQUIRE(is_there(folder / "v1/tmp/odd"));
  CHECK(age_of(folder / "v1/tmp/odd") >= 0);
}

TEST_CASE("cache pruning: kernels that were not used for long go by age") {
  TemporaryFolder folder;
  store_aged(folder, {10 * kDay, 8 * kDay, 6 * kDay, 0});
  CacheSettings settings;
  settings.folder = folder.path();
  settings.most_days = 9;
  DiskCache(settings).prune();
  CHECK(kept(folder, 4) == "123");
  CHECK(loads(folder.path(), numbered(1))); // used now
  settings.most_days = 5;
  DiskCache(settings).prune();
  CHECK(kept(folder, 4) == "13");
}

TEST_CASE("cache pruning: entries beyond a small bound are removed at once") {
  TemporaryFolder folder;
  Watched watched(folder.path(), 2 * 8000);
  for (int i = 0; i < 6; ++i) {
    watched.cache.store(numbered(i), sample_output());
    if (i < 5) set_age(entry_of(folder, numbered(i)), 100 - i);
  }
  CHECK(kept(folder, 6) == "45");
  Watched tiny(folder.path(), 100);
  tiny.cache.store(numbered(7), sample_output()); // which alone is larger
  CHECK_FALSE(is_there(entry_of(folder, numbered(7))));
  CHECK((watched.warnings.empty() && tiny.warnings.empty()));
}

TEST_CASE("cache pruning: damaged entries are bounded by number, age and size") {
  TemporaryFolder folder;
  Watched watched(folder.path());
  const CacheKey key = sample_key();
  for (int i = 0; i < 12; ++i) {
    watched.cache.store(key, sample_output());
    overwrite(entry_of(folder, key) + "/kernel.cu", "damage");
    CHECK_FALSE(watched.cache.load(key));
  }
  CHECK(count_in(folder / "v1/aside") == 8);
  const auto names = names_in(folder / "v1/aside");
  for (size_t i = 0; i < 3; ++i) set_age(folder / ("v1/aside/" + names[i]), 31 * kDay);
  watched.cache.prune();
  CHECK(count_in(folder / "v1/aside") == 5);
  Watched(folder.path(), 2 * 8000).cache.prune();
  CHECK(count_in(folder / "v1/aside") == 2);
}

TEST_CASE("cache pruning: notes are bounded by number and size, and outlive kernels") {
  TemporaryFolder folder;
  store_aged(folder, {100});
  Watched watched(folder.path());
  for (int i = 0; i < 3; ++i) {
    llvm::cantFail(watched.cache.store_note(std::to_string(i), std::string(1000, 'n')));
    set_age(folder / ("v1/notes/" + std::to_string(i)), 400 * kDay - i);
  }
  watched.cache.prune();
  CHECK(count_in(folder / "v1/notes") == 3); // not by age
  CHECK(watched.cache.load_note("0"));       // used now
  Watched(folder.path(), 2500).cache.prune();
  CHECK(kept(folder, 1) == "");
  CHECK(is_there(folder / "v1/notes/0"));
  CHECK_FALSE(is_there(folder / "v1/notes/1"));
  CHECK(is_there(folder / "v1/notes/2"));
  constexpr int kMost = 16384;
  for (int i = 0; i < kMost; ++i)
    REQUIRE(::symlink("nowhere", (folder / ("v1/notes/n" + std::to_string(i))).c_str()) == 0);
  set_age(folder / "v1/notes/2", 10);
  watched.cache.prune();
  CHECK(count_in(folder / "v1/notes") == kMost);
  CHECK_FALSE(is_there(folder / "v1/notes/2"));
  CHECK(bool(watched.cache.store_note("large", std::string(2 << 20, 'n'))));
}

TEST_CASE("cache settings: the bounds come from the environment") {
  CHECK(with("1", "", "").most_bytes == 1);
  CHECK(with("5000", "1", "1").most_bytes == 5000);
  CHECK(with("3k", "", "").most_bytes == 3 * 1024);
  CHECK(with("7M", "", "").most_bytes == 7 << 20);
  CHECK(with("20G", "", "").most_bytes == uint64_t(20) << 30);
  CHECK(with("", "100000", "").most_days == 100000);
  const CacheSettings usual = with("", "", "");
  CHECK(usual.most_bytes == uint64_t(2) << 30);
  CHECK(usual.most_days == 90);
  CHECK(usual.folder == "/some/folder");
  CHECK(usual.problems.empty());
  const CacheSettings off = with("", "", "0");
  CHECK(off.folder.empty());
  CHECK(off.is_off);
}

TEST_CASE("cache settings: a value that says nothing gives one message, and the default") {
  for (const char* size : {"0", "-1", "2.5G", "K", " 5M", "5MB", "5T", "lots", "0G",
                           "99999999999999999999", "18014398509481984K"}) {
    CAPTURE(size);
    const CacheSettings settings = with(size, "", "");
    CHECK(settings.most_bytes == uint64_t(2) << 30);
    REQUIRE(settings.problems.size() == 1);
    CHECK(settings.problems[0] ==
          std::string("INGOT_CACHE_SIZE is '") + size +
              "', expected a whole number of bytes from 1 on, with K, M or G after it or without; "
              "2G is taken, the default");
  }
  for (const char* days : {"0", "-3", "1.5", "100001", "week"}) {
    const CacheSettings settings = with("", days, "");
    CHECK(settings.most_days == 90);
    REQUIRE(settings.problems.size() == 1);
    CHECK(settings.problems[0] == std::string("INGOT_CACHE_DAYS is '") + days +
                                      "', expected a whole number of days from 1 to 100000; 90 is "
                                      "taken, the default");
  }
  const CacheSettings odd = with("", "", "off\n\033[1m");
  CHECK(odd.folder == "/some/folder");
  REQUIRE(odd.problems.size() == 1);
  CHECK(odd.problems[0] ==
        "INGOT_CACHE is 'off\\0A\\1B[1m', expected 0 to keep nothing on disk, or "
        "1; 1 is taken, the default");
  // Opening the cache warns of each once, beside its warnings about the folder.
  TemporaryFolder folder;
  std::vector<std::string> warnings;
  CacheSettings settings = with("x", "y", "z");
  settings.folder = folder.path();
  settings.warn = [&](const std::string& text) { warnings.push_back(text); };
  DiskCache cache(settings);
  cache.store(sample_key(), sample_output());
  CHECK(loads(cache, sample_key()));
  CHECK(warnings == settings.problems);
  CHECK(warnings.size() == 3);
}
