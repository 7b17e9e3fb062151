// SPDX-License-Identifier: Apache-2.0
#include "runtime/disk_cache.h"

#include "src/support/error.h"
#include "src/support/files.h"
#include "tests/support/cache_samples.h"
#include "tests/unit/file_faults.h"

#include "llvm/Support/FileSystem.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::testing;

namespace fs = llvm::sys::fs;

TEST_CASE("disk cache: a stored kernel is loaded, by this process and by others") {
  TemporaryFolder folder;
  CacheKey key = sample_key();
  {
    Watched first(folder / "new/cache");
    CHECK_FALSE(first.cache.load(key));
    first.cache.store(key, sample_output());
    CHECK(loads(first.cache, key));
    CHECK(first.warnings.empty());
  }
  Watched second(folder / "new/cache");
  auto output = second.cache.load(key);
  REQUIRE(output);
  REQUIRE(output->entries.size() == 1);
  CHECK(output->entries[0].registers == 12);
  CHECK(output->entries[0].static_shared_bytes == 512);
  CHECK(second.warnings.empty());
  struct stat info = {};
  REQUIRE(::stat((folder / "new/cache").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
}

TEST_CASE("disk cache: any flipped bit makes a miss with one warning, and heals") {
  TemporaryFolder folder;
  CacheKey key = sample_key();
  for (const char* name : kEntryFiles)
    for (double where : {0.0, 0.3, 0.99}) {
      CAPTURE(name);
      CAPTURE(where);
      Watched watched(folder.path());
      watched.cache.store(key, sample_output());
      REQUIRE(loads(watched.cache, key));
      std::string path = entry_of(folder, key) + "/" + name;
      std::string bytes = llvm::cantFail(read_file(path));
      bytes[size_t(where * double(bytes.size()))] ^= 4;
      overwrite(path, bytes);
      CHECK_FALSE(watched.cache.load(key));
      REQUIRE(watched.warnings.size() == 1);
      CHECK(watched.warnings[0].find("is compiled again and the entry moved to") !=
            std::string::npos);
      CHECK_FALSE(fs::exists(entry_of(folder, key)));
      watched.cache.store(key, sample_output());
      CHECK(loads(watched.cache, key));
      CHECK(watched.warnings.size() == 1);
    }
}

TEST_CASE("disk cache: truncated, empty and missing files make a miss") {
  TemporaryFolder folder;
  CacheKey key = sample_key();
  for (const char* name : kEntryFiles)
    for (int left : {-1, 0, 1, 30}) {
      CAPTURE(name);
      CAPTURE(left);
      Watched watched(folder.path());
      watched.cache.store(key, sample_output());
      std::string path = entry_of(folder, key) + "/" + name;
      if (left < 0)
        ::unlink(path.c_str());
      else
        overwrite(path, llvm::cantFail(read_file(path)).substr(0, size_t(left)));
      CHECK_FALSE(watched.cache.load(key));
      CHECK(watched.warnings.size() == 1);
    }
}

TEST_CASE("disk cache: an entry copied from another key is foreign") {
  TemporaryFolder folder;
  CacheKey key = sample_key(), other = sample_key("// other\n");
  Watched watched(folder.path());
  watched.cache.store(key, sample_output());
  REQUIRE(::rename(entry_of(folder, key).c_str(), entry_of(folder, other).c_str()) == 0);
  CHECK_FALSE(watched.cache.load(other));
  REQUIRE(watched.warnings.size() == 1);
  CHECK(watched.warnings[0].find("it holds the kernel of another key") != std::string::npos);
}

TEST_CASE("disk cache: entries that others could have written are refused") {
  TemporaryFolder folder;
  CacheKey key = sample_key();
  {
    Watched watched(folder.path());
    watched.cache.store(key, sample_output());
    ::chmod(entry_of(folder, key).c_str(), 0777);
    CHECK_FALSE(watched.cache.load(key));
    REQUIRE(watched.warnings.size() == 1);
    CHECK(watched.warnings[0].find("/" + key.digest() + "' (mode 777)") != std::string::npos);
  }
  {
    Watched watched(folder.path());
    watched.cache.store(key, sample_output());
    REQUIRE(::rename(entry_of(folder, key).c_str(), (folder / "elsewhere").c_str()) == 0);
    REQUIRE(::symlink((folder / "elsewhere").c_str(), entry_of(folder, key).c_str()) == 0);
    CHECK_FALSE(watched.cache.load(key));
    CHECK(watched.warnings.size() == 1);
  }
  ::chmod(folder.path().c_str(), 0777);
  Watched watched(folder.path());
  CHECK(watched.cache.folder().empty());
  REQUIRE(watched.warnings.size() == 1);
  CHECK(watched.warnings[0].find("run chmod go-w on it") != std::string::npos);
  ::chmod(folder.path().c_str(), 0700);
}

TEST_CASE("disk cache: a folder that cannot be made leaves memory, with one warning") {
  TemporaryFolder folder;
  overwrite(folder / "file", "not a folder");
  Watched watched(folder / "file/cache");
  watched.cache.store(sample_key(), sample_output());
  CHECK_FALSE(watched.cache.load(sample_key()));
  CHECK(watched.warnings.size() == 1);
}

TEST_CASE("disk cache: a read-only folder still gives hits, and storing warns once") {
  TemporaryFolder folder;
  CacheKey key = sample_key(), other = sample_key("// other\n");
  Watched(folder.path()).cache.store(key, sample_output());
  for (const char* part : {"", "/v1", "/v1/entries", "/v1/tmp", "/v1/aside", "/v1/locks"})
    ::chmod((folder.path() + part).c_str(), 0555);
  // Permissions do not bind root: become somebody else, as whom root's files may be trusted.
  int status = in_child([&] {
    if (::geteuid() == 0) {
      ::chmod(entry_of(folder, key).c_str(), 0755);
      for (const char* name : kEntryFiles)
        ::chmod((entry_of(folder, key) + "/" + name).c_str(), 0644);
      if (::setegid(65534) != 0 || ::seteuid(65534) != 0) return 9;
    }
    Watched watched(folder.path());
    if (!loads(watched.cache, key)) return 1;
    CacheLock lock = watched.cache.lock(other.digest());
    if (watched.cache.load(other)) return 2;
    if (!watched.warnings.empty()) return 3;
    watched.cache.store(other, sample_output());
    watched.cache.store(other, sample_output());
    if (watched.cache.load(other)) return 4;
    return watched.warnings.size() == 1 ? 0 : 5;
  });
  for (const char* part : {"", "/v1", "/v1/entries", "/v1/tmp", "/v1/aside", "/v1/locks"})
    ::chmod((folder.path() + part).c_str(), 0755);
  CHECK(status == 0);
}

TEST_CASE("disk cache: a full disk warns once and leaves no half entry") {
  TemporaryFolder folder;
  CacheKey key = sample_key();
  int status = in_child([&] {
    Watched watched(folder.path());
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {1000, 1000}; // bytes a file may have: stands for a disk that runs full
    ::setrlimit(RLIMIT_FSIZE, &limit);
    watched.cache.store(key, sample_output());
    watched.cache.store(key, sample_output());
    if (watched.cache.load(key)) return 1;
    return watched.warnings.size() == 1 ? 0 : 2;
  });
  CHECK(status == 0);
  Watched watched(folder.path());
  CHECK_FALSE(watched.cache.load(key));
  CHECK(watched.warnings.empty());
  std::error_code error;
  CHECK(fs::directory_iterator(folder / "v1/tmp", error) == fs::directory_iterator());
}

TEST_CASE("disk cache: a writer killed at any moment leaves a miss or a sound entry") {
  TemporaryFolder folder;
  CacheKey key = sample_key();
  auto start = std::chrono::steady_clock::now();
  Watched(folder.path()).cache.store(key, sample_output());
  std::chrono::duration<double, std::micro> one_store = std::chrono::steady_clock::now() - start;
  int num_hits = 0;
  for (int round = 0; round < 60; ++round) {
    pid_t child = ::fork();
    if (child == 0) {
      DiskCache cache({folder.path(), 1 << 30, nullptr});
      for (int i = 0;; ++i) {
        cache.store(key, sample_output());
        if (i % 2) llvm::consumeError(cache.clear().takeError());
      }
    }
    ::usleep(useconds_t(one_store.count() * 3.5 * round / 60));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    Watched watched(folder.path());
    num_hits += loads(watched.cache, key);
    CHECK(watched.warnings.empty());
  }
  WARN(num_hits > 0);
  WARN(num_hits < 60);
  Watched watched(folder.path());
  watched.cache.store(key, sample_output());
  CHECK(loads(watched.cache, key));
}

TEST_CASE("disk cache: publishing onto an entry that came first changes nothing") {
  TemporaryFolder folder;
  CacheKey key = sample_key();
  Watched a(folder.path()), b(folder.path());
  a.cache.store(key, sample_output());
  b.cache.store(key, sample_output());
  CHECK(loads(a.cache, key));
  CHECK((a.warnings.empty() && b.warnings.empty()));
}

TEST_CASE("disk cache: the lock is released when its holder dies") {
  TemporaryFolder folder;
  DiskCache cache({folder.path(), 1 << 30, nullptr});
  std::string digest = sample_key().digest();
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    CacheLock lock = cache.lock(digest);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  auto start = std::chrono::steady_clock::now();
  CacheLock lock = cache.lock(digest);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("disk cache: pruning removes the least recently used entries") {
  TemporaryFolder folder;
  Watched watched(folder.path(), 3 * 8000);
  std::vector<CacheKey> keys;
  {
    Watched roomy(folder.path());
    for (int i = 0; i < 5; ++i) {
      keys.push_back(sample_key("// " + std::to_string(i) + "\n"));
      roomy.cache.store(keys.back(), sample_output());
      set_age(entry_of(folder, keys.back()), 1000 - i);
    }
  }
  CHECK(loads(watched.cache, keys[0])); // now the most recent
  watched.cache.prune();
  CHECK(loads(watched.cache, keys[0]));
  CHECK_FALSE(watched.cache.load(keys[1]));
  CHECK(loads(watched.cache, keys[4]));
  CHECK(watched.warnings.empty());
}

TEST_CASE("disk cache: list, verify and clear") {
  TemporaryFolder folder;
  Watched watched(folder.path());
  CacheKey sound = sample_key(), damaged = sample_key("// damaged\n");
  damaged.arch = "sm_90";
  watched.cache.store(sound, sample_output());
  watched.cache.store(damaged, sample_output());
  overwrite(entry_of(folder, damaged) + "/kernel.cubin", "?");
  auto listed = watched.cache.list();
  REQUIRE(bool(listed));
  REQUIRE(listed->size() == 2);
  CHECK((*listed)[0].name == "k.cu");
  CHECK((*listed)[0].bytes > 5000);
  auto verified = watched.cache.verify();
  REQUIRE(bool(verified));
  for (const CacheEntry& entry : *verified) {
    CHECK(entry.problem ==
          (entry.digest == sound.digest() ? "" : "checksums differ from the files"));
    CHECK(entry.arch == (entry.digest == sound.digest() ? "sm_80" : "sm_90"));
  }
  auto removed = watched.cache.clear();
  REQUIRE(bool(removed));
  CHECK(*removed == 2);
  CHECK(watched.cache.list()->empty());
  CHECK(watched.warnings.empty());
}

TEST_CASE("disk cache: the folder comes from the environment") {
  auto folder_with = [](const char* own, const char* xdg, const char* home) {
    auto set = [](const char* name, const char* value) {
      if (value)
        ::setenv(name, value, 1);
      else
        ::unsetenv(name);
    };
    set("INGOT_CACHE_DIR", own);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    return CacheSettings::from_environment().folder;
  };
  CHECK(folder_with("/a", "/b", "/c") == "/a");
  llvm::SmallString<128> here;
  REQUIRE_FALSE(llvm::sys::fs::current_path(here));
  CHECK(folder_with("relative", "/b", "/c") == (here + "/relative").str());
  CHECK(folder_with(nullptr, "/b", "/c") == "/b/ingot");
  CHECK(folder_with("", "relative", "/c") == "/c/.cache/ingot");
  CHECK(folder_with(nullptr, nullptr, "/c") == "/c/.cache/ingot");
  CHECK(folder_with(nullptr, nullptr, nullptr) == "");
  DiskCache none({"", 0, nullptr});
  none.store(sample_key(), sample_output());
  CHECK_FALSE(none.load(sample_key()));
  CHECK(none.list()->empty());
}

TEST_CASE("disk cache: notes are kept, read back and cleared, and a pipe is none") {
  llvm::SmallString<128> folder;
  REQUIRE_FALSE(llvm::sys::fs::createUniqueDirectory("ingot-notes", folder));
  CacheSettings settings;
  settings.folder = (folder + "/cache").str();
  settings.creates = false;
  CHECK(DiskCache(settings).folder().empty());
  CHECK_FALSE(llvm::sys::fs::exists(settings.folder));
  settings.creates = true;
  DiskCache cache(settings);
  CHECK_FALSE(cache.load_note("a"));
  llvm::cantFail(cache.store_note("a", "one"));
  llvm::cantFail(cache.store_note("a", "two"));
  CHECK(cache.load_note("a") == "two");
  const std::string pipe = cache.folder() + "/notes/b";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_FALSE(cache.load_note("b")); // and does not wait for a writer
  llvm::cantFail(cache.clear());
  CHECK_FALSE(cache.load_note("a"));
  CHECK_FALSE(llvm::sys::fs::exists(pipe));
  llvm::sys::fs::remove_directories(folder);
}

TEST_CASE("disk cache: a writer of notes killed at any moment leaves nothing beside them") {
  TemporaryFolder folder;
  const std::vector<std::string> notes = {"a"};
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      DiskCache cache({folder.path(), 1 << 30, nullptr});
      while (true) llvm::consumeError(cache.store_note("a", "text"));
    }
    while (!is_there(folder / "v1/notes/a")) ::usleep(100);
    ::usleep(static_cast<useconds_t>(37 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  CHECK(names_in(folder / "v1/notes") == notes);
  Watched watched(folder.path());
  CHECK(watched.cache.statistics().notes.count == 1);
  CHECK(watched.cache.load_note("a") == "text");
}

TEST_CASE("disk cache: a part that is removed is made again") {
  const CacheKey key = sample_key();
  for (const char* part : {"tmp", "entries", "notes", "locks", ""}) {
    CAPTURE(part);
    TemporaryFolder folder;
    Watched watched(folder.path());
    watched.cache.store(key, sample_output());
    REQUIRE_FALSE(fs::remove_directories(folder / ("v1/" + std::string(part))));
    watched.cache.lock(key.digest());
    watched.cache.store(key, sample_output());
    llvm::cantFail(watched.cache.store_note("a", "text"));
    CHECK(is_there(folder / "v1/locks"));
    CHECK(loads(watched.cache, key));
    CHECK(watched.cache.load_note("a") == "text");
    CHECK(watched.warnings.empty());
  }
}

TEST_CASE("disk cache: clear names an entry that it cannot remove") {
  TemporaryFolder folder;
  Watched watched(folder.path());
  const std::string entries = folder / "v1/entries";
  const auto cleared = [&] {
    auto removed = watched.cache.clear();
    return removed ? std::to_string(*removed) : take_error(removed.takeError()).second;
  };
  watched.cache.store(sample_key(), sample_output());
  REQUIRE(::chmod(entries.c_str(), 0777) == 0);
  CHECK(cleared().find("other users can write '" + entries + "'") == 0);
  REQUIRE(::chmod(entries.c_str(), 0700) == 0);
  {
    FileFault fault(FileCall::unlink, FileFault::kEvery, EIO);
    CHECK(cleared().find("cannot remove '" + entry_of(folder, sample_key()) + "'") == 0);
  }
  watched.cache.store(sample_key(), sample_output());
  REQUIRE_FALSE(fs::remove_directories(folder / "v1/tmp"));
  CHECK(cleared() == "1");
  REQUIRE_FALSE(fs::remove_directories(entries));
  overwrite(entries, "no folder");
  CHECK(cleared().find("cannot open '" + entries + "'") == 0);
  REQUIRE_FALSE(fs::remove_directories(folder / "v1"));
  CHECK(cleared() == "0");
}
