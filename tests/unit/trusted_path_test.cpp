// SPDX-License-Identifier: Apache-2.0
// Who could replace the target of a path.
#include "src/support/trusted_path.h"

#include "tests/support/cache_samples.h"
#include "tests/support/skip.h"

#include <doctest/doctest.h>

#include <grp.h>
#include <pwd.h>

using namespace ingot;
using namespace ingot::testing;

namespace {

constexpr uid_t kOther = 12345;

void make(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), 0700) != 0) std::abort();
  if (::chmod(path.c_str(), mode) != 0) std::abort(); // the umask does not count
}

std::string problem_of(const std::string& path) {
  const TrustedPlace place = open_trusted_folder(path, /*creates=*/false);
  CHECK(place.folder.has_value() == (place.problem.empty() && !place.error));
  return place.problem;
}

std::string writable(const std::string& path, const char* mode) {
  return "other users can write '" + path + "' (mode " + mode + "); run chmod go-w on it";
}

} // namespace

TEST_CASE("trusted path: a folder, and every folder above it") {
  TemporaryFolder folder;
  make(folder / "a", 0755);
  make(folder / "a/b", 0700);
  make(folder / "a/b/c", 0755);
  CHECK(problem_of(folder / "a/b/c") == "");
  CHECK(problem_of(folder / "./a//b/../b/c/") == "");
  for (const char* part : {"a", "a/b", "a/b/c"}) {
    REQUIRE(::chmod((folder / part).c_str(), 0757) == 0);
    CHECK(problem_of(folder / "a/b/c") == writable(folder / part, "757"));
    REQUIRE(::chmod((folder / part).c_str(), 0755) == 0);
  }
  // The sticky bit keeps others from replacing files of a folder, not from adding to it.
  REQUIRE(::chmod((folder / "a").c_str(), 01777) == 0);
  CHECK(problem_of(folder / "a/b/c") == "");
  CHECK(problem_of(folder / "a") == writable(folder / "a", "1777"));
}

TEST_CASE("trusted path: links are followed, and every folder on their way is checked") {
  TemporaryFolder folder;
  for (const char* part : {"open", "open/in", "own", "own/in"}) make(folder / part, 0755);
  REQUIRE(::symlink("../own/./in", (folder / "open/relative").c_str()) == 0);
  REQUIRE(::symlink((folder / "own/in").c_str(), (folder / "open/absolute").c_str()) == 0);
  REQUIRE(::symlink("loop", (folder / "loop").c_str()) == 0);
  REQUIRE(::symlink("nowhere", (folder / "dangling").c_str()) == 0);
  CHECK(problem_of(folder / "open/relative") == "");
  CHECK(problem_of(folder / "open/absolute") == "");
  CHECK(open_trusted_folder(folder / "loop", false).error ==
        std::errc::too_many_symbolic_link_levels);
  CHECK(open_trusted_folder(folder / "dangling/x", false).error ==
        std::errc::no_such_file_or_directory);
  REQUIRE(::chmod((folder / "open").c_str(), 0777) == 0);
  CHECK(problem_of(folder / "open/absolute") == writable(folder / "open", "777"));
  REQUIRE(::chmod((folder / "open").c_str(), 0755) == 0);
  REQUIRE(::chmod((folder / "own").c_str(), 0777) == 0);
  CHECK(problem_of(folder / "open/absolute") == writable(folder / "own", "777"));
}

TEST_CASE("trusted path: files, as the target and in place of a folder") {
  TemporaryFolder folder;
  overwrite(folder / "file", "x");
  CHECK(check_trusted_file(folder / "file").problem == "");
  REQUIRE(::chmod((folder / "file").c_str(), 0666) == 0);
  CHECK(check_trusted_file(folder / "file").problem == writable(folder / "file", "666"));
  CHECK(check_trusted_file(folder / "none").error == std::errc::no_such_file_or_directory);
  CHECK(problem_of(folder / "file") == "'" + folder.path() + "/file' is not a directory");
  CHECK(problem_of(folder / "file/x") == "'" + folder.path() + "/file' is not a directory");
}

