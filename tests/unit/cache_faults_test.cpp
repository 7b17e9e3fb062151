// SPDX-License-Identifier: Apache-2.0
// Every call of the file functions that the cache makes fails once, the others succeed: the caller
// gets its kernel all the same, hears of it once, and the cache is sound afterwards.
#include "runtime/compile_service.h"
#include "src/support/error.h"
#include "tests/support/cache_samples.h"
#include "tests/unit/file_faults.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

struct Kind {
  FileCall call;
  std::string name;
  std::vector<int> codes; ///< 0: less is done than was asked for
};

const std::vector<Kind> kKinds = {
    {FileCall::open, "open", {EIO, EMFILE, ENOSPC, EINTR}},
    {FileCall::read, "read", {EIO, EINTR, 0}},
    {FileCall::write, "write", {EIO, ENOSPC, EINTR, 0}},
    {FileCall::sync, "fsync", {EIO, ENOSPC, EINTR}},
    {FileCall::rename, "rename", {EIO, ENOSPC}},
    {FileCall::mkdir, "mkdir", {EIO, ENOSPC}},
    {FileCall::unlink, "unlink", {EIO}},
    {FileCall::stat, "stat", {EIO}},
    {FileCall::list, "readdir", {EIO}},
    {FileCall::lock, "flock", {ENOLCK, EINTR}},
    {FileCall::touch, "utimensat", {EIO}},
};

class FixedCompiler final : public KernelCompiler {
public:
  llvm::Expected<std::string> identity() override { return "fixed 1"; }
  llvm::Expected<CompileOutput> compile(const CompileRequest& request,
                                        llvm::ArrayRef<DeviceHeader>) override {
    CompileOutput output = sample_output();
    output.ptx = request.source;
    return output;
  }
};

constexpr const char* kNote = "0123";

CacheKey kept_key() { return sample_key("// kept\n"); }

/// A cache with a kernel, a note, and folders that pruning removes.
void fill(const TemporaryFolder& folder) {
  const FileFault none; // and no waiting for the disk
  Watched watched(folder.path());
  watched.cache.store(kept_key(), sample_output());
  llvm::cantFail(watched.cache.store_note(kNote, "old"));
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  for (const char* name : {"tmp/abandoned", "aside/damaged"}) {
    const std::string path = folder / (std::string("v1/") + name);
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
    overwrite(path + "/kernel.cu", "half");
    ::utimensat(AT_FDCWD, path.c_str(), old, 0);
  }
  ::utimensat(AT_FDCWD, (folder / "v1/pruned").c_str(), old, 0);
}

/// Whatever a process does with a cache. No result depends on the cache.
std::vector<std::string> use(const std::string& folder) {
  std::vector<std::string> warnings;
  CacheSettings settings;
  settings.folder = folder;
  settings.warn = [&](const std::string& text) { warnings.push_back(text); };
  auto cache = std::make_shared<DiskCache>(settings);
  CompileService service({.headers = {},
                          .compiler = std::make_shared<FixedCompiler>(),
                          .cache = cache,
                          .num_threads = 1});
  for (const char* source : {"one", "two"}) {
    auto kernel = service.compile({"k.cu", source, "sm_80", {}});
    REQUIRE_MESSAGE(bool(kernel), take_error(kernel.takeError()).second);
    CHECK((*kernel)->output.ptx == source);
  }
  if (auto stored = cache->load(kept_key())) CHECK(stored->cubin == sample_output().cubin);
  // Whether it was kept: a status.
  if (auto error = cache->store_note(kNote, "new"))
    CHECK(!take_error(std::move(error)).second.empty());
  if (auto note = cache->load_note(kNote)) CHECK((*note == "new" || *note == "old"));
  cache->prune();
  for (auto list : {&DiskCache::list, &DiskCache::verify})
    if (auto entries = (cache.get()->*list)(); !entries)
      CHECK(!take_error(entries.takeError()).second.empty());
  cache->statistics();
  return warnings;
}

