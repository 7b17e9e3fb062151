// SPDX-License-Identifier: Apache-2.0
// Files in the cache folder that Ingot never wrote there: each is a miss, and none hangs a reader
// or takes its stack.
#include "ir/text/parser.h"
#include "src/compiler.h"
#include "src/support/digest.h"
#include "src/support/error.h"
#include "src/tuned_schedules.h"
#include "tests/support/cache_samples.h"

#include "llvm/Support/FileSystem.h"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

/// `manifest` as the entry's own, behind a checksum that fits.
void forge_manifest(const std::string& entry, const std::string& manifest) {
  overwrite(entry + "/manifest.json", manifest);
  std::string sums;
  for (const char* name : {"kernel.cu", "kernel.cubin", "kernel.ptx", "manifest.json"})
    sums += sha256_hex(llvm::cantFail(read_file(entry + "/" + name))) + "  " + name + "\n";
  overwrite(entry + "/checksums", sums);
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

/// Puts something that is no regular file at a path. Devices stand for links to one: to make a
/// device takes root.
void plant(const std::string& path, const std::string& kind) {
  (void)::unlink(path.c_str());
  if (kind == "pipe")
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  else if (kind == "folder")
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
  else
    REQUIRE(::symlink(kind.c_str(), path.c_str()) == 0);
}

/// Exit status of `body` in a process of 2 GiB that a hang ends.
template <typename Body> int in_bounds(Body body) {
  return in_child([&] {
    ::alarm(20);
    const rlimit limit = {rlim_t(2) << 30, rlim_t(2) << 30};
#if !defined(__SANITIZE_ADDRESS__)
    ::setrlimit(RLIMIT_AS, &limit);
#endif
    return body();
  });
}

const std::vector<std::string> kKinds = {"pipe", "folder", "/dev/zero", "/dev/tty", "/nowhere"};

} // namespace

TEST_CASE("hostile cache: deeply nested JSON in an entry is damage, for every reader") {
  TemporaryFolder folder;
  const CacheKey key = sample_key();
  for (const std::string& manifest :
       {nested(1000000), std::string(1000000, '['), "{\"log\": " + nested(100000) + "}",
        std::string("{\"headers\": ") + std::string(500000, '[')}) {
    Watched watched(folder.path());
    watched.cache.store(key, sample_output());
    forge_manifest(entry_of(folder, key), manifest);
    CHECK(llvm::cantFail(watched.cache.list()).size() == 1);
    const auto verified = llvm::cantFail(watched.cache.verify());
    REQUIRE(verified.size() == 1);
    CHECK(verified[0].problem == "manifest.json: expected values nested at most 64 deep");
    watched.cache.prune();
    CHECK_FALSE(watched.cache.load(key));
    CHECK(watched.warnings.size() == 1);
  }
}

TEST_CASE("hostile cache: deeply nested JSON in a tuner's note counts as no note") {
  TemporaryFolder folder;
  CompileOptions options;
  options.device = "h200";
  const Compilation c = llvm::cantFail(compile_graph(
      llvm::cantFail(parse_graph("graph g(x: f32[64, 64]) {\n  return y = softmax(x)\n}", "t")),
      options));
  CacheSettings settings;
  settings.folder = folder.path();
  TunedSchedules tuned(settings);
  const auto find = [&] { return tuned.find(c.rewritten, c.plan.groups[0], c.target.device, {}); };
  llvm::cantFail(
      tuned.keep(c.rewritten, c.plan.groups[0], c.target.device, {}, {ScheduleChoice(), 1, 2, {}}));
  REQUIRE(find());
  std::error_code error;
  const std::string note = llvm::sys::fs::directory_iterator(folder / "v1/notes", error)->path();
  overwrite(note, nested(32000));
  CHECK_FALSE(find());
  overwrite(note, std::string(65000, '['));
  CHECK_FALSE(find());
}
TEST_CASE("hostile cache: pipes, devices, links and folders among an entry's files are damage") {
  for (const std::string& kind : kKinds)
    for (const char* name : kEntryFiles) {
      CAPTURE(kind);
      CAPTURE(name);
      TemporaryFolder folder;
      const CacheKey key = sample_key();
      Watched(folder.path()).cache.store(key, sample_output());
      plant(entry_of(folder, key) + "/" + name, kind);
      CHECK(in_bounds([&] {
              Watched watched(folder.path());
              if (llvm::cantFail(watched.cache.list()).size() != 1) return 1;
              if (llvm::cantFail(watched.cache.verify())[0].problem.empty()) return 2;
              if (watched.cache.load(key) || watched.warnings.size() != 1) return 3;
              watched.cache.store(key, sample_output());
              return loads(watched.cache, key) ? 0 : 4;
            }) == 0);
    }
}

TEST_CASE("hostile cache: nothing else in the folder hangs a compile either") {
  const CacheKey key = sample_key();
  for (const std::string& kind : kKinds)
    for (const std::string& name :
         {"entries/" + key.digest(), "locks/" + key.digest().substr(0, 3), std::string("notes/n"),
          std::string("pruned"), std::string("tmp/t"), std::string("aside/a")}) {
      CAPTURE(kind);
      CAPTURE(name);
      TemporaryFolder folder;
      Watched(folder.path()).cache.folder();
      plant(folder / ("v1/" + name), kind);
      CHECK(in_bounds([&] {
              Watched watched(folder.path());
              if (watched.cache.load(key)) return 1;
              {
                CacheLock lock = watched.cache.lock(key.digest());
              }
              if (watched.cache.load_note("n")) return 2;
              watched.cache.store(key, sample_output());
              watched.cache.prune();
              if (!loads(watched.cache, key)) return 3;
              llvm::cantFail(watched.cache.clear().takeError());
              return watched.warnings.size() <= 1 ? 0 : 4;
            }) == 0);
    }
}

TEST_CASE("hostile cache: a huge file is damage, and is not read") {
  const CacheKey key = sample_key();
  for (const char* name : kEntryFiles) {
    CAPTURE(name);
    TemporaryFolder folder;
    Watched(folder.path()).cache.store(key, sample_output());
    // Without blocks on the disk.
    REQUIRE(::truncate((entry_of(folder, key) + "/" + name).c_str(), off_t(1) << 40) == 0);
    CHECK(in_bounds([&] {
            Watched watched(folder.path());
            if (watched.cache.load(key) || watched.warnings.size() != 1) return 1;
            return watched.warnings[0].find("expected at most") != std::string::npos ? 0 : 2;
          }) == 0);
  }
}

TEST_CASE("hostile cache: an output too large to be read back is not stored") {
  TemporaryFolder folder;
  Watched watched(folder.path());
  CompileOutput output = sample_output();
  output.log.assign(size_t(5) << 20, 'l');
  watched.cache.store(sample_key(), output);
  CHECK(llvm::cantFail(watched.cache.list()).empty());
  CHECK(watched.warnings.empty());
}