TEST_CASE("trusted path: missing folders are made for their user alone") {
  TemporaryFolder folder;
  CHECK(open_trusted_folder(folder / "a/b", false).error == std::errc::no_such_file_or_directory);
  CHECK(open_trusted_folder(folder / "a/b", true).folder);
  struct stat info = {};
  REQUIRE(::stat((folder / "a").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0700);
  // Nothing is made where others could put something else.
  REQUIRE(::chmod((folder / "a").c_str(), 0777) == 0);
  CHECK(open_trusted_folder(folder / "a/new/c", true).problem == writable(folder / "a", "777"));
  CHECK_FALSE(is_there(folder / "a/new"));
}

TEST_CASE("trusted path: other users' folders, files and links") {
  if (::geteuid() != 0) INGOT_SKIP("only root can give a file to another user");
  TemporaryFolder folder;
  make(folder / "a", 0755);
  make(folder / "a/b", 0755);
  overwrite(folder / "a/b/file", "x");
  make(folder / "sticky", 01777);
  REQUIRE(::symlink((folder / "a").c_str(), (folder / "sticky/link").c_str()) == 0);
  const std::string belongs = "' belongs to user " + std::to_string(kOther);
  for (const char* part : {"a", "a/b", "a/b/file", "sticky/link"}) {
    CAPTURE(part);
    REQUIRE(::lchown((folder / part).c_str(), kOther, 0) == 0);
    CHECK(check_trusted_file(folder / "sticky/link/b/file").problem ==
          "'" + folder.path() + "/" + part + belongs);
    REQUIRE(::lchown((folder / part).c_str(), 0, 0) == 0);
  }
  CHECK(check_trusted_file(folder / "sticky/link/b/file").problem == "");
}

TEST_CASE("trusted path: a group that can write is others, unless it is the user's own") {
  TemporaryFolder folder;
  make(folder / "a", 0775);
  if (::geteuid() != 0) INGOT_SKIP("only root can become another user");
  CHECK(problem_of(folder / "a") == writable(folder / "a", "775"));
  const passwd* user = ::getpwnam("daemon");
  const group* own = ::getgrnam("daemon");
  if (!user || !own || user->pw_gid != own->gr_gid) INGOT_SKIP("there is no user `daemon`");
  for (gid_t group : {own->gr_gid, gid_t(kOther)}) {
    REQUIRE(::chown((folder / "a").c_str(), user->pw_uid, group) == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
    CHECK(in_child([&] {
            if (::setegid(own->gr_gid) != 0 || ::seteuid(user->pw_uid) != 0) return 9;
            const std::string problem = open_trusted_folder(folder / "a", false).problem;
            if (group == own->gr_gid) return problem.empty() ? 0 : 1;
            return problem == writable(folder / "a", "775") ? 0 : 2;
          }) == 0);
  }
}

TEST_CASE("trusted path: a cache below a folder that others can write is not used") {
  TemporaryFolder folder;
  make(folder / "a", 0755);
  CacheKey key = sample_key();
  Watched watched(folder / "a/cache");
  watched.cache.store(key, sample_output());
  REQUIRE(loads(watched.cache, key));
  REQUIRE(::chmod((folder / "a").c_str(), 0777) == 0);
  const std::string text = "the cache folder '" + folder.path() +
                           "/a/cache/v1' is not used: " + writable(folder / "a", "777");
  CHECK_FALSE(watched.cache.load(key)); // also while it is open
  CHECK(watched.warnings == std::vector<std::string>{text});
  Watched later(folder / "a/cache");
  CHECK(later.cache.folder().empty());
  CHECK(later.warnings == std::vector<std::string>{text});
  REQUIRE(::chmod((folder / "a").c_str(), 0755) == 0);
  CHECK(loads(folder / "a/cache", key));
}

TEST_CASE("trusted path: the file that holds this code") {
  char text[4096] = {};
  REQUIRE(::readlink("/proc/self/exe", text, sizeof(text) - 1) > 0);
  CHECK(own_file() == text);
}