void check_sound(const std::string& folder, bool was_filled) {
  const FileFault none;
  Watched watched(folder);
  for (const CacheEntry& entry : llvm::cantFail(watched.cache.verify())) CHECK(entry.problem == "");
  if (was_filled) {
    CHECK(loads(watched.cache, kept_key()));
    const auto note = watched.cache.load_note(kNote);
    CHECK((note == "new" || note == "old"));
  }
  watched.cache.store(sample_key(), sample_output());
  CHECK(loads(watched.cache, sample_key()));
  CHECK(watched.warnings.empty());
}

/// Runs `use` with every single call of `kind` failing in turn; the number of calls.
int64_t fail_each(const Kind& kind, int code, bool filled) {
  for (int64_t nth = 1;; ++nth) {
    TemporaryFolder folder;
    if (filled) fill(folder);
    CAPTURE(kind.name);
    CAPTURE(code);
    CAPTURE(nth);
    std::vector<std::string> warnings;
    int64_t count = 0;
    {
      FileFault fault(kind.call, nth, code);
      warnings = use(folder / "");
      count = FileFault::count(kind.call);
    }
    CHECK(warnings.size() <= 1);
    if (!warnings.empty()) CAPTURE(warnings[0]);
    // Calls that a signal interrupts are made again, and the rest of the bytes is written.
    if (code == EINTR || code == 0) CHECK(warnings.empty());
    check_sound(folder / "", filled);
    if (nth >= count) return count;
  }
}

} // namespace

TEST_CASE("cache faults: every call fails once, in a new folder") {
  for (const Kind& kind : kKinds)
    for (int code : kind.codes) fail_each(kind, code, /*filled=*/false);
}

TEST_CASE("cache faults: every call fails once, in a folder with kernels") {
  for (const Kind& kind : kKinds)
    for (int code : kind.codes) {
      CAPTURE(kind.name);
      CHECK(fail_each(kind, code, /*filled=*/true) > 0);
    }
}

TEST_CASE("cache faults: a disk that fails for good is said once and costs compiles only") {
  for (int code : {EIO, ENOSPC, EMFILE}) {
    TemporaryFolder folder;
    fill(folder);
    std::vector<std::string> warnings;
    {
      FileFault fault(FileCall::write, FileFault::kEvery, code);
      warnings = use(folder / "");
    }
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("the cache cannot be written and keeps kernels in memory only: cannot "
                           "write '") == 0);
    CHECK(warnings[0].find(std::strerror(code)) != std::string::npos);
    check_sound(folder / "", true);
  }
}

TEST_CASE("cache faults: a file written as a whole is the old one or the new one") {
  for (const Kind& kind : kKinds) {
    if (kind.call != FileCall::open && kind.call != FileCall::write &&
        kind.call != FileCall::rename)
      continue;
    for (int code : kind.codes)
      for (int64_t nth = 1, count = 1; nth <= count; ++nth) {
        CAPTURE(kind.name);
        CAPTURE(code);
        CAPTURE(nth);
        TemporaryFolder folder;
        overwrite(folder / "file", "old");
        bool is_written = false;
        {
          FileFault fault(kind.call, nth, code);
          llvm::Error error = write_file_atomically(folder / "file", "new text");
          is_written = !error;
          llvm::consumeError(std::move(error));
          count = FileFault::count(kind.call);
        }
        CHECK(count > 0);
        if (code == EINTR || code == 0) CHECK(is_written);
        CHECK(llvm::cantFail(read_file(folder / "file")) == (is_written ? "new text" : "old"));
        CHECK(names_in(folder.path()).size() == 1);
      }
  }
}

TEST_CASE("cache faults: a file is read whole or not at all") {
  TemporaryFolder folder;
  const std::string text(200000, 't');
  overwrite(folder / "file", text);
  for (int code : {EIO, EINTR, 0})
    for (int64_t nth = 1, count = 1; nth <= count; ++nth) {
      FileFault fault(FileCall::read, nth, code);
      auto bytes = read_file(folder / "file");
      count = FileFault::count(FileCall::read);
      CHECK(count > 0);
      CHECK(bool(bytes) == (code != EIO));
      if (bytes)
        CHECK(*bytes == text);
      else
        CHECK(take_error(bytes.takeError()).second.find(std::strerror(EIO)) != std::string::npos);
    }
}
